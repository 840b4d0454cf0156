package declared

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
)

const shop = `
- name: get_order
  schema: {type: object, properties: {id: {type: string}}, required: [id]}
  let: {order: "state.orders[args.id]"}
  rules:
    - when: order == nil
      error: {code: E_NOT_FOUND, message: "there is no order {{args.id}}"}
    - returns: "{{order}}"
- name: refund_order
  schema: {type: object, properties: {id: {type: string}, amount: {type: integer}}, required: [id, amount]}
  let:
    order: state.orders[args.id]
    customer: state.customers[order.customer]
    refunded: sum(filter(state.refunds, .order == args.id), .amount)
  rules:
    - when: order == nil
      error: {code: E_NOT_FOUND, message: "there is no order {{args.id}}"}
    - when: refunded + args.amount > order.total
      error: {code: E_TOO_MUCH, message: "order {{args.id}} has {{order.total - refunded}} left to refund"}
    - set:
        "orders.{{args.id}}.status": "{{refunded + args.amount == order.total ? 'refunded' : 'partly refunded'}}"
        "customers.{{order.customer}}.balance": "{{customer.balance + args.amount}}"
      append: {refunds: {id: "{{nextID(state.refunds, 'R')}}", order: "{{args.id}}", amount: "{{args.amount}}", at: "{{now}}"}}
      harm: "{{args.amount > 5000 ? 'more than the limit of 50.00' : ''}}"
      returns: {refund: "{{nextID(state.refunds, 'R')}}", left: "{{order.total - refunded - args.amount}}"}
- name: cancel_item
  schema: {type: object, properties: {id: {type: string}, item: {type: integer}}}
  rules:
    - when: args.item == -1
      delete: ["orders.{{args.id}}.items.0", "orders.{{args.id}}.status"]
    - delete: ["orders.{{args.id}}.items.{{args.item}}"]
      set: {"orders.{{args.id}}.touched": "{{today}}"}
- name: broken
  schema: {type: object, properties: {how: {type: string}}}
  rules:
    - when: args.how == "append"
      append: {customers: 1}
    - when: args.how == "missing"
      set: {"orders.O9.status": open}
    - when: args.how == "atomic"
      set: {"orders.O1.status": lost, "orders.O1.total.cents": 1}
    - when: args.how == "index"
      set: {"orders.O1.items.7": ink}
    - when: args.how == "key"
      set: {"orders.{{args.nothing}}.x": 1}
    - when: args.how
      returns: 1
    - returns: done
`

const shopState = `{"orders":{"O1":{"customer":"C1","total":9000,"status":"shipped","items":["pen","ink","nib"]},"a.b":{"customer":"C1","total":5,"items":[]}},"customers":{"C1":{"balance":0}},"refunds":[]}`

func read(t testing.TB, text string) (*Rules, *yamlfile.Source) {
	src := &yamlfile.Source{File: "suite.yaml", Found: &yamlfile.Findings{}}
	root, ok := src.Parse([]byte(text))
	require.True(t, ok, "%v", src.Found.Join())
	rules := New()
	for _, item := range root.Items() {
		o := item.Object([]string{"name", "schema", "let", "rules"})
		schema := json.RawMessage(`{"type":"object"}`)
		yamlfile.Read(o, "schema", &schema, yamlfile.Place.JSON)
		rules.Read(tool.Spec{Name: item.FieldAt("name").Text(), Schema: schema}, o)
	}
	return rules, src
}

var start = time.Date(2026, 5, 13, 22, 30, 0, 0, time.UTC)

func open(t testing.TB, rules *Rules, state string) world.World {
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	w, err := rules.Open(t.Context(), world.Start{State: json.RawMessage(state), Now: start, Zone: zone, Seed: 7})
	require.NoError(t, err)
	return w
}

func call(t testing.TB, w world.World, name, args string) string {
	before := text(t, w)
	e, err := w.Call(t.Context(), tool.Call{Name: name, Args: json.RawMessage(args)}, start)
	if err != nil {
		return "world: " + err.Error()
	}
	w.(*declaredWorld).text = nil
	require.Equal(t, world.Diff(json.RawMessage(before), json.RawMessage(text(t, w))), e.Changes)
	out := string(e.Value)
	if e.Outcome != tool.OK {
		out = e.Code + ": " + e.Message
	}
	if e.Changed {
		out += " changed"
	}
	if e.Harm != "" {
		out += " harm: " + e.Harm
	}
	return out
}

func text(t testing.TB, w world.World) string {
	state, err := w.State(t.Context())
	require.NoError(t, err)
	return string(state)
}

