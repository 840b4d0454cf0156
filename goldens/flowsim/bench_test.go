package flowsim

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

// hundred is a state with 100 workflows of three nodes.
func hundred() string {
	var out strings.Builder
	out.WriteString("credentials: {cr_1: {name: A, type: slackApi}}\ntables: {dt_1: {name: T, columns: [{name: a, type: string}], rows: [{a: x}, {a: y}]}}\nworkflows:\n")
	for i := range 100 {
		_, _ = fmt.Fprintf(&out, `  wf_%d:
    name: Flow %d
    draft:
      nodes:
        - {name: Start, type: schedule, parameters: {unit: days}}
        - {name: Read, type: dataTable, parameters: {operation: get, table: dt_1}}
        - {name: Tell, type: slack, parameters: {channel: "#a", text: "{{ $json.a }}"}, credentials: {slackApi: cr_1}}
      connections: {Start: [[{node: Read, input: 0}]], Read: [[{node: Tell, input: 0}]]}
`, i+1, i+1)
	}
	return out.String()
}

// calls are of the tools that episodes call most: those that write come in turns, so that
// each changes the state.
func calls() [][]tool.Call {
	flow := []byte(`{"workflowId":"wf_7"}`)
	row := `{"dataTableId":"dt_1","filter":{"filters":[{"columnName":"id","condition":"eq","value":"row_1"}]},"data":{"a":"%s"}}`
	return [][]tool.Call{
		{{Name: "get-credential", Args: []byte(`{"credentialId":"cr_1"}`)}},
		{{Name: "query-data-table-rows", Args: []byte(`{"dataTableId":"dt_1"}`)}},
		{{Name: "get-workflow", Args: flow}},
		{{Name: "update-data-table-rows", Args: fmt.Appendf(nil, row, "y")}, {Name: "update-data-table-rows", Args: fmt.Appendf(nil, row, "x")}},
		{{Name: "tag-workflow", Args: []byte(`{"workflowId":"wf_7","tags":["a"]}`)}, {Name: "tag-workflow", Args: []byte(`{"workflowId":"wf_7","tags":[]}`)}},
		{{Name: "publish-workflow", Args: flow}, {Name: "unpublish-workflow", Args: flow}},
	}
}

// BenchmarkCall measures calls as episodes make them; the bound is 5 µs a call.
func BenchmarkCall(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as cupel run does
	k := bind(b, hundred())
	for _, calls := range calls() {
		b.Run(calls[0].Name, func(b *testing.B) {
			call := inTurns(b, k, calls)
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

// TestCallsAllocateLittle: what a call takes grows with what it reads and changes.
func TestCallsAllocateLittle(t *testing.T) {
	k := bind(t, hundred())
	for _, calls := range calls() {
		require.LessOrEqual(t, testing.AllocsPerRun(10, inTurns(t, k, calls)), 45.0, calls[0].Name)
	}
}

// inTurns opens a world and returns what makes one of the calls after the other in it.
func inTurns(t testing.TB, k kind, calls []tool.Call) func() {
	w, err := world.Open(t.Context(), world.Spec{Kind: Kind, Maker: k, Now: noon}, 1, nil, nil)
	require.NoError(t, err)
	n := 0
	return func() {
		e, err := w.Call(t.Context(), calls[n%len(calls)], noon)
		if n++; err != nil || e.Outcome != tool.OK || (len(e.Changes) > 0) != (len(calls) > 1) {
			t.Fatal(err, e)
		}
	}
}

// BenchmarkHash measures the hash of the state of 100 workflows after a change; the floor is
// 200 µs.
func BenchmarkHash(b *testing.B) {
	w := bind(b, hundred()).base.open(noon, noon.Location())
	b.ReportAllocs()
	b.SetBytes(int64(len(w.Text())))
	for b.Loop() {
		_ = world.Hash(w.Text())
	}
}

func BenchmarkOpen(b *testing.B) {
	base := bind(b, hundred()).base
	b.ReportAllocs()
	for b.Loop() {
		_ = base.open(noon, noon.Location())
	}
}
