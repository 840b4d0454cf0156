package desk_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/desk"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
)

func loaded(t testing.TB) *goldens.Suite {
	s, err := load.Suite(desk.FS, "desk", nil)
	require.NoError(t, err)
	require.Empty(t, s.Warnings)
	return s
}

// TestSuite: the suite has no problems, and every task that models are given
// checks the final state. That its solutions solve its tasks is a test of package goldens.
func TestSuite(t *testing.T) {
	s := loaded(t)
	require.NoError(t, s.Lint())
	require.Empty(t, s.Warnings)
	require.GreaterOrEqual(t, len(s.Tasks), 30)
	for _, task := range s.Tasks {
		if task.Scripted {
			continue
		}
		for _, e := range task.Expect {
			require.NotEmpty(t, e.Unchanged, "%s does not say what must stay", task.ID)
		}
	}
	pack, err := fs.Stat(desk.FS, "cassettes.pack")
	require.NoError(t, err)
	require.Less(t, pack.Size(), int64(1_500_000))
}

// BenchmarkCall measures calls that succeed: at most 5 µs each by the rules. A world of
// tools that write is another one once every order or ticket has had its call, so the first
// write, which copies what it changes of the suite's state, counts as any other.
//
// Floor: BenchmarkCallFloor, encoding/json reading the arguments and writing the result.
func BenchmarkCall(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as cupel run does
	task := loaded(b).Tasks[0]
	for _, c := range calls {
		b.Run(c.tool, func(b *testing.B) {
			b.ReportAllocs()
			worlds := make([]*world.Environment, 24)
			for i := 0; b.Loop(); i++ {
				round := i / len(c.args) % len(worlds)
				if round == 0 && i%len(c.args) == 0 && (c.writes || i == 0) {
					b.StopTimer()
					for i := range worlds {
						worlds[i] = opened(b, task)
					}
					b.StartTimer()
				}
				e, err := worlds[round].Call(b.Context(), tool.Call{Name: c.tool, Args: json.RawMessage(c.args[i%len(c.args)])}, task.World.Now)
				if err != nil || e.Outcome != tool.OK || (len(e.Changes) > 0) != c.writes {
					b.Fatal(err, e)
				}
			}
		})
	}
}

// TestCallsAllocateLittle: what a call takes grows with what it reads and changes, not with
// the state, of which the first write copies no more than what is above its paths.
func TestCallsAllocateLittle(t *testing.T) {
	task := loaded(t).Tasks[0]
	for _, c := range calls {
		var worlds []*world.Environment
		for range 5 {
			worlds = append(worlds, opened(t, task))
		}
		n := 0
		allocs := testing.AllocsPerRun(5*len(c.args)-1, func() {
			_, err := worlds[n/len(c.args)].Call(t.Context(), tool.Call{Name: c.tool, Args: json.RawMessage(c.args[n%len(c.args)])}, task.World.Now)
			require.NoError(t, err)
			n++
		})
		require.LessOrEqual(t, allocs, 60.0, c.tool)
	}
}

func opened(b testing.TB, task goldens.Task) *world.Environment {
	w, err := goldens.OpenWorld(b.Context(), task, 1)
	require.NoError(b, err)
	return w
}

// calls are calls of each tool, all of which succeed in one world.
var calls = []struct {
	tool   string
	writes bool
	args   []string
}{
	{"find_customer", false, []string{`{"email":"farid@example.com"}`}},
	{"list_orders", false, []string{`{"customer_id":"C6"}`}},
	{"get_order", false, []string{`{"order_id":"O107"}`}},
	{"check_stock", false, []string{`{"sku":"MIXER"}`}},
	{"read_policy", false, []string{`{"topic":"refunds"}`}},
	{"get_ticket", false, []string{`{"ticket_id":"T1"}`}},
	{"cancel_order", true, each(`{"order_id":"%s"}`, "O102", "O106", "O108", "O115")},
	{"refund_order", true, each(`{"order_id":"%s","amount":1,"reason":"other"}`, "O101", "O107", "O109", "O110", "O111", "O114")},
	{"replace_order", true, each(`{"order_id":"%s"}`, "O101", "O104", "O107", "O109", "O111", "O117")},
	{"update_address", true, each(`{"order_id":"%s","address":"3 Quay Street"}`, "O102", "O106", "O108", "O115")},
	{"issue_voucher", true, each(`{"customer_id":"%s","amount":20}`, "C1", "C2", "C3", "C4", "C5", "C6")},
	{"close_ticket", true, each(`{"ticket_id":"%s","resolution":"answered"}`, "T1", "T2", "T3", "T4", "T5", "T6", "T7")},
}

func each(args string, ids ...string) (out []string) {
	for _, id := range ids {
		out = append(out, fmt.Sprintf(args, id))
	}
	return out
}

func BenchmarkCallFloor(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	task := loaded(b).Tasks[0]
	for _, c := range calls {
		w := opened(b, task)
		e, err := w.Call(b.Context(), tool.Call{Name: c.tool, Args: json.RawMessage(c.args[0])}, task.World.Now)
		require.NoError(b, err)
		var result any
		require.NoError(b, json.Unmarshal(e.Value, &result))
		b.Run(c.tool, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var args map[string]any
				_ = json.Unmarshal([]byte(c.args[0]), &args)
				_, _ = json.Marshal(result)
			}
		})
	}
}
