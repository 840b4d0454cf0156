package episode

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
)

// What a turn says again is left out where that is much, and a text that was shown
// as a whole always; a few lines stay, because the others are read with them.
func TestPromptLeavesOutMuch(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing known", "x\ny\n", "   p:\n   │ x\n   │ y\n"},
		{"all known", "a\nb\n", ""},
		{"a few known", "x\na\nb\nc\nd\ne\n", "   p:\n   │ x\n   │ a\n   │ b\n   │ c\n   │ d\n   │ e\n"},
		{"many known", "x\n" + before + "y\n", "   p, 6 lines as before left out:\n   │ x\n   │ y\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			shown := map[string]bool{}
			for line := range strings.Lines(before) {
				shown[line] = true
			}
			var b bytes.Buffer
			prompt(&b, "p", c.text, shown)
			require.Equal(t, c.want, b.String())
		})
	}
}

func TestVisible(t *testing.T) {
	require.Equal(t, "plain 日本", Visible("plain 日本"))
	require.Equal(t, `a\u{1B}[31mb\u{202E}c`, Visible("a\x1b[31mb\u202ec"))
}

// A turn of a sub-agent names it and who started it.
func TestTranscriptNamesSubAgents(t *testing.T) {
	for want, turn := range map[string]ledger.Turn{
		"main/act · model": {Role: "main", Kind: "act"},
		"builder/act · agent bg_1 of the main one · model":      {Role: "builder", Kind: "act", SubAgent: "bg_1"},
		"delegate/act · agent d_2 of bg_1 · step build · model": {Role: "delegate", Kind: "act", SubAgent: "d_2", ParentAgent: "bg_1", PlanStep: "build"},
	} {
		var b bytes.Buffer
		require.NoError(t, WriteTranscript(&b, []Trace{{Turn: &turn, Call: &providers.Call{}, Answer: &providers.Reply{Text: "x"}}}))
		require.Contains(t, b.String(), want)
	}
}
