package load

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/world"
)

// anything is a kind that takes any state, and reads none.
type anything struct{ world.Kind }

func (anything) Tools() []tool.Spec { return nil }

// fussy is a kind whose Bind always fails.
type fussy struct{ anything }

func (fussy) Bind(json.RawMessage) (world.Kind, error) {
	return nil, errors.Join(world.BadState("a.b", "is bad"), world.BadState("c.0", "is worse"), errors.New("nothing fits"))
}

var someKinds = map[string]world.Kind{"any": anything{}, "fussy": fussy{}}

// stateSuite returns a suite with these worlds, whose tasks use world a.
func stateSuite(worlds string, names ...string) string {
	text := "name: demo\nworlds:\n" + worlds + "\ntasks:\n"
	for _, name := range names {
		text += "  - {id: " + name + ", request: Hi, world: " + name + ", expect: {status: answered}}\n"
	}
	return text
}

func TestStates(t *testing.T) {
	for name, tc := range map[string]struct {
		worlds string
		want   string // of world a
	}{
		"none":               {"  a: {kind: any}", ""},
		"inline":             {"  a: {kind: any, state: {b: 1.50, a: [2026-05-01, null, true], n: null}}", `{"a":["2026-05-01",null,true],"b":1.5,"n":null}`},
		"exact integers":     {"  a: {kind: any, state: {n: 12345678901234567890}}", `{"n":12345678901234567890}`},
		"a file":             {"  a: {kind: any, state: data/x.json}", `{"a":{"b":1,"c":[1,2]}}`},
		"kind from the base": {"  b: {kind: any, state: {x: 1}}\n  a: {from: b}", `{"x":1}`},
		"merge":              {"  b: {kind: any, state: data/x.json}\n  a: {from: b, state: {a: {b: null, c: [3], d: {e: null, f: 1}}}}", `{"a":{"c":[3],"d":{"f":1}}}`},
		"merge twice":        {"  b: {kind: any, state: {x: 1}}\n  c: {from: b, state: {y: 2}}\n  a: {from: c, state: {x: 3}}", `{"x":3,"y":2}`},
		"a scalar for a map": {"  b: {kind: any, state: {x: {y: 1}}}\n  a: {from: b, state: {x: 1}}", `{"x":1}`},
		"nothing after all":  {"  b: {kind: any, state: {x: 1}}\n  a: {from: b, state: }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Suite(suitetest.Folder(stateSuite(tc.worlds, "a"), "data/x.json", `{"a": {"c": [1, 2], "b": 1.0}}`), "s", someKinds)
			require.NoError(t, err)
			require.Equal(t, tc.want, string(s.Tasks[0].World.State))
			require.Equal(t, "any", s.Tasks[0].World.Kind)
			require.Equal(t, anything{}, s.Tasks[0].World.Maker)
		})
	}
}

func TestStateProblems(t *testing.T) {
	big := `{"a":"` + strings.Repeat("x", 16<<20) + `"}`
	for name, tc := range map[string]struct {
		worlds string
		want   []string
	}{
		"unknown kind":    {"  a: {kind: anny}", []string{"s/suite.yaml:3: worlds.a.kind: unknown kind of world \"anny\" (did you mean any?); known: any, fussy, process. A program registers others: see docs/extend.md"}},
		"no kind":         {"  a: {state: {}}", []string{"s/suite.yaml:3: worlds.a: a world with a state needs its kind; known: any, fussy, process"}},
		"a list":          {"  a: {kind: any, state: [1]}", []string{"s/suite.yaml:3: worlds.a.state: must be a mapping, or the name of a JSON file of the suite, but is a list"}},
		"no JSON":         {"  a: {kind: any, state: {a: .inf}}", []string{"s/suite.yaml:3: worlds.a.state.a: .inf is not a JSON number; write it in decimal, or in quotes if it is a string"}},
		"no file":         {"  a: {kind: any, state: x.json}", []string{"s/suite.yaml:3: worlds.a.state: x.json: there is no such file"}},
		"outside":         {"  a: {kind: any, state: ../x.json}", []string{`s/suite.yaml:3: worlds.a.state: "../x.json" must be a path below the suite folder, with / between folders and no ..`}},
		"too large":       {"  a: {kind: any, state: big.json}", []string{"s/suite.yaml:3: worlds.a.state: big.json: the file is larger than 16 MiB"}},
		"file of a list":  {"  a: {kind: any, state: list.json}", []string{"s/suite.yaml:3: worlds.a.state: list.json: must contain a JSON object"}},
		"broken file":     {"  a: {kind: any, state: broken.json}", []string{`s/suite.yaml:3: worlds.a.state: broken.json:3: is not JSON: duplicate object member name "a" within "/x"`}},
		"more in a file":  {"  a: {kind: any, state: more.json}", []string{"s/suite.yaml:3: worlds.a.state: more.json:2: is not JSON: invalid character '{' after top-level value after offset 3"}},
		"of the kind":     {"  a:\n    kind: fussy\n    state:\n      c: [1]\n      a:\n        b: 1", []string{"s/suite.yaml:4: worlds.a.kind: nothing fits", "s/suite.yaml:6: worlds.a.state.c[0]: is worse", "s/suite.yaml:8: worlds.a.state.a.b: is bad"}},
		"of a file":       {"  a:\n    kind: fussy\n    state: ok.json", []string{"s/suite.yaml:4: worlds.a.kind: nothing fits", "s/suite.yaml:5: worlds.a.state: a.b: is bad", "s/suite.yaml:5: worlds.a.state: c.0: is worse"}},
		"of the base":     {"  b: {kind: any, state: {a: {b: 1}}}\n  a:\n    kind: fussy\n    from: b\n    state: {c: [1]}", []string{"s/suite.yaml:3: worlds.b.state.a.b: is bad", "s/suite.yaml:5: worlds.a.kind: nothing fits", "s/suite.yaml:7: worlds.a.state.c[0]: is worse"}},
		"only the base's": {"  b: {kind: anny, state: {a: 1}}\n  a: {from: b, state: {c: 1}}", []string{"s/suite.yaml:3: worlds.b.kind: unknown kind of world \"anny\" (did you mean any?); known: any, fussy, process. A program registers others: see docs/extend.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Suite(suitetest.Folder(stateSuite(tc.worlds, "a"), "big.json", big, "list.json", "[]", "broken.json", "{\n\"x\": {\"a\": 1,\n \"a\": 2}}", "more.json", "{}\n{}", "ok.json", "{}"), "s", someKinds)
			require.EqualError(t, err, strings.Join(tc.want, "\n"))
		})
	}
}

