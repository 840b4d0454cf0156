package desk_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/desk"
	"github.com/cupel-eval/cupel/goldens/load"
)

func loaded(t testing.TB) *goldens.Suite {
	s, err := load.Suite(desk.FS, "desk", nil)
	require.NoError(t, err)
	return s
}

// TestSuite: the suite has no problems, and every task checks the final state. That its
// solutions solve its tasks is a test of package goldens.
func TestSuite(t *testing.T) {
	s := loaded(t)
	require.NoError(t, s.Lint())
	require.Empty(t, s.Warnings)
	require.GreaterOrEqual(t, len(s.Tasks), 30)
	for _, task := range s.Tasks {
		for _, e := range task.Expect {
			require.NotEmpty(t, e.Unchanged, "%s does not say what must stay", task.ID)
		}
	}
}

// BenchmarkCall measures calls of the rules: at most 5 µs.
func BenchmarkCall(b *testing.B) {
	task := loaded(b).Tasks[0]
	for _, c := range []struct{ tool, args string }{
		{"find_customer", `{"email":"farid@example.com"}`}, {"list_orders", `{"customer_id":"C6"}`}, {"get_order", `{"order_id":"O107"}`}, {"check_stock", `{"sku":"MIXER"}`},
		{"update_address", `{"order_id":"O102","address":"3 Quay Street"}`}, {"cancel_order", `{"order_id":"O105"}`}, {"refund_order", `{"order_id":"O101","amount":1000,"reason":"other"}`},
	} {
		b.Run(c.tool, func(b *testing.B) {
			w, err := goldens.OpenWorld(b.Context(), task, 1)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Call(b.Context(), tool.Call{Name: c.tool, Args: json.RawMessage(c.args)}, task.World.Now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
