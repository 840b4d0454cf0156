package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// orders is a graph without a fault, with every kind of part.
const orders = `{
  "name": "Orders",
  "nodes": [
    {"name": "Hook", "type": "webhook", "typeVersion": 1, "parameters": {"path": "orders"}},
    {"name": "Large?", "type": "if", "typeVersion": 2, "parameters": {"conditions": [{"left": "{{ $json.body.total }}", "operator": "gt", "right": 100}]}},
    {"name": "Tell", "type": "slack", "typeVersion": 2, "parameters": {"channel": "#sales", "text": "{{ $('Hook').item.json.body.total }}"}, "credentials": {"slackApi": "cr_1"}, "onError": "continue"},
    {"name": "Small", "type": "set", "typeVersion": 3, "parameters": {"fields": [{"name": "size", "value": "small"}]}},
    {"name": "Both", "type": "merge", "typeVersion": 2, "parameters": {}}
  ],
  "connections": {
    "Hook": [[{"node": "Large?", "input": 0}]],
    "Large?": [[{"node": "Tell", "input": 0}], [{"node": "Small", "input": 0}]],
    "Tell": [[{"node": "Both", "input": 0}]],
    "Small": [[{"node": "Both", "input": 1}]]
  },
  "settings": {"timezone": "UTC"}
}`

func read(t testing.TB, text string) Graph {
	t.Helper()
	g, faults := Parse(text)
	require.Empty(t, faults)
	return g
}

var around = Env{
	Credential: func(id string) (string, bool) {
		kind, ok := map[string]string{"cr_1": "slackApi", "cr_2": "smtp"}[id]
		return kind, ok
	},
	Workflow: func(id string) bool { return id == "wf_1" },
}

func TestParse(t *testing.T) {
	g := read(t, orders)
	require.Empty(t, Check(g, around))
	require.Equal(t, g, read(t, g.Text()), "a graph is read back as it was")
	require.Equal(t, "Hook", g.Trigger().Name)
	require.Equal(t, 3, read(t, `{"nodes": [{"name": "a", "type": "set"}]}`).Nodes[0].Version, "the newest")
}

func TestParseFaults(t *testing.T) {
	many := `{"nodes": [` + strings.Repeat(`{"name": "a", "type": "noOp"},`, 9_999) + `{"name": "a", "type": "noOp"}]}`
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"graph.json: line 1: EOF"}},
		{"{\n\"name\": }", []string{"graph.json: line 2: invalid character '}'"}},
		{"{} {}", []string{"graph.json: line 1: there is more text"}},
		{"[]", []string{"graph.json: want an object with name, nodes, connections, settings"}},
		{many, []string{"nodes: graph.limit: there are 10000 nodes; at most 200 are allowed"}},
		{strings.Repeat(" ", maxText+1), []string{"graph.limit: the graph is longer than"}},
		// All of them at once.
		{`{"name": 1, "node": [], "nodes": [7, {"name": " ", "type": 2, "typeVersion": 1.5, "parameters": [], "credentials": {"smtp": {"id": "x"}}, "disabled": "no", "onError": "retry", "position": [0, 0]}],
		  "connections": {"a": {"main": []}, "b": [[{"node": "c", "index": 0, "input": 0.5}], 3]}}`, []string{
			"node: graph.json: unknown field", "name: graph.json: want a text", "nodes[0]: graph.json: want an object with name, type", "nodes[0].name: graph.json: a node needs a name",
			"nodes[1].position: graph.json: unknown field", "nodes[1].type: graph.json: want a text", "nodes[1].parameters: graph.json: want an object", "nodes[1].disabled: graph.json: want true or false",
			"nodes[1].name: graph.json: a node needs a name", "nodes[1].onError: graph.json: want stop or continue", "nodes[1].typeVersion: graph.json: want a whole number", "nodes[1].credentials.smtp: graph.json: want the id",
			"connections.a: graph.json: want a list with one list", "connections.b[0][0].index: graph.json: unknown field", "connections.b[0][0].input: graph.json: want a whole number", "connections.b[1]: graph.json: want a list",
		}},
	} {
		t.Run(fmt.Sprintf("%.40s", c.text), func(t *testing.T) {
			_, faults := Parse(c.text)
			requireFaults(t, c.want, faults)
		})
	}
}

