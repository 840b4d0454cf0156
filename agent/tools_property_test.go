package agent

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// drawToolsReply returns a random reply: text, calls, both or neither.
func drawToolsReply(t *rapid.T) providers.Reply {
	r := providers.Reply{Finish: rapid.SampledFrom([]providers.Finish{providers.FinishTools, providers.FinishStop, providers.FinishLength}).Draw(t, "finish")}
	if rapid.IntRange(0, 3).Draw(t, "says") == 0 {
		r.Text = rapid.SampledFrom(append(hostileReplies, `{"n":1}`, "Done.", "Thought: x\nAction: search\nAction Input: {\"query\":\"a\"}", "Final Answer: 1")).Draw(t, "text")
	}
	for range rapid.IntRange(0, 4).Draw(t, "calls") {
		c := rapid.SampledFrom([]providers.ToolCall{
			{Name: "search", Args: `{"query":"a"}`}, {Name: "search", Args: `{"query":"b"}`}, {Name: "search", Args: `{ "query" : "a" }`},
			{Name: "get_job_status", Args: `{"id":"1"}`}, {Name: "today_range", Args: "{}"}, {Name: "search", Args: `{"q":1}`}, {Name: "search", Args: `{"query`},
			{Name: "nosuch", Args: `{}`}, {Name: "", Args: ""}, {Name: "bad name\n", Args: "[]"},
			{Name: "ask_user", Args: `{"question":"?"}`}, {Name: "ask_user", Args: `{}`}, {Name: "cannot_proceed", Args: `{}`},
			{Name: "format_final_json_response", Args: `{"n":"x"}`}, {Name: "format_final_json_response", Args: `{"n":1}`},
		}).Draw(t, "call")
		c.ID = rapid.SampledFrom([]string{"", "a", "b", "call_t1_1", "call_1"}).Draw(t, "id")
		r.Calls = append(r.Calls, c)
	}
	r.Usage = providers.Usage{Output: int64(rapid.IntRange(0, 30).Draw(t, "tokens")), Reported: rapid.IntRange(0, 20).Draw(t, "reported") > 0}
	return r
}

func drawToolsParams(t *rapid.T, tools *tool.Set) Params {
	p := Params{Request: "r", Tools: tools, Budgets: guard.Budgets{
		MaxSteps:     rapid.SampledFrom([]int{0, 1, 5, 12}).Draw(t, "max_steps"),
		MaxToolCalls: rapid.IntRange(0, 6).Draw(t, "max_tool_calls"),
		MaxTime:      time.Duration(rapid.SampledFrom([]int{0, 20, 60}).Draw(t, "max_seconds")) * time.Second,
		MaxTokens:    int64(rapid.SampledFrom([]int{0, 0, 50, 200}).Draw(t, "max_tokens")),
	}}
	p.Profile = rapid.SampledFrom([]string{"", "native", "react"}).Draw(t, "profile")
	p.MaxIterations = rapid.IntRange(0, 5).Draw(t, "max_iterations")
	p.Fallback = rapid.Bool().Draw(t, "fallback")
	if rapid.Bool().Draw(t, "answer_schema") {
		p.AnswerSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
		p.FinalRetries = new(rapid.IntRange(0, 3).Draw(t, "final_retries"))
	}
	if rapid.IntRange(0, 2).Draw(t, "batch") == 0 {
		p.Inputs, p.Each = []strategy.Input{{Name: "items", Value: []byte(`[1,2,3,4,5]`)}}, "items"
		p.Batch = strategy.Batch{Size: rapid.IntRange(0, 3).Draw(t, "size"), StopOnFail: rapid.Bool().Draw(t, "stop_on_fail"), Delay: time.Duration(rapid.IntRange(0, 2).Draw(t, "delay")) * time.Second}
	}
	return p
}

// toolsWitness checks an episode of the strategy tools.
type toolsWitness struct {
	params Params
	used   guard.Used
	lastID int
	open   map[int]Command
	order  []int // of open
}

// saw takes the commands of a Step and reports the end.
func (w *toolsWitness) saw(t *rapid.T, commands []Command) (Finish, bool) {
	for i, c := range commands {
		if f, ok := c.(Finish); ok {
			require.Equal(t, 0, i)
			require.Len(t, commands, 1)
			return f, true
		}
		id := commandID(c)
		require.Equal(t, w.lastID+1, id, "ids count up")
		w.lastID = id
		w.open[id] = c
		w.order = append(w.order, id)
		if m, ok := c.(CallModel); ok {
			checkConversation(t, w.params, m.Call)
		}
	}
	b, reserved := w.params.Budgets, w.used
	for _, c := range w.open {
		switch c := c.(type) {
		case CallModel:
			reserved.Steps++
		case CallTool:
			if c.Given == nil {
				reserved.ToolCalls++
			}
		}
	}
	require.True(t, b.MaxSteps == 0 || reserved.Steps <= b.MaxSteps, "a model call beyond the budget")
	require.True(t, b.MaxToolCalls == 0 || reserved.ToolCalls <= b.MaxToolCalls, "a tool call beyond the budget")
	require.NotEmpty(t, w.open, "the machine waits for nothing")
	return Finish{}, false
}

