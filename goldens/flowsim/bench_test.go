package flowsim

import (
	"fmt"
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

// BenchmarkCall measures calls as episodes make them; the floor is 5 µs a call.
func BenchmarkCall(b *testing.B) {
	k := bind(b, hundred())
	for _, c := range []tool.Call{
		{Name: "get-credential", Args: []byte(`{"credentialId":"cr_1"}`)},
		{Name: "query-data-table-rows", Args: []byte(`{"dataTableId":"dt_1"}`)},
		{Name: "update-data-table-rows", Args: []byte(`{"dataTableId":"dt_1","filter":{"filters":[{"columnName":"a","condition":"eq","value":"x"}]},"data":{"a":"x"}}`)},
		{Name: "get-workflow", Args: []byte(`{"workflowId":"wf_7"}`)},
		{Name: "tag-workflow", Args: []byte(`{"workflowId":"wf_7","tags":[]}`)},
		{Name: "publish-workflow", Args: []byte(`{"workflowId":"wf_7"}`)},
	} {
		b.Run(c.Name, func(b *testing.B) {
			w, err := world.Open(b.Context(), world.Spec{Kind: Kind, Maker: k, Now: noon}, 1, nil, nil)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if e, err := w.Call(b.Context(), c, noon); err != nil || e.Outcome != tool.OK {
					b.Fatal(err, e.Message)
				}
			}
		})
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
