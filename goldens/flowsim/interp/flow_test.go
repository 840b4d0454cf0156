package interp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// fork is a workflow in which a trigger leads to A and B, and those to the inputs of M.
func fork(t *testing.T, a, b, m string) graph.Graph {
	return workflow(t, `{"nodes": [{"name": "Go", "type": "manual"}, {"name": "A", `+a+`}, {"name": "B", `+b+`}, {"name": "M", "type": "merge", "parameters": `+m+`}],
		"connections": {"Go": [[{"node": "B"}, {"node": "A"}]], "A": [[{"node": "M", "input": 0}]], "B": [[{"node": "M", "input": 1}]]}}`)
}

func set(fields string) string { return `"type": "set", "parameters": {"fields": ` + fields + `}` }

func TestMerge(t *testing.T) {
	a := set(`[{"name": "k", "value": "{{ $json.k }}"}, {"name": "v", "value": "a{{ $json.i }}"}]`)
	b := `"type": "filter", "parameters": {"conditions": [{"left": "{{ $json.i }}", "operator": "gt", "right": 1}]}`
	in := `[{"i": 1, "k": "x"}, {"i": 2, "k": "y"}, {"i": 3, "k": null}, {"i": 4, "k": "y"}, {"i": 5, "k": {"z": 1}}]`
	for _, c := range []struct{ name, mode, out string }{
		{"append", `{}`, `[{"k":"x","v":"a1"},{"k":"y","v":"a2"},{"k":null,"v":"a3"},{"k":"y","v":"a4"},{"k":{"z":1},"v":"a5"},{"i":2,"k":"y"},{"i":3,"k":null},{"i":4,"k":"y"},{"i":5,"k":{"z":1}}]`},
		{"position", `{"mode": "position"}`, `[{"i":2,"k":"y","v":"a1"},{"i":3,"k":null,"v":"a2"},{"i":4,"k":"y","v":"a3"},{"i":5,"k":{"z":1},"v":"a4"}]`},
		{"pairs", `{"mode": "key", "key": "k"}`, `[{"i":2,"k":"y","v":"a2"},{"i":4,"k":"y","v":"a2"},{"i":2,"k":"y","v":"a4"},{"i":4,"k":"y","v":"a4"},{"i":5,"k":{"z":1},"v":"a5"}]`},
		{"left", `{"mode": "key", "key": "k", "join": "left"}`, `[{"k":"x","v":"a1"},{"i":2,"k":"y","v":"a2"},{"i":4,"k":"y","v":"a2"},{"k":null,"v":"a3"},{"i":2,"k":"y","v":"a4"},{"i":4,"k":"y","v":"a4"},{"i":5,"k":{"z":1},"v":"a5"}]`},
		{"outer", `{"mode": "key", "key": "k", "join": "outer"}`, `[{"k":"x","v":"a1"},{"i":2,"k":"y","v":"a2"},{"i":4,"k":"y","v":"a2"},{"k":null,"v":"a3"},{"i":2,"k":"y","v":"a4"},{"i":4,"k":"y","v":"a4"},{"i":5,"k":{"z":1},"v":"a5"},{"i":3,"k":null}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := Run(fork(t, a, b, c.mode), Trigger{Input: value(t, in)}, environment(t))
			require.Equal(t, Success, result.Status)
			require.Equal(t, c.out, text(t, result.Output))
		})
	}
	result := Run(fork(t, a, b, `{"mode": "key"}`), Trigger{Input: value(t, in)}, environment(t))
	require.EqualError(t, result.Error, `node "M": parameter: key is missing`)
	// It waits for both, but runs with what there is.
	none := `"type": "filter", "parameters": {"conditions": [{"left": 1, "operator": "equals", "right": 2}]}`
	result = Run(fork(t, none, b, `{}`), Trigger{Input: value(t, in)}, environment(t))
	require.Len(t, result.Output, 4)
	result = Run(fork(t, none, none, `{}`), Trigger{Input: value(t, in)}, environment(t))
	require.Nil(t, result.Node("M"))
	require.Empty(t, result.Output)
}

// Items keep what they were made of, over every kind of node.
func TestPairs(t *testing.T) {
	last := set(`[{"name": "who", "value": "{{ $('Go').item.json.who }}"}]`)
	people := `[{"who": "Ada", "n": 2, "tags": ["x", "y"]}, {"who": "Bob", "n": 1, "tags": ["z"]}, {"who": "Eve", "n": 3}]`
	for _, c := range []struct{ name, node, out, fails string }{
		{"set", set(`[{"name": "a", "value": 1}]`), `[{"who":"Ada"},{"who":"Bob"},{"who":"Eve"}]`, ""},
		{"sort", `"type": "sort", "parameters": {"fields": [{"field": "n"}]}`, `[{"who":"Bob"},{"who":"Ada"},{"who":"Eve"}]`, ""},
		{"filter", `"type": "filter", "parameters": {"conditions": [{"left": "{{ $json.n }}", "operator": "gt", "right": 1}]}`, `[{"who":"Ada"},{"who":"Eve"}]`, ""},
		{"the last", `"type": "limit", "parameters": {"keep": "last"}`, `[{"who":"Eve"}]`, ""},
		{"splitOut", `"type": "splitOut", "parameters": {"field": "tags"}`, `[{"who":"Ada"},{"who":"Ada"},{"who":"Bob"}]`, ""},
		{"reply of a service", slack, `[{"who":"Ada"},{"who":"Bob"},{"who":"Eve"}]`, ""},
		{"groups of one", `"type": "aggregate", "parameters": {"groupBy": ["n"], "aggregations": [{"operation": "count", "output": "c"}]}`, `[{"who":"Ada"},{"who":"Bob"},{"who":"Eve"}]`, ""},
		{"all in one", `"type": "aggregate", "parameters": {"aggregations": [{"operation": "count", "output": "c"}]}`, "", `no single item of node "Go" belongs to this one; use $('Go').first()`},
		{"duplicates", `"type": "removeDuplicates", "parameters": {"fields": ["x"]}`, `[{"who":"Ada"}]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := Run(line(t, c.node, `"type": "noOp"`, last), Trigger{Input: value(t, people)}, environment(t))
			if c.fails != "" {
				require.Contains(t, result.Error.Error(), c.fails)
				return
			}
			require.Nil(t, result.Error)
			require.Equal(t, c.out, text(t, result.Output))
		})
	}
	all := `"type": "aggregate", "parameters": {"aggregations": [{"operation": "count", "output": "c"}]}`
	result := Run(line(t, all, set(`[{"name": "who", "value": "{{ $('Go').first().json.who }} {{ $input.first().json.c }}"}]`)), Trigger{Input: value(t, people)}, environment(t))
	require.Equal(t, `[{"who":"Ada 3"}]`, text(t, result.Output))
	result = Run(line(t, all, last), Trigger{Input: value(t, `{"who": "Ada"}`)}, environment(t))
	require.Equal(t, `[{"who":"Ada"}]`, text(t, result.Output), "there is only one")

	// Of a merge, both items are found.
	a := set(`[{"name": "a", "value": "a{{ $json.n }}"}]`)
	g := fork(t, a, `"type": "sort", "parameters": {"fields": [{"field": "n", "order": "desc"}]}`, `{"mode": "position"}`)
	g.Nodes = append(g.Nodes, workflow(t, `{"nodes": [{"name": "E", `+set(`[{"name": "x", "value": "{{ $('A').item.json.a }} {{ $('B').item.json.n }} {{ $('Go').item.json.n }}"}]`)+`}]}`).Nodes...)
	g.Connections["M"] = [][]graph.Target{{{Node: "E"}}}
	result = Run(g, Trigger{Input: value(t, people)}, environment(t))
	require.Equal(t, `[{"x":"a2 3 2"},{"x":"a1 2 1"},{"x":"a3 1 3"}]`, text(t, result.Output))
}

