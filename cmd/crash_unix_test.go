//go:build unix

package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/crash"
)

// crashes are ways in which a Go program ends, by the argument of cupel-crash.
var crashes = map[string]func(){
	"panic":     func() { panic("on purpose") },
	"goroutine": func() { go panic("on purpose"); time.Sleep(time.Minute) },
	"nil": func() {
		var m *struct{ n [4096]int }
		m.n[1000]++
	},
	"fatal error": func() {
		var mu sync.Mutex
		mu.Unlock()
	},
	"stack overflow": func() { debug.SetMaxStack(1 << 20); _ = recurse(1) },
}

func recurse(n int) int {
	return n + recurse(n+1) //nolint:staticcheck // it overflows the stack
}

func init() { //nolint:gochecknoinits // programs is filled before TestMain, on Unix only
	programs["cupel-crash"] = func() {
		crash.Mark()
		crashes[strings.Join(os.Args[1:], " ")]()
	}
}

// requireAborted checks that a process ended by SIGABRT and left no core dump.
func requireAborted(t *testing.T, cmd *exec.Cmd, output string) {
	t.Helper()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.True(t, status.Signaled(), "exit code %d\n%.2000s", status.ExitStatus(), output)
	require.Equal(t, syscall.SIGABRT, status.Signal())
	require.False(t, status.CoreDump())
	left, err := filepath.Glob(filepath.Join(cmd.Dir, "core*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestCrashIsNotWrongUsage checks that no crash ends with one of cupel's exit codes.
func TestCrashIsNotWrongUsage(t *testing.T) {
	path, err := exec.LookPath("cupel-crash")
	require.NoError(t, err)
	for name := range crashes {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", `ulimit -c unlimited 2>/dev/null; exec "$@"`, "sh", path, name)
			cmd.Dir, cmd.Env = t.TempDir(), []string{"GOTRACEBACK=none"}
			text, err := cmd.CombinedOutput()
			require.Error(t, err)
			requireAborted(t, cmd, string(text))
			require.Contains(t, string(text), "goroutine ")
		})
	}
}

// TestQuitIsNotWrongUsage checks the same for the program, which the Go runtime ends on SIGQUIT.
func TestQuitIsNotWrongUsage(t *testing.T) {
	if testing.Short() {
		t.Skip("the runtime takes seconds; not with -short")
	}
	cmd := newBench(t).command("sim", "--addr", "127.0.0.1:0")
	started := make(chan struct{})
	out := &heard{cues: []cue{{"simulated models on", func() { close(started) }}}}
	cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, out
	require.NoError(t, cmd.Start())
	select {
	case <-started:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill() // the test fails
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGQUIT))
	_ = cmd.Wait() // the process state has the result
	requireAborted(t, cmd, out.text.String())
}
