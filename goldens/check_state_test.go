package goldens

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

func TestScoreState(t *testing.T) {
	o := Outcome{
		Status:      "answered",
		StateBefore: json.RawMessage(`{"orders":{"O7":{"status":"open"}},"refunds":[],"stock":{"S1":5,"S2":0}}`),
		StateAfter:  json.RawMessage(`{"orders":{"O7":{"status":"refunded"}},"refunds":[{"amount":25,"order":"O7"}],"stock":{"S1":4}}`),
	}
	var many []StateCheck
	for i := range 8 {
		many = append(many, StateCheck{fmt.Sprintf("a%d", i), map[string]any{"is": "x"}})
	}
	is := func(path string, value any) []StateCheck { return []StateCheck{{path, map[string]any{"is": value}}} }
	for _, c := range []struct {
		name   string
		expect Expect
		want   []string
	}{
		{"as wanted", Expect{State: is("orders.O7.status", "refunded"), Unchanged: []string{"orders.O7.id", "customers"}}, nil},
		{"another state", Expect{State: append(is("orders.O7.status", "open"), StateCheck{"refunds", map[string]any{"count": json.Number("0")}})},
			[]string{`state: orders.O7.status: want "open", got "refunded"; refunds: want count 0, got 1`}},
		{"many", Expect{State: many}, []string{`state: a0: want "x", got nothing: there is no a0; a1: want "x", got nothing: there is no a1; a2: want "x", got nothing: there is no a2; a3: want "x", got nothing: there is no a3; a4: want "x", got nothing: there is no a4; … 3 more`}},
		{"broken", Expect{State: is("a..b", "open")}, []string{`state: the expectation is broken: path "a..b": a key is empty; remove the extra dot, or write \. for a dot of a key`}},
		{"changes below", Expect{Unchanged: []string{"stock"}}, []string{"unchanged: stock.S1: want 5 as at the start, got 4; stock.S2: want 0 as at the start, got nothing"}},
		{"a change above", Expect{Unchanged: []string{"refunds.0.amount"}}, []string{"unchanged: refunds.0.amount: want nothing as at the start, got 25"}},
		{"anything", Expect{Unchanged: []string{"."}}, []string{`unchanged: orders.O7.status: want "open" as at the start, got "refunded"; refunds.0: want nothing as at the start, got {"amount":25,"order":"O7"}; stock.S1: want 5 as at the start, got 4; stock.S2: want 0 as at the start, got nothing`}},
		{"broken path", Expect{Unchanged: []string{".", " ", ".."}}, []string{`unchanged: the expectation is broken: unchanged[2]: path "..": a key is empty; remove the extra dot, or write \. for a dot of a key`}},
		{"hash", Expect{StateHash: "c1e1f7e1ae4efcb3da8a3c2b0d3f0c1c04c0ba3bc4ed5a4c2a3e0c1e3a2c7b11"}, []string{"state_hash: want c1e1f7e1ae4efcb3da8a3c2b0d3f0c1c04c0ba3bc4ed5a4c2a3e0c1e3a2c7b11, got 2389e551228f3b26f934835079676b72a2e8d6b55457e53e8ba59f31013685b0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, scoreOf(t, c.expect, o))
		})
	}
	none := Outcome{Status: "answered"}
	require.Equal(t, []string{
		"state: want a state of the world, got a world without one", "unchanged: want a state of the world, got a world without one",
		"state_hash: want " + strings.Repeat("0", 64) + ", got none",
	}, scoreOf(t, Expect{State: is("a", true), Unchanged: []string{"a"}, StateHash: strings.Repeat("0", 64)}, none))
}

// FuzzReadState: whatever a suite says of a state is read or refused, and what is read
// can be checked and written.
func FuzzReadState(f *testing.F) {
	f.Add(`[{path: a.b, is: {$gte: 1}}]`, `{"a":{"b":2}}`)
	f.Add(`[{path: ., every: {a: [1, x]}, count: {$in: [1]}}, {path: 'a\.b', exists: false}]`, `{}`)
	f.Fuzz(func(t *testing.T, text, world string) {
		src := &yamlfile.Source{File: "f", Found: &yamlfile.Findings{}}
		root, ok := src.Parse([]byte("state: " + text))
		if !ok || !root.IsMapping() {
			return
		}
		var e Expect
		stateChecks{}.set(&e, root.FieldAt("state"), false)
		if src.Found.Join() != nil {
			return
		}
		require.NoError(t, e.Validate())
		stateChecks{}.write(&e, &Expect{})
		if json.Valid([]byte(world)) {
			Score(Task{Expect: []Expect{e}}, Outcome{StateAfter: json.RawMessage(world)})
		}
	})
}