// requireFaults compares the beginnings of faults, in their order.
func requireFaults(t *testing.T, want []string, faults []Fault) {
	t.Helper()
	var got []string
	for _, f := range faults {
		got = append(got, f.String())
	}
	require.Len(t, got, len(want), strings.Join(got, "\n"))
	for i := range want {
		require.Contains(t, got[i], want[i])
	}
}

func TestCheck(t *testing.T) {
	start := `{"name": "Go", "type": "manual"}`
	for _, c := range []struct {
		name, nodes, connections string
		want                     []string
	}{
		{"nothing", ``, ``, []string{"trigger.none"}},
		{"only a trigger", start, ``, nil},
		{"two of one name", start + `, {"name": "Go", "type": "noOp"}`, ``, []string{`node "Go": node.name_duplicate`}},
		{"unknown type", start + `, {"name": "a", "type": "n8n-nodes-base.httpRequest"}`, `"Go": [[{"node": "a"}]]`, []string{`node "a", type: node.type_unknown: there is no node type "n8n-nodes-base.httpRequest"; did you mean httpRequest?`}},
		{"misspelt type", start + `, {"name": "a", "type": "merg"}, {"name": "b", "type": "quux"}`, `"Go": [[{"node": "a"}, {"node": "b"}]]`, []string{`did you mean merge?`, `there is no node type "quux"`}},
		{"code", start + `, {"name": "a", "type": "code"}`, `"Go": [[{"node": "a"}]]`, []string{"node.type_unknown: nodes that run code are not available"}},
		{"names of fields", start + `, {"name": "a", "type": "sort", "parameters": {"fields": [{"field": "` + strings.Repeat("n", 129) + `"}, {"field": "a..b"}]}}, {"name": "b", "type": "noOp", "parameters": {"x": 1}}`, `"Go": [[{"node": "a"}, {"node": "b"}]]`, []string{"it is longer than 128 characters", `a field cannot have the name ""`, "want one of none"}},
		{"version", `{"name": "Go", "type": "manual", "typeVersion": 4}`, ``, []string{`node "Go", typeVersion: node.version: manual has no version 4; the newest is 1`}},
		{"parameters", `{"name": "Go", "type": "form", "parameters": {"titel": "x", "fields": [{"name": "a.__proto__", "type": "file"}, 3, {"required": "yes"}]}}`, ``, []string{
			"parameters.titel: param.unknown: want one of title, fields", "parameters.title: param.required: a value is needed: heading", "parameters.fields[0].name: param.type: a field cannot have the name \"__proto__\"",
			"parameters.fields[0].type: param.enum: want one of text, number, email, date", "parameters.fields[1]: param.type: want an object with name, type, required",
			"parameters.fields[2].name: param.required", "parameters.fields[2].required: param.type: want true or false",
		}},
		{"what depends on another", start + `, {"name": "a", "type": "dataTable", "parameters": {"operation": "insert", "table": "t", "filter": [{"column": "x", "value": 1}], "limit": 3}}, {"name": "b", "type": "dataTable", "parameters": {"operation": "delete", "table": " "}}`,
			`"Go": [[{"node": "a"}, {"node": "b"}]]`, []string{"parameters.filter: param.unknown: it is only allowed with operation = update", "parameters.limit: param.unknown: it is only allowed with operation = get", "parameters.values: param.required",
				"parameters.table: param.required", "parameters.filter: param.required"}},
		{"a condition without a right side", start + `, {"name": "a", "type": "filter", "parameters": {"conditions": [{"left": "{{ $json.a }}", "operator": "exists"}, {"left": null, "operator": "equals", "right": null}, {"left": "", "operator": "equals"}]}}`,
			`"Go": [[{"node": "a"}]]`, []string{"parameters.conditions[2].right: param.required"}},
		{"kinds of values", start + `, {"name": "a", "type": "httpRequest", "parameters": {"url": 7, "query": [], "headers": {"constructor": 1}, "fullResponse": "{{ $json.x }}"}}, {"name": "b", "type": "limit", "parameters": {"maxItems": "5"}}, {"name": "c", "type": "removeDuplicates", "parameters": {"fields": ["{{ $json.a }}", 3, "ok"]}}, {"name": "d", "type": "aggregate", "parameters": {"aggregations": "all"}}`,
			`"Go": [[{"node": "a"}, {"node": "b"}, {"node": "c"}, {"node": "d"}]]`, []string{"parameters.url: param.type: want a text", "parameters.headers: param.type: a field cannot have the name", "parameters.maxItems: param.type: want a number",
				"parameters.fields[0]: param.type: want the name of a field", "parameters.fields[1]: param.type", "parameters.aggregations: param.type: want a list"}},
		{"too many rules", start + `, {"name": "a", "type": "switch", "parameters": {"rules": [` + strings.TrimSuffix(strings.Repeat(`{"left": 1, "operator": "isTrue"},`, 17), ",") + `]}}`, `"Go": [[{"node": "a"}]]`, []string{"there are 17 entries; at most 16"}},
		{"expressions", start + `, {"name": "a", "type": "set", "parameters": {"fields": [{"name": "x", "value": {"y": "{{ $json. }}"}}, {"name": "z", "value": "{{ $('Gone').item.json.a }}"}]}}`, `"Go": [[{"node": "a"}]]`, []string{
			`parameters.fields[0].value.y: expression.syntax: column 11`, `parameters: expression.syntax: an expression reads $('Gone')`}},
		{"credentials", start + `, {"name": "a", "type": "slack", "parameters": {"channel": "c", "text": "t"}}, {"name": "b", "type": "email", "parameters": {"to": "a", "subject": "s", "text": "t"}, "credentials": {"smtp": "cr_9", "slackApi": "cr_1"}},
			{"name": "c", "type": "slack", "parameters": {"channel": "c", "text": "t"}, "credentials": {"slackApi": "cr_2"}}, {"name": "d", "type": "httpRequest", "parameters": {"url": "u", "authentication": "basic"}}, {"name": "e", "type": "noOp", "credentials": {"smtp": "cr_2"}},
			{"name": "f", "type": "slack", "parameters": {"channel": "c", "text": "t"}, "disabled": true}`,
			`"Go": [[{"node": "a"}, {"node": "b"}, {"node": "c"}, {"node": "d"}, {"node": "e"}]]`, []string{
				`node "a", credentials.slackApi: credential.missing: the node needs the id`, `node "b", credentials.slackApi: credential.type: the node takes a credential of type smtp`, `there is no credential "cr_9"`,
				`node "c", credentials.slackApi: credential.type: the credential "cr_2" is of type smtp`, `node "d", credentials.httpBasicAuth: credential.missing`, `node "e", credentials.smtp: credential.type: the node takes no credential`}},
		{"a workflow that does not exist", start + `, {"name": "a", "type": "executeWorkflow", "parameters": {"workflowId": "wf_2"}}, {"name": "b", "type": "executeWorkflow", "parameters": {"workflowId": "wf_1"}}, {"name": "c", "type": "executeWorkflow", "parameters": {"workflowId": "{{ $json.id }}"}}`,
			`"Go": [[{"node": "a"}, {"node": "b"}, {"node": "c"}]]`, []string{`parameters.workflowId: subnode.missing: there is no workflow "wf_2"`}},
		{"connections", start + `, {"name": "a", "type": "merge"}`, `"Go": [[{"node": "a", "input": 2}, {"node": "b"}], [{"node": "a", "input": 0}]], "c": [[]]`, []string{
			`connections.Go[0][0]: connection.port: node "a" has 2 inputs`, `connections.Go[0][1]: connection.unknown_node: there is no node "b"`, `connections.Go[1]: connection.port: the node has 1 outputs`,
			`connections.c: connection.unknown_node`, `node "a": subnode.missing: nothing is connected to its input 1`}},
		{"into a trigger, out of an end", start + `, {"name": "a", "type": "stopAndError", "parameters": {"message": "m"}}`, `"Go": [[{"node": "a"}]], "a": [[{"node": "Go"}]]`, []string{"connection.port: the node has 0 outputs", `node "Go" has 0 inputs`, "connection.cycle: the nodes lead back to where they begin: Go → a → Go"}},
		{"the shortest cycle", start + `, {"name": "a", "type": "noOp"}, {"name": "b", "type": "noOp"}, {"name": "c", "type": "noOp"}`, `"Go": [[{"node": "a"}]], "a": [[{"node": "b"}]], "b": [[{"node": "c"}]], "c": [[{"node": "a"}, {"node": "b"}]]`, []string{"begin: b → c → b"}},
		{"a node that leads to itself", start + `, {"name": "a", "type": "noOp"}`, `"Go": [[{"node": "a"}]], "a": [[{"node": "a"}]]`, []string{"begin: a → a"}},
		{"two triggers, one of which is disabled", start + `, {"name": "b", "type": "chat"}, {"name": "c", "type": "chat", "disabled": true}`, ``, []string{`node "b", type: trigger.many: "Go" is a trigger, too`}},
		{"not reached", start + `, {"name": "a", "type": "noOp"}, {"name": "b", "type": "noOp"}`, `"a": [[{"node": "b"}]]`, []string{`node "a": node.unreachable`, `node "b": node.unreachable`}},
		{"a long name", start + `, {"name": "` + strings.Repeat("n", 200) + `", "type": "noOp", "disabled": true}`, ``, []string{"graph.limit: a name has at most 128 characters"}},
		{"large parameters", start + `, {"name": "a", "type": "set", "parameters": {"x": "` + strings.Repeat("n", maxParameters) + `"}}`, `"Go": [[{"node": "a"}]]`, []string{"graph.limit: the parameters are longer than 65536 bytes"}},
		{"deep parameters", start + `, {"name": "a", "type": "set", "parameters": {"fields": [{"name": "a", "value": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}]}}`, `"Go": [[{"node": "a"}]]`, []string{"nested more than 100 levels"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := read(t, `{"nodes": [`+c.nodes+`], "connections": {`+c.connections+`}}`)
			requireFaults(t, c.want, Check(g, around))
		})
	}
}

