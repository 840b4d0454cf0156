package transcripts

import (
	"encoding/json"
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
			State: []goldens.StateCheck{
				{Path: "orders.a1", Wants: map[string]any{"is": map[string]any{"paid": true}, "exists": true}},
				{Path: "refunds", Wants: map[string]any{"count": map[string]any{"$gte": json.Number("1")}, "every": map[string]any{"to": "sk-1"}}},
			},
		}, {Status: "clarify"},
	}}}
	require.Equal(t, []string{
		"Status: answered", "Numbers in the answer: 231, 4", "Numbers next to names: info: 7", "Texts not in the answer: [redacted]",
		"Order of calls: strict", `Required calls: today, count: {label: "angry"}`, "At most: steps: 3",
		"State: orders.a1 is {paid: true}", "State: orders.a1 exists: true", "State: number of entries of refunds: at least 1", `State: each entry of refunds is {to: "[redacted]"}`,
		"Other outcomes that are accepted, too: 1",
	}, d.expected("t"))
	require.Empty(t, d.expected("other"))
}
