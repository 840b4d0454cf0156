package imports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// Each demand of a task passes and fails by what an episode has. Where it has nothing, the demand
// does neither, whatever the others say.
func TestScoreOfImports(t *testing.T) {
	text := func(s string) *string { return &s }
	whole := texts{
		Answer: text("Seven."), Calls: []callTexts{{Args: text(`{"a":1}`)}},
		Turns: []Said{{Messages: []Message{{Role: "user", Text: "How many?"}}, Calls: []Proposal{{Name: "x_count", Args: `{"a":1}`}, {Name: "drop", Args: `{}`}}}, {Output: text("Seven.")}},
	}
	bare := texts{Calls: []callTexts{{}}, Turns: []Said{{}, {}}}
	count := goldens.CallMatch{Tool: "count"}
	for name, c := range map[string]struct {
		meets, fails goldens.Expect // fails is not met by the whole episode
		absent       string         // in the bare episode
		never        bool           // absent in the whole one, too
	}{
		"status":     {meets: goldens.Expect{Status: "answered"}},
		"clarify":    {meets: goldens.Expect{Status: "clarify"}, absent: "status", never: true},
		"numbers":    {meets: goldens.Expect{ContainsAny: []string{"seven"}}, fails: goldens.Expect{ContainsAny: []string{"eight"}}, absent: "answer"},
		"not said":   {meets: goldens.Expect{NotContains: []string{"eight"}}, fails: goldens.Expect{NotContains: []string{"seven"}}, absent: "answer"},
		"none":       {meets: goldens.Expect{OnlyNumbers: []string{}}, absent: "answer"},
		"clarifies":  {meets: goldens.Expect{MaxClarifies: new(int)}, absent: "max_clarifies"},
		"steps":      {meets: goldens.Expect{MaxSteps: new(2)}, fails: goldens.Expect{MaxSteps: new(1)}},
		"calls":      {meets: goldens.Expect{Trajectory: goldens.Trajectory{Required: []goldens.CallMatch{count}}}, fails: goldens.Expect{Trajectory: goldens.Trajectory{Required: []goldens.CallMatch{{Tool: "other"}}}}, absent: "trajectory"},
		"forbidden":  {meets: goldens.Expect{Trajectory: goldens.Trajectory{Forbidden: []goldens.CallMatch{{Tool: "other"}}}}, fails: goldens.Expect{Trajectory: goldens.Trajectory{Forbidden: []goldens.CallMatch{{Tool: "drop"}}}}, absent: "trajectory"},
		"state":      {meets: goldens.Expect{State: []goldens.StateCheck{{}}}, absent: "state", never: true},
		"unchanged":  {meets: goldens.Expect{Unchanged: []string{"."}}, absent: "unchanged", never: true},
		"state_hash": {meets: goldens.Expect{StateHash: "00"}, absent: "state_hash", never: true},
		"table":      {meets: goldens.Expect{TableLabel: "angry"}, absent: "answer_table", never: true},
		"signals":    {meets: goldens.Expect{Signals: map[string]string{"stall": "false"}}, absent: "signal", never: true},
		"stopped":    {meets: goldens.Expect{StopReason: "max_steps"}, absent: "stop_reason", never: true},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(e goldens.Expect, said texts) (solved, decided bool, last string) {
				if e.Status == "" {
					e.Status = "answered"
				}
				rows := &ledger.EpisodeRows{}
				o := goldens.Outcome{Status: "answered", Steps: 2, Calls: []goldens.Called{{Call: tool.Call{Name: "x_count", Args: []byte(`{"a":1}`)}, Outcome: tool.OK}}}
				if said.Answer != nil {
					o.Answer = *said.Answer
				}
				o = outcome(rows, said, o, []string{"count", "drop", "other"})
				solved, decided, checks := score(goldens.Task{Expect: []goldens.Expect{e}}, o, said, false)
				return solved, decided, checks[len(checks)-1].Name
			}
			solved, decided, last := run(c.meets, whole)
			require.Equal(t, []bool{!c.never, !c.never}, []bool{solved, decided})
			if c.never {
				require.Equal(t, c.absent, last)
			}
			solved, decided, last = run(c.meets, bare)
			if c.absent == "" {
				require.True(t, solved && decided)
			} else {
				require.False(t, solved || decided)
				require.Equal(t, c.absent, last)
			}
			if c.fails.Status = "answered"; len(c.fails.Parts()) > 1 {
				solved, decided, _ = run(c.fails, whole)
				require.True(t, !solved && decided)
			}
		})
	}
	e := goldens.Expect{Status: "answered", ContainsAny: []string{"eight"}, State: []goldens.StateCheck{{}}}
	o := goldens.Outcome{Status: "answered", Answer: "Seven."}
	solved, decided, _ := score(goldens.Task{Expect: []goldens.Expect{e}}, o, whole, false)
	require.True(t, !solved && decided, "it fails whatever the state was")
	solved, decided, checks := score(goldens.Task{Expect: []goldens.Expect{{Status: "answered"}}}, o, whole, true)
	require.False(t, solved || decided, "it may have done harm")
	require.Equal(t, "harm", checks[1].Name)
}
