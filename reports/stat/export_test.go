package stat

// BinomialTest is binomialTest, for the tests of its tables.
var BinomialTest = binomialTest
