//go:build unix

package cmd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTapeInterrupted: a signal reaches the command and what it started, the recording is not
// written, and the next one does not repeat what was answered. A second signal kills a command
// that ignores the first.
func TestTapeInterrupted(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"choices": [{"message": {"content": "hi"}}]}`)
	}))
	defer server.Close()
	// A shell that is between two commands when SIGINT arrives notices it after the second. So
	// the second must not be one that takes a minute.
	const forever = "while true; do sleep 0.05; done"
	for name, test := range map[string]struct {
		script string
		sig    syscall.Signal
		words  []string
		code   int
	}{
		"Ctrl-C":                   {"ask one; echo ready; " + forever, syscall.SIGINT, []string{"ready"}, 130},
		"SIGTERM":                  {"ask one; echo ready; " + forever, syscall.SIGTERM, []string{"ready"}, 143},
		"a command that ends well": {"trap 'exit 4' INT; ask one; echo ready; " + forever, syscall.SIGINT, []string{"ready"}, 4},
		"a command that ignores it": {
			"trap 'echo again' INT; ask one; echo ready; " + forever, syscall.SIGINT, []string{"ready", "again"}, 137,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, before := newBench(t), asked.Load()
			start := func(script string, words ...string) (int, string) {
				cmd, out := b.command("tape", "--cassette", "llm.yaml", "--", "sh", "-c", script), &heard{}
				cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+server.URL)
				for _, word := range words {
					out.cues = append(out.cues, cue{word, func() { _ = cmd.Process.Signal(test.sig) }})
				}
				cmd.Stdout, cmd.Stderr = out, out
				begun := time.Now()
				_ = cmd.Run()                                      // the code says it
				require.Less(t, time.Since(begun), 30*time.Second) // of 10 until it is killed, and more on a busy machine
				return cmd.ProcessState.ExitCode(), out.text.String()
			}
			code, text := start(test.script, test.words...)
			require.Equal(t, test.code, code, text)
			require.Contains(t, text, "cupel tape: interrupted: llm.yaml is not written. The next recording does not repeat 1 finished request")
			require.NoFileExists(t, filepath.Join(b.dir, "llm.yaml"))
			code, text = start("ask one")
			require.Zero(t, code, text)
			require.Contains(t, text, "recorded 1 request in llm.yaml")
			require.Contains(t, text, "1 request from the interrupted recording not repeated")
			require.EqualValues(t, 1, asked.Load()-before)
			left, err := os.ReadDir(b.dir)
			require.NoError(t, err)
			require.Len(t, left, 1)
		})
	}
}

// TestTapeStarts: cupel adds less than 50 ms to a command that does nothing: the best of
// several runs, and in processor time, since other tests run beside. make long measures the
// time on the clock.
func TestTapeStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector waits for a second at the end of a process")
	}
	b, best := newBench(t), time.Hour
	for range 20 {
		cmd, begun := b.command("tape", "--cassette", "llm.yaml", "--", "true"), time.Now()
		require.NoError(t, cmd.Run())
		took := time.Since(begun)
		if os.Getenv("CUPEL_LONG") == "" {
			took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		if best = min(best, took); best < 50*time.Millisecond {
			return
		}
	}
	t.Errorf("the best of 20 runs took %v", best)
}
