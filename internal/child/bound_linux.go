package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// bound starts a command that the kernel kills when this process ends, however it ends. The
// kernel does so when the thread ends that started it, so one thread stays until it has ended.
func (g *group) bound(cmd *exec.Cmd) error {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		started <- cmd.Start()
		<-g.over
	}()
	return <-started
}
