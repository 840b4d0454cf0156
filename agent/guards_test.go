package agent

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// A reply after the deadline does not count.
func TestRepliesAfterTheDeadline(t *testing.T) {
	for name, r := range map[string]providers.Reply{
		"an answer":      saying(`{"n":1}`),
		"a wrong answer": saying("one"),
		"nothing":        saying(""),
		"a refusal":      {Refusal: "No.", Finish: providers.FinishRefusal},
		"a call":         lookup("x"),
		"the final call": calling(finalTool, `{"n":1}`),
		"giving up":      calling("cannot_proceed", `{"reason":"r"}`),
	} {
		t.Run(name, func(t *testing.T) {
			p := Params{Tools: testTools(t), AnswerSchema: json.RawMessage(`{"type":"object","required":["n"]}`), FinalRetries: new(0), Budgets: guard.Budgets{MaxTime: time.Second}}
			m, err := New("tools", p, nil)
			require.NoError(t, err)
			m.Step(Started{At: testStart})
			ready := m.Step(ModelReplied{At: testStart.Add(time.Second), ID: 1, Reply: r})
			require.Equal(t, MaxSeconds, ready.Commands[0].(Finish).StopReason)
		})
	}
}

// No pause comes before items that will not start.
func TestSpentBatchesDoNotWait(t *testing.T) {
	p := Params{Inputs: []strategy.Input{{Name: "i", Value: []byte(`[1,2]`)}}, Each: "i", Batch: strategy.Batch{Delay: time.Minute}}
	p.Budgets.MaxSteps = 1
	r := runTools(t, p, nil, lookup("x"))
	require.Equal(t, MaxSteps, r.finish.StopReason)
	require.Len(t, r.asked, 1)
}

func TestClarifiedBatch(t *testing.T) {
	p := Params{Inputs: []strategy.Input{{Name: "i", Value: []byte(`[1]`)}}, Each: "i"}
	r := runTools(t, p, nil, calling("ask_user", `{"question":"Which?"}`), saying("1"))
	require.Equal(t, Finish{Status: answeredAfterClarify, Answer: `["1"]`}, r.finish)
}

// After a successful tool call, an answer does not count as an error.
func TestPlanAnswersAfterASuccessfulCall(t *testing.T) {
	badDate := func(p *Params) { p.Request = "Angry on 2026-02-30?" }
	_, _, f := playPlan(t, badDate, map[string][]any{"": {reply("", planCall(stepA))}, "a": {reply("", `search {"query":"x"}`), "The start date is not valid."}})
	require.Equal(t, Answered, f.Status)
}

// The fallback model is called only for the turn that the provider refused.
func TestPlannerFallback(t *testing.T) {
	fallback := func(p *Params) { p.Fallback = true }
	_, _, f := playPlan(t, fallback, map[string][]any{"": {errors.New("down")}})
	require.Equal(t, Failed, f.Status)
	s, m, _ := playPlan(t, fallback, map[string][]any{"": {refused{errors.New("full")}, "no plan", reply("", planCall(stepA))}, "a": {"1"}})
	require.Equal(t, []string{"", turn.RoleFallback, ""}, []string{s.models[0].Whom, s.models[1].Whom, s.models[2].Whom})
	require.Equal(t, 2, m.attempt, "the second model continues with the attempt of the first")
}

// A step fails if its list has too many items.
func TestProcessBounds(t *testing.T) {
	p := Params{Tools: testTools(t), Inputs: []strategy.Input{{Name: "lights", Value: json.RawMessage(`[` + strings.Repeat("1,", maxItems) + `1]`)}}}
	each := `{"id":"each","instructions":"tell","depends_on":["lights"],"mode":"process"}`
	m, err := New("plan", p, nil)
	require.NoError(t, err)
	m.Step(Started{At: testStart})
	f := m.Step(ModelReplied{At: testStart, ID: 1, Reply: reply("", planCall(each))}).Commands[0].(Finish)
	require.Equal(t, stoppedFailedStep, f.StopReason)
	require.Contains(t, f.Answer, "1001 items; at most 1000")
}

// A step without room for more than its instructions receives the request to conclude after them.
func TestConcludesImmediately(t *testing.T) {
	s, m, _ := playPlan(t, func(p *Params) { p.Plan.ContextTokens = 1 }, map[string][]any{"": {reply("", planCall(stepA))}, "a": {"1"}})
	messages := s.models[1].Call.Messages
	require.Len(t, messages, 2)
	require.NotContains(t, messages[0].Text, tellConclude)
	require.Equal(t, tellConclude, messages[1].Text)
	require.Equal(t, plan.Done, m.progress.State("a"))
}

// A duplicate call does not make a turn a different one.
func TestRepetitionWithDuplicates(t *testing.T) {
	twice := calling("search", `{"query":"x"}`, "search", `{"query":"x"}`)
	slow := map[string]tool.Result{"search": {Outcome: tool.OK, Value: json.RawMessage("1"), Duration: time.Second}}
	r := runTools(t, Params{}, slow, lookup("x"), twice)
	require.Equal(t, turn.KindReflect, r.asked[2].Kind)
	for _, c := range r.run[1:] {
		require.True(t, c.Deduped)
		require.Zero(t, c.Given.Duration)
	}
}

// An outcome with an earlier time does not turn the clock back.
func TestTimeGoesForward(t *testing.T) {
	m, err := New("tools", Params{Tools: testTools(t)}, nil)
	require.NoError(t, err)
	m.Step(Started{At: testStart})
	calls := m.Step(ModelReplied{At: testStart.Add(2 * time.Second), ID: 1, Reply: lookup("x")}).Commands
	m.Step(ToolReturned{At: testStart.Add(time.Second), ID: calls[0].(CallTool).ID})
	require.Equal(t, testStart.Add(2*time.Second), m.(*toolsMachine).Now())
}
