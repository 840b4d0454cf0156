package interp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// generator makes random workflows.
type generator struct {
	*rand.Rand
	names []string
	// before are the nodes that the current one may read.
	before []string
}

func (g generator) one(of ...string) string { return of[g.IntN(len(of))] }

// expr is an expression with parentheses around each operation.
func (g generator) expr(depth int) string {
	if depth > 0 {
		switch g.IntN(8) {
		case 0, 1:
			return fmt.Sprintf("(%s %s %s)", g.expr(depth-1), g.one("+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||"), g.expr(depth-1))
		case 2:
			return fmt.Sprintf("(%s ? %s : %s)", g.expr(depth-1), g.expr(depth-1), g.expr(depth-1))
		case 3:
			return g.one("!", "-") + g.expr(depth-1)
		case 4:
			return g.expr(depth-1) + g.one(".length", ".toUpperCase()", ".round()", ".split(',')", ".join('-')", ".includes("+g.expr(0)+")")
		}
	}
	node := g.before[g.IntN(len(g.before))]
	if g.IntN(20) == 0 {
		node = g.names[g.IntN(len(g.names))] // it may not have run
	}
	return g.one("$json.a", "$json.a", "$json.b", "$json.b", "$json.c", "$json.d.e", "$json.l", "$json.x.y", "$json.body.b", "$json", "$now", "0", "2", "3", "'x'", "'a,b'", "true", "null", "[1,'x']",
		"$input.first().json.a", "$('"+node+"').item.json.a", "$('"+node+"').item.json.b", "$('"+node+"').item.json", "$('"+node+"').item.json.d", "$('"+node+"').first().json.a")
}

// text is a text or another value with expressions.
func (g generator) value() any {
	switch g.IntN(9) {
	case 8:
		return "{{$('" + g.before[g.IntN(len(g.before))] + "').item.json}}"
	case 0:
		return float64(g.IntN(3))
	case 1:
		return "x"
	case 2:
		return "{{" + g.expr(1) + "}} of {{" + g.expr(0) + "}}"
	case 3:
		return map[string]any{"e": "{{" + g.expr(1) + "}}"}
	case 4:
		return []any{"{{" + g.expr(0) + "}}", 1.0}
	}
	return "{{" + g.expr(2) + "}}"
}

func (g generator) field() string { return g.one("a", "b", "c", "d.e", "l", "x.y", "d") }

func (g generator) conditions() []any {
	var out []any
	for range 1 + g.IntN(2) {
		operator := g.one("equals", "gt", "exists", "isTrue", "isEmpty", "contains", "startsWith")
		c := map[string]any{"left": g.value(), "operator": operator}
		if !slices.Contains([]string{"exists", "isTrue", "isEmpty"}, operator) {
			c["right"] = g.value()
		}
		out = append(out, c)
	}
	return out
}

// params are the parameters of a node.
func (g generator) params(kind string) map[string]any {
	p := map[string]any{}
	maybe := func(name string, v any) {
		if g.IntN(2) == 0 {
			p[name] = v
		}
	}
	switch kind {
	case "if", "filter":
		p["conditions"] = g.conditions()
		maybe("combinator", g.one("and", "or"))
	case "switch":
		p["rules"] = g.conditions()
		maybe("fallback", "extra")
		maybe("allMatching", true)
	case "merge":
		p["mode"] = g.one("append", "position", "key")
		if p["mode"] == "key" {
			p["key"] = g.field()
			maybe("join", g.one("inner", "left", "outer"))
		}
	case "set":
		p["fields"] = []any{map[string]any{"name": g.field(), "value": g.value()}, map[string]any{"name": g.field(), "value": g.value()}}
		maybe("includeOtherFields", true)
	case "sort":
		p["fields"] = []any{map[string]any{"field": g.field(), "order": g.one("asc", "desc")}}
	case "limit":
		maybe("maxItems", float64(g.IntN(4)))
		maybe("keep", "last")
	case "removeDuplicates":
		maybe("fields", []any{g.field()})
	case "aggregate":
		a := map[string]any{"operation": g.one("count", "sum", "list", "items"), "output": g.field()}
		if a["operation"] == "sum" || a["operation"] == "list" {
			a["field"] = g.field()
		} else {
			a["field"] = "a" // is not read
		}
		p["aggregations"] = []any{a}
		maybe("groupBy", []any{g.field()})
	case "splitOut":
		p["field"] = g.one("l", "l", "body.l", "a")
		maybe("includeOtherFields", true)
	case "dateTime":
		p["operation"], p["date"], p["output"] = "format", g.one("2026-03-02", "{{$now}}", "{{$json.x}}", "{{$json.b}}"), "date"
		if p["format"] = "dd.MM.yyyy"; g.IntN(2) == 0 {
			p["operation"], p["amount"] = "add", float64(g.IntN(60)-30)
		}
	case "wait":
		p["amount"], p["unit"] = g.value(), "minutes"
	case "stopAndError":
		p["message"] = g.value()
	case "slack":
		p["channel"], p["text"] = "#a", g.value()
	case "email":
		p["to"], p["subject"], p["text"] = "a@b.example", "s", g.value()
	case "sheet":
		p["document"], p["values"] = "d", map[string]any{"v": g.value()}
	case "httpRequest":
		p["url"] = "https://shop.example/" + g.one("orders", "nothing", "busy", "gone")
	case "dataTable":
		p["operation"], p["table"] = g.one("insert", "get", "update", "upsert", "delete"), "orders"
		if p["operation"] != "insert" {
			p["filter"] = []any{map[string]any{"column": "customer", "value": g.one("Ada", "{{$json.b}}")}}
		}
		if p["operation"] != "get" && p["operation"] != "delete" {
			p["values"] = map[string]any{"customer": "{{" + g.expr(0) + "}}", "total": float64(g.IntN(9))}
		}
	case "executeWorkflow":
		p["workflowId"], p["mode"] = g.one("wf_1", "wf_2", "wf_3"), "each"
	}
	return p
}

