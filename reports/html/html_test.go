package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
	"github.com/cupel-eval/cupel/reports/view"
)

func TestTranscriptOfATroubledEpisode(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(1, "G01", false, 4, func(e *ledger.Episode, turns []ledger.Turn) {
		in, out, nano, conf := int64(1200), int64(80), int64(180_000), 0.9
		e.Status, e.StopReason, e.Answer = "stopped", "thrash", "never sent"
		e.Checks = []ledger.Check{{Name: "status", Passed: true}, {Name: "numbers", Detail: "want 4, found 5"}, {Name: "steps", Detail: "want ≤ 3, found 4"}}
		turns[0].NextActionType, turns[0].NextActionName = "tool", "get_counts"
		turns[0].In, turns[0].Out, turns[0].CostNanoUSD, turns[0].Confidence = &in, &out, &nano, &conf
		turns[0].DurationUs, turns[0].Interaction, turns[0].Cassette, turns[0].Attempts, turns[0].Warnings = new(int64(420_000)), 0, "a/G01/1.yaml", 2, []string{"plan_long"}
		turns[1].ContractValid, turns[1].Repaired, turns[1].Violations, turns[1].Kind = false, true, []string{"not_json:fenced"}, "reflect"
		turns[2].Role, turns[2].Kind, turns[2].ErrorKind = "rescue", "rescue", "timeout"
		turns[3].Thrash, turns[3].Stall, turns[3].ContractValid = true, true, false
	})
	key := w.Rows.Episodes[0].Key
	w.Rows.ToolCalls = []ledger.ToolCall{
		{Key: key, Seq: 1, Turn: 1, ToolName: "get_counts", ArgsHash: "h1", Outcome: "ok", DurationUs: 90_000},
		{Key: key, Seq: 2, Turn: 1, ToolName: "other", ArgsHash: "h2", Outcome: "error", ErrorCode: "E_UPSTREAM", DurationUs: 1_500_000},
		{Key: key, Seq: 3, Turn: 1, ToolName: "get_counts", Outcome: "ok", Deduped: true},
		{Key: key, Seq: 4, Turn: 1, ToolName: "get_counts", ArgsHash: "h1", Outcome: "error", ErrorCode: "E_CIRCUIT_OPEN", CircuitOpen: true},
	}
	v := shown(build(w.M, w.Rows).Episodes[0])
	require.Equal(t, transcript.Episode{
		Anchor: "ep-e0", Task: "G01", Candidate: "a", Trial: 1, Class: "x", Sign: "✗", Answer: "never sent", Source: "Cassette a/G01/1.yaml",
		Outcome: "not solved", Facts: "trial 1 · stopped: thrash · 4 steps · cost unknown · 0 ms",
		Checks: []string{"Expected 4, found 5 (numbers)", "Expected ≤ 3, found 4 (steps)"},
		Turns: []transcript.Turn{
			{N: 1, Key: "tool get_counts " + transcript.Digest("get_countsh1 otherh2 get_counts get_countsh1"), What: "calls get_counts", Trouble: "", Calls: "→ 4 calls: ok 90 ms, other E_UPSTREAM 1.50 s, ok, answered from cache, E_CIRCUIT_OPEN, circuit open",
				Facts: "420 ms · 1,200 in, 80 out · $0.000180 · confidence 0.90 · 2 attempts · 1 warning", Where: "", Said: nil},
			{N: 2, Key: "reflect", What: "reflect: no action", Trouble: "invalid, repaired · not_json:fenced", Calls: "", Facts: "", Where: "", Said: nil},
			{N: 3, Key: "rescue", What: "rescue: no action", Trouble: "no reply: timeout", Calls: "", Facts: "", Where: "", Said: nil},
			{N: 4, Key: "no action", What: "no action", Trouble: "invalid · thrash · stall", Calls: "", Facts: "", Where: "", Said: nil},
		},
	}, v)
}

// shown returns an episode's transcript as it is on the page.
func shown(e model.Episode) transcript.Episode {
	v := e.Kept.View
	v.Anchor = e.Anchor
	return v
}

func TestTranscriptIsBounded(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(1, "t", true, 500, func(e *ledger.Episode, turns []ledger.Turn) {
		e.Answer = strings.Repeat("long ", 1000)
		for i := range turns {
			turns[i].Violations = make([]string, 300)
		}
	})
	for i := range 300 {
		w.Rows.ToolCalls = append(w.Rows.ToolCalls, ledger.ToolCall{Key: w.Rows.Episodes[0].Key, Seq: int32(i), Turn: 1, ToolName: "x", Outcome: "ok"})
	}
	v := shown(build(w.M, w.Rows).Episodes[0])
	require.Equal(t, "→ 300 calls: 8 × x ok, 292 more calls", v.Turns[0].Calls)
	require.Len(t, v.Turns, transcript.MaxTurns)
	require.Equal(t, "440 more turns are in the ledger.", v.More)
	require.Contains(t, v.Turns[0].Calls, "292 more calls")
	require.Less(t, len(v.Answer), 300)
}

func TestFailureList(t *testing.T) {
	w := reporttest.NewWorld("a", "b")
	w.Add(maxFailures+5, "t", false, 1, func(e *ledger.Episode, _ []ledger.Turn) {
		e.Checks = []ledger.Check{{Name: "numbers", Detail: "want 4"}}
	})
	w.Add(1, "t", true, 1, nil)
	r := build(w.M, w.Rows)
	views := failureViews(r, view.Sections(r, nil)[0].Unsolved, nil)
	require.Len(t, views, 1, "a candidate without failures has no block")
	require.Equal(t, "105 episodes not solved", views[0].Count)
	require.Len(t, views[0].Items, maxFailures)
	require.Equal(t, "and 5 more, in the ledger", views[0].More)
	require.False(t, views[0].Open)
	require.Equal(t, "numbers: want 4", views[0].Items[0].Why)
}
