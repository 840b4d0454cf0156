package main

// noCoreDump does nothing: the runtime writes none.
func noCoreDump() {}
