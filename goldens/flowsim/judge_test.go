package flowsim

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/world"
)

// orders is the state of the tasks in this file: an agent is to build a workflow that keeps
// each order of a form and tells the team of those above 100.
const orders = `
credentials: {cr_1: {name: Team Slack, type: slackApi, secret: xoxb-PLANTED-SECRET}}
tables: {dt_1: {name: Orders, columns: [{name: email, type: string}, {name: total, type: number}]}, dt_2: {name: Others, columns: [{name: email, type: string}, {name: total, type: number}]}}
`

const wantOrders = `
name: Orders
published: true
runs:
  - trigger: form
    input: {email: a@x.test, total: 100}
    effects: [{kind: row, operation: insert, table: Orders, row: {email: a@x.test, total: 100}}]
  - trigger: form
    input: {email: b@x.test, total: 100.5}
    effects:
      - {kind: row, table: Orders, row: {email: b@x.test, total: 100.5}}
      - {kind: message, service: slack, channel: "#big", text: {$regex: "b@x\\.test"}}
`

// three workflows do what is wanted.
var rightOrders = []string{`
name: Orders
nodes:
  - {name: Form, type: form, parameters: {title: Order, fields: [{name: email}, {name: total, type: number}]}}
  - {name: Keep, type: dataTable, parameters: {operation: insert, table: Orders, values: {email: "{{ $json.email }}", total: "{{ $json.total }}"}}}
  - {name: Big, type: if, parameters: {conditions: [{left: "{{ $json.total }}", operator: gt, right: 100}]}}
  - {name: Tell, type: slack, parameters: {channel: "#big", text: "Big order of {{ $json.email }}"}, credentials: {slackApi: cr_1}}
connections:
  Form: [[{node: Keep, input: 0}]]
  Keep: [[{node: Big, input: 0}]]
  Big: [[{node: Tell, input: 0}]]
`, `
name: Orders
nodes:
  - {name: In, type: form, parameters: {title: Order, fields: [{name: email}, {name: total, type: number}]}}
  - {name: Only big, type: filter, parameters: {conditions: [{left: "{{ $json.total }}", operator: lte, right: 100}, {left: "{{ 1 }}", operator: equals, right: 2}], combinator: or}}
  - {name: Row, type: dataTable, parameters: {operation: insert, table: dt_1, values: {email: "{{ $json.email }}", total: "{{ $json.total }}"}}}
  - {name: Choose, type: switch, parameters: {rules: [{left: "{{ $json.total > 100 }}", operator: isTrue}]}}
  - {name: Say, type: slack, parameters: {channel: "#big", text: "{{ $('In').item.json.email }} ordered for {{ $('In').item.json.total }}"}, credentials: {slackApi: cr_1}}
connections:
  In: [[{node: Row, input: 0}, {node: Choose, input: 0}, {node: Only big, input: 0}]]
  Choose: [[{node: Say, input: 0}]]
`, `
name: Orders
nodes:
  - {name: Start, type: form, parameters: {title: Order, fields: [{name: email}, {name: total}]}}
  - {name: Shape, type: set, parameters: {fields: [{name: who, value: "{{ $json.email }}"}, {name: sum, value: "{{ $json.total }}"}]}}
  - {name: Insert, type: dataTable, parameters: {operation: upsert, table: Orders, values: {email: "{{ $json.who }}", total: "{{ $json.sum }}"}, filter: [{column: email, value: "{{ $json.who }}"}]}}
  - {name: Filter, type: filter, parameters: {conditions: [{left: "{{ $json.sum }}", operator: gt, right: 100}]}}
  - {name: Slack, type: slack, parameters: {channel: "#big", text: "{{ $json.who }}: {{ $json.sum }}"}, credentials: {slackApi: cr_1}}
connections:
  Start: [[{node: Shape, input: 0}]]
  Shape: [[{node: Insert, input: 0}, {node: Filter, input: 0}]]
  Filter: [[{node: Slack, input: 0}]]
`}

