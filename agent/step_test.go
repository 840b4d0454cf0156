package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

func oneTool(t testing.TB, name string) *tool.Set {
	set, err := tool.NewSet([]tool.Spec{{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}})
	require.NoError(t, err)
	return set
}

func TestStepEnd(t *testing.T) {
	object := `{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"],"additionalProperties":false}`
	tests := []struct {
		name, schema, text string
		called             bool
		want, code         string
	}{
		{"a call", object, `{"result":{"summary":"s"}}`, true, `{"summary":"s"}`, ""},
		{"more than a result", object, `{"result":{"summary":"s"},"note":1}`, true, `{"summary":"s"}`, ""},
		{"no result", object, `{"summary":"s"}`, true, "", violationNoResult},
		{"no object", object, `"s"`, true, "", violationNotJSON},
		{"no JSON", object, `{`, true, "", violationNotJSON},
		{"null where it fits", `{"type":["null","string"]}`, `{"result":null}`, true, `null`, ""},
		{"null where it does not", object, `{"result":null}`, true, "", violationStep},
		{"B017 completed, in a fence", object, "```json\n{\"status\":\"completed\",\"result\":{\"summary\":\"s\"}}\n```", false, `{"summary":"s"}`, ""},
		{"completed, after thinking", object, `<think>{"summary":"draft"}</think>{"status":"completed","result":{"summary":"s"}}`, false, `{"summary":"s"}`, ""},
		{"bare", object, `{"summary":"s"}`, false, `{"summary":"s"}`, ""},
		{"bare between words", object, `Here: {"summary":"s"}.`, false, `{"summary":"s"}`, ""},
		{"bare list", `{"type":"array","items":{"type":"number"}}`, ` [1,2] `, false, `[1,2]`, ""},
		{"B018 completed without a result", object, `{"status":"completed"}`, false, "", violationNoResult},
		{"B019 completed with a wrong one", object, `{"status":"completed","result":{"summary":1}}`, false, "", violationStep},
		{"in progress", object, `{"status":"running","result":{"summary":"s"}}`, false, "", violationStep},
		{"prose", object, `I will look it up.`, false, "", violationNoFinish},
		{"a schema with a status of its own", `{"type":"object","properties":{"status":{"type":"string"}},"required":["status"],"additionalProperties":false}`, `{"status":"completed"}`, false, `{"status":"completed"}`, ""},
		{"B023 any object", `{}`, `{"result":{"a":[1]}}`, true, `{"a":[1]}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result, err := plan.NewResult(json.RawMessage(test.schema))
			require.NoError(t, err)
			value, faults := stepEnd{result: result}.check(test.text, test.called)
			require.Equal(t, test.want, string(value))
			if test.code == "" {
				require.Empty(t, faults)
				return
			}
			require.Len(t, faults, 1)
			require.Equal(t, test.code, faults[0].Code)
		})
	}
	result, err := plan.NewResult(json.RawMessage(`{"type":["array","null"]}`))
	require.NoError(t, err)
	_, faults := stepEnd{result, true}.check(`{"result":null}`, true)
	require.Len(t, faults, 1, "nothing but a list will do")
	require.Contains(t, faults[0].Detail, "must be a list")
}

// condensing runs one step whose history exceeds its room. The tool returns size bytes per call, and
// the step calls it turns times before it answers.
func condensing(t *testing.T, room, size, turns int, summaries ...any) (*stage, Finish) {
	calls := make([]any, 0, turns+1)
	for i := range turns {
		calls = append(calls, reply("", fmt.Sprintf(`search {"query":"q%d"}`, i)))
	}
	calls = append(calls, "done", "done")
	s := newStage(t, map[string][]any{"": {reply("", planCall(stepA))}, "a": calls, "compress": summaries})
	s.tool = func(CallTool) tool.Result {
		return tool.Result{Outcome: tool.OK, Value: json.RawMessage(`"` + strings.Repeat("x", size) + `"`)}
	}
	p := planParams(t)
	p.Plan.ContextTokens, p.MaxIterations = room, 20
	m, err := New("plan", p, nil)
	require.NoError(t, err)
	return s, s.run(m)
}

// Near the bound, all except the last messages are summarised, a call stays together with its
// results, and the step continues.
func TestHistoryIsCondensed(t *testing.T) {
	s, f := condensing(t, 2500, 1200, 12, "First x was found.", "Then y, too.", "z")
	require.Equal(t, Answered, f.Status)
	compressed := 0
	var after *CallModel
	for i, c := range s.models {
		if c.Kind != turn.KindCompress {
			continue
		}
		compressed++
		require.Equal(t, turn.RoleCompress, c.Role)
		require.Equal(t, "a", c.Step)
		require.Equal(t, 400, c.Call.MaxTokens)
		require.Empty(t, c.Call.Tools)
		require.Contains(t, c.Call.Messages[0].Text, "STEP: a\n")
		require.Contains(t, c.Call.Messages[0].Text, "\n- call: search <data>{\"query\":\"q0\"}</data>\n- tool search: <data>\"xxx")
		after = &s.models[i+1]
		break
	}
	require.Equal(t, 1, compressed)
	require.Contains(t, after.Call.Messages[0].Text, "SUMMARY OF WHAT WAS DONE SO FAR:\n<data>First x was found.</data>")
	require.Equal(t, providers.RoleAssistant, after.Call.Messages[1].Role)
	require.GreaterOrEqual(t, len(after.Call.Messages), 1+condenseKeeps)
	last := s.models[len(s.models)-1]
	require.NotContains(t, last.Call.Messages[0].Text, "First x was found.", "a later summary stands for the earlier one")
	for _, c := range s.models[1:] {
		answeredCalls(t, c.Call.Messages)
	}
}

// answeredCalls checks that every tool message answers a call of the message before it.
func answeredCalls(t *testing.T, messages []providers.Message) {
	open := map[string]bool{}
	for _, m := range messages {
		if m.Role == providers.RoleTool {
			require.True(t, open[m.CallID])
			delete(open, m.CallID)
			continue
		}
		require.Empty(t, open)
		for _, c := range m.Calls {
			open[c.ID] = true
		}
	}
	require.Empty(t, open)
}

// Without room and without messages to summarise, only an answer is requested.
func TestConcludes(t *testing.T) {
	s, f := condensing(t, 1500, 6000, 1)
	require.Equal(t, Answered, f.Status)
	last := s.models[len(s.models)-1]
	require.Equal(t, turn.KindConclude, last.Kind)
	require.Equal(t, providers.ChoiceNone, last.Call.Choice.Kind)
	require.Equal(t, tellConclude, last.Call.Messages[len(last.Call.Messages)-1].Text)

	t.Run("with a schema, by finish_step", func(t *testing.T) {
		s := newStage(t, map[string][]any{"": {reply("", planCall(strings.ReplaceAll(stepB, `["a"]`, `[]`)))}, "b": {reply("", `search {"query":"x"}`), reply("", `search {"query":"y"}`), reply("", finishCall(`{"n":1}`))}})
		s.tool = func(CallTool) tool.Result {
			return tool.Result{Outcome: tool.OK, Value: json.RawMessage(`"` + strings.Repeat("x", 6000) + `"`)}
		}
		p := planParams(t)
		p.Plan.ContextTokens = 1500
		m, err := New("plan", p, nil)
		require.NoError(t, err)
		require.Equal(t, `{"n":1}`, s.run(m).Answer)
		last := s.models[len(s.models)-1]
		require.Equal(t, turn.KindConclude, last.Kind)
		require.Equal(t, providers.Choice{Kind: providers.ChoiceNamed, Name: "finish_step"}, last.Call.Choice)
		require.Len(t, s.tools, 2)
		require.Equal(t, tool.Rejected, s.tools[1].Given.Outcome, "no tool is called any more")
	})
	t.Run("fails when it does not", func(t *testing.T) {
		s := newStage(t, map[string][]any{"": {reply("", planCall(stepA))}, "a": {reply("", `search {"query":"x"}`), reply("", `search {"query":"y"}`), reply("", `search {"query":"z"}`), reply("", `search {"query":"u"}`)}})
		s.tool = func(CallTool) tool.Result {
			return tool.Result{Outcome: tool.OK, Value: json.RawMessage(`"` + strings.Repeat("x", 6000) + `"`)}
		}
		p := planParams(t)
		p.Plan.ContextTokens = 1500
		m, err := New("plan", p, nil)
		require.NoError(t, err)
		require.Equal(t, stoppedFailedStep, s.run(m).StopReason)
	})
}

// The step continues without a summary if that is empty or the provider refuses it. Any other failure
// ends the episode.
func TestSummaryThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		summary any
		want    Status
	}{
		"empty":   {" ", Answered},
		"refused": {refused{errors.New("full")}, Answered},
		"down":    {errors.New("down"), Failed},
	} {
		t.Run(name, func(t *testing.T) {
			s, f := condensing(t, 2500, 1200, 9, test.summary)
			require.Equal(t, test.want, f.Status)
			asked := 0
			for _, c := range s.models {
				if c.Kind == turn.KindCompress {
					asked++
				}
			}
			require.Equal(t, 1, asked, "it is not asked again")
		})
	}
}

// Independent steps take as long as the slowest of them.
func TestIndependentStepsRunInParallel(t *testing.T) {
	s := newStage(t, map[string][]any{
		"":     {reply("", planCall(`{"id":"slow","instructions":"i","depends_on":[]}`, `{"id":"fast","instructions":"i","depends_on":[]}`))},
		"slow": {"s"}, "fast": {"f"}, "aggregate": {"sf"},
	})
	s.took = func(c Command) time.Duration {
		if m, ok := c.(CallModel); ok && m.Step == "slow" {
			return 5 * time.Second
		}
		return time.Second
	}
	m, err := New("plan", planParams(t), nil)
	require.NoError(t, err)
	require.Equal(t, "sf", s.run(m).Answer)
	require.Equal(t, 7*time.Second, s.at.Sub(testStart), "planning, the slow step beside the fast one, bringing them together")
	var done []string
	for _, u := range s.updates {
		if u.Status == statusSuccess && u.Phase != phasePlanning && u.Phase != phaseCreation {
			done = append(done, u.Phase)
		}
	}
	require.Equal(t, []string{"fast", "slow", "aggregate"}, done)
}

// If the messages to keep would begin within the results of a turn, the whole turn is kept.
func TestCondensingPartsNoCall(t *testing.T) {
	var turns []any
	for i := range 8 {
		turns = append(turns, reply("", fmt.Sprintf(`search {"query":"a%d"}`, i), fmt.Sprintf(`search {"query":"b%d"}`, i), fmt.Sprintf(`search {"query":"c%d"}`, i)))
	}
	s := newStage(t, map[string][]any{"": {reply("", planCall(stepA))}, "a": append(turns, "done"), "compress": {"x", "y", "z"}})
	s.tool = func(CallTool) tool.Result {
		return tool.Result{Outcome: tool.OK, Value: json.RawMessage(`"` + strings.Repeat("x", 600) + `"`)}
	}
	p := planParams(t)
	p.Plan.ContextTokens = 2500
	m, err := New("plan", p, nil)
	require.NoError(t, err)
	require.Equal(t, "done", s.run(m).Answer)
	condensed := false
	for _, c := range s.models {
		condensed = condensed || c.Kind == turn.KindCompress
		answeredCalls(t, c.Call.Messages)
	}
	require.True(t, condensed)
}