// A chain of merges of the same branches has a number of ways that grows without bound.
func TestPairsAreBounded(t *testing.T) {
	nodes, connections := `{"name": "Go", "type": "manual"}, {"name": "Lost", "type": "noOp"}`, `"Go": [[{"node": "Lost"}, {"node": "M0"}, {"node": "M0", "input": 1}]]`
	for i := range 40 {
		nodes += fmt.Sprintf(`, {"name": "M%d", "type": "merge", "parameters": {"mode": "position"}}`, i)
		connections += fmt.Sprintf(`, "M%d": [[{"node": "M%d"}, {"node": "M%[2]d", "input": 1}]]`, i, i+1)
	}
	nodes += `, {"name": "M40", ` + set(`[{"name": "x", "value": "{{ $('Lost').item.json.n }}"}]`) + `}`
	g := workflow(t, `{"nodes": [`+nodes+`], "connections": {`+strings.ReplaceAll(connections, `{"node": "M40", "input": 1}`, `{"node": "M40"}`)+`}}`)
	result := Run(g, Trigger{Input: value(t, two)}, environment(t))
	require.Equal(t, "expression", result.Error.Class)
	require.Contains(t, result.Error.Message, "no single item")
}

// A long execution can be looked at while it runs, and continued, with the same result.
func TestWait(t *testing.T) {
	g := line(t, slack, `"type": "wait", "parameters": {"amount": 2, "unit": "hours"}`, `"type": "httpRequest", "parameters": {"url": "https://shop.example/orders"}`,
		`"type": "dataTable", "parameters": {"operation": "insert", "table": "orders", "values": {"total": "{{ $('Go').item.json.n }}"}}`)
	trigger := Trigger{Input: value(t, `{"n": 1}`)}
	whole := Run(g, trigger, environment(t))
	require.Equal(t, Success, whole.Status)
	require.Equal(t, 2*time.Hour+time.Second+4*defaultLatency, whole.Finished.Sub(whole.Started))
	require.Len(t, whole.Effects(), 5)

	var done []NodeRun
	env := environment(t)
	var seen []string
	for _, after := range []time.Duration{-time.Second, 0, 60 * time.Millisecond, time.Minute, time.Hour, 2*time.Hour + 100*time.Millisecond, 2*time.Hour + 1100*time.Millisecond, 2*time.Hour + time.Second + 4*defaultLatency, 3 * time.Hour} {
		env.Until, env.Done = monday.Add(after), done
		result := Run(g, trigger, env)
		kept, err := json.Marshal(result.Nodes)
		require.NoError(t, err)
		done = nil
		require.NoError(t, json.Unmarshal(kept, &done), "its state is JSON")
		seen = append(seen, fmt.Sprintf("%v %s %d %d %v", after, result.Status, len(result.Nodes), len(result.Effects()), result.Finished.Sub(monday)))
	}
	require.Equal(t, []string{
		"-1s running 0 0 0s", "0s running 1 0 50ms", "60ms running 2 1 100ms", "1m0s waiting 3 1 2h0m0.1s", "1h0m0s waiting 3 1 2h0m0.1s",
		"2h0m0.1s running 4 2 2h0m1.15s", "2h0m1.1s running 4 2 2h0m1.15s", "2h0m1.2s success 5 5 2h0m1.2s", "3h0m0s success 5 5 2h0m1.2s",
	}, seen)
	require.Equal(t, text(t, whole.Nodes), text(t, done), "in parts it is the same")
	require.Len(t, env.Tables.(*tables).rows["orders"], 6, "each row was written once")

	// A failure shows when the node ends.
	g = line(t, `"type": "httpRequest", "parameters": {"url": "https://shop.example/slow"}`, slack)
	env = environment(t)
	env.Until = monday.Add(time.Second)
	result := Run(g, trigger, env)
	require.Equal(t, Running, result.Status)
	require.Nil(t, result.Error)
	env.Done, env.Until = result.Nodes, monday.Add(time.Minute)
	result = Run(g, trigger, env)
	require.Equal(t, Errored, result.Status)
	require.Equal(t, "timeout", result.Error.Class)
	require.Len(t, result.Nodes, 2)
}

