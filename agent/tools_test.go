package agent

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

func TestNewTools(t *testing.T) {
	reserved, err := tool.NewSet([]tool.Spec{{Name: "ask_user", Schema: json.RawMessage(`{"type":"object"}`)}})
	require.NoError(t, err)
	for _, test := range []struct {
		name   string
		params Params
		err    string
	}{
		{"nothing", Params{}, ""},
		{"profiles", Params{Profile: "native", Mode: "prompt"}, ""},
		{"seed is native", Params{Profile: "seed"}, ""},
		{"react", Params{Profile: "react"}, ""},
		{"profile", Params{Profile: "schema"}, `unknown prompt profile "schema"; known: native, react, seed`},
		{"mode", Params{Mode: "json_schema"}, "mode: agent tools has no such setting; it is a setting of contract"},
		{"rescue", Params{Rescue: true}, "rescue: agent tools has no such setting; it is a setting of contract"},
		{"contradictions", Params{RescueOnContradiction: true}, "rescue_on_contradiction: agent tools has no such setting; it is a setting of contract"},
		{"compress", Params{Compress: true}, "compress: agent tools has no such setting; it is a setting of contract"},
		{"iterations", Params{MaxIterations: -1}, "max_iterations: must be from 0 to 1000, but is -1"},
		{"retries", Params{FinalRetries: new(-2)}, "final_retries: must be from 0 to 10, but is -2"},
		{"batch", Params{Batch: strategy.Batch{Size: -1}}, "batch: size must be from 0 to 100, but is -1"},
		{"reserved name", Params{Tools: reserved}, `tool ask_user: the name is the strategy's own; rename the tool`},
		{"answer schema is no object", Params{AnswerSchema: json.RawMessage(`[]`)}, `answer schema: must be a JSON object that is a JSON Schema`},
		{"answer schema is no schema", Params{AnswerSchema: json.RawMessage(`{"type":"objekt"}`)}, `answer schema: `},
		{"each without an input", Params{Each: "x"}, `each: the task has no input "x"`},
		{"each of no list", Params{Each: "x", Inputs: []strategy.Input{{Name: "x", Value: []byte(`{}`)}}}, `each: input "x" is not a JSON list; give it a list, or remove each`},
		{"each of too long a list", Params{Each: "x", Inputs: []strategy.Input{{Name: "x", Value: []byte(`[` + strings.Repeat("1,", 1000) + `1]`)}}}, `each: input "x" has 1001 items; give it at most 1000`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := New("tools", test.params, nil)
			if test.err == "" {
				require.NoError(t, err)
				require.NotNil(t, m)
				return
			}
			require.ErrorContains(t, err, "agent: strategy tools: "+test.err)
			require.Nil(t, m)
		})
	}
}

func TestToolsCallCarriesTheDials(t *testing.T) {
	p := Params{Request: "r", Tools: testTools(t), MaxTokens: 400, Temperature: 0.1, Seed: new(int64(7)), Budgets: guard.Budgets{MaxTime: 90 * time.Second}}
	c := runTools(t, p, nil).asked[0]
	require.Equal(t, 400, c.Call.MaxTokens)
	require.Equal(t, 0.1, *c.Call.Temperature)
	require.Equal(t, int64(7), *c.Call.Seed)
	require.Equal(t, 90*time.Second, c.Timeout)
	require.Nil(t, c.Call.Format)
	require.Equal(t, providers.Choice{}, c.Call.Choice)
}

// Long results and inputs are truncated by characters, with a mark.
func TestToolsShowsBoundedResults(t *testing.T) {
	long := `"` + strings.Repeat("é", 30_000) + `"`
	p := Params{Inputs: []strategy.Input{{Name: "i", Value: []byte(long)}}}
	r := runTools(t, p, map[string]tool.Result{"search": {Outcome: tool.OK, Value: json.RawMessage(long)}}, lookup("x"))
	require.Equal(t, `"`+strings.Repeat("é", 19_999)+"... [truncated]", r.answers()[0].Text)
	require.Less(t, len([]rune(r.last()[0].Text)), 20_100)
}

