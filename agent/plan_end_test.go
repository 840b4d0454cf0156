package agent

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// An input with the name of an added step is not the result of that step.
func TestAnswerIsOfTheLastStep(t *testing.T) {
	_, _, f := playPlan(t, func(p *Params) {
		p.Inputs = []strategy.Input{{Name: "aggregate", Value: json.RawMessage(`"all is well"`)}}
	}, map[string][]any{
		"": {reply("", planCall(bareStep("a"), bareStep("b")))}, "a": {"1"}, "b": {"", "", ""},
	})
	require.Equal(t, stoppedFailedStep, f.StopReason)
	_, _, f = playPlan(t, func(p *Params) {
		p.Inputs = []strategy.Input{{Name: "aggregate", Value: json.RawMessage(`"all is well"`)}}
	}, twoSteps("1", "2"))
	require.Equal(t, Finish{Status: Answered, Answer: "both"}, f)
}

// Every call has a unique id, whatever ids the provider returns.
func TestPlannerCallIDs(t *testing.T) {
	bad := reply("", "create_task {}", "create_task {}", "create_task {}")
	bad.Calls[0].ID, bad.Calls[1].ID, bad.Calls[2].ID = "plan_1_2", "", "plan_1_2"
	again := reply("", "create_task {}")
	again.Calls[0].ID = "plan_1_2"
	s, _, _ := playPlan(t, nil, map[string][]any{"": {bad, again, reply("", planCall(stepA))}, "a": {"1"}})
	seen := map[string]bool{}
	for _, m := range s.models[2].Call.Messages {
		for _, c := range m.Calls {
			require.False(t, seen[c.ID], c.ID)
			seen[c.ID] = true
		}
	}
	require.Len(t, seen, 4)
	answeredCalls(t, s.models[2].Call.Messages)
}

// outstanding is an episode with three steps in progress: a model call and two tool calls of a, a
// model call of b, and an item of each.
func outstanding(t *testing.T, change func(*Params)) (m Machine, at time.Time) {
	p := planParams(t)
	p.Inputs = []strategy.Input{{Name: "lights", Value: json.RawMessage(`["x","y","z"]`)}}
	if change != nil {
		change(&p)
	}
	m, err := New("plan", p, nil)
	require.NoError(t, err)
	at = testStart.Add(time.Second)
	m.Step(Started{At: testStart})
	each := `{"id":"each","instructions":"tell","depends_on":["lights"],"mode":"process","per_item_instructions":"tell of {item}"}`
	begun := m.Step(ModelReplied{At: at, ID: 1, Reply: reply("", planCall(bareStep("a"), bareStep("b"), bareStep("done"), each))}).Commands
	require.Len(t, begun, 6, "three steps and three items of a fourth")
	m.Step(ModelReplied{At: at, ID: begun[2].(CallModel).ID, Reply: reply("seven")})
	require.Len(t, m.Step(ModelReplied{At: at, ID: begun[0].(CallModel).ID, Reply: reply("", `search {"query":"x"}`, `search {"query":"y"}`)}).Commands, 2)
	return m, at
}

// The deadline, or a stopped run, ends and counts all commands in flight and keeps the results.
func TestPlanEndsWhereItIs(t *testing.T) {
	for name, test := range map[string]struct {
		event func(time.Time) Event
		want  Finish
	}{
		"deadline":  {func(at time.Time) Event { return Deadline{At: at} }, Finish{Status: Stopped, StopReason: MaxSeconds, Answer: `done: "seven"`}},
		"cancelled": {func(at time.Time) Event { return Cancelled{At: at} }, Finish{Status: Interrupted}},
	} {
		t.Run(name, func(t *testing.T) {
			m, at := outstanding(t, nil)
			ready := m.Step(test.event(at.Add(time.Minute)))
			require.Equal(t, []Command{test.want}, ready.Commands)
			require.Nil(t, ready.Judgement)
			require.Equal(t, 7, ready.Used.Steps, "the planner, a, b, done and three items")
			require.Equal(t, 2, ready.Used.ToolCalls)
			require.Equal(t, time.Minute+time.Second, ready.Used.Elapsed)
			require.Panics(t, func() { m.Step(ModelReplied{At: at, ID: 3}) }, "nothing is awaited any more")
		})
		t.Run(name+" while planning", func(t *testing.T) {
			m, err := New("plan", planParams(t), nil)
			require.NoError(t, err)
			m.Step(Started{At: testStart})
			m.Step(ModelReplied{At: testStart, ID: 1, Reply: reply("I think")})
			f := m.Step(test.event(testStart.Add(time.Minute))).Commands[0].(Finish)
			require.Equal(t, test.want.Status, f.Status)
			require.Equal(t, map[Status]string{Stopped: "I think"}[f.Status], f.Answer)
		})
	}
}

