package stat

// BinomialTest exports binomialTest to the tests of its tables.
var BinomialTest = binomialTest
