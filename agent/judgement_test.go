package agent

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// TestJudgementSaysWhatWasAskedFor: the calls of a turn, whether anything comes of them.
func TestJudgementSaysWhatWasAskedFor(t *testing.T) {
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

// TestToolsCycle: turns are compared as a whole, and two of them that alternate are a
// cycle. The contract's is in testdata.
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
