package agent

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// The judgement has the calls of a turn, executed or not.
func TestJudgementHasTheCalls(t *testing.T) {
	turn := func(action string) providers.Reply {
		return saying(fmt.Sprintf(`{"control":{"done":false,"reason":"ok"},"next_action":%s,"state_update":{"plan":"p","observation":"o","confidence":0.5}}`, action))
	}
	call := func(name, args string) tool.Call { return tool.Call{Name: name, Args: []byte(args)} }
	for _, test := range []struct {
		name, strategy string
		reply          providers.Reply
		want           []tool.Call
	}{
		{"a call", "contract", turn(`{"type":"tool","name":"search","args":{"query":"x"}}`), []tool.Call{call("search", `{"query":"x"}`)}},
		{"rejected arguments", "contract", turn(`{"type":"tool","name":"search","args":{"q":1}}`), []tool.Call{call("search", `{"q":1}`)}},
		{"an unknown tool", "contract", turn(`{"type":"tool","name":"delete all","args":{}}`), []tool.Call{call("delete all", `{}`)}},
		{"no arguments", "contract", turn(`{"type":"tool","name":"search","args":null}`), []tool.Call{{Name: "search"}}},
		{"no name", "contract", turn(`{"type":"tool","args":{}}`), nil},
		{"an answer", "contract", turn(`{"type":"respond","message":"m"}`), nil},
		{"prose", "contract", saying("search"), nil},
		{"native calls", "tools", calling("search", `{"query":"x"}`, "delete all", `{`), []tool.Call{call("search", `{"query":"x"}`), call("delete all", `{`)}},
		{"a call beside the end", "tools", calling("search", `{"query":"x"}`, "cannot_proceed", `{"reason":"r"}`), []tool.Call{call("search", `{"query":"x"}`)}},
		{"a question", "tools", calling("ask_user", `{"question":"q"}`), nil},
		{"a call instead of a plan", "plan", calling("search", `{"query":"x"}`), []tool.Call{call("search", `{"query":"x"}`)}},
		{"a plan", "plan", reply("", planCall(stepA)), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := New(test.strategy, Params{Tools: testTools(t)}, nil)
			require.NoError(t, err)
			m.Step(Started{At: testStart})
			require.Equal(t, test.want, m.Step(ModelReplied{At: testStart, ID: 1, Reply: test.reply}).Judgement.Asked)
		})
	}
}

// A program that calls a tool again is going in circles, unless the call failed.
func TestExternalRepeats(t *testing.T) {
	ok, failed := tool.Result{Outcome: tool.OK, Value: []byte("1")}, tool.Result{Outcome: tool.Timeout, Code: "E_TIMEOUT"}
	for name, test := range map[string]struct {
		results []tool.Result
		want    []bool
	}{
		"after a result":         {[]tool.Result{ok, ok}, []bool{false, true}},
		"after a failure":        {[]tool.Result{failed, ok, ok}, []bool{false, false, true}},
		"after too many of them": {[]tool.Result{failed, failed, failed, failed}, []bool{false, false, false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := New("external", Params{Tools: testTools(t)}, nil)
			require.NoError(t, err)
			var thrash []bool
			for _, result := range test.results {
				thrash = append(thrash, m.Step(ModelReplied{At: testStart, Reply: lookup("a")}).Judgement.Thrash)
				m.Step(ToolReturned{At: testStart, Result: result})
			}
			require.Equal(t, test.want, thrash)
		})
	}
}

// Complete turns are compared, and two alternating ones are a cycle. The test for contract is in
// testdata.
func TestToolsCycle(t *testing.T) {
	for queries, want := range map[string][2]bool{"abab": {true, true}, "aa": {true, false}, "abcb": {false, false}, "abaca": {true, false}} {
		m, err := New("tools", Params{Tools: testTools(t)}, nil)
		require.NoError(t, err)
		ready := m.Step(Started{At: testStart})
		var last Judgement
		for _, q := range queries {
			ready = m.Step(ModelReplied{At: testStart, ID: commandID(ready.Commands[0]), Reply: lookup(string(q))})
			last = *ready.Judgement
			ready = m.Step(ToolReturned{At: testStart, ID: commandID(ready.Commands[0]), Result: tool.Result{Outcome: tool.OK, Value: []byte("1")}})
		}
		require.Equal(t, want, [2]bool{last.Thrash, last.Cycle}, queries)
	}
}