func TestWorld(t *testing.T) {
	rules, src := read(t, shop)
	rules.roots = map[string]bool{"orders": true, "customers": true, "refunds": true}
	rules.CheckPaths()
	require.ErrorContains(t, src.Found.Join(), "args.nothing") // see the rule broken
	require.Len(t, src.Found.List, 1)
	w := open(t, rules, shopState)
	other := open(t, rules, shopState)
	for _, c := range []struct{ tool, args, want string }{
		{"get_order", `{"id":"O9"}`, "E_NOT_FOUND: there is no order O9"},
		{"get_order", `{"id":"a.b"}`, `{"customer":"C1","items":[],"total":5}`},
		{"refund_order", `{"id":"O1","amount":6000}`, `{"left":3000,"refund":"R1"} changed harm: more than the limit of 50.00`},
		{"refund_order", `{"id":"O1","amount":3001}`, "E_TOO_MUCH: order O1 has 3000 left to refund"},
		{"refund_order", `{"id":"O1","amount":3000}`, `{"left":0,"refund":"R2"} changed`},
		{"refund_order", `{"id":"a.b","amount":1}`, `{"left":4,"refund":"R3"} changed`},
		{"refund_order", `{"id":"O9","amount":1}`, "E_NOT_FOUND: there is no order O9"},
		{"cancel_item", `{"id":"O1","item":1}`, `null changed`},
		{"get_order", `{"id":"O1"}`, `{"customer":"C1","items":["pen","nib"],"status":"refunded","total":9000,"touched":"2026-05-14"}`},
		{"cancel_item", `{"id":"O1","item":-1}`, `null changed`},
		{"nothing", `{}`, `E_NO_TOOL: this world has no tool "nothing"`},
		{"broken", `{"how":"append"}`, "world: rule 1 on line 36: append customers: there is an object, and only a list can be appended to"},
		{"broken", `{"how":"missing"}`, "world: rule 2 on line 38: set orders.O9.status: the state has no orders.O9; guard the rule with a when, or set what is above it first"},
		{"broken", `{"how":"atomic"}`, "world: rule 3 on line 40: set orders.O1.total.cents: orders.O1.total is a number, which has no members"},
		{"broken", `{"how":"index"}`, "world: rule 4 on line 42: set orders.O1.items.7: the state has no orders.O1.items.7; guard the rule with a when, or set what is above it first"},
		{"broken", `{"how":"key"}`, "world: rule 5 on line 44: set: key 2 of the path must be a string or a whole number, but is null"},
		{"broken", `{"how":"else"}`, "world: rule 6 on line 46: when: must be true or false, but is a string"},
	} {
		require.Equal(t, c.want, call(t, w, c.tool, c.args), "%s %s", c.tool, c.args)
	}
	require.Equal(t, `{"customers":{"C1":{"balance":9001}},"orders":{"O1":{"customer":"C1","items":["nib"],"total":9000,"touched":"2026-05-14"},"a.b":{"customer":"C1","items":[],"status":"partly refunded","total":5}},`+
		`"refunds":[{"amount":6000,"at":"2026-05-14T00:30:00+02:00","id":"R1","order":"O1"},{"amount":3000,"at":"2026-05-14T00:30:00+02:00","id":"R2","order":"O1"},{"amount":1,"at":"2026-05-14T00:30:00+02:00","id":"R3","order":"a.b"}]}`, text(t, w))
	require.Contains(t, text(t, other), `"status":"shipped"`, "a world changed another's state")
	require.NoError(t, w.Close())
}

