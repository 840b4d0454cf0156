package playbook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/expression"
)

// Stage is one part of a solution, like a step of a plan: an agent with its needs can execute it
// separately.
type Stage struct {
	// ID is unique among the stages of a play: lower case, digits and underscores.
	ID string
	// Text is the instruction.
	Text string
	// After are the stages that must precede it, because it needs their output or the world must
	// change in this order. Inputs are the inputs of the request that it needs.
	After, Inputs []string
	// Tools are the tools that it calls, in order and without duplicates.
	Tools []string
	// Play is its solution. Unless it is the last one, it ends with an Output; Seen.Given of the
	// later stages must contain the members of its Value.
	Play *Play
	// List means that its output is a list, which a stage with Each processes.
	List bool
	// Each, if not empty, is the stage or the input whose list it processes item by item: Play
	// processes the one in Seen.Given as "item". Collect joins its outputs for all items.
	Each string

	at int // the index of its step, or of its first
}

// Collect joins the outputs of a stage with Each to one object, with a list of their values for
// each name. It returns any other value unchanged.
func Collect(value json.RawMessage) json.RawMessage {
	var items []map[string]json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return value
	}
	all := map[string][]json.RawMessage{}
	for _, item := range items {
		for name, v := range item {
			if name == gaveUp {
				text, _ := json.Marshal(map[string]json.RawMessage{gaveUp: v}) // v was decoded from JSON
				return text
			}
			all[name] = append(all[name], v)
		}
	}
	text, _ := json.Marshal(all) // all was decoded from JSON
	return text
}

// Stages splits the solution into parts. Each call, each and if at the top level is a part, and
// the steps from the first question, answer or end are the last part. A let belongs to the parts
// that use its names. Parts that do not need each other's results may be executed in parallel,
// but never before or after a tool that may change the world in another order than in the
// solution. An each over an input, or over a list that is the only read of an earlier part, is
// executed item by item. A batch is one part.
func (p *Play) Stages() []Stage {
	if p.task.Each != "" {
		return []Stage{{ID: "answer", Text: "Do what the objective says for each item of the input, and answer.", Inputs: p.task.Inputs, Tools: tools(p.steps), Play: p}}
	}
	var out []Stage
	for i := 0; i < len(p.steps); i++ {
		s := p.steps[i]
		last := hasAskOrEnd(p.steps[i : i+1])
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
		p.spread(out)
	}
	for i := range out[:len(out)-1] {
		out[i].Text = out[i].text()
	}
	return out
}

// spread changes the last stage to one that is executed per item, if its list is an input or the
// only read of one earlier stage, and it depends on no other list.
func (p *Play) spread(stages []Stage) {
	before, st := stages[:len(stages)-1], &stages[len(stages)-1]
	s := &p.steps[st.at]
	if s.kind != anEach || p.writes(st.Tools) {
		return
	}
	source := -1
	lists := s.list.Needs(nil)
	for i, b := range before {
		for _, name := range p.steps[b.at].binds {
			_, read := lists[name]
			if _, inside := s.inner[name]; read && (source >= 0 && source != i || inside || len(lists) > 1 || p.steps[b.at].kind != aCall || b.List) {
				return
			} else if read {
				source = i
			}
		}
	}
	for i, b := range before {
		if i != source && (b.List || b.Each != "") && slices.Contains(st.After, b.ID) {
			return
		}
	}
	switch {
	case s.listed != "":
		st.Each = s.listed
	case source < 0:
		return
	default:
		b := &before[source]
		for i, other := range p.steps[b.at+1:] {
			for name := range lists {
				if _, ok := other.reads[name]; ok && b.at+1+i != st.at {
					return
				}
			}
		}
		b.List, b.Play.each, b.Play.outputs, st.Each = true, s, expression.Need{}, b.ID
	}
	steps, uses := p.withLets(st.at, s.block)
	st.Play.steps, st.Play.item = steps, s.as
	st.Play.needs = slices.DeleteFunc(st.Play.needs, func(name string) bool { return !slices.Contains(uses, name) })
	for name, need := range st.Play.outputs {
		st.Play.outputs[name] = need.Element()
	}
}

// text returns the instruction of a stage that is not the last.
func (st Stage) text() string {
	text := "Call " + strings.Join(st.Tools, ", ")
	if st.Each != "" {
		text += " for {item}"
	}
	text += " and hand on what it returns"
	if st.List {
		return text + " as a list."
	}
	if names := st.Play.outputNames(); len(names) > 0 {
		text += " as " + strings.Join(names, ", ")
	}
	return text + "."
}

// stageOf returns the stage of steps, which begin at i.
func (p *Play) stageOf(before []Stage, i int, steps []step, last bool) Stage {
	st := Stage{ID: fmt.Sprintf("step_%d", len(before)+1), Tools: tools(steps), at: i}
	if last {
		st.ID = "answer"
	}
	steps, uses := p.withLets(i, steps)
	st.Play = &Play{task: p.task, steps: steps, file: p.file, outputs: expression.Need{}, needs: []string{}}
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
		for _, name := range b.Play.outputNames() {
			if slices.Contains(uses, name) {
				needed = true
				if b.Each != "" {
					st.Play.lists = append(st.Play.lists, name)
				} else {
					st.Play.needs = append(st.Play.needs, name)
				}
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
			st.Play.outputs[name] = need
		}
	}
	return st
}

// outputNames returns the sorted names of the outputs of a stage.
func (p *Play) outputNames() []string { return slices.Sorted(maps.Keys(p.outputs)) }

// withLets prepends the lets before step i that steps need, and returns the names that all of
// them use.
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

// hasAskOrEnd reports whether steps contain a question or an end.
func hasAskOrEnd(steps []step) bool {
	return slices.ContainsFunc(steps, func(s step) bool {
		switch s.kind {
		case anAsk, anAnswer, aGiveUp, aReply:
			return true
		}
		return slices.ContainsFunc(s.inPlace(), hasAskOrEnd)
	})
}

// tools returns the tools that steps call, in order and without duplicates.
func tools(steps []step) (out []string) {
	for _, s := range steps {
		var list []string
		if s.kind == aCall {
			list = append(list, s.tool)
		}
		for _, block := range s.inPlace() {
			list = append(list, tools(block)...)
		}
		for _, name := range list {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