// A graph that was not parsed may be of any size.
func TestCheckIsBounded(t *testing.T) {
	g := Graph{Nodes: make([]Node, 10_000)}
	faults := Check(g, Env{})
	require.Len(t, faults, 1)
	require.Equal(t, "graph.limit", faults[0].Code)
	g.Nodes = g.Nodes[:maxNodes]
	for i := range g.Nodes {
		g.Nodes[i].Type = "nothing"
	}
	require.Len(t, Check(g, Env{}), maxFaults)
	for i := range g.Nodes { // each leads to each
		g.Nodes[i] = Node{Name: fmt.Sprint(i), Type: "noOp"}
	}
	g.Connections = map[string][][]Target{}
	for _, n := range g.Nodes {
		var all []Target
		for _, to := range g.Nodes {
			all = append(all, Target{to.Name, 0})
		}
		g.Connections[n.Name] = [][]Target{all}
	}
	_, cycle := g.Order()
	require.Equal(t, []string{"0", "0"}, cycle)
}

func TestOrder(t *testing.T) {
	g := read(t, `{"nodes": [{"name": "d"}, {"name": "b"}, {"name": "c"}, {"name": "a"}, {"name": "e"}], "connections": {"a": [[{"node": "c"}, {"node": "b"}]], "b": [[{"node": "d"}]], "c": [[], [{"node": "d"}, {"node": "gone"}]]}}`)
	order, cycle := g.Order()
	require.Nil(t, cycle)
	require.Equal(t, []int{3, 1, 2, 0, 4}, order, "a b c d e")
}