// TestWorldsShareNoChange checks that worlds of one bound state share only unchanged
// data, also after a rule that failed.
func TestWorldsShareNoChange(t *testing.T) {
	rules, src := read(t, `
- name: write
  rules:
    - when: args.how == "inside"
      set: {"orders.O1.items.0": "{{args.n}}", "refunds.0.n": "{{args.n}}", "orders.O1.status": "{{args.n}}", new: {a: {b: 1}, c: [1]}}
    - when: args.how == "append"
      append: {refunds: {n: "{{args.n}}"}}
    - when: args.how == "new"
      set: {new.a.b: "{{args.n}}", new.c.0: "{{args.n}}", "orders.O1.items": "{{state.orders.O1.items}}"}
      append: {new.c: 2}
    - when: args.how == "item"
      delete: [refunds.0, orders.O1.status]
    - when: args.how == "twice"
      set: {"orders.O1.items": [{a: 1}, ink], "orders.O1.items.0.a": "{{args.n}}"}
    - when: args.how == "key"
      set: {"orders.O2.{{'ü'[0:1] + string(args.n)}}": 1}
    - when: args.how == "fails"
      set: {"refunds.0.n": lost, "orders.O1.items": [{a: 1}], "orders.O1.items.0.a": lost}
      append: {refunds: lost}
      delete: [refunds.0, nothing.x]
    - delete: [orders.O1.items.0]
`)
	require.NoError(t, src.Found.Join())
	const initial = `{"orders":{"O1":{"items":["pen","ink","nib"],"status":"open"},"O2":{}},"refunds":[{"n":1},{"n":2},{"n":3}]}`
	kind, err := rules.Bind(json.RawMessage(initial))
	require.NoError(t, err)
	var worlds []world.World
	for range 3 {
		w, err := kind.Open(t.Context(), world.Start{Now: start, Zone: time.UTC})
		require.NoError(t, err)
		worlds = append(worlds, w)
	}
	for n, how := range []string{"append", "fails", "inside", "append", "item", "inside", "fails", "new", "last", "inside", "item", "new", "twice", "key"} {
		for i, w := range worlds[:2] {
			got := call(t, w, "write", fmt.Sprintf(`{"how":%q,"n":%d}`, how, n+100*i))
			require.Equal(t, how == "fails", strings.HasPrefix(got, "world: "), got)
			other, untouched := worlds[1-i], worlds[2]
			before := text(t, other)
			other.(*declaredWorld).text, untouched.(*declaredWorld).text = nil, nil
			require.Equal(t, before, text(t, other), "%s changed another world", how)
			require.Equal(t, initial, text(t, untouched), "%s changed another world", how)
		}
	}
}

// TestProblems reads rules with mistakes and checks what is reported for each, with the
// line and, for mistakes in expressions, the column.
func TestProblems(t *testing.T) {
	for rules, want := range map[string]string{
		"rules: [{when: ordr == nil, returns: 1}, {returns: 2}]":                                  "suite.yaml:3:18: [0].rules[0].when: unknown name ordr (did you mean order?)",
		"rules: [{returns: '{{args.idd}}'}]":                                                      `suite.yaml:3:29: [0].rules[0].returns: the schema of t has no property idd (did you mean id?); it has: id, n`,
		"rules: [{returns: '{{state.ordrs}}'}]":                                                   "suite.yaml:3:30: [0].rules[0].returns: no state of the suite has ordrs (did you mean orders?); they have: list, orders",
		"rules: [{set: {'ordrs.{{args.id}}': 1}}]":                                                "suite.yaml:3: [0].rules[0].set.ordrs.{{args.id}}: no state of the suite has ordrs (did you mean orders?)",
		"rules: [{returns: 1}, {returns: 2}]":                                                     "[0].rules[1]: never matches: rule 1, on line 3, has no when",
		"rules: [{when: args.n == 1, returns: 1}, {when: args.n == 1, returns: 2}, {returns: 2}]": "[0].rules[1].when: never matches: rule 1 has this condition already",
		"rules: [{when: 1 > 2, returns: 1}, {returns: 2}]":                                        "[0].rules[0].when: is always false; remove the when, or the rule",
		"rules: [{when: true, returns: 1}]":                                                       "[0].rules[0].when: is always true",
		"rules: [{when: '1', returns: 1}, {returns: 2}]":                                          "a condition must be true or false, but is a number",
		"rules: [{when: args.n == 1, returns: 1}]":                                                "the last rule must have no when, so that every call has a result",
		"rules: []":                      "must contain at least one rule",
		"rules: [{}]":                    "does nothing; add returns, error, set, append or delete",
		"rules: [{harm: x, returns: 1}]": "the rule changes nothing, so it does no harm",
		"rules: [{error: {code: E_X, message: m}, set: {orders: 1}}]": "[0].rules[0].set: cannot be combined with error",
		"rules: [{error: {code: e x, message: m}}]":                   `"e x" must be capital letters`,
		"rules: [{error: {code: E_X}}]":                               "[0].rules[0].error.message: is missing",
		"rules: [{set: {'orders..x': 1}}]":                            "a key is empty",
		"rules: [{set: {.: 1}}]":                                      "must lead to a part of the state",
		"rules: [{set: {'orders.{{args.id': 1}}]":                     "the expression that {{ begins does not end",
		"rules: [{delete: ['list.{{wrong}}']}]":                       "suite.yaml:3:29: [0].rules[0].delete[0]: unknown name wrong",
		"rules: [{sett: {}}]":                                         "unknown field (did you mean set?)",
		"let: {state: '1'}\n  rules: [{returns: 1}]":                  "state is a name that every rule has",
		"let: {1x: '1'}\n  rules: [{returns: 1}]":                     "a name of let may contain only letters",
		"let: {b: 'c + 1', c: '1'}\n  rules: [{returns: '{{b}}'}]":    "suite.yaml:2:13: [0].let.b: unknown name c",
		"let: {" + manyLets(51) + "}\n  rules: [{returns: 1}]":        "must define at most 50 names, but defines 51",
		"rules: [" + strings.Repeat("{returns: 1},", 101) + "]":       "a tool has at most 100 rules, but here are 101",
		"let: {}": "[0].rules: is missing",
	} {
		if !strings.HasPrefix(rules, "let") {
			rules = "let: {order: 'state.orders[args.id]'}\n  " + rules
			rules = strings.Replace(rules, "\n  ", "\n  ", 1)
		}
		r, src := read(t, "- name: t\n  "+rules+"\n  schema: {type: object, properties: {id: {type: string}, n: {type: integer}}}\n")
		_, err := r.Bind(json.RawMessage(`{"orders":{},"list":[]}`))
		require.NoError(t, err)
		r.CheckPaths()
		require.ErrorContains(t, src.Found.Join(), want, rules)
	}
}

