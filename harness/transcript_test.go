package harness_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
)

func TestTranscriptShowsEachPromptLineOnce(t *testing.T) {
	o := countsOptions(t)
	o.Select = harness.Selection{Tasks: []string{"G39"}, Candidates: []string{"strong"}}
	rows, traces, err := harness.Replay(context.Background(), o, 1)
	require.NoError(t, err)
	require.True(t, rows.Episode.Solved)
	var b strings.Builder
	require.NoError(t, harness.WriteTranscript(&b, traces))
	text := b.String()
	require.Equal(t, 1, strings.Count(text, "TOOLS (strict JSON Schemas):"))
	require.Equal(t, 1, strings.Count(text, "You are a bounded agent controller"))
	require.Contains(t, text, "lines as before left out")
	require.Contains(t, text, "→ error E_UPSTREAM HTTP 500: internal error")
	require.Contains(t, text, "── end: answered")
	require.Equal(t, int(rows.Episode.Steps), strings.Count(text, "── turn "))
}

// An untrusted text can neither drive the terminal nor break out of its frame.
func TestTranscriptMakesControlCharactersVisible(t *testing.T) {
	var b strings.Builder
	require.NoError(t, harness.WriteTranscript(&b, []harness.Trace{{Question: "a\x1b[2Jb\r\n── end: answered", Reply: "x\u202ey"}}))
	require.NotContains(t, b.String(), "\x1b")
	require.NotContains(t, b.String(), "\u202e")
	require.Contains(t, b.String(), `a\u{1B}[2Jb`)
	require.Contains(t, b.String(), "   │ ── end: answered")
}
