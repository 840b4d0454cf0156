package html

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
	"github.com/cupel-eval/cupel/reports/words"
)

// twoWays is a task done with contract, one call a turn, and with plan: a turn of the
// planner, and a step whose turn makes two calls.
func twoWays() (*reporttest.World, DetailOf) {
	w := reporttest.ByAgent("contract", "plan")
	w.M.Tasks = []manifest.Task{{ID: "R01", Title: "two heights"}}
	w.Enter(0, "R01", 1, true, 2)
	w.Enter(1, "R01", 1, false, 3)
	tool := func(k, turn int, name, hash, outcome string) {
		w.Rows.ToolCalls = append(w.Rows.ToolCalls, ledger.ToolCall{Key: w.Rows.Episodes[k].Key, Seq: int32(len(w.Rows.ToolCalls) + 1), Turn: int32(turn), ToolName: name, ArgsHash: hash, Outcome: outcome, DurationUs: 90_000})
	}
	says := func(i int, role, kind, step, action, name string) {
		u := &w.Rows.Turns[i]
		u.Role, u.Kind, u.PlanStep, u.NextActionType, u.NextActionName = role, kind, step, action, name
	}
	says(0, "main", "act", "", "tool", "extract")
	says(1, "main", "act", "", "respond", "")
	says(2, "planner", "plan", "", "plan", "create_task")
	says(3, "step", "act", "read[2]", "tool", "extract")
	says(4, "step", "conclude", "read[2]", "finish", "finish_step")
	tool(0, 1, "extract", "h1", "ok")
	tool(1, 2, "extract", "h1", "ok")
	tool(1, 2, "open", "h2", "error")
	return w, func(e model.Episode) (transcript.Detail, bool) {
		if e.Candidate == "contract" {
			return transcript.Detail{}, false
		}
		return transcript.Detail{System: "You are the planner.", Turns: []transcript.DetailTurn{
			{
				Turn: 1, Prompt: []transcript.Message{{Role: "user", Text: "OBJECTIVE"}}, Calls: []transcript.DetailCall{{Tool: "create_task", Args: `{"title":"<b>heights</b>","steps":[]}`}},
				Updates: []transcript.DetailUpdate{{Phase: "planning", Status: "started", Content: ""}, {Phase: "planning", Status: "success", Content: "1 step"}},
			},
			{
				Turn: 2, Calls: []transcript.DetailCall{{Tool: "extract", Args: `{"id": "alder-point"}`}, {Tool: "open", Args: `{"id":"x"}`}}, Steps: []transcript.DetailStep{
					{Tool: "extract", Args: `{"id":"alder-point"}`, Result: `{"value":41}`, Outcome: "ok"}, {Tool: "open", Args: `{"id":"x"}`, Result: "no such document", Outcome: "error E_NOT_FOUND"},
				},
			},
			{Turn: 3, System: "You work on one step of a plan.", Prompt: []transcript.Message{{Role: "tool", Text: `{"value":41}`}}, Calls: []transcript.DetailCall{{Tool: "finish_step", Args: `{"result":41}`}, {Tool: "finish_step", Args: "not JSON"}}},
		}}, true
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// The transcript shows several calls of a turn, each with its result, and the planner's
// call, the step and the progress.
func TestTranscriptOfAPlan(t *testing.T) {
	w, details := twoWays()
	r := build(w.M, w.Rows)
	v := shown(r.Episodes[1])
	var heads []string
	for _, u := range v.Turns {
		heads = append(heads, words.Join(" | ", u.Where, u.What, u.Calls))
	}
	require.Equal(t, []string{"planner | plans with create_task", "step read[2] | calls extract | → 2 calls: ok 90 ms, open error 90 ms", "step read[2] | conclude: finishes with finish_step"}, heads)

	files := written(t, r, details)
	page := ""
	for name, text := range files {
		if strings.Contains(name, "/tasks/") {
			page = text
		}
	}
	reporttest.Inert(t, page)
	require.NotContains(t, page, "<b>heights</b>")
	text := strings.Join(strings.Fields(tags.ReplaceAllString(page, " ")), " ")
	for _, part := range []string{
		"planner plans with create_task", "calls create_task { &#34;title&#34;: &#34;&lt;b&gt;heights", "planning started planning success: 1 step",
		"calls extract · ok", "calls open · error E_NOT_FOUND", "(a result shown before)", "calls finish_step { &#34;result&#34;: 41 }", "calls finish_step not JSON",
	} {
		require.Contains(t, text, part)
	}
	require.Equal(t, 3, strings.Count(text, "calls extract"), "in two decisions, and once with its result")
	require.Equal(t, 2, strings.Count(page, `class="where"><bdi>step read[2]</bdi>`))
}

// Decisions are compared by their effect, not by the part of a strategy that makes
// them. Here the first turns differ; an equal call would not.
func TestKeysOfDecisionsKnowNoStrategy(t *testing.T) {
	w, _ := twoWays()
	contract, plan := shown(build(w.M, w.Rows).Episodes[0]), shown(build(w.M, w.Rows).Episodes[1])
	require.NotEqual(t, contract.Turns[0].Key, plan.Turns[0].Key)
	require.NotEqual(t, contract.Turns[0].Key, plan.Turns[1].Key, "one call more")
	w.Rows.ToolCalls = w.Rows.ToolCalls[:2]
	require.Equal(t, contract.Turns[0].Key, shown(build(w.M, w.Rows).Episodes[1]).Turns[1].Key)
}
