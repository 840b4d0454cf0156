package human

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/episode"
)

func TestPrompter(t *testing.T) {
	var out strings.Builder
	p := New(strings.NewReader(" angry \ny\nYES\nyep\n\n"), &out)
	ctx := context.Background()
	question := episode.Question{Task: "T", Candidate: "c", Trial: 2, Text: "Which\u202e label?"}
	approval := episode.Question{Call: &tool.Call{Name: "rm", Args: []byte("{\"a\":\"\x1b]0;x\a\"}")}}

	a, ok := p.Ask(ctx, question)
	require.Equal(t, episode.Answer{Text: "angry"}, a)
	require.True(t, ok)
	require.Equal(t, "\nT/c/2 asks: Which\\u{202E} label?\nanswer (empty: none): ", out.String())

	for _, approved := range []bool{true, true, false} {
		a, _ = p.Ask(ctx, approval)
		require.Equal(t, approved, a.Approved, a.Text)
	}
	require.NotContains(t, out.String(), "\x1b")
	_, ok = p.Ask(ctx, question)
	require.False(t, ok, "an empty line is no answer")
	_, ok = p.Ask(ctx, question)
	require.False(t, ok, "the end of the input is no answer")
	_, ok = p.Ask(ctx, approval)
	require.False(t, ok)
}

// All waiting questions end when the run is stopped.
func TestPrompterStopsWithTheRun(t *testing.T) {
	in, typed := io.Pipe()
	defer func() { _ = typed.Close() }()
	p := New(in, io.Discard)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			_, ok := p.Ask(ctx, episode.Question{Text: "?"})
			require.False(t, ok)
		})
	}
	cancel()
	wg.Wait()
}
