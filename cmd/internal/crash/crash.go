// Package crash sets how the process ends when it crashes.
package crash

import "runtime/debug"

// Mark makes every crash of the Go runtime end the process with SIGABRT, which
// a shell shows as 134: a panic, a fatal error such as concurrent map writes, a
// stack overflow, no memory, SIGQUIT. Otherwise the runtime exits with 2,
// which is the code for wrong usage. A core dump would write credentials to disk, so
// there is none.
func Mark() {
	noCoreDump()
	debug.SetTraceback("crash")
}
