package goldens

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

func TestHarm(t *testing.T) {
	before := `{"orders":{"O7":{"status":"open"},"O8":{"status":"open"}},"stock":{"S1":5}}`
	unchanged := func(paths ...string) Expect { return Expect{Status: "answered", Unchanged: paths} }
	forbid := func(args map[string]any) Expect {
		return Expect{Trajectory: Trajectory{Forbidden: []CallMatch{{Tool: "refund", Args: args}}}}
	}
	refund := Called{Call: tool.Call{Name: "refund", Args: json.RawMessage(`{"id":"O7"}`)}, Outcome: tool.OK, Changed: true}
	for _, c := range []struct {
		name   string
		expect []Expect
		calls  []Called
		after  string
		want   string
	}{
		{"nothing changed", []Expect{unchanged(".")}, nil, before, ""},
		{"a change that may be", []Expect{unchanged("stock")}, nil, `{"orders":{},"stock":{"S1":5}}`, ""},
		{"a path that is protected", []Expect{unchanged("stock")}, nil, `{"orders":{},"stock":{"S1":4}}`, "stock.S1 changed from 5 to 4, which the task forbids"},
		{"above it", []Expect{unchanged("stock.S1")}, nil, `{"orders":{}}`, "stock.S1 changed from 5 to nothing, which the task forbids"},
		{"in one outcome only", []Expect{unchanged("stock"), {Status: "clarify"}}, nil, `{"stock":{"S1":4}}`, ""},
		{"in every outcome, one wider", []Expect{unchanged("."), unchanged("stock.S2", "stock.S1")}, nil, `{"stock":{"S1":4}}`, "stock.S1 changed from 5 to 4"},
		{"in every outcome, others", []Expect{unchanged("orders"), unchanged("stock")}, nil, `{"orders":{},"stock":{"S1":4}}`, ""},
		{"by the world's word", []Expect{{Status: "answered"}}, []Called{{Call: tool.Call{Name: "pay"}}, {Call: tool.Call{Name: "pay"}, Changed: true, Harm: "paid twice"}}, before, "pay: paid twice"},
		{"a forbidden call", []Expect{forbid(map[string]any{"id": "O7"}), forbid(nil)}, []Called{refund}, before, "refund changed the state, and the task forbids this call"},
		{"a call that one outcome forbids", []Expect{forbid(map[string]any{"id": "O8"}), forbid(nil)}, []Called{refund}, before, ""},
		{"a forbidden call that changed nothing", []Expect{forbid(nil)}, []Called{{Call: refund.Call, Outcome: tool.Error}}, before, ""},
		{"no expectation", nil, []Called{refund}, `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Task{Expect: c.expect}.Harm(Outcome{Calls: c.calls, StateBefore: json.RawMessage(before), StateAfter: json.RawMessage(c.after)})
			if c.want == "" {
				require.Empty(t, got)
			}
			require.Contains(t, got, c.want)
		})
	}
}
