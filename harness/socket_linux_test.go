package harness_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cupel-eval/cupel/harness"
)

const socketChild = "CUPEL_TEST_SOCKET_CHILD"

// A replay opens no socket: the test replays the whole built-in suite in a process in which the
// kernel refuses socket(2).
func TestReplayOpensNoSocket(t *testing.T) {
	if os.Getenv(socketChild) != "" {
		replayWithoutSockets(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestReplayOpensNoSocket$", "-test.v")
	cmd.Env = append(os.Environ(), socketChild+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() == noSeccomp {
		t.Skip("this kernel does not let a test install a seccomp filter")
	}
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "replayed without sockets")
}

const noSeccomp = 77

func replayWithoutSockets(t *testing.T) {
	if err := forbidSockets(); err != nil {
		os.Exit(noSeccomp)
	}
	_, err := net.Dial("tcp", "127.0.0.1:9")
	require.ErrorIs(t, err, syscall.EPERM, "the filter must be in force, or this test proves nothing")

	o := countsOptions(t)
	o.Runs = t.TempDir()
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.NotEmpty(t, rowsOf(t, res).Turns)
	for _, e := range rowsOf(t, res).Episodes {
		require.False(t, e.InfraError, "%s/%s: %s", e.TaskID, e.Candidate, e.ErrorText)
	}
	t.Logf("replayed without sockets: %d turns", len(rowsOf(t, res).Turns))
}

// forbidSockets makes socket(2) fail with EPERM in every thread of the process.
func forbidSockets() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the system call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SOCKET, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
