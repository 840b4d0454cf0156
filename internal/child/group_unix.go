//go:build unix

package child

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// running are the numbers of commands with a group of their own that have not been waited for.
var running sync.Map

// group is the process group of a command.
type group struct {
	pid      int
	terminal bool
	over     chan struct{} // closed once the command has been waited for
}

// start starts the command in a process group of its own, which Ctrl-C does not reach.
func (g *group) start(cmd *exec.Cmd, terminal bool) error {
	g.terminal = terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !terminal}
	g.over = make(chan struct{})
	if err := g.bound(cmd); err != nil {
		close(g.over)
		return err
	}
	g.pid = cmd.Process.Pid
	if !terminal {
		running.Store(g.pid, true)
	}
	return nil
}

// kill kills the command and all of its group. It must not have been waited for.
func (g *group) kill() { g.signal(syscall.SIGKILL) }

// signal sends a signal to the command, and to all of a group of its own.
func (g *group) signal(sig os.Signal) {
	number, _ := sig.(syscall.Signal)
	if g.terminal {
		_ = syscall.Kill(g.pid, number)
		return
	}
	_ = syscall.Kill(-g.pid, number)
}

// end kills what is left of the group of a command that has been waited for.
func (g *group) end() {
	close(g.over)
	if !g.terminal {
		running.Delete(g.pid)
		g.kill()
	}
}