// graph is a workflow of up to ten nodes, in any order.
func (g generator) graph(trigger string, kinds []string) graph.Graph {
	out := graph.Graph{Connections: map[string][][]graph.Target{}}
	for i := range 2 + g.IntN(9) {
		g.names = append(g.names, fmt.Sprintf("N%d", i))
	}
	for i, name := range g.names {
		n := graph.Node{Name: name, Type: kinds[g.IntN(len(kinds))], Disabled: g.IntN(20) == 0}
		if g.before = g.names[:max(i, 1)]; i == 0 {
			n.Type, n.Disabled = trigger, false
		} else {
			n.Parameters = g.params(n.Type)
		}
		if g.IntN(3) == 0 {
			n.OnError = "continue"
		}
		if kind := graph.Find(n.Type).Needs(&n); kind != "" {
			n.Credentials = map[string]string{kind: g.one("cr_1", "cr_1", "cr_1", "cr_rejected")}
		}
		inputs := 1
		if n.Type == "merge" {
			inputs = 2
		}
		for input := range inputs {
			for range 1 + g.IntN(6)/5 {
				if i > 0 {
					from := g.names[max(0, i-1-g.IntN(3))]
					port := g.IntN(5) / 3
					for len(out.Connections[from]) <= port {
						out.Connections[from] = append(out.Connections[from], nil)
					}
					out.Connections[from][port] = append(out.Connections[from][port], graph.Target{Node: name, Input: input})
				}
			}
		}
		out.Nodes = append(out.Nodes, n)
	}
	g.Shuffle(len(out.Nodes), func(i, j int) { out.Nodes[i], out.Nodes[j] = out.Nodes[j], out.Nodes[i] })
	return out
}

// item is a random object.
func (g generator) item(depth int) any {
	out := map[string]any{}
	for _, name := range []string{"a", "b", "c", "d", "l"} {
		if g.IntN(5) > 0 {
			out[name] = []any{float64(g.IntN(4)), g.one("x", "Ada", "a,b", ""), g.IntN(2) == 0, nil}[g.IntN(4)]
		}
	}
	if g.IntN(2) == 0 {
		out["d"] = map[string]any{"e": float64(g.IntN(3))}
	}
	if depth > 0 && g.IntN(2) == 0 {
		list := []any{g.item(0), "x", 1.0}
		out["l"] = list[:g.IntN(4)]
	}
	return out
}

func (g generator) input(trigger string) any {
	if trigger != "manual" || g.IntN(4) == 0 {
		return g.item(1)
	}
	list := make([]any, g.IntN(6))
	for i := range list {
		list[i] = g.item(1)
	}
	return list
}

// summary is what both interpreters must agree on.
func summary(t testing.TB, runs []simpleRun, fails *Failure, now time.Time) string {
	for i := range runs {
		runs[i].At, runs[i].End = runs[i].At.UTC(), runs[i].End.UTC()
		for len(runs[i].Output) > 0 && len(runs[i].Output[len(runs[i].Output)-1]) == 0 {
			runs[i].Output = runs[i].Output[:len(runs[i].Output)-1]
		}
		for j := range runs[i].Output {
			runs[i].Output[j] = append([]Item{}, runs[i].Output[j]...)
		}
		if len(runs[i].Output) == 0 {
			runs[i].Output = nil
		}
	}
	return text(t, map[string]any{"runs": runs, "fails": fails, "end": now})
}

func summaryOf(t testing.TB, r Result) string {
	var runs []simpleRun
	for _, n := range r.Nodes {
		runs = append(runs, simpleRun{n.Name, n.Started, n.Finished(), slices.Clone(n.Output), n.Effects, n.Error})
	}
	return summary(t, runs, r.Error, r.Finished)
}

// randomEnv is an environment that only depends on the seed.
func randomEnv(t testing.TB, seed uint64, library map[string]graph.Graph) Env {
	env := environment(t)
	if seed%2 == 0 {
		env.Latency = func(n *graph.Node) time.Duration { return time.Duration(len(n.Type)) * time.Millisecond }
	}
	env.Workflow = func(id string) (graph.Graph, bool) { g, ok := library[id]; return g, ok }
	return env
}

