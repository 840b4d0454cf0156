//go:build unix

package launch

import (
	"os/signal"
	"syscall"
)

// leave starts a process in a new session.
var leave = &syscall.SysProcAttr{Setsid: true}

// ignore ignores every signal that can be ignored.
func ignore() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) }
