//go:build unix

package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// heard is an output that calls a function when it contains a text.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
	cues []cue
}

type cue struct {
	word string
	do   func()
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, err := h.text.Write(p)
	if len(h.cues) > 0 && strings.Contains(h.text.String(), h.cues[0].word) {
		h.cues[0].do()
		h.cues = h.cues[1:]
	}
	return n, err
}

// interrupted runs cupel and sends a signal at each text in its output. The first signal is
// immediate if its text is empty.
func (b *bench) interrupted(args []string, sig syscall.Signal, words ...string) ended {
	b.t.Helper()
	cmd := b.command(args...)
	out := &heard{}
	signal := func() { _ = cmd.Process.Signal(sig) } // the process may have ended
	for _, word := range words {
		if word != "" {
			out.cues = append(out.cues, cue{word, signal})
		}
	}
	cmd.Stdout, cmd.Stderr = out, out
	begun := time.Now()
	require.NoError(b.t, cmd.Start())
	if words[0] == "" {
		require.Eventually(b.t, func() bool { return b.folder() != "" }, 20*time.Second, 5*time.Millisecond)
		time.Sleep(50 * time.Millisecond) // for its first requests
		begun = time.Now()
		signal()
	}
	_ = cmd.Wait() // the exit code has the result
	return ended{cmd.ProcessState.ExitCode(), out.text.String(), time.Since(begun)}
}

// The first signal lets requests in flight end within a second and prints how to resume. The second
// stops immediately. Neither changes the result of the resumed run.
func TestInterruptedRunsResume(t *testing.T) {
	want := uninterrupted(t)
	const stopping = "stopping: requests in flight have a second"
	running := fmt.Sprintf("/%d episodes", len(judged(t)))
	for name, test := range map[string]struct {
		speed string
		sig   syscall.Signal
		words []string
	}{
		"Ctrl-C":                   {"10", syscall.SIGINT, []string{running}},
		"SIGTERM":                  {"10", syscall.SIGTERM, []string{running}},
		"Ctrl-C twice":             {"0.001", syscall.SIGINT, []string{"", stopping}},
		"SIGTERM twice":            {"0.001", syscall.SIGTERM, []string{"", stopping}},
		"twice with some finished": {"2", syscall.SIGINT, []string{running, stopping}},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "Ctrl-C" && name != "SIGTERM twice" {
				testkit.Slow(t)
			}
			t.Parallel()
			b := newBench(t)
			end := b.interrupted([]string{"run", "--candidate", "strong", "--concurrency", "8", "--replay-speed", test.speed}, test.sig, test.words...)
			require.Equal(t, exit.Interrupted, end.code, end.text)
			require.Contains(t, end.text, stopping)
			require.Less(t, end.took, 20*time.Second)
			done := len(b.journaled())
			switch {
			case len(test.words) == 1:
				require.GreaterOrEqual(t, done, 8, "those in flight had a second, which was enough")
			case test.words[0] == "":
				require.Zero(t, done)
			}
			require.Less(t, done, len(judged(t)))
			text, err := os.ReadFile(filepath.Join(b.folder(), "run.json"))
			require.NoError(t, err)
			require.Contains(t, string(text), `"stopped": "interrupted"`)
			b.hurry("400")
			b.fixedBy(end, want)
		})
	}
}