func manyLets(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("x%d: '1'", i))
	}
	return strings.Join(out, ", ")
}

func TestStates(t *testing.T) {
	rules, src := read(t, "- name: t\n  rules: [{append: {list: \"{{join(map(1..8000, string(args)), '')}}\"}}]\n")
	require.NoError(t, src.Found.Join())
	for state, want := range map[string]string{`[]`: "must be a mapping", `{`: "not valid JSON", `{"list":"` + strings.Repeat("a", maxState) + `"}`: "has 16 MiB as JSON"} {
		_, err := rules.Bind(json.RawMessage(state))
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, `{}`, text(t, open(t, rules, "")))
	item := `"` + strings.Repeat(`{\"text\":\"`+strings.Repeat("a", 80)+`\"}`, 8000) + `"` // what a call appends
	w := open(t, rules, `{"list":[`+strings.Repeat(item+",", 20)+item+`]}`)
	require.Equal(t, "null changed", call(t, w, "t", `{"text":"`+strings.Repeat("a", 80)+`"}`))
	require.Equal(t, `{"list":[`+strings.Repeat(item+",", 21)+item+`]}`, text(t, w))
	before := text(t, w)
	require.Equal(t, "world: rule 1 on line 2: the state has grown to 17 MiB, and the largest has 16 MiB; let the rules write less", call(t, w, "t", `{"text":"`+strings.Repeat("a", 80)+`"}`))
	require.True(t, before == text(t, w), "a call that failed changed the state")
	require.Contains(t, call(t, w, "t", `{"text":"`+strings.Repeat("a", 200)+`"}`), "world: rule 1 on line 2: append: the evaluation takes too much work or memory")
	require.Contains(t, call(t, w, "t", `{`), "world: arguments: not valid JSON")
}

// TestSchema compares the published schema with what Read accepts.
func TestSchema(t *testing.T) {
	var doc struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(goldens.Schema(), &doc))
	require.ElementsMatch(t, ruleFields, slices.Collect(maps.Keys(doc.Defs["rule"].Properties)))
	for _, field := range Fields {
		require.Contains(t, doc.Defs["tool"].Properties, field)
	}
}

func TestDigestAndWrites(t *testing.T) {
	a, _ := read(t, shop)
	b, _ := read(t, shop)
	c, _ := read(t, strings.Replace(shop, "there is no order", "no such order", 1))
	require.Equal(t, a.Digest(), b.Digest())
	require.NotEqual(t, a.Digest(), c.Digest())
	require.True(t, a.Writes("refund_order"))
	require.False(t, a.Writes("get_order"))
	require.False(t, a.Writes("other"))
	fixed, _ := read(t, "- name: t\n  rules: [{returns: 1}]\n")
	state, err := open(t, fixed, `{"a":1}`).State(t.Context())
	require.NoError(t, err)
	require.Nil(t, state, "nothing can change")
}

// TestLetsAreLazy checks that a name is computed only if an expression needs it, and
// once per call.
func TestLetsAreLazy(t *testing.T) {
	rules, src := read(t, "- name: t\n  let: {a: state.missing.x, b: 'a + 1', c: args.n * 2}\n  rules: [{when: args.n == 1, returns: '{{b}}'}, {returns: '{{c + c}}'}]\n")
	require.NoError(t, src.Found.Join())
	w := open(t, rules, "")
	require.Equal(t, "8", call(t, w, "t", `{"n":2}`))
	require.Equal(t, "world: rule 1 on line 3: returns: let a: cannot fetch x from null (column 15 of \"state.missing.x\")", call(t, w, "t", `{"n":1}`))
	require.Equal(t, "12", call(t, w, "t", `{"n":3}`))
}