// checkConversation: every call is answered once, in request order, before anything
// else is said; ids are unique; nothing is empty.
func checkConversation(t *rapid.T, p Params, c providers.Call) {
	var waiting []providers.ToolCall
	ids := map[string]bool{}
	for _, m := range c.Messages {
		require.True(t, m.Text != "" || len(m.Calls) > 0, "an empty message")
		if m.Role == providers.RoleTool {
			require.NotEmpty(t, waiting, "an answer to no call")
			require.Equal(t, waiting[0].ID, m.CallID)
			require.Equal(t, waiting[0].Name, m.Name)
			require.NotEmpty(t, m.Text)
			require.True(t, json.Valid([]byte(m.Text)))
			waiting = waiting[1:]
			continue
		}
		require.Empty(t, waiting, "a call without an answer")
		for _, call := range m.Calls {
			require.False(t, ids[call.ID] || call.ID == "", "id %q", call.ID)
			require.Regexp(t, `^[A-Za-z0-9_-]{1,64}$`, call.Name)
			ids[call.ID] = true
		}
		waiting = m.Calls
	}
	require.Empty(t, waiting, "a call without an answer")
	last := c.Messages[len(c.Messages)-1].Role
	require.NotEqual(t, providers.RoleAssistant, last)
	if p.Profile == profileReact {
		require.Empty(t, c.Tools)
		require.Empty(t, ids)
	}
}

// end returns the driver's event for one of the outstanding commands.
func (w *toolsWitness) end(t *rapid.T, at time.Time) Event {
	i := rapid.IntRange(0, len(w.order)-1).Draw(t, "which")
	id := w.order[i]
	w.order = append(w.order[:i:i], w.order[i+1:]...)
	c := w.open[id]
	delete(w.open, id)
	switch c := c.(type) {
	case CallModel:
		w.used.Steps++
		if rapid.IntRange(0, 20).Draw(t, "fail") == 0 {
			return ModelFailed{At: at, ID: id, Err: fmt.Errorf("down"), Answered: rapid.IntRange(0, 4).Draw(t, "answered") > 0}
		}
		r := drawToolsReply(t)
		w.used.Tokens += r.Usage.Total()
		return ModelReplied{At: at, ID: id, Reply: r, CostNanoUSD: new(int64(1))}
	case CallTool:
		if c.Given != nil {
			return ToolReturned{At: at, ID: id, Result: *c.Given}
		}
		w.used.ToolCalls++
		return ToolReturned{At: at, ID: id, Result: drawResult(t)}
	case AskUser:
		return UserReplied{At: at, ID: id, Text: "x", Silent: rapid.IntRange(0, 3).Draw(t, "silent") == 0}
	case Wait:
		return Waited{At: at.Add(c.For), ID: id}
	}
	panic("no event for a terminal command")
}

// With random replies and orders of outcomes, every call id is answered once and in order before the
// next model call, budgets are kept, one Finish ends the episode, and the same events give the same
// commands.
func TestRandomToolsEpisodes(t *testing.T) {
	tools := testTools(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := drawToolsParams(rt, tools)
		m, err := New("tools", p, nil)
		require.NoError(rt, err)
		again, err := New("tools", p, nil)
		require.NoError(rt, err)
		w := &toolsWitness{params: p, open: map[int]Command{}}
		at := testStart
		var ev Event = Started{At: at}
		for range 2000 {
			ready := m.Step(ev)
			require.Equal(rt, ready, again.Step(ev), "deterministic")
			_, replied := ev.(ModelReplied)
			require.Equal(rt, replied, ready.Judgement != nil)
			if replied {
				checkToolsJudgement(rt, *ready.Judgement)
			}
			require.Equal(rt, w.used.Steps, ready.Used.Steps)
			require.Equal(rt, w.used.ToolCalls, ready.Used.ToolCalls)
			require.Equal(rt, w.used.Tokens, ready.Used.Tokens)
			if f, over := w.saw(rt, ready.Commands); over {
				checkToolsFinish(rt, p, w, f)
				require.Panics(rt, func() { m.Step(Cancelled{At: at}) })
				return
			}
			at = at.Add(time.Duration(rapid.IntRange(0, 3).Draw(rt, "seconds")) * time.Second)
			ev = w.end(rt, at)
		}
		rt.Fatalf("no end in sight after %d steps", w.used.Steps)
	})
}

func checkToolsJudgement(t *rapid.T, j Judgement) {
	require.Equal(t, len(j.Violations) == 0, j.ContractValid)
	require.True(t, !j.ContractValid || j.ValidJSON && j.Actionable, "%+v", j)
	require.True(t, j.Actionable || len(j.Violations) > 0, "%+v", j)
	require.True(t, j.Actionable == false || j.ActionType != "", "%+v", j)
}

func checkToolsFinish(t *rapid.T, p Params, w *toolsWitness, f Finish) {
	require.Equal(t, f.Status == Stopped, f.StopReason != "")
	require.Equal(t, f.Status == Failed, f.Err != nil)
	switch f.Status {
	case Answered, answeredAfterClarify:
		require.NotEmpty(t, f.Answer)
	}
	if p.Each != "" && (f.Status == Answered || f.StopReason == MaxSteps) {
		var items []json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(f.Answer), &items))
		require.Len(t, items, 5)
	}
	if f.StopReason == MaxSteps {
		require.GreaterOrEqual(t, w.used.Steps, p.Budgets.MaxSteps)
	}
	if f.Status == Answered && p.AnswerSchema != nil && p.Each == "" {
		require.Regexp(t, `^\{"n":1\}$`, f.Answer)
	}
}