// The interpreter agrees with a second one, written without regard to speed, on random
// workflows with every type of node, errors included; and an execution that is looked at
// on the way gives the same result in the end.
func TestRandomGraphs(t *testing.T) {
	var kinds []string
	for _, typ := range graph.Types() {
		if typ.Kind != graph.KindTrigger {
			kinds = append(kinds, typ.Name)
		}
	}
	kinds = append(kinds, "set", "set", "set", "merge", "filter", "splitOut", "noOp")
	rounds := testkit.SlowN(4_000, 10_000)
	if testing.Short() {
		rounds = 500
	}
	ran, succeeded := map[string]int{}, 0
	for seed := range uint64(rounds) {
		g := generator{Rand: rand.New(rand.NewPCG(seed, 21))}
		inner := slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == "executeWorkflow" })
		library := map[string]graph.Graph{"wf_1": {Nodes: []graph.Node{{Name: "Go", Type: "manual"}}}, "wf_2": g.graph("manual", inner), "wf_3": g.graph("manual", inner)}
		trigger := g.one("manual", "manual", "manual", "form", "webhook", "chat", "schedule")
		of := kinds
		if seed%3 == 0 { // more that depends on which items belong together
			trigger, of = "manual", []string{"set", "set", "merge", "aggregate", "sort", "filter", "limit", "splitOut"}
		}
		w, start := g.graph(trigger, of), Trigger{Input: g.input(trigger)}

		second := &simple{graph: w, env: randomEnv(t, seed, library)}
		leaves := second.run(start, nil)
		want := summary(t, second.runs, second.fails, second.now)
		env := randomEnv(t, seed, library)
		result := Run(w, start, env)
		if got := summaryOf(t, result); got != want {
			t.Fatalf("seed %d\n%s\ninput %s\nwant %s\ngot  %s", seed, w.Text(), text(t, start.Input), want, got)
		}
		require.Equal(t, second.env.Tables, env.Tables, "seed %d", seed)
		for _, n := range result.Nodes {
			ran[n.Type]++
		}
		if result.Error == nil {
			succeeded++
			require.Len(t, result.Output, len(leaves), "seed %d", seed)
			for i, leaf := range leaves {
				require.Equal(t, text(t, leaf.json), text(t, result.Output[i]), "seed %d", seed)
			}
		}
		if seed%5 == 0 {
			inParts(t, g, w, start, randomEnv(t, seed, library), want)
		}
	}
	if !testing.Short() {
		for _, typ := range graph.Types() {
			require.Greater(t, ran[typ.Name], 100, "%s ran too seldom", typ.Name)
		}
		require.Greater(t, succeeded, rounds/5, "too few succeed")
	}
}

// inParts looks at an execution at random times before it ends.
func inParts(t *testing.T, g generator, w graph.Graph, start Trigger, env Env, want string) {
	for at := monday; ; at = at.Add(time.Duration(g.IntN(200)) * time.Millisecond) {
		env.Until = at
		result := Run(w, start, env)
		kept, err := json.Marshal(result.Nodes)
		require.NoError(t, err)
		env.Done = nil
		require.NoError(t, json.Unmarshal(kept, &env.Done))
		if result.Status == Success || result.Status == Errored {
			require.Equal(t, want, summaryOf(t, result))
			return
		}
		if result.Status == Waiting {
			at = result.Finished
		}
	}
}

// FuzzRun runs any text that can be read as a graph: each ends, without a panic, in the same
// way twice, and one that a check finds nothing wrong with never fails for its form.
func FuzzRun(f *testing.F) {
	kinds := []string{"set", "merge", "aggregate", "sort", "filter", "limit", "splitOut", "switch", "dataTable", "httpRequest", "wait"}
	for seed := range uint64(20) {
		w := generator{Rand: rand.New(rand.NewPCG(seed, 22))}.graph("manual", kinds)
		f.Add(w.Text(), `[{"a": 1, "b": "x", "l": [1, {"c": 2}]}, {"d": {"e": 1}}]`)
	}
	f.Fuzz(func(t *testing.T, graphText, inputText string) {
		w, faults := graph.Parse(graphText)
		var input any
		if len(faults) > 0 || json.Unmarshal([]byte(inputText), &input) != nil {
			return
		}
		library := map[string]graph.Graph{"wf_1": w}
		result := Run(w, Trigger{Input: input}, randomEnv(t, 1, library))
		require.Equal(t, summaryOf(t, result), summaryOf(t, Run(w, Trigger{Input: input}, randomEnv(t, 1, library))))
		require.Contains(t, []string{Success, Errored}, result.Status)
		if len(graph.Check(w, graph.Env{})) == 0 && result.Error != nil {
			require.NotEqual(t, "graph", result.Error.Class, result.Error.Message)
		}
	})
}
