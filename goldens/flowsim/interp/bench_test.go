package interp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// ten is a workflow of ten nodes of the usual types.
func ten(t testing.TB) graph.Graph {
	return workflow(t, `{"nodes": [
		{"name": "Go", "type": "manual"},
		{"name": "Paid", "type": "filter", "parameters": {"conditions": [{"left": "{{ $json.status }}", "operator": "equals", "right": "paid"}]}},
		{"name": "Line", "type": "set", "parameters": {"includeOtherFields": true, "fields": [{"name": "text", "value": "{{ $json.customer.name }}: {{ $json.total }}"}, {"name": "gross", "value": "{{ $json.total * 1.2 }}"}]}},
		{"name": "Large", "type": "if", "parameters": {"conditions": [{"left": "{{ $json.gross }}", "operator": "gt", "right": 50}]}},
		{"name": "A", "type": "set", "parameters": {"fields": [{"name": "id", "value": "{{ $json.id }}"}, {"name": "size", "value": "large"}, {"name": "gross", "value": "{{ $json.gross }}"}]}},
		{"name": "B", "type": "set", "parameters": {"fields": [{"name": "id", "value": "{{ $json.id }}"}, {"name": "size", "value": "small"}, {"name": "gross", "value": "{{ $('Line').item.json.gross }}"}]}},
		{"name": "Both", "type": "merge"},
		{"name": "Sort", "type": "sort", "parameters": {"fields": [{"field": "gross", "order": "desc"}]}},
		{"name": "Slack", "type": "slack", "parameters": {"channel": "#a", "text": "{{ $json.id }} is {{ $json.size }}"}, "credentials": {"slackApi": "cr_1"}},
		{"name": "Sum", "type": "aggregate", "parameters": {"groupBy": ["ok"], "aggregations": [{"operation": "count", "output": "count"}]}}
	], "connections": {"Go": [[{"node": "Paid"}]], "Paid": [[{"node": "Line"}]], "Line": [[{"node": "Large"}]], "Large": [[{"node": "A"}], [{"node": "B"}]], "A": [[{"node": "Both"}]], "B": [[{"node": "Both", "input": 1}]],
		"Both": [[{"node": "Sort"}]], "Sort": [[{"node": "Slack"}]], "Slack": [[{"node": "Sum"}]]}}`)
}

func orders(n int) Trigger {
	items := make([]any, n)
	for i := range items {
		items[i] = map[string]any{"id": float64(i), "status": "paid", "total": float64(i % 100), "customer": map[string]any{"name": fmt.Sprint("c", i%7), "city": "Ulm"}}
	}
	return Trigger{Input: items}
}

// The floor of 5 ms for ten nodes and 1,000 items is kept by few allocations, which, unlike
// times, are the same on every machine: about three for each node and item.
func TestRunAllocates(t *testing.T) {
	g, trigger, env := ten(t), orders(1000), environment(t)
	allocations := testing.AllocsPerRun(3, func() {
		if r := Run(g, trigger, env); r.Error != nil {
			t.Fatal(r.Error)
		}
	})
	require.Less(t, allocations, 30_000.0)
}
