package playbook

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/expression"
)

// Stage is one part of a solution, as a planner writes them: it can be carried out alone
// by whoever is given what it needs.
type Stage struct {
	// ID is unique among the stages of a play: lower case, digits and underscores.
	ID string
	// Text says what to do.
	Text string
	// After are the stages whose results it needs or must follow, Inputs the inputs of
	// the request that it needs.
	After, Inputs []string
	// Tools are those that it calls, each once, in order.
	Tools []string
	// Play does it. Unless it is the last, it ends with a Hand, whose Value's members are
	// to be in Seen.Given of the stages after it.
	Play *Play
}

// Stages splits the solution into parts: each call, each and if at the top is one, and
// whatever begins with a question, an answer or the end without one is the last. A let
// belongs to the parts that use its names. Parts that do not need each other's results
// may be carried out at the same time, except that nothing overtakes a tool that may
// change the world. A batch is one part.
func (p *Play) Stages() []Stage {
	if p.task.Each != "" {
		return []Stage{{ID: "answer", Text: "Do what the objective says for each item of the input, and answer.", Inputs: p.task.Inputs, Tools: tools(p.steps), Play: p}}
	}
	var out []Stage
	for i := 0; i < len(p.steps); i++ {
		s := p.steps[i]
		last := speaks(p.steps[i : i+1])
		if s.kind == aLet && !last {
			continue
		}
		steps := p.steps[i : i+1]
		if last {
			steps = p.steps[i:]
		}
		out = append(out, p.stageOf(out, i, steps, last))
		if last {
			break
		}
	}
	return out
}

// stageOf makes a stage of the steps from i on.
func (p *Play) stageOf(before []Stage, i int, steps []step, last bool) Stage {
	st := Stage{ID: fmt.Sprintf("step_%d", len(before)+1), Tools: tools(steps)}
	if last {
		st.ID = "answer"
	}
	steps, uses := p.withLets(i, steps)
	st.Play = &Play{task: p.task, steps: steps, file: p.file, handed: expression.Need{}, needs: []string{}}
	for _, name := range uses {
		if slices.Contains(p.task.Inputs, name) {
			st.Inputs = append(st.Inputs, name)
			st.Play.needs = append(st.Play.needs, name)
		}
	}
	writes := p.writes(st.Tools)
	followed := map[string]bool{}
	for _, b := range before {
		for _, id := range b.After {
			followed[id] = true
		}
	}
	for _, b := range before {
		needed := false
		for _, name := range b.Play.hands() {
			if slices.Contains(uses, name) {
				needed = true
				st.Play.needs = append(st.Play.needs, name)
			}
		}
		if needed || writes || p.writes(b.Tools) || last && !followed[b.ID] {
			st.After = append(st.After, b.ID)
		}
	}
	if last {
		st.Text = "Answer the objective from the results."
		if len(st.Tools) > 0 {
			st.Text = "Call " + strings.Join(st.Tools, ", ") + " as needed, and answer the objective."
		}
		return st
	}
	read := readsOf(expression.Need{}, p.steps[i+1:])
	for _, name := range p.steps[i].binds {
		if need, ok := read[name]; ok {
			st.Play.handed[name] = need
		}
	}
	st.Text = "Call " + strings.Join(st.Tools, ", ") + " and hand on what it returns"
	if names := st.Play.hands(); len(names) > 0 {
		st.Text += " as " + strings.Join(names, ", ")
	}
	st.Text += "."
	return st
}

// hands are the names that a stage hands on.
func (p *Play) hands() []string { return slices.Sorted(maps.Keys(p.handed)) }

// withLets puts the lets before step i that steps need in front of them, and returns the
// names that all of them use.
func (p *Play) withLets(i int, steps []step) ([]step, []string) {
	reads := readsOf(expression.Need{}, steps)
	steps = slices.Clone(steps)
	for k := i - 1; k >= 0; k-- {
		if s := p.steps[k]; s.kind == aLet && slices.ContainsFunc(s.binds, func(n string) bool { _, ok := reads[n]; return ok }) {
			steps = slices.Insert(steps, 0, s)
			reads = reads.With(s.reads)
		}
	}
	return steps, slices.Sorted(maps.Keys(reads))
}

func (p *Play) writes(tools []string) bool {
	return slices.ContainsFunc(tools, func(name string) bool { return slices.Contains(p.task.Writes, name) })
}

// speaks says whether a question or an end is among steps.
func speaks(steps []step) bool {
	return slices.ContainsFunc(steps, func(s step) bool {
		switch s.kind {
		case anAsk, anAnswer, aGiveUp:
			return true
		case aCall:
			return s.onError != nil && speaks(*s.onError)
		}
		return speaks(s.block) || speaks(s.other)
	})
}

// tools are those that steps call, each once, in order.
func tools(steps []step) (out []string) {
	for _, s := range steps {
		list := slices.Concat(tools(s.block), tools(s.other))
		if s.kind == aCall {
			list = append(list, s.tool)
			if s.onError != nil {
				list = append(list, tools(*s.onError)...)
			}
		}
		for _, name := range list {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
