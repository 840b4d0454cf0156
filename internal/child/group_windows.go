package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is the job object of a command: what it starts belongs to it, too.
type group struct {
	job windows.Handle
	pid uint32
}

// resume lets a process go on that was started suspended; os/exec does not keep its thread.
var resume = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// start starts the command suspended, and lets it go on once it is in a job that ends with
// this process. A process group of its own keeps Ctrl-C from it.
func (g *group) start(cmd *exec.Cmd, terminal bool) (err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED}
	if !terminal {
		cmd.SysProcAttr.CreationFlags |= windows.CREATE_NEW_PROCESS_GROUP
	}
	if g.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return fmt.Errorf("create a job object: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(g.job)
		return err
	}
	g.pid = uint32(cmd.Process.Pid)
	var failed error
	err = cmd.Process.WithHandle(func(handle uintptr) {
		if failed = windows.AssignProcessToJobObject(g.job, windows.Handle(handle)); failed == nil {
			if status, _, _ := resume.Call(handle); status != 0 {
				failed = windows.NTStatus(status)
			}
		}
	})
	if err = errors.Join(err, failed); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(g.job)
		return fmt.Errorf("put it into a job object: %w", err)
	}
	return nil
}

// kill kills the command and all that it started.
func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// signal asks the command to end by the one signal of the system that reaches a group.
func (g *group) signal(os.Signal) {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.pid) != nil {
		g.kill()
	}
}

// end kills what is left of the job of a command that has been waited for.
func (g *group) end() {
	g.kill()
	_ = windows.CloseHandle(g.job)
}
