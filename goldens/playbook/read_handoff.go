package playbook

import (
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// messageName is the name of the user's message in on_message, correctionsName that of the list of
// corrections in the steps of a sub-agent.
const (
	messageName     = "message"
	correctionsName = "corrections"
)

// taskTools are the tools of orchestrators that act on tasks in the background.
var taskTools = []string{"cancel-background-task", "correct-background-task"}

// The fields of a planned task, and of a delegate.
var (
	taskFields     = []string{"id", "title", "kind", "spec", "deps", "tools", "workflowId", "do"}
	delegateFields = []string{"role", "instructions", "briefing", "tools"}
	taskKinds      = []string{"delegate", "build-workflow", "manage-data-tables", "research", checkpoint}
)

// handOff reads a step that hands work over.
func (s *solution) handOff(st *step, o yamlfile.Object, first yamlfile.Place, depth int) {
	if s.inEach || s.handed {
		first.Failf("is inside an each, or inside work that is handed over; put it outside")
	}
	outer := maps.Clone(s.names)
	switch st.kind {
	case aPlan:
		for _, item := range first.Items() {
			s.task(st, item, depth, maps.Clone(outer))
		}
	case aDelegate:
		d := first.Object(delegateFields)
		p := part{line: first.At(), brief: needText(d, "briefing"), title: needText(d, "role")}
		for _, name := range []string{"role", "instructions"} {
			p.args = append(p.args, binding{name, s.use(st, expression.ReadValue(d.FieldAt(name), s.known()))})
		}
		needText(d, "instructions")
		p.tools = s.subset(d)
		s.part(st, p, o, depth, maps.Clone(outer))
	case aBuild:
		p := part{line: first.At(), brief: first.Filled(), title: "the workflow"}
		p.args = s.workflow(st, o)
		s.part(st, p, o, depth, maps.Clone(outer))
	}
	after := s.names
	st.as = s.bind(st, o)
	for h, name := range []string{"on_error", "on_failed", "on_feedback", "on_message"} {
		at, ok := o.Get(name)
		if !ok {
			continue
		}
		s.names = maps.Clone(outer)
		s.names[errorName], s.names[messageName] = true, handler(h) == onMessage
		if st.as != "" {
			s.names[st.as] = true
		}
		was := s.orchestrates
		s.orchestrates = handler(h) != onFailed
		st.handlers[h] = s.block(at, depth+1)
		s.orchestrates, s.names = was, after
		s.leave(st, st.handlers[h])
	}
}

// task reads a planned task.
func (s *solution) task(st *step, at yamlfile.Place, depth int, outer map[string]bool) {
	o := at.Object(taskFields)
	p := part{line: at.At(), id: needText(o, "id"), title: needText(o, "title"), brief: needText(o, "spec")}
	if k, ok := o.Need("kind"); ok {
		p.kind = k.Choice(taskKinds...)
	}
	if d, ok := o.Get("deps"); ok {
		p.after = d.Texts()
	}
	for _, id := range p.after {
		if !slices.ContainsFunc(st.parts, func(b part) bool { return b.id == id }) {
			o.FieldAt("deps").Failf("names %q, which is not a task before this one", id)
		}
	}
	if slices.ContainsFunc(st.parts, func(b part) bool { return b.id == p.id }) {
		o.FieldAt("id").Failf("is the id of another task")
	}
	p.args = s.workflow(st, o)
	p.tools = s.subset(o)
	s.part(st, p, o, depth, outer)
}

// workflow reads the id of a workflow that is changed.
func (s *solution) workflow(st *step, o yamlfile.Object) (args []binding) {
	if w, ok := o.Get("workflowId"); ok {
		args = append(args, binding{"workflowId", s.use(st, expression.ReadValue(w, s.known()))})
	}
	return args
}

// subset reads the tools of a sub-agent; nil means those that its steps call.
func (s *solution) subset(o yamlfile.Object) []string {
	if t, ok := o.Get("tools"); ok {
		return t.Texts()
	}
	return nil
}

// part reads the steps of a sub-agent. It cannot use the names that other parts bind.
func (s *solution) part(st *step, p part, o yamlfile.Object, depth int, outer map[string]bool) {
	after := maps.Clone(s.names)
	s.names, s.handed = maps.Clone(outer), true
	s.names[correctionsName] = true
	if at, ok := o.Need("do"); ok {
		p.block = s.block(at, depth+1)
	}
	s.names, s.handed = after, false
	reads := readsOf(expression.Need{}, p.block)
	delete(reads, correctionsName)
	for _, name := range bindsOf(p.block) {
		delete(reads, name)
		st.binds = append(st.binds, name)
		if s.names[name] {
			o.FieldAt("do").Failf("binds %q, which is the name of something else already; use another name", name)
		}
		s.names[name] = true
	}
	st.reads = st.reads.With(reads)
	if p.tools == nil {
		p.tools = tools(p.block)
	}
	p.play = &Play{steps: p.block, title: strings.TrimSuffix(p.title, "."), reads: reads, needs: append([]string{}, slices.Sorted(maps.Keys(reads))...)}
	st.parts = append(st.parts, p)
}

// needText reads a text that must be there and constant, because sub-agents find their work by it.
func needText(o yamlfile.Object, name string) string {
	p, ok := o.Need(name)
	if !ok {
		return ""
	}
	text := p.Filled()
	if strings.Contains(text, "{{") {
		p.Failf("must not contain expressions: the values that the steps need are added to it")
	}
	return text
}

// connect completes the plays of the parts: what they return is what the other steps read.
func (p *Play) connect() {
	all := readsOf(expression.Need{}, p.steps)
	walkParts(p.steps, func(s *step) {
		for i := range s.parts {
			sub := s.parts[i].play
			sub.task, sub.file, sub.outputs = p.task, p.file, expression.Need{}
			for _, name := range bindsOf(s.parts[i].block) {
				if need, ok := all[name]; ok {
					sub.outputs[name] = need
				}
			}
		}
	})
}
