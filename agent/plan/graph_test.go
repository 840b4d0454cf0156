package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// graph makes steps of lists of an id and its dependencies.
func graph(edges ...[]string) []Step {
	var out []Step
	for _, e := range edges {
		out = append(out, Step{ID: e[0], Instructions: "i", DependsOn: e[1:]})
	}
	return out
}

func TestCycles(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		want  [][]string
	}{
		{"none", graph([]string{"a"}, []string{"b", "a"}, []string{"c", "b", "a"}), nil},
		{"self", graph([]string{"a", "a"}), [][]string{{"a", "a"}}},
		{"two", graph([]string{"a", "b"}, []string{"b", "a"}), [][]string{{"a", "b", "a"}}},
		{"three, from the first of the plan", graph([]string{"x", "c"}, []string{"a", "b"}, []string{"b", "c"}, []string{"c", "a"}), [][]string{{"a", "b", "c", "a"}}},
		{"two cycles", graph([]string{"a", "b"}, []string{"b", "a", "c"}, []string{"c", "c"}), [][]string{{"a", "b", "a"}, {"c", "c"}}},
		{"inputs and unknown steps", graph([]string{"a", "year"}), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, cycles(test.steps)) })
	}
}

// drawGraph draws any graph of up to eight steps.
func drawGraph(t *rapid.T) []Step {
	n := rapid.IntRange(1, 8).Draw(t, "steps")
	var out []Step
	for i := range n {
		s := Step{ID: fmt.Sprint("s", i), Instructions: "i"}
		for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, 3, rapid.ID[int]).Draw(t, "deps") {
			s.DependsOn = append(s.DependsOn, fmt.Sprint("s", d))
		}
		out = append(out, s)
	}
	return out
}

// DrawDAG draws any graph without a cycle, with its steps in any order.
func drawDAG(t *rapid.T) Plan {
	n := rapid.IntRange(1, 12).Draw(t, "steps")
	var out []Step
	for i := range n {
		s := Step{ID: fmt.Sprint("s", i), Instructions: "i"}
		if i > 0 {
			for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 3), rapid.ID[int]).Draw(t, "deps") {
				s.DependsOn = append(s.DependsOn, fmt.Sprint("s", d))
			}
		}
		out = append(out, s)
	}
	return Plan{Steps: rapid.Permutation(out).Draw(t, "order")}
}

// TestCyclesAgainstClosure compares the search with the transitive closure: it names a
// cycle if and only if some step reaches itself, and what it names is a cycle.
func TestCyclesAgainstClosure(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawGraph(rt)
		reach := map[[2]string]bool{}
		for _, s := range steps {
			for _, d := range s.DependsOn {
				reach[[2]string{s.ID, d}] = true
			}
		}
		edges := len(reach)
		for _, k := range steps {
			for _, i := range steps {
				for _, j := range steps {
					if reach[[2]string{i.ID, k.ID}] && reach[[2]string{k.ID, j.ID}] {
						reach[[2]string{i.ID, j.ID}] = true
					}
				}
			}
		}
		circular := slices.ContainsFunc(steps, func(s Step) bool { return reach[[2]string{s.ID, s.ID}] })
		found := cycles(steps)
		require.Equal(rt, circular, len(found) > 0)
		require.LessOrEqual(rt, len(found), edges)
		for _, c := range found {
			require.Equal(rt, c[0], c[len(c)-1])
			for i := range len(c) - 1 {
				s, _ := Plan{Steps: steps}.Step(c[i])
				require.Contains(rt, s.DependsOn, c[i+1])
			}
		}
	})
}

// TestAnyPlanComesToItsEnd runs ready steps in random order and lets some fail. A step
// starts only after its dependencies, every step ends, and exactly the dependents of
// failed steps are cancelled.
func TestAnyPlanComesToItsEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawDAG(rt)
		g := NewProgress(p)
		var running []string
		done := map[string]bool{}
		for !g.Over() {
			for _, s := range g.Ready() {
				for _, d := range s.DependsOn {
					require.True(rt, done[d])
				}
				g.Start(s.ID)
				running = append(running, s.ID)
			}
			require.NotEmpty(rt, running, "deadlock")
			i := rapid.IntRange(0, len(running)-1).Draw(rt, "next")
			id := running[i]
			running = slices.Delete(running, i, i+1)
			if rapid.IntRange(0, 4).Draw(rt, "fails") == 0 {
				g.Fail(id, "broken")
			} else {
				g.Done(id)
				done[id] = true
			}
		}
		for _, s := range p.Steps {
			lost := slices.ContainsFunc(s.DependsOn, func(d string) bool { return g.State(d) == Failed || g.State(d) == Cancelled })
			require.Equal(rt, lost, g.State(s.ID) == Cancelled)
			require.Equal(rt, g.State(s.ID) == Failed || lost, g.Why(s.ID) != "")
		}
	})
}