// A task without a world, or a world without a clock, has the fixed clock in UTC.
func TestDefaultClock(t *testing.T) {
	s, err := Suite(suitetest.Folder(stateSuite("  a: {env: {A: x}}\n  b: {zone: America/New_York}\n  c: {now: 2026-05-13T12:00:00-04:00}", "a", "b", "c")+
		"  - {id: D, request: Hi, expect: {status: answered}}\n"), "s", nil)
	require.NoError(t, err)
	var got []string
	for _, task := range s.Tasks {
		got = append(got, task.World.Now.Format(time.RFC3339)+" "+task.World.Zone.String())
		w, err := goldens.OpenWorld(context.Background(), task, 1)
		require.NoError(t, err)
		e, err := w.Call(t.Context(), tool.Call{Name: "x"}, task.World.Now)
		require.NoError(t, err)
		require.Equal(t, "E_NO_TOOL", e.Code)
	}
	require.Equal(t, []string{"2026-01-01T00:00:00Z UTC", "2025-12-31T19:00:00-05:00 America/New_York", "2026-05-13T16:00:00Z UTC", "2026-01-01T00:00:00Z UTC"}, got)
}

// named is a kind with a tool.
type named struct{ anything }

func (named) Tools() []tool.Spec {
	return []tool.Spec{{Name: "add", Description: "Adds.", Schema: json.RawMessage(`{"type":"object"}`), Repeatable: true}}
}

// A tool of a kind that the suite's worlds name needs only its name.
func TestToolsOfKinds(t *testing.T) {
	kinds := map[string]world.Kind{"named": named{}}
	text := func(tool string) string {
		return "name: demo\ntools: [" + tool + "]\nworlds: {w: {kind: named}}\ntasks: [{id: A, request: Hi, world: w, expect: {status: answered}}]\n"
	}
	s, err := Suite(suitetest.Folder(text("{name: add, uncacheable: true}")), "s", kinds)
	require.NoError(t, err)
	require.NoError(t, s.Lint())
	require.Equal(t, []tool.Spec{{Name: "add", Description: "Adds.", Schema: json.RawMessage(`{"type":"object"}`), Repeatable: true, Uncacheable: true}}, s.Tools)
	specs, err := Tools(suitetest.Folder(text("{name: add}")), SuiteFile, "s", kinds)
	require.NoError(t, err)
	require.Equal(t, "Adds.", specs[0].Description)
	for _, alone := range []string{"{name: sub}", "{name: add, schema: {type: object}}", "{name: add, http: {url: 'http://h/'}}"} {
		_, err = Suite(suitetest.Folder(text(alone)), "s", kinds)
		require.ErrorContains(t, err, "tools[0].description: is missing", alone)
	}
	s, err = Suite(suitetest.Folder(text("{name: sub, description: Subs., schema: {type: object}}")), "s", kinds)
	require.NoError(t, err)
	require.EqualError(t, s.Lint(), "s/suite.yaml:2: tools[0]: nothing implements tool sub of task A: it has no http, no Go function has its name (cmd.App.Tools), and the task's world has: add")
}

// Fixed results of tools that are not executed, and hints for prompts, are part of the digests.
func TestToolsThatAreNotRun(t *testing.T) {
	of := func(tool string) (*goldens.Suite, error) {
		return Suite(suitetest.Folder("name: demo\ntools: [{name: add, description: Adds., schema: {type: object}"+tool+"}]\ntasks: ["+suitetest.Task+"]\n"), "s", nil)
	}
	seen := map[string]bool{}
	for use, want := range map[string]map[string]json.RawMessage{
		"": nil, ", hint: First.": nil, ", run: never": {"add": json.RawMessage("null")}, ", run: never, result: {a: [1]}": {"add": json.RawMessage(`{"a":[1]}`)},
	} {
		s, err := of(use)
		require.NoError(t, err, use)
		require.Equal(t, want, s.Fixed, use)
		require.Equal(t, want == nil, s.Lint() != nil, "nothing implements it")
		parts := s.TaskParts(s.Tasks[0])
		require.False(t, seen[s.Digest] || seen[parts.Tools], use)
		seen[s.Digest], seen[parts.Tools] = true, true
		require.Equal(t, use == ", hint: First.", s.Tools[0].Hint == "First.", use)
	}
	for use, want := range map[string]string{
		", run: always":                       `tools[0].run: "always" is not known; allowed: never`,
		", result: 1":                         "tools[0].result: only a tool with run: never has a fixed result",
		", run: never, http: {url: http://h}": "tools[0].run: a tool that is never run has neither http nor rules",
		", hint: ''":                          "tools[0].hint: must not be blank",
		", hint: " + strings.Repeat("x", 301): "tools[0].hint: must be at most 300 characters, but is 301",
	} {
		_, err := of(use)
		require.ErrorContains(t, err, want, use)
	}
}
