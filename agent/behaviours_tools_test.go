package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

// toolsElsewhere are the behaviours that the strategy tools does not have, and why.
var toolsElsewhere = map[string]string{
	"B084": "memory is of requests and answers (Exchange): what tools said in an episode stays in it, so there is no order of steps to keep",
	"B085": "as B084: an answer is kept as it was given, not with a list of the tools used, which the model would imitate",
}

// toolsBehaviours are the others, by id. If cupel differs intentionally, a comment says so and the
// test checks cupel's behaviour.
var toolsBehaviours = map[string]func(t *testing.T){
	"B047": func(t *testing.T) {
		require.Len(t, runTools(t, Params{}, nil).asked, 1)
	},
	"B048": func(t *testing.T) {
		require.Len(t, runTools(t, Params{MaxIterations: 10}, nil, lookups(5)...).asked, 6)
	},
	"B049": func(t *testing.T) { // a status of its own instead of an error
		r := runTools(t, Params{}, nil, lookups(10)...)
		require.Len(t, r.asked, 10, "checked before the model is asked")
		require.Equal(t, Finish{Status: Stopped, StopReason: stoppedIterations}, r.finish)
	},
	"B050": func(t *testing.T) { require.Equal(t, stoppedIterations, stopsAt(t, 15, 10)) },
	"B051": func(t *testing.T) { // of a loop; in Params 0 is the default
		require.Equal(t, stoppedIterations, stopsAt(t, 0, 0))
	},
	"B052": func(t *testing.T) { require.Empty(t, stopsAt(t, 0, 1)) },
	"B053": func(t *testing.T) { require.Equal(t, 1, iterations(t, lookups(1)...)) },
	"B054": func(t *testing.T) { require.Equal(t, 3, iterations(t, lookups(3)...)) },
	"B055": func(t *testing.T) {
		streamed := lookup("x")
		streamed.FirstToken, streamed.Frames = time.Second, []time.Duration{time.Second, 2 * time.Second}
		require.Equal(t, 1, iterations(t, streamed))
	},
	"B056": func(t *testing.T) {
		r := runTools(t, Params{}, nil, saying("42"))
		require.Equal(t, Finish{Status: Answered, Answer: "42"}, r.finish)
		require.Empty(t, r.run)
	},
	"B057": func(t *testing.T) {
		require.Equal(t, `[{"error":"the model call failed and did not say why"}]`, batchOf(t, strategy.Batch{}, errors.New("Error")).finish.Answer)
	},
	"B058": func(t *testing.T) {
		cause := errors.New("Error")
		require.Equal(t, Finish{Status: Failed, Err: cause}, batchOf(t, strategy.Batch{StopOnFail: true}, cause).finish)
	},
	"B059": func(t *testing.T) {
		require.Equal(t, `[{"error":"Cannot read properties of undefined"}]`, batchOf(t, strategy.Batch{}, errors.New("Cannot read properties of undefined")).finish.Answer)
	},
	"B060": func(t *testing.T) {
		p := batchParams(strategy.Batch{})
		p.AnswerSchema = json.RawMessage(`{"type":"object","required":["n"]}`)
		require.Equal(t, `[{"error":"the model's output does not fit the required format"}]`, runTools(t, p, nil, saying("7"), saying("7")).finish.Answer)
	},
	"B061": func(t *testing.T) {
		inner := errors.New("the model call failed and did not say why")
		require.Equal(t, `[{"error":"anthropic: the model call failed and did not say why"}]`, batchOf(t, strategy.Batch{}, fmt.Errorf("anthropic: %w", inner)).finish.Answer)
	},
	"B062": func(t *testing.T) {
		require.Equal(t, []providers.Message{{Role: providers.RoleUser, Text: "r"}}, runTools(t, Params{Request: "r"}, nil).last())
	},
	"B063": func(t *testing.T) { // the observation is the value itself
		r := runTools(t, Params{}, map[string]tool.Result{"search": {Outcome: tool.OK, Value: json.RawMessage(`[{"n":1}]`)}}, lookup("x"))
		require.Equal(t, []providers.ToolCall{{ID: "a", Name: "search", Args: `{"query":"x"}`}}, r.last()[1].Calls)
		require.Equal(t, providers.Message{Role: providers.RoleTool, CallID: "a", Name: "search", Text: `[{"n":1}]`}, r.last()[2])
	},
	"B064": func(t *testing.T) {
		r := runTools(t, Params{}, nil, calling("search", `{"query":"x"}`, "today_range", `{}`))
		require.Equal(t, []string{"a search", "b today_range"}, shownCalls(r))
	},
	"B065": func(t *testing.T) {
		kit, err := tool.NewSet([]tool.Spec{{Name: "kit_find", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "kit_open", Schema: json.RawMessage(`{"type":"object"}`)}})
		require.NoError(t, err)
		r := runTools(t, Params{Tools: kit}, nil, calling("kit_open", `{}`))
		require.Equal(t, "kit_open", r.run[0].Call.Name)
		require.Equal(t, []string{"a kit_open"}, shownCalls(r))
	},
	"B066": func(t *testing.T) {
		p := Params{Inputs: []strategy.Input{{Name: "i", Value: []byte(`[1,2]`)}}, Each: "i"}
		r := runTools(t, p, nil, lookup("x"), saying("one"))
		require.Len(t, r.last(), 1)
		require.Contains(t, r.last()[0].Text, "<data>2</data>")
	},
	"B067": func(t *testing.T) {
		r := runTools(t, Params{}, nil, calling("today_range", ""))
		require.Equal(t, `{}`, string(r.run[0].Call.Args))
		require.Equal(t, `{}`, r.last()[1].Calls[0].Args)
	},
	"B068": func(t *testing.T) {
		r := runTools(t, Params{}, nil, calling("search", `{"query":"x"}`), calling("today_range", `{}`))
		require.Equal(t, []string{"a search", "call_t2_1 today_range"}, shownCalls(r))
	},
	"B069": func(t *testing.T) { // both are answered: one gets an id of its own
		double := calling("search", `{"query":"x"}`, "search", `{"query":"y"}`)
		double.Calls[1].ID = "a"
		require.Equal(t, []string{"a search", "call_t1_2 search"}, shownCalls(runTools(t, Params{}, nil, double)))
	},
	"B070": func(t *testing.T) {
		p := Params{Inputs: []strategy.Input{{Name: "i", Value: []byte(`["one","two"]`)}}, Each: "i", Batch: strategy.Batch{Size: 2}}
		r := runTools(t, p, nil, lookup("x"), lookup("y"))
		require.Len(t, r.asked, 3)
		require.Contains(t, r.last()[0].Text, "one")
		require.Equal(t, `{"query":"x"}`, r.answers()[0].Text)
		require.Len(t, r.answers(), 1)
	},
	"B071": func(t *testing.T) {
		r := runTools(t, Params{}, map[string]tool.Result{"search": {Outcome: tool.Error, Code: "E_X", Message: "no such index"}}, lookup("x"))
		require.Equal(t, `{"error":{"code":"E_X","message":"no such index"}}`, r.answers()[0].Text)
		require.True(t, r.answers()[0].Failed)
		r = runTools(t, Params{}, map[string]tool.Result{"search": {Outcome: tool.Error}}, lookup("x"))
		require.Contains(t, r.answers()[0].Text, "did not say why")
	},
	"B072": func(t *testing.T) {
		r := runTools(t, Params{}, nil, lookup("x"))
		require.Equal(t, tool.Call{Name: "search", Args: json.RawMessage(`{"query":"x"}`)}, r.run[0].Call)
		require.Equal(t, r.asked[0].ID, r.run[0].Parent)
	},
	"B073": func(t *testing.T) { // not dropped: an error observation
		r := runTools(t, Params{}, nil, calling("nosuch", `{}`, "search", `{"query":"x"}`))
		require.Equal(t, []string{"a nosuch", "b search"}, shownCalls(r))
		require.Contains(t, r.answers()[0].Text, "E_UNKNOWN_TOOL")
		require.False(t, r.answers()[1].Failed)
	},
	"B074": func(t *testing.T) { // not stuck: answered, and a violation
		none, err := tool.NewSet(nil)
		require.NoError(t, err)
		r := runTools(t, Params{Tools: none}, nil, lookup("x"), lookup("y"), lookup("z"))
		require.Equal(t, contractViolation, r.finish.StopReason)
	},
	"B075": func(t *testing.T) {
		const args = `{"q":{"a":[1,null,{"b":"é\n"}],"n":1e2},"z":null}`
		set, err := tool.NewSet([]tool.Spec{{Name: "any", Schema: json.RawMessage(`{"type":"object"}`)}})
		require.NoError(t, err)
		r := runTools(t, Params{Tools: set}, nil, calling("any", args))
		require.Equal(t, args, string(r.run[0].Call.Args))
		require.Equal(t, args, r.last()[1].Calls[0].Args)
	},
	"B076": func(t *testing.T) { // the driver asks for approval; the command says all there is to ask about
		r := runTools(t, Params{}, denied, lookup("x"))
		require.Equal(t, tool.Call{Name: "search", Args: json.RawMessage(`{"query":"x"}`)}, r.run[0].Call)
		require.Nil(t, r.run[0].Given, "the machine decides nothing")
	},
	"B077": func(t *testing.T) {
		r := runTools(t, Params{}, nil, lookup("x"))
		require.Len(t, r.last(), 3, "request, call, result: nothing of an approval")
	},
	"B078": func(t *testing.T) {
		text := runTools(t, Params{}, denied, lookup("x")).answers()[0].Text
		require.Contains(t, text, "The user rejected this call")
		require.Contains(t, text, "STOP")
		require.Contains(t, text, "do not make this call again")
	},
	"B079": func(t *testing.T) {
		r := runTools(t, Params{}, denied, calling("today_range", `{}`, "search", `{"query":"x"}`, "get_job_status", `{"id":"1"}`))
		require.Equal(t, []string{"a today_range", "b search", "c get_job_status"}, shownCalls(r))
		require.Equal(t, []bool{false, true, false}, []bool{r.answers()[0].Failed, r.answers()[1].Failed, r.answers()[2].Failed})
	},
	"B080": func(t *testing.T) { // an exchange holds no tool messages
		r := runTools(t, Params{Request: "r", Memory: strategy.Remember([]strategy.Exchange{{Request: "q", Answer: "a"}}, 0, 0)}, nil)
		require.Equal(t, []string{"user", "assistant", "user"}, roles(r))
	},
	"B081": func(t *testing.T) {
		require.Equal(t, []strategy.Exchange{{Request: "q2", Answer: "a2"}}, strategy.Remember([]strategy.Exchange{{Request: "q1", Answer: ""}, {Request: "q2", Answer: "a2"}}, 0, 0))
	},
	"B082": func(t *testing.T) {
		memory := strategy.Remember([]strategy.Exchange{{Request: "q1", Answer: "a1"}, {Request: "q2", Answer: "a2"}, {Request: "q3", Answer: strings.Repeat("x", 40)}}, 0, 11)
		require.Equal(t, []strategy.Exchange{{Request: "q3", Answer: strings.Repeat("x", 40)}}, memory)
		r := runTools(t, Params{System: "s", Memory: memory}, nil)
		require.Equal(t, "q3", r.last()[0].Text)
		require.True(t, strings.HasPrefix(r.asked[0].Call.System, "s\n"))
	},
	"B083": func(t *testing.T) {
		require.Empty(t, strategy.Remember([]strategy.Exchange{{Request: "q", Answer: " \n"}}, 5, 0))
	},
	"B086": func(t *testing.T) { // a wire reads ids; those missing are made up, each once
		nameless := calling("search", `{"query":"x"}`, "search", `{"query":"y"}`, "search", `{"query":"z"}`)
		nameless.Calls[1].ID, nameless.Calls[2].ID = "", ""
		require.Equal(t, []string{"a search", "call_t1_2 search", "call_t1_3 search"}, shownCalls(runTools(t, Params{}, nil, nameless)))
	},
	"B087": func(t *testing.T) {
		r := runTools(t, Params{}, nil, calling("Search", `{"query":"x"}`))
		require.Contains(t, r.answers()[0].Text, `no tool is called \"Search\"; known: today_range, get_counts`)
	},
	"B088": func(t *testing.T) { // nothing is merged: arguments are what the model gave
		p := Params{Inputs: []strategy.Input{{Name: "query", Value: []byte(`"leak"`)}}}
		r := runTools(t, p, nil, lookup("x"))
		require.Equal(t, `{"query":"x"}`, string(r.run[0].Call.Args))
	},
	"B089": func(t *testing.T) {
		r := runTools(t, Params{}, nil, calling("search", `{"query":"x"}`, "today_range", `{}`, "get_job_status", `{"id":"1"}`))
		require.Equal(t, []int{2, 3, 4}, []int{r.run[0].ID, r.run[1].ID, r.run[2].ID})
		require.Equal(t, 5, r.asked[1].ID)
	},
	"B090": func(t *testing.T) {
		p := Params{Inputs: []strategy.Input{{Name: "i", Value: []byte(`["zero","one","two"]`)}}, Each: "i"}
		r := runTools(t, p, nil, saying("0"))
		require.Contains(t, r.last()[0].Text, `ITEM:`+"\n"+`<data>"one"</data>`)
	},
	"B149": func(t *testing.T) {
		require.Equal(t, []string{"", "", ""}, refusals(t, 3, 3))
		require.Equal(t, []string{"", "", "", "E_BUDGET"}, refusals(t, 3, 4))
	},
	"B150": func(t *testing.T) { // the cap is on all tools together
		p := Params{}
		p.Budgets.MaxToolCalls = 1
		r := runTools(t, p, nil, calling("search", `{"query":"x"}`, "today_range", `{}`))
		require.False(t, r.answers()[0].Failed)
		require.Contains(t, r.answers()[1].Text, "Do not call it again")
	},
	"B151": func(t *testing.T) { require.Equal(t, []string{"", "", "E_BUDGET", "E_BUDGET"}, refusals(t, 2, 4)) },
	"B152": func(t *testing.T) { // the run is an item, the thread the episode
		p := Params{Inputs: []strategy.Input{{Name: "i", Value: []byte(`[1,2]`)}}, Each: "i", MaxIterations: 2}
		p.Budgets.MaxToolCalls = 2
		r := runTools(t, p, nil, lookup("x"), saying("1"), lookup("y"), lookup("z"))
		require.Equal(t, codeBudget, r.run[2].Given.Code)
		require.Contains(t, r.finish.Answer, `["1",{"error":"the iterations were used up`)
	},
	"B153": func(t *testing.T) { // no limit is the default one; what cannot be is refused
		for _, p := range []Params{{MaxIterations: -1}, {FinalRetries: new(-1)}, {Batch: strategy.Batch{Size: -1}}, {Batch: strategy.Batch{Delay: -1}}} {
			_, err := New("tools", p, nil)
			require.ErrorContains(t, err, "but is -1")
		}
	},
}