func TestReady(t *testing.T) {
	g := NewProgress(Plan{Steps: graph([]string{"fresh"}, []string{"done"}, []string{"later", "done", "year"}, []string{"unmet", "running"}, []string{"running"})})
	require.False(t, g.Over())
	g.Start("done")
	g.Done("done")
	g.Start("running")
	require.Equal(t, []string{"fresh", "later"}, ids(g.Ready()), "in plan order; an input counts as done")
	for _, id := range []string{"fresh", "later"} {
		g.Start(id)
		g.Done(id)
	}
	g.Done("running")
	g.Start("unmet")
	require.False(t, g.Over())
	g.Done("unmet")
	require.True(t, g.Over())
	require.Panics(t, func() { g.Start("done") })
	require.Panics(t, func() { g.Done("nobody") })
	require.Equal(t, "cancelled", Cancelled.String())
}

func TestFailureCancelsDependents(t *testing.T) {
	g := NewProgress(Plan{Steps: graph([]string{"e", "d"}, []string{"a"}, []string{"b", "a"}, []string{"c", "b"}, []string{"d", "b", "c"}, []string{"other"})})
	g.Start("a")
	require.Equal(t, []string{"e", "b", "c", "d"}, g.Fail("a", "no"))
	for _, id := range []string{"b", "c", "d", "e"} {
		require.Equal(t, Cancelled, g.State(id))
		require.Equal(t, `Cancelled: dependency "a" failed`, g.Why(id))
	}
	require.Equal(t, "no", g.Why("a"))
	require.Equal(t, Pending, g.State("other"))
	require.Empty(t, g.Why("other"))
	require.Equal(t, []string{"other"}, ids(g.Ready()))
}

func ids(steps []Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.ID)
	}
	return out
}

func TestEnding(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	t.Run("one sink", func(t *testing.T) {
		p, last := Plan{Steps: graph([]string{"b", "a"}, []string{"a"})}.Ending(nil)
		require.Equal(t, "b", last)
		require.Len(t, p.Steps, 2)
		require.Nil(t, p.Steps[0].OutputSchema)
	})
	t.Run("B034 the schema is put on the sink, at any position", func(t *testing.T) {
		before := Plan{Steps: graph([]string{"b", "a"}, []string{"a"})}
		before.Steps[0].OutputSchema = json.RawMessage(`{}`)
		p, last := before.Ending(schema)
		require.Equal(t, "b", last)
		require.Equal(t, schema, p.Steps[0].OutputSchema)
		require.Equal(t, json.RawMessage(`{}`), before.Steps[0].OutputSchema, "the given plan is not changed")
	})
	t.Run("several", func(t *testing.T) {
		p, last := Plan{Steps: graph([]string{"a"}, []string{"aggregate", "a"}, []string{"aggregate_2"})}.Ending(schema)
		require.Equal(t, "aggregate_3", last)
		require.Equal(t, []string{"aggregate", "aggregate_2"}, p.Steps[3].DependsOn)
		require.Equal(t, []string{}, p.Steps[3].Tools)
		require.Equal(t, schema, p.Steps[3].OutputSchema)
		require.Equal(t, []string{last}, p.finalSteps())
	})
	t.Run("a list that must fit a schema", func(t *testing.T) {
		p, last := Plan{Steps: []Step{{ID: "p", Mode: Process, List: "lights"}}}.Ending(schema)
		require.Equal(t, "aggregate", last)
		require.Len(t, p.Steps, 2)
	})
	t.Run("a list that nobody works on", func(t *testing.T) {
		p, _ := Plan{Steps: []Step{{ID: "d", Mode: Discover}}}.Ending(schema)
		require.Equal(t, Aggregate, p.Steps[0].Mode)
	})
}
