package transcripts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
)

// The accepted outcomes of a task are listed in words, without credentials.
func TestExpected(t *testing.T) {
	d := &Transcripts{redact: func(_, text string) string { return strings.ReplaceAll(text, "sk-1", "[redacted]") }}
	d.Tasks = []goldens.Task{{ID: "t", Expect: []goldens.Expect{
		{
			Status: "answered", Numbers: []string{"231", "4"}, NotContains: []string{"sk-1"}, MaxSteps: new(3), Near: map[string]string{"info": "7"},
			Trajectory: goldens.Trajectory{Order: goldens.Strict, Required: []goldens.CallMatch{{Tool: "today"}, {Tool: "count", Args: map[string]any{"label": "angry"}}}},
		}, {Status: "clarify"},
	}}}
	require.Equal(t, []string{
		"Status: answered", "Numbers in the answer: 231, 4", `Number near a name: {"info":"7"}`, "Texts not in the answer: [redacted]",
		`Required calls: today, count{"label":"angry"}`, "Order of calls: strict", "Most steps: 3", "Other outcomes that are accepted, too: 1",
	}, d.expected("t"))
	require.Empty(t, d.expected("other"))
}