func TestLatency(t *testing.T) {
	env := environment(t)
	env.Latency = func(n *graph.Node) time.Duration {
		if n.Name == "N2" {
			return 3 * time.Second
		}
		return time.Millisecond
	}
	result := Run(line(t, `"type": "noOp"`, `"type": "dateTime", "parameters": {"operation": "now"}`, `"type": "noOp", "disabled": true`), Trigger{}, env)
	require.Equal(t, 3*time.Second+2*time.Millisecond, result.Finished.Sub(monday))
	require.Equal(t, monday.Add(2*time.Millisecond), result.Node("N2").Started)
}

// Pins take the place of nodes that would act, and of the trigger.
func TestPins(t *testing.T) {
	g := line(t, strings.ReplaceAll(slack, "cr_1", "cr_mock"), set(`[{"name": "ts", "value": "{{ $json.ts }} {{ $('Go').item.json.n }}"}]`))
	env := environment(t)
	env.Pins = map[string][]Item{"N1": {{"ts": 1.0}, {"ts": 2.0}}}
	result := Run(g, Trigger{Input: value(t, two)}, env)
	require.Equal(t, `[{"ts":"1 1"},{"ts":"2 2"}]`, text(t, result.Output))
	require.True(t, result.Node("N1").Pinned)
	require.Empty(t, result.Effects())
	env.Pins["N1"] = env.Pins["N1"][:1]
	result = Run(g, Trigger{Input: value(t, two)}, env)
	require.Contains(t, result.Error.Error(), "no single item")
	env.Pins["Go"] = []Item{{"n": 7.0}}
	result = Run(g, Trigger{Kind: "webhook"}, env)
	require.Equal(t, `[{"ts":"1 7"}]`, text(t, result.Output))
	env.Pins["N1"] = nil
	require.Empty(t, Run(g, Trigger{}, env).Output)
}

