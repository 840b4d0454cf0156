//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// ownGroup starts the command in a process group of its own, which Ctrl-C does not reach.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the command and its children. It must not have been waited for.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