// A provider's failure in one of several parallel steps ends the episode immediately with its error.
func TestFailureEndsParallelSteps(t *testing.T) {
	m, at := outstanding(t, nil)
	down := errors.New("down")
	ready := m.Step(ModelFailed{At: at, ID: 3, Err: down, Answered: true})
	require.Equal(t, []Command{Finish{Status: Failed, Answer: `done: "seven"`, Err: down}}, ready.Commands)
}

// While one step uses the fallback model, the others use the first model.
func TestFallbackOfOneStep(t *testing.T) {
	s, _, f := playPlan(t, func(p *Params) { p.Fallback = true }, map[string][]any{
		"":  {reply("", planCall(bareStep("a"), bareStep("b")))},
		"a": {refused{errors.New("full")}, reply("", `search {"query":"x"}`), "1"}, "b": {"2"}, "aggregate": {"both"},
	})
	require.Equal(t, "both", f.Answer)
	var asked []string
	for _, c := range s.models {
		require.Contains(t, []string{turn.RolePlanner, turn.RoleStep}, c.Role)
		asked = append(asked, c.Step+":"+c.Whom)
	}
	require.Equal(t, []string{":", "a:", "b:", "a:fallback", "a:", "aggregate:"}, asked)
}

// Parallel steps share the budget of tool calls in the order of their requests, and each further
// call is answered.
func TestPlanSharesBudgets(t *testing.T) {
	s, _, f := playPlan(t, func(p *Params) { p.Budgets.MaxToolCalls = 3 }, map[string][]any{
		"": {reply("", planCall(bareStep("a"), bareStep("b")))}, "aggregate": {"both"},
		"a": {reply("", `search {"query":"1"}`, `search {"query":"2"}`), "1"}, "b": {reply("", `search {"query":"3"}`, `search {"query":"4"}`), "2"},
	})
	require.Equal(t, "both", f.Answer)
	var refusedCalls []string
	for _, c := range s.tools {
		if c.Given != nil {
			require.Equal(t, codeBudget, c.Given.Code)
			refusedCalls = append(refusedCalls, string(c.Call.Args))
		}
	}
	require.Equal(t, []string{`{"query":"4"}`}, refusedCalls)
	require.Len(t, s.tools, 4)
}

// If tokens or cost are capped, unknown usage counts as the whole cap, also for plans and batches.
// Without a cap it does not matter.
func TestUnknownUse(t *testing.T) {
	silent := reply("", planCall(stepA))
	silent.Usage = providers.Usage{}
	for name, test := range map[string]struct {
		change func(*Params)
		want   StopReason
	}{
		"tokens":   {func(p *Params) { p.Budgets.MaxTokens = 1 << 40 }, MaxTokens},
		"cost":     {func(p *Params) { p.Budgets.MaxCostNanoUSD = 1 << 40 }, MaxCost},
		"uncapped": {func(*Params) {}, ""},
	} {
		for kind, first := range map[string]providers.Reply{"plan": silent, "tools": lookup("x"), "batch": saying("one")} {
			t.Run(name+" of "+kind, func(t *testing.T) {
				p := planParams(t)
				test.change(&p)
				if kind == "batch" {
					p.Inputs, p.Each, kind = []strategy.Input{{Name: "i", Value: json.RawMessage(`[1,2]`)}}, "i", "tools"
				}
				m, err := New(kind, p, nil)
				require.NoError(t, err)
				m.Step(Started{At: testStart})
				ready := m.Step(ModelReplied{At: testStart, ID: 1, Reply: first})
				require.True(t, ready.Used.TokensUnknown && ready.Used.CostUnknown)
				if c, ok := ready.Commands[0].(CallTool); ok {
					ready = m.Step(ToolReturned{At: testStart, ID: c.ID})
				}
				if f, ok := ready.Commands[0].(Finish); ok {
					require.Equal(t, Stopped, f.Status)
					require.Equal(t, test.want, f.StopReason)
					return
				}
				require.Empty(t, test.want)
			})
		}
	}
}