func TestWorkflowsWithin(t *testing.T) {
	graphs := map[string]graph.Graph{
		"wf_1": line(t, slack, set(`[{"name": "double", "value": "{{ $('Go').item.json.n * 2 }}"}]`)),
		"wf_2": workflow(t, `{"nodes": [{"name": "Hook", "type": "webhook"}]}`),
		"wf_3": line(t, `"type": "executeWorkflow", "parameters": {"workflowId": "wf_3"}`),
		"wf_4": line(t, `"type": "stopAndError", "parameters": {"message": "no"}`),
		"wf_5": line(t, `"type": "executeWorkflow", "parameters": {"workflowId": "wf_1"}`, `"type": "wait", "parameters": {"amount": 1}`),
		"wf_6": line(t, `"type": "executeWorkflow", "parameters": {"workflowId": "wf_6", "mode": "each"}`, `"type": "executeWorkflow", "parameters": {"workflowId": "wf_6", "mode": "each"}`),
	}
	env := environment(t)
	env.Workflow = func(id string) (graph.Graph, bool) { g, ok := graphs[id]; return g, ok }
	run := func(params string) Result {
		return Run(line(t, `"type": "executeWorkflow", "parameters": `+params, set(`[{"name": "d", "value": "{{ $json.double }} of {{ $('Go').item.json.n }}"}]`)), Trigger{Input: value(t, two)}, env)
	}
	for _, mode := range []string{"once", "each"} {
		result := run(`{"workflowId": "wf_1", "mode": "` + mode + `"}`)
		require.Equal(t, `[{"d":"2 of 1"},{"d":"4 of 2"}]`, text(t, result.Output))
		require.Len(t, result.Effects(), 2)
		require.Equal(t, "wf_1", result.Effects()[0].Workflow)
	}
	result := run(`{"workflowId": "{{ 'wf_' + 5 }}"}`)
	require.Equal(t, Success, result.Status)
	require.Equal(t, []string{"wf_1", "wf_1"}, []string{result.Effects()[0].Workflow, result.Effects()[1].Workflow})
	require.Equal(t, time.Second+8*defaultLatency, result.Finished.Sub(monday), "the wait of the other workflow, too")
	for id, want := range map[string]string{
		"wf_2": `node "N1": trigger: workflow wf_2: node "Hook": trigger: the workflow starts with a trigger of type webhook; another`,
		"wf_3": `node "N1": E_LIMIT: workflow wf_3: node "N1": E_LIMIT: workflow wf_3`,
		"wf_4": `node "N1": stopped: workflow wf_4: node "N1": stopped: no`,
		"wf_6": "E_LIMIT",
		"":     "not_found",
	} {
		result := run(`{"workflowId": "` + id + `"}`)
		require.Equal(t, Errored, result.Status)
		require.Contains(t, result.Error.Error(), want, id)
	}
}

