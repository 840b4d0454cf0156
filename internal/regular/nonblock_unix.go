//go:build unix

package regular

import "syscall"

// nonblock lets a FIFO be opened without its other end.
const nonblock = syscall.O_NONBLOCK