var denied = map[string]tool.Result{"search": {Outcome: tool.Rejected, Code: codeDenied, Message: "the user declined this call; it was not run"}}

// lookups returns n turns with different searches.
func lookups(n int) []any {
	var out []any
	for i := range n {
		out = append(out, lookup(fmt.Sprint(i)))
	}
	return out
}

// stopsAt returns the reason why a loop with this number of iterations calls no model.
func stopsAt(t *testing.T, count, limit int) StopReason {
	f := &loopBase{}
	f.take(Started{At: testStart})
	l := newLoop(f, conversationSpec{params: &Params{}, maxIterations: limit})
	l.iterations = count
	l.begin(0)
	if l.end == nil {
		require.Len(t, f.out.Commands, 1)
		return ""
	}
	require.Empty(t, f.out.Commands)
	return l.end.Reason
}

// iterations is what a loop counts after these turns.
func iterations(t *testing.T, replies ...any) int {
	m, err := New("tools", Params{Tools: testTools(t)}, nil)
	require.NoError(t, err)
	runMachine(t, m, nil, replies...)
	return m.(*toolsMachine).whole.iterations
}

func batchParams(b strategy.Batch) Params {
	return Params{Inputs: []strategy.Input{{Name: "i", Value: []byte(`[1]`)}}, Each: "i", Batch: b}
}