func TestLimits(t *testing.T) {
	many := make([]any, maxItems+1)
	for i := range many {
		many[i] = map[string]any{"n": float64(i)}
	}
	large := strings.Repeat("x", 1<<20)
	chain := make([]string, maxNodes)
	for i := range chain {
		chain[i] = `"type": "noOp"`
	}
	busy := `{{ [` + strings.TrimSuffix(strings.Repeat("$json.n,", 2000), ",") + `].length }}`
	var grow []string
	for range 9 { // 15 MiB each
		grow = append(grow, set(`[{"name": "a", "value": {"b": "{{ $json.a }}"}}]`))
	}
	env := environment(t)
	env.HTTP = func(Request) (Response, error) {
		body := make([]any, 50)
		for i := range body {
			body[i] = map[string]any{"page": large}
		}
		return Response{Body: body}, nil
	}
	for _, c := range []struct {
		name  string
		graph graph.Graph
		input any
		want  string
	}{
		{"items", line(t, `"type": "noOp"`), many, `node "Go": E_LIMIT: the node puts out more than 10000 items`},
		{"items of a join", fork(t, `"type": "noOp"`, `"type": "noOp"`, `{"mode": "key", "key": "k"}`), value(t, `[`+strings.Repeat(`{"k": 1},`, 200)+`{"k": 2}]`), `node "M": E_LIMIT: the node puts out more than 10000 items`},
		{"an output of 50 MB", line(t, `"type": "httpRequest", "onError": "continue", "parameters": {"url": "https://a.example"}`), nil, `node "N1": E_LIMIT: the node puts out more than 16777216 bytes`},
		{"bytes of all", line(t, grow...), map[string]any{"a": []any{large, large, large, large, large, large, large, large, large, large, large, large, large, large, large}}, `E_LIMIT: the nodes put out more than 67108864 bytes`},
		{"operations", line(t, set(`[{"name": "a", "value": "`+busy+`"}]`)), many[:maxItems], `node "N1": E_LIMIT: the execution needs more than 20000000 operations`},
		{"operations of conditions", line(t, `"type": "filter", "onError": "continue", "parameters": {"conditions": [{"left": "{{ $('Go').first().json.list }}", "operator": "contains", "right": "x"}]}`), append([]any{map[string]any{"list": many[:5000]}}, many[:9000]...), `E_LIMIT: the execution needs more than 20000000 operations`},
		{"nodes that run", line(t, chain...), nil, `node "N100": E_LIMIT: more than 100 nodes run`},
		{"nodes", graph.Graph{Nodes: make([]graph.Node, 10_000)}, nil, `E_LIMIT: the workflow has 10000 nodes`},
		{"a cycle", workflow(t, `{"nodes": [{"name": "Go", "type": "manual"}, {"name": "A", "type": "noOp"}], "connections": {"A": [[{"node": "A"}]]}}`), nil, `graph: the nodes lead back to where they begin: A → A`},
		{"no trigger", graph.Graph{}, nil, `graph: the workflow has no trigger`},
		{"an unknown type", line(t, `"type": "code"`), nil, `node "N1": graph: there is no node type "code"`},
		{"two triggers", line(t, `"type": "manual"`), nil, `node "N1": graph: there is no node type "manual" that takes items`},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := Run(c.graph, Trigger{Input: c.input}, env)
			require.Equal(t, Errored, result.Status)
			require.Contains(t, result.Error.Error(), c.want)
		})
	}
}

// What nothing was given for is an error of the node, not a panic.
func TestNothingAround(t *testing.T) {
	for node, want := range map[string]string{
		`"type": "httpRequest", "parameters": {"url": "https://a.example"}`:                       "network: nothing answers GET https://a.example",
		`"type": "dataTable", "parameters": {"operation": "get", "table": "t"}`:                   "table: there are no data tables",
		`"type": "executeWorkflow", "parameters": {"workflowId": "wf_1"}`:                         "not_found: there is no workflow wf_1",
		`"type": "slack", "credentials": {"slackApi": "x"}, "parameters": {"channel": 1}`:         "",
		`"type": "set", "parameters": {"fields": [{"name": "a", "value": "{{ $('N1').item }}"}]}`: "expression: column",
	} {
		result := Run(line(t, node), Trigger{}, Env{})
		if want == "" {
			require.Equal(t, `[{"channel":"1","ok":true,"text":""}]`, text(t, result.Output))
			continue
		}
		require.Contains(t, result.Error.Error(), `node "N1": `+want)
	}
}