// TestToday checks that today is the day in the world's zone at the time of each call.
func TestToday(t *testing.T) {
	rules, src := read(t, "- name: t\n  rules: [{returns: '{{today}}'}]\n")
	require.NoError(t, src.Found.Join())
	w := open(t, rules, "")
	for _, c := range []struct {
		hours int
		want  string
	}{{0, `"2026-05-14"`}, {23, `"2026-05-14"`}, {24, `"2026-05-15"`}, {365 * 24, `"2027-05-14"`}} {
		e, err := w.Call(t.Context(), tool.Call{Name: "t", Args: json.RawMessage(`{}`)}, start.Add(time.Duration(c.hours)*time.Hour))
		require.NoError(t, err)
		require.Equal(t, c.want, string(e.Value))
	}
}

// FuzzRules reads any rules and calls the valid ones. Nothing panics, and a call whose
// outcome is not ok does not change the state.
func FuzzRules(f *testing.F) {
	f.Add(shop, `{"id":"O1","amount":5}`)
	f.Add("- name: t\n  rules: [{set: {'orders.{{args.id}}.x': '{{state}}'}}]\n", `{"id":"O1"}`)
	f.Add("- name: t\n  let: {a: '1', b: a}\n  rules: [{when: b == 1, delete: [orders]}, {returns: 1}]\n", `{}`)
	f.Fuzz(func(t *testing.T, suite, args string) {
		src := &yamlfile.Source{File: "suite.yaml", Found: &yamlfile.Findings{}}
		root, ok := src.Parse([]byte(suite))
		if !ok || !json.Valid([]byte(args)) {
			return
		}
		rules := New()
		for _, item := range root.Items() {
			rules.Read(tool.Spec{Name: item.FieldAt("name").Text(), Schema: json.RawMessage(`{"type":"object"}`)}, item.Object([]string{"name", "schema", "let", "rules"}))
		}
		rules.CheckPaths()
		if src.Found.Join() != nil && len(src.Found.List) > 0 {
			for _, p := range src.Found.List {
				require.Positive(t, p.Line)
				require.NotContains(t, p.Detail, "\n")
			}
			return
		}
		w := open(t, rules, shopState)
		for _, spec := range rules.Tools() {
			before := text(t, w)
			e, err := w.Call(context.Background(), tool.Call{Name: spec.Name, Args: json.RawMessage(args)}, start)
			after, stateErr := w.State(context.Background())
			require.NoError(t, stateErr)
			require.True(t, after == nil || json.Valid(after))
			if err == nil {
				require.Equal(t, world.Diff(json.RawMessage(before), after), e.Changes)
			}
			require.True(t, err != nil || e.Outcome != tool.OK || json.Valid(e.Value))
			if err != nil || e.Outcome != tool.OK || !e.Changed {
				require.Equal(t, before, string(after))
			}
		}
	})
}

func BenchmarkCall(b *testing.B) {
	rules, _ := read(b, shop)
	state := `{"orders":{"O1":{"customer":"C1","total":9000,"status":"shipped","items":["pen","ink","nib"]}`
	for i := 2; i < 40; i++ {
		state += fmt.Sprintf(`,"O%d":{"customer":"C1","total":9000,"status":"open","items":["pen"]}`, i)
	}
	state += `},"customers":{"C1":{"balance":0}},"refunds":[]}`
	for _, c := range []struct{ name, tool, args string }{{"read", "get_order", `{"id":"O1"}`}, {"refusal", "get_order", `{"id":"O99"}`}, {"write", "refund_order", `{"id":"O1","amount":1}`}} {
		b.Run(c.name, func(b *testing.B) {
			w := open(b, rules, state).(*declaredWorld)
			call := tool.Call{Name: c.tool, Args: json.RawMessage(c.args)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Call(b.Context(), call, start); err != nil {
					b.Fatal(err)
				}
				if refunds := w.state["refunds"].([]any); len(refunds) > 10 {
					w.state["refunds"] = []any{}
				}
			}
		})
	}
	b.Run("state", func(b *testing.B) {
		w := open(b, rules, state).(*declaredWorld)
		b.ReportAllocs()
		for b.Loop() {
			w.text = nil
			out, _ := w.State(b.Context())
			b.SetBytes(int64(len(out)))
		}
	})
}