// The number of executed calls of a turn is bounded, and all calls are answered.
func TestToolsBoundsCalls(t *testing.T) {
	var namesAndArgs []string
	for i := range 100 {
		namesAndArgs = append(namesAndArgs, "get_job_status", `{"id":"`+strings.Repeat("i", i)+`"}`)
	}
	r := runTools(t, Params{}, nil, calling(namesAndArgs...))
	require.Len(t, r.answers(), 100)
	for i, c := range r.run {
		require.Equal(t, i >= maxCalls, c.Given != nil, "call %d", i)
	}
}

// The messages of an earlier call do not change when the conversation continues, because the driver
// may still read them.
func TestToolsKeepsOldCalls(t *testing.T) {
	r := runTools(t, Params{}, nil, append(lookups(5), saying(""), lookup("x"), lookup("x"))...)
	for i, c := range r.asked[1:] {
		before := r.asked[i].Call.Messages
		require.Equal(t, before, c.Call.Messages[:len(before)])
		require.Equal(t, len(before), cap(before))
	}
}

// Reasoning is not an answer, and is returned to the provider only in its format.
func TestToolsNeverAnswersWithReasoning(t *testing.T) {
	r := runTools(t, Params{}, nil, providers.Reply{Reasoning: "It is 7.", Continuation: json.RawMessage(`{}`)}, saying("It is 8."))
	require.Equal(t, "It is 8.", r.finish.Answer)
	require.Equal(t, providers.Message{Role: providers.RoleAssistant, Text: noOutput}, r.last()[1])
}

// A loop without room only requests the answer.
func TestToolsConclude(t *testing.T) {
	f := &loopBase{}
	f.take(Started{At: testStart})
	l := newLoop(f, conversationSpec{params: &Params{}, opening: []providers.Message{{Role: "user", Text: "r"}}, tools: testTools(t), maxIterations: 9, room: 250, role: turn.RoleStep, step: "s"})
	l.begin(0)
	act := f.out.Commands[0].(CallModel)
	require.Equal(t, []string{turn.RoleStep, turn.KindAct, "s"}, []string{act.Role, act.Kind, act.Step})
	long := lookup(strings.Repeat("x", 2000))
	require.Same(t, l, f.take(ModelReplied{At: testStart, ID: 1, Reply: long}))
	f.take(ToolReturned{At: testStart, ID: 2, Result: tool.Result{Outcome: tool.OK}})
	last := f.out.Commands[0].(CallModel)
	require.Equal(t, turn.KindConclude, last.Kind)
	require.Equal(t, providers.ChoiceNone, last.Call.Choice.Kind)
	f.take(ModelReplied{At: testStart, ID: 3, Reply: lookup("y")})
	require.Equal(t, []string{violationConclude}, f.out.Judgement.Violations)
	f.take(ToolReturned{At: testStart, ID: 4})
	require.Equal(t, turn.KindConclude, f.out.Commands[0].(CallModel).Kind)
	f.take(ModelReplied{At: testStart, ID: 5, Reply: saying("as far as I know")})
	require.Equal(t, &ending{Status: Answered, Text: "as far as I know"}, l.end)
}

// toolsPromptDigests pin the templates, because a change makes every cassette stale. The test prints
// the new digests.
var toolsPromptDigests = map[string]string{
	"native": "52526882e87f975f2d4fa763991f4ab427f69dba14f9f42b494ba8b83c8764f1",
	"react":  "17969fd04e5eb5f6d27e566e1850102c663dab62308d14896a5d49a89486613c",
}

func TestToolsDigests(t *testing.T) {
	for profile, want := range toolsPromptDigests {
		got := Digests("tools", Params{Profile: profile}, nil)
		require.Equal(t, want, got["prompt"], profile)
		require.NotEqual(t, got["prompt"], Digests("tools", Params{Profile: profile, AnswerSchema: json.RawMessage(`{}`)}, nil)["prompt"])
	}
	require.Equal(t, Digests("tools", Params{Profile: "native"}, nil), Digests("tools", Params{Profile: "seed"}, nil))
	require.Equal(t, Digests("contract", Params{}, nil)["tools"], Digests("tools", Params{}, nil)["tools"])
	require.NotEqual(t, Digests("contract", Params{}, nil)["contract"], Digests("tools", Params{}, nil)["contract"])
}