// A node that several nodes lead to runs once, with all items; one of two with one name does
// not run.
func TestSeveralWays(t *testing.T) {
	g := workflow(t, `{"nodes": [{"name": "Go", "type": "manual"}, {"name": "E", "type": "noOp"}, {"name": "B", `+set(`[{"name": "from", "value": "b"}]`)+`}, {"name": "A", `+set(`[{"name": "from", "value": "a"}]`)+`}, {"name": "A", "type": "stopAndError"}],
		"connections": {"Go": [[{"node": "A"}, {"node": "B"}, {"node": "Gone"}]], "A": [[{"node": "E"}], [{"node": "E"}]], "B": [[{"node": "E", "input": 0}]]}}`)
	result := Run(g, Trigger{}, environment(t))
	require.Equal(t, `[{"from":"b"},{"from":"a"}]`, text(t, result.Output))
	var names []string
	for _, n := range result.Nodes {
		names = append(names, n.Name)
	}
	require.Equal(t, []string{"Go", "B", "A", "E"}, names)
}

func TestFailure(t *testing.T) {
	for class, want := range map[string]string{"http_401": "needs_setup", "http_403": "needs_setup", "credential": "needs_setup", "quota": "needs_setup", "http_429": "blocked", "http_502": "blocked", "timeout": "blocked", "http_500": "code_fixable", "expression": "code_fixable", "E_LIMIT": "code_fixable"} {
		require.Equal(t, want, (&Failure{Class: class}).Remedy(), class)
	}
	require.Equal(t, "blocked", (&Failure{Class: "network", Message: "the request timed out"}).Remedy())
}

func TestFilter(t *testing.T) {
	row := Item{"t": "Ada Lovelace", "n": 3.0, "z": nil, "b": true}
	for _, c := range []struct {
		condition Condition
		want      bool
		fails     string
	}{
		{Condition{"n", "", 3.0}, true, ""}, {Condition{"n", "neq", "3"}, true, ""}, {Condition{"z", "eq", nil}, true, ""}, {Condition{"x", "eq", nil}, true, ""}, {Condition{"n", "neq", 3.0}, false, ""},
		{Condition{"n", "gt", 2.0}, true, ""}, {Condition{"n", "gt", 3.0}, false, ""}, {Condition{"n", "gte", 3.0}, true, ""}, {Condition{"n", "lt", 3.0}, false, ""}, {Condition{"n", "lte", 3.0}, true, ""},
		{Condition{"z", "lt", 3.0}, false, ""}, {Condition{"t", "gt", "Ad"}, true, ""}, {Condition{"n", "gt", "2"}, false, "gt cannot compare 3 with 2"},
		{Condition{"t", "like", "ada%"}, true, ""}, {Condition{"t", "like", "%LOVE%"}, true, ""}, {Condition{"t", "like", "%lace"}, true, ""}, {Condition{"t", "like", "a%a%l%e"}, true, ""}, {Condition{"t", "like", "ada"}, false, ""},
		{Condition{"t", "like", "%x%"}, false, ""}, {Condition{"t", "like", "ada lovelace%e"}, false, ""}, {Condition{"t", "like", "ada lovelace"}, true, ""}, {Condition{"n", "like", "3"}, false, ""}, {Condition{"n", "like", 3.0}, false, "like needs a text"},
		{Condition{"n", "is", 3.0}, false, `unknown operator "is"`},
	} {
		got, err := Filter{Conditions: []Condition{c.condition}}.Match(row)
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%v", c.condition)
	}
	yes, no := Condition{"n", "eq", 3.0}, Condition{"n", "eq", 4.0}
	for _, c := range []struct {
		filter Filter
		want   bool
	}{{Filter{}, true}, {Filter{Any: true}, true}, {Filter{false, []Condition{yes, no}}, false}, {Filter{true, []Condition{no, yes}}, true}, {Filter{true, []Condition{no}}, false}, {Filter{false, []Condition{yes, yes}}, true}} {
		got, err := c.filter.Match(row)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}
