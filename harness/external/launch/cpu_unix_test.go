//go:build unix

package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/external"
)

// spent returns the processor time of this process, without that of its children.
func spent(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// trivial builds a static program that answers immediately, and returns its agent.
func trivial(t testing.TB) Agent {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("building the agent needs the go command, which is not installed")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "agent")
	require.NoError(t, os.WriteFile(source, []byte(`package main

import "os"

func main() { _, _ = os.Stdout.WriteString("{\"answer\": \"42\"}") }
`), 0o644))
	out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	a, err := New(external.Settings{Exec: external.Exec{Command: []string{program}}}, Options{Lookup: os.LookupEnv})
	require.NoError(t, err)
	return a
}

func BenchmarkTrivialEpisode(b *testing.B) {
	a := trivial(b)
	b.ReportAllocs()
	before, n := spent(b), 0
	for b.Loop() {
		s := start()
		s.Token, s.Folder = fmt.Sprintf("%s-%d", token, n), fmt.Sprintf("%s-%d", s.Folder, n)
		n++
		if end, err := a.Run(b.Context(), s); err != nil || end.Answer != "42" {
			b.Fatal(end, err)
		}
	}
	b.ReportMetric(float64(spent(b)-before)/float64(n)/1e6, "cpu-ms/op")
}