// The page names all texts of the strategy.
func TestToolsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/tools.md")
	require.NoError(t, err)
	for _, word := range []string{
		violationUnknownTool, violationNotJSON, violationArgs, violationEmpty, violationNotFinal, violationFinal, violationReact, violationConclude, truncated,
		codeUnknownTool, codeIgnored, codeOneQuestion, codeDenied, codeArgs, codeBudget, codeCircuitOpen, warnIgnored, finalTool, askUserTool.Name, cannotProceedTool.Name,
		profileNative, profileReact, profileSeed, turn.KindReflect, outputMember,
	} {
		require.Contains(t, string(page), "`"+word, word)
	}
	for _, why := range []StopReason{MaxSteps, MaxSeconds, MaxTokens, MaxCost, stoppedIterations, contractViolation, stoppedFinalSchema, stoppedThrash, stoppedStall} {
		require.Contains(t, string(page), why)
	}
	for _, status := range []Status{Answered, answeredAfterClarify, respondError, Clarify, CannotProceed, Stopped, Failed, Interrupted} {
		require.Contains(t, string(page), status)
	}
}

// Reasoning that a model writes into its text is not part of the answer, in any form of answer.
func TestToolsNeverAnswersWithThoughts(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	for _, test := range []struct {
		name    string
		params  Params
		replies []any
		want    Finish
	}{
		{"before", Params{}, []any{saying("<think>It is 7?</think>\n\nIt is 8.")}, Finish{Status: Answered, Answer: "It is 8."}},
		{"not closed", Params{}, []any{saying("<think>It is 7."), saying("It is 8.")}, Finish{Status: Answered, Answer: "It is 8."}},
		{"with a schema", Params{AnswerSchema: schema}, []any{saying(`<think>{"n":7}</think>{"n":8}`)}, Finish{Status: Answered, Answer: `{"n":8}`}},
		{"of react", Params{Profile: "react"}, []any{saying("<think>Final Answer: 7</think>\nFinal Answer: 8")}, Finish{Status: Answered, Answer: "8"}},
		{"the last text", Params{MaxIterations: 1}, []any{providers.Reply{Text: "<think>7?</think>I look.", Calls: lookup("x").Calls}}, Finish{Status: Stopped, StopReason: stoppedIterations, Answer: "I look."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, runTools(t, test.params, nil, test.replies...).finish)
		})
	}
}

// A refusal is recognised after any text and in every protocol.
func TestToolsRefusals(t *testing.T) {
	refusal := func(text, why string) providers.Reply {
		return providers.Reply{Text: text, Refusal: why, Finish: providers.FinishRefusal}
	}
	for _, test := range []struct {
		name   string
		params Params
		reply  providers.Reply
		want   string
	}{
		{"said", Params{}, refusal("", "No."), "No."},
		{"cut off by a filter", Params{}, refusal("First you take", ""), "First you take"},
		{"said after all", Params{}, refusal("First you take", "No."), "No."},
		{"in silence", Params{}, refusal("", ""), "the model refused to answer"},
		{"of react", Params{Profile: "react"}, refusal("", "No."), "No."},
		{"without a word for it", Params{}, providers.Reply{Refusal: "No."}, "No."},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, Finish{Status: CannotProceed, Answer: test.want}, runTools(t, test.params, nil, test.reply).finish)
		})
	}
	t.Run("calls go first", func(t *testing.T) {
		r := lookup("x")
		r.Finish = providers.FinishRefusal
		require.Len(t, runTools(t, Params{}, nil, r).run, 1)
	})
	t.Run("of a step fails it", func(t *testing.T) {
		s, _, f := playPlan(t, nil, map[string][]any{"": {reply("", planCall(stepA))}, "a": {refusal("", "No.")}})
		require.Equal(t, stoppedFailedStep, f.StopReason)
		require.Equal(t, "a: failed: cannot proceed: No.", f.Answer)
		require.Empty(t, s.judged[1].Violations)
	})
}

// A reply without text that used all its tokens is truncated, not empty.
func TestToolsCutWhileThinking(t *testing.T) {
	for _, text := range []string{"", "<think>Let me"} {
		r := runTools(t, Params{}, nil, providers.Reply{Text: text, Finish: providers.FinishLength})
		require.Contains(t, r.last()[2].Text, "- truncated: ")
	}
}