// The catalogue is printed to models and builds the checks, so its parts must fit together.
func TestCatalogue(t *testing.T) {
	types := Types()
	require.Len(t, types, 25)
	kinds := map[string]int{}
	for _, typ := range types {
		t.Run(typ.Name, func(t *testing.T) {
			kinds[typ.Kind]++
			require.Same(t, typ, Find(typ.Name))
			require.NotEmpty(t, typ.Description)
			require.NotEmpty(t, typ.Category)
			require.Equal(t, typ.Kind == KindTrigger, len(typ.Inputs) == 0)
			requireParams(t, typ.Params)
			for _, c := range typ.Credentials {
				require.True(t, slices.ContainsFunc(CredentialTypes(), func(known CredentialType) bool { return known.Name == c.Type }), c.Type)
			}
			_, err := json.Marshal(typ)
			require.NoError(t, err)
		})
	}
	require.Equal(t, map[string]int{KindTrigger: 5, KindFlow: 8, KindTransform: 7, KindAction: 5}, kinds)
	require.Nil(t, Find("code"))
	for _, name := range []string{"scheduleTrigger", "n8n-nodes-base.scheduleTrigger", "Schedule", "scedule"} {
		require.Equal(t, "schedule", Nearest(name))
	}
}

func requireParams(t *testing.T, params []Param) {
	for _, p := range params {
		require.Contains(t, []string{TypeText, TypeNumber, TypeBoolean, TypeList, TypeObject, TypeAny, TypeField}, p.Type, p.Name)
		if p.Enum != nil && p.Default != nil {
			require.Contains(t, p.Enum, p.Default, p.Name)
		}
		require.LessOrEqual(t, len(p.When), 1, "the message about a parameter that is not allowed names one other")
		for other, values := range p.When {
			require.Subset(t, param(params, other).Enum, values, p.Name)
		}
		requireParams(t, p.Fields)
	}
}