// built returns the states before and after an agent built and published a workflow.
func built(t *testing.T, k kind, text string, publish bool) (initial, final json.RawMessage) {
	w, err := world.Open(t.Context(), world.Spec{Kind: Kind, Maker: k, Now: noon}, 1, nil, nil)
	require.NoError(t, err)
	s := &session{t, w, noon}
	require.Contains(t, s.ok("build-workflow", "code: %q", jsonOf(t, text)), `"workflowId":"wf_1"`, text)
	if publish {
		s.ok("publish-workflow", "workflowId: wf_1")
	}
	return s.States()
}

func TestWorkflowsAreJudgedByWhatTheyDo(t *testing.T) {
	k := bind(t, orders)
	met, err := k.Demand("workflow", jsonOf(t, wantOrders))
	require.NoError(t, err)
	for _, right := range rightOrders {
		initial, final := built(t, k, right, true)
		require.Empty(t, met(initial, final), right)
	}
	for name, defect := range map[string]struct{ old, new, want string }{
		"another channel":          {`channel: "#big"`, `channel: "#bigger"`, `effects: want {"channel":"#big"`},
		"a limit that is too low":  {"operator: gt", "operator: gte", `run 1: effects: got {"channel":"#big"`},
		"a limit on a text":        {"right: 100}", `right: "100"}`, "want status success, got error"},
		"the wrong output":         {"Big: [[{node: Tell, input: 0}]]", "Big: [[], [{node: Tell, input: 0}]]", `run 1: effects: got {"channel":"#big"`},
		"no condition":             {"Keep: [[{node: Big, input: 0}]]", "Keep: [[{node: Big, input: 0}, {node: Tell, input: 0}]]", `run 1: effects: got {"channel":"#big"`},
		"a payload that is nested": {`email: "{{ $json.email }}"`, `email: "{{ $json.body.email }}"`, `run 1: effects: want {"kind":"row"`},
		"another table":            {"table: Orders", "table: Others", `run 1: effects: want {"kind":"row"`},
		"an order kept twice":      {"Form: [[{node: Keep, input: 0}]]", "Form: [[{node: Keep, input: 0}, {node: Keep, input: 0}]]", `effects: got {`},
		"a row without the total":  {`, total: "{{ $json.total }}"}}}`, `}}}`, `run 1: effects: want {"kind":"row"`},
		"a text without the order": {"{{ $json.email }}\"}, credentials", "somebody\"}, credentials", `run 2: effects: want {"channel":"#big"`},
		"another trigger":          {"type: form, parameters: {title: Order, fields: [{name: email}, {name: total, type: number}]}", "type: webhook, parameters: {path: orders}", "want a trigger of type form"},
		"kept only if big":         {"Form: [[{node: Keep, input: 0}]]\n  Keep: [[{node: Big, input: 0}]]\n  Big: [[{node: Tell, input: 0}]]", "Form: [[{node: Big, input: 0}]]\n  Big: [[{node: Keep, input: 0}]]\n  Keep: [[{node: Tell, input: 0}]]", `run 1: effects: want {"kind":"row"`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(rightOrders[0], defect.old))
			initial, final := built(t, k, strings.Replace(rightOrders[0], defect.old, defect.new, 1), true)
			require.Contains(t, strings.Join(met(initial, final), "\n"), defect.want)
		})
	}
	initial, final := built(t, k, rightOrders[0], false)
	require.Equal(t, []string{"wf_1: want it published"}, met(initial, final))
	require.Equal(t, []string{`there is no workflow "Orders"`}, met(initial, initial))
}

