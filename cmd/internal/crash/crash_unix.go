//go:build unix

package crash

import "syscall"

// noCoreDump forbids core dumps. The limit is 1 byte, because Linux ignores a limit
// of 0 where core dumps are piped to a program.
func noCoreDump() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err == nil {
		limit.Cur = min(limit.Max, 1)
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit) // lowering is always allowed
	}
}