func batchOf(t *testing.T, b strategy.Batch, cause error) *machineRun {
	return runTools(t, batchParams(b), nil, cause)
}

// shownCalls returns the ids and names of the tool results in the last model call.
func shownCalls(r *machineRun) []string {
	var out []string
	for _, m := range r.answers() {
		out = append(out, m.CallID+" "+m.Name)
	}
	return out
}

func roles(r *machineRun) []string {
	var out []string
	for _, m := range r.last() {
		out = append(out, m.Role)
	}
	return out
}

// refusals returns the error codes of the refused calls of one turn, in order.
func refusals(t *testing.T, limit, calls int) []string {
	var namesAndArgs []string
	for i := range calls {
		namesAndArgs = append(namesAndArgs, "search", fmt.Sprintf(`{"query":"%d"}`, i))
	}
	p := Params{}
	p.Budgets.MaxToolCalls = limit
	var out []string
	for _, c := range runTools(t, p, nil, calling(namesAndArgs...)).run {
		code := ""
		if c.Given != nil {
			code = c.Given.Code
		}
		out = append(out, code)
	}
	return out
}

// TestToolsBehaviours checks the assertions of the tests of real tool-calling agents.
func TestToolsBehaviours(t *testing.T) {
	for _, id := range slices.Sorted(maps.Keys(toolsBehaviours)) {
		t.Run(id, toolsBehaviours[id])
	}
}

// The lists contain every row of the conformance data.
func TestToolsBehavioursAreAll(t *testing.T) {
	got := slices.AppendSeq(slices.Collect(maps.Keys(toolsBehaviours)), maps.Keys(toolsElsewhere))
	require.ElementsMatch(t, testkit.Behaviours(t, "tools"), got)
}