// Outputs are compared in any order, by the fields that are named; rows of a run replace those
// of the state, and its answers come before the fixtures.
func TestOutputs(t *testing.T) {
	k := bind(t, shop+`
http: [{url: "https://api.test/*", body: [{n: 1}]}]
`)
	const flow = `
name: Totals
nodes:
  - {name: Go, type: manual}
  - {name: Read, type: dataTable, parameters: {operation: get, table: Orders, filter: [{column: total, condition: gt, value: "{{ $json.over }}"}]}}
  - {name: Ask, type: httpRequest, parameters: {url: "https://api.test/{{ $json.email }}"}}
connections: {Go: [[{node: Read, input: 0}]], Read: [[{node: Ask, input: 0}]]}
`
	s := &session{t: t, at: noon}
	var err error
	s.Environment, err = world.Open(t.Context(), world.Spec{Kind: Kind, Maker: k, Now: noon}, 1, nil, nil)
	require.NoError(t, err)
	s.ok("build-workflow", "code: %q", jsonOf(t, flow))
	initial, final := s.States()
	for want, wrong := range map[string]string{
		`{name: Totals, runs: [{input: {over: 8}, outputs: [{n: 1}, {n: 1}]}]}`:                                                                                    "",
		`{id: wf_5, published: false, runs: [{input: {over: 8}, outputs: [{}, {n: {$gte: 1}}]}]}`:                                                                  "",
		`{name: Totals, runs: [{input: {over: 8}, outputs: [{n: 1}]}]}`:                                                                                            `wf_5, run 1: outputs: got {"n":1}, which is not wanted`,
		`{name: Totals, runs: [{input: {over: 8}, outputs: [{n: 1}, {n: 2}]}]}`:                                                                                    "wf_5, run 1: outputs: want {\"n\":2}, which is not among 2\nwf_5, run 1: outputs: got {\"n\":1}, which is not wanted",
		`{name: Totals, runs: [{input: {over: 8}, rows: {Orders: [{email: z, total: 9}]}, http: [{url: "https://api.test/z", body: {m: x}}], outputs: [{m: x}]}]}`: "",
		`{name: Totals, runs: [{input: {over: 8}, http: [{url: "https://api.test/*", status: 500}], status: error}]}`:                                              "",
		`{name: Totals, runs: [{input: {over: 8}, effects: []}]}`:                                                                                                  "",
		`{name: Totals, runs: [{input: {over: 20}, effects: [{kind: request, url: "https://api.test/b@shop.test"}]}]}`:                                             "",
	} {
		met, err := k.Demand("workflow", jsonOf(t, want))
		require.NoError(t, err, want)
		require.Equal(t, wrong, strings.Join(met(initial, final), "\n"), want)
	}
}

// The effects of an episode are those of its executions.
func TestEffects(t *testing.T) {
	s := open(t, shop)
	k := bind(t, shop)
	s.ok("run-workflow", "workflowId: wf_1")
	initial, final := s.States()
	for want, wrong := range map[string]string{
		`[{kind: message, channel: "#shop", text: Order of a@shop.test, mode: manual, workflow: wf_1}, {text: Order of b@shop.test}, {node: Tell}]`: "",
		`[{kind: message}, {kind: message}]`: "effects: got {",
		`[]`:                                 "effects: got {",
	} {
		met, err := k.Demand("effects", jsonOf(t, want))
		require.NoError(t, err)
		require.Contains(t, strings.Join(met(initial, final), "\n"), wrong)
		require.Equal(t, wrong == "", len(met(initial, final)) == 0)
	}
}

func TestDemandProblems(t *testing.T) {
	k := bind(t, shop)
	for text, want := range map[string]string{
		`workflow {}`: `.: must have either the name or the id of a workflow
.: must have 1 to 50 runs, or published`,
		`workflow {name: A, run: []}`: `run: unknown field; allowed: name, id, published, runs
.: must have 1 to 50 runs, or published`,
		`workflow {name: A, runs: [{trigger: fom, status: fine, outputs: 7, at: soon}]}`: `runs.0.at: must be a time such as 2026-05-13T12:00:00Z, but is "soon"
runs.0.status: "fine" is not known; allowed: success, error, waiting
runs.0.trigger: "fom" is not a type of triggers
runs.0.outputs: must be a list`,
		`effects {}`:                   `.: must be a list`,
		`magic {}`:                     `.: there is no check "magic"`,
		`effects [{a: {$regex: "("}}]`: "0: a: value.$regex",
	} {
		name, demand, _ := strings.Cut(text, " ")
		_, err := k.Demand(name, jsonOf(t, demand))
		require.ErrorContains(t, err, want, text)
	}
	require.Equal(t, `the state has no "workflow"; it has: credentials, effects, executions, files, folders, projects, tables, tags, workItems, workflows`, k.NoPath([]string{"workflow", "wf_1"}))
	require.Contains(t, k.NoPath([]string{"workflows", "wf_1", "active"}), `an entry of workflows has no "active"; it has: activeVersion`)
	require.Empty(t, k.NoPath([]string{"workflows", "wf_1", "draft", "anything"}))
}
