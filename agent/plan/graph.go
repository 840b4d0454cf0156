package plan

import (
	"encoding/json"
	"fmt"
	"slices"
)

// cycles names circular dependencies, each from the step first in the plan back
// to itself, every one that a walk in plan order meets.
func cycles(steps []Step) [][]string {
	w := walk{steps: map[string]Step{}, seen: map[string]bool{}}
	for _, s := range steps {
		w.steps[s.ID] = s
	}
	for _, s := range steps {
		w.visit(s.ID)
	}
	for i, c := range w.found {
		w.found[i] = rotated(c, steps)
	}
	return w.found
}

// walk goes through the dependencies depth first. A plan holds few thousand
// values, and so few steps, as the depth of the walk.
type walk struct {
	steps map[string]Step
	seen  map[string]bool
	path  []string
	found [][]string
}

func (w *walk) visit(id string) {
	if at := slices.Index(w.path, id); at >= 0 {
		w.found = append(w.found, slices.Clone(w.path[at:]))
		return
	}
	s, ok := w.steps[id]
	if !ok || w.seen[id] {
		return
	}
	w.seen[id] = true
	w.path = append(w.path, id)
	for _, dep := range s.DependsOn {
		w.visit(dep)
	}
	w.path = w.path[:len(w.path)-1]
}

// rotated begins a cycle at its step that is first in the plan, and closes it.
func rotated(cycle []string, steps []Step) []string {
	for _, s := range steps {
		if i := slices.Index(cycle, s.ID); i >= 0 {
			out := append(slices.Clone(cycle[i:]), cycle[:i]...)
			return append(out, s.ID)
		}
	}
	return cycle
}

// finalSteps are the steps on which no other depends, in plan order.
func (p Plan) finalSteps() []string {
	var out []string
	for _, s := range p.Steps {
		needed := slices.ContainsFunc(p.Steps, func(other Step) bool { return slices.Contains(other.DependsOn, s.ID) })
		if !needed {
			out = append(out, s.ID)
		}
	}
	return out
}

// Ending returns a valid plan with exactly one last step, on which none depends
// and whose result is the answer, and that step's id. Where several are last, or
// a list of results must fit a schema, a step that aggregates them is added. schema is put
// on the last step instead of its schema; nil keeps that.
func (p Plan) Ending(schema json.RawMessage) (Plan, string) {
	p.Steps = slices.Clone(p.Steps)
	finalSteps := p.finalSteps()
	last, _ := p.Step(finalSteps[0])
	if len(finalSteps) > 1 || schema != nil && last.Mode == Process {
		last = Step{
			ID: p.free("aggregate"), Mode: Aggregate, DependsOn: finalSteps, Tools: []string{},
			Instructions: "Bring the results together into one answer to the objective.",
		}
		p.Steps = append(p.Steps, last)
	}
	if schema != nil {
		i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.ID == last.ID })
		p.Steps[i].OutputSchema, p.Steps[i].Mode = schema, Aggregate // a list that none works on need be none
	}
	return p, last.ID
}

// free is an id that no step has and none depends on.
func (p Plan) free(id string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.ID == id || slices.Contains(s.DependsOn, id) })
	}
	name := id
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s_%d", id, n)
	}
	return name
}