func TestPorts(t *testing.T) {
	for text, want := range map[string][2]int{
		`{"type": "manual"}`: {0, 1}, `{"type": "merge"}`: {2, 1}, `{"type": "if"}`: {1, 2}, `{"type": "stopAndError"}`: {1, 0},
		`{"type": "switch", "parameters": {"rules": [1, 2]}}`: {1, 2}, `{"type": "switch", "parameters": {"rules": [1, 2], "fallback": "extra"}}`: {1, 3}, `{"type": "switch", "parameters": {"rules": "x"}}`: {1, 0},
	} {
		var n Node
		require.NoError(t, json.Unmarshal([]byte(text), &n))
		inputs, outputs := Find(n.Type).Ports(&n)
		require.Equal(t, want, [2]int{inputs, outputs}, text)
	}
	n := &Node{Type: "limit", Parameters: map[string]any{"keep": "last"}}
	require.Equal(t, []any{"last", 1.0, nil}, []any{Find("limit").Param(n, "keep"), Find("limit").Param(n, "maxItems"), Find("limit").Param(n, "x")})
}

func FuzzParse(f *testing.F) {
	f.Add(orders)
	f.Add(`{"nodes": [{"name": "a", "type": "switch", "parameters": {"rules": [{}], "fallback": 3}}], "connections": {"a": [null, [{"node": "a", "input": -1}]]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		g, faults := Parse(text)
		if len(faults) == 0 {
			again, faults := Parse(g.Text())
			require.Empty(t, faults)
			require.Equal(t, g.Text(), again.Text())
		}
		require.Equal(t, Check(g, around), Check(g, around), "in one order")
	})
}

func BenchmarkCheck(b *testing.B) {
	g := read(b, orders)
	b.ReportAllocs()
	for b.Loop() {
		if faults := Check(g, around); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

// Every code that O lists is one that a check gives.
func TestCodes(t *testing.T) {
	given := map[string]bool{}
	for _, c := range []string{
		"", `{"nodes": [{"name": "a", "type": "form", "typeVersion": 9, "parameters": {"x": 1, "fields": 1}}, {"name": "a", "type": "chat"}, {"name": "b", "type": "x"}, {"name": "f", "type": "noOp"}, {"name": "g", "type": "chat"},
		 {"name": "c", "type": "limit", "parameters": {"keep": "all", "maxItems": "{{"}}, {"name": "d", "type": "slack", "credentials": {"smtp": "cr_2"}}, {"name": "e", "type": "merge"}],
		 "connections": {"a": [[{"node": "a"}, {"node": "z"}, {"node": "b"}, {"node": "c"}, {"node": "d"}, {"node": "e", "input": 7}]]}}`, `{}`,
	} {
		g, faults := Parse(c)
		for _, f := range append(faults, Check(g, around)...) {
			given[f.Code] = true
			require.Equal(t, f.Code == "node.unreachable", f.Warning())
		}
	}
	require.Equal(t, []string{
		"connection.cycle", "connection.port", "connection.unknown_node", "credential.missing", "credential.type", "expression.syntax", "graph.json", "node.name_duplicate", "node.type_unknown", "node.unreachable",
		"node.version", "param.enum", "param.required", "param.type", "param.unknown", "subnode.missing", "trigger.many", "trigger.none",
	}, slices.Sorted(maps.Keys(given)))
}
