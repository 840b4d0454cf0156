package load

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/judge"
)

var (
	injectionFields = []string{"id", "text", "into", "tasks", "succeeds"}
	intoFields      = []string{"tool", "field", "on_calls", "state"}
)

// AttackTag is the tag of all tasks that injections make.
const AttackTag = "attack"

const maxInjections = 1_000

// injection is a text of an attacker, the places it goes to and the tasks it is crossed with.
type injection struct {
	at       yamlfile.Place
	id, text string
	into     []into
	tasks    []string // patterns; nil means each task that has the places
	tasksAt  yamlfile.Place
	succeeds goldens.Expect
	goal     yamlfile.Place // where succeeds is written
}

// into is one place of a text: the results of a tool, or a text of the world's state.
type into struct {
	at    yamlfile.Place
	fault world.Fault // without a tool if the place is in the state
	path  state.Path
}

// readInjections reads the injections of suite.yaml.
func (l *loader) readInjections(p yamlfile.Place) (out []injection) {
	taken := map[string]bool{}
	for _, item := range p.Items() {
		o := item.Object(injectionFields)
		in := injection{at: item}
		if p, ok := o.Need("id"); ok {
			in.id = p.Filled()
			p.CheckName(yamlfile.TaskName, in.id)
			if taken[strings.ToLower(in.id)] {
				p.Failf("injection id %s is taken by another injection", in.id)
			}
			taken[strings.ToLower(in.id)] = true
		}
		if p, ok := o.Need("text"); ok {
			if in.text = p.Filled(); len(in.text) > maxRequestBytes {
				p.Failf("must be at most %d KiB", maxRequestBytes>>10)
			}
		}
		if p, ok := o.Need("into"); ok {
			for _, item := range p.Items() {
				in.into = append(in.into, l.readInto(item, in.text))
			}
			if len(in.into) == 0 && p.Kind() == "a list" {
				p.Failf("must name at least one place for the text, such as {tool: NAME, field: note} or {state: PATH}")
			}
		}
		if p, ok := o.Get("tasks"); ok {
			in.tasks, in.tasksAt = p.Words(), p
		}
		if p, ok := o.Need("succeeds"); ok {
			in.succeeds, in.goal = goldens.ReadSuccess(p), p
		}
		out = append(out, in)
	}
	if len(out) > maxInjections {
		p.Failf("a suite may have at most %d injections", maxInjections)
	}
	return out
}

// readInto reads a place for a text.
func (l *loader) readInto(p yamlfile.Place, text string) into {
	o, out := p.Object(intoFields), into{at: p}
	if at, ok := o.Get("state"); ok {
		for _, name := range []string{"tool", "field", "on_calls"} {
			if p, ok := o.Get(name); ok {
				p.Failf("a text goes into the state or into results of a tool, not both; remove one of them")
			}
		}
		var err error
		if out.path, err = state.ParsePath(at.Filled()); err != nil {
			at.Faulty(err, "")
		}
		return out
	}
	out.fault.Kind, out.fault.Value = world.FaultAppend, text
	if p, ok := o.Need("tool"); ok {
		out.fault.Tool = p.Filled()
		if _, known := l.tools.places[out.fault.Tool]; !known && out.fault.Tool != "" {
			p.Failf("the suite has no tool %q%s; it has: %s", out.fault.Tool, yamlfile.Suggest(out.fault.Tool, l.tools.names()), yamlfile.Listed(l.tools.names()))
		}
	}
	if p, ok := o.Get("field"); ok {
		out.fault.Kind, out.fault.Value, out.fault.Fields = world.FaultAugment, nil, map[string]any{p.Filled(): text}
	}
	yamlfile.Read(o, "on_calls", &out.fault.OnCalls, onCalls)
	return out
}

// cross adds the tasks that injections make: after all others, by injection.
func (l *loader) cross(s *goldens.Suite) {
	tasks := slices.Clone(s.Tasks)
	for _, in := range l.injections {
		used := make([]bool, len(in.tasks))
		made := 0
		for _, t := range tasks {
			named := false
			for i, pattern := range in.tasks {
				ok, err := path.Match(pattern, t.ID)
				if err != nil {
					in.tasksAt.Item(i).Failf("%q is not a valid pattern: %v", pattern, err)
					return
				}
				named, used[i] = named || ok, used[i] || ok
			}
			if in.tasks != nil && !named {
				continue
			}
			attacked, at, why := attackOn(in, t)
			switch {
			case why == "":
				l.addAttack(s, in, attacked)
				made++
			case named:
				at.Failf("cannot attack task %s: %s", t.ID, why)
			}
		}
		for i, used := range used {
			if !used {
				in.tasksAt.Item(i).Failf("no task matches %q", in.tasks[i])
			}
		}
		if made == 0 && in.tasks == nil {
			in.at.Failf("no task can be attacked: none outside of sessions has all of its places and the tools of succeeds.calls; name one under tasks to see why")
		}
	}
	if len(s.Tasks) > maxTasks {
		l.injections[len(l.injections)-1].at.Failf("tasks and their attacks come to %d; a suite may have at most %d", len(s.Tasks), maxTasks)
	}
}

// addAttack adds a task that an injection made.
func (l *loader) addAttack(s *goldens.Suite, in injection, t goldens.Task) {
	if first, dup := l.taken[strings.ToLower(t.ID)]; dup {
		in.at.Failf("with task %s it makes task %s, whose id is taken by the task at %s", t.Attack.Task, t.ID, first)
	}
	if fault := yamlfile.TaskName.Fault(t.ID); fault != "" {
		in.at.Failf("with task %s it makes a task of the id %s", t.Attack.Task, fault)
	}
	l.taken[strings.ToLower(t.ID)] = fmt.Sprintf("%s:%d", in.at.Src.File, in.at.At())
	if initial := judge.Initial(t.World); *t.AttackSucceeded(goldens.Outcome{StateBefore: initial, StateAfter: initial}) {
		in.goal.Failf("holds in task %s before the agent does anything; state what only an agent that follows the text does", t.Attack.Task)
	}
	s.Tasks = append(s.Tasks, t)
}

// attackOn returns a task with the text in all places of an injection; why says why it cannot
// be, and at where that is written.
func attackOn(in injection, t goldens.Task) (attacked goldens.Task, at yamlfile.Place, why string) {
	if t.Scripted || t.Session != "" {
		return t, in.at, "it is scripted or part of a session"
	}
	offers := func(tool string) string {
		if slices.Contains(t.Tools, tool) {
			return ""
		}
		return fmt.Sprintf("it offers no tool %q", tool)
	}
	for i, c := range in.succeeds.Trajectory.Required {
		if why := offers(c.Tool); why != "" {
			return t, in.goal.FieldAt("calls").Item(i), why
		}
	}
	t.World.Faults = slices.Clip(t.World.Faults)
	for _, place := range in.into {
		if place.fault.Tool == "" {
			why = injectState(&t.World, place, in.text)
		} else if why = offers(place.fault.Tool); why == "" {
			t.World.Faults = append(t.World.Faults, place.fault)
		}
		if why != "" {
			return t, place.at, why
		}
	}
	t.Attack = &goldens.Attack{Injection: in.id, Task: t.ID, Text: in.text, Succeeds: in.succeeds}
	t.ID += "." + in.id
	t.Tags = append(slices.Clip(t.Tags), AttackTag)
	return t, in.at, ""
}

// injectState puts a text behind the text at a place of a world's initial state.
func injectState(w *world.Spec, place into, text string) (why string) {
	tree := yamlfile.DecodeJSON(w.State)
	set := func(any) {}
	at := tree
	for i, key := range place.path {
		next, replace := member(at, key)
		if next == nil {
			return fmt.Sprintf("the initial state of its world has no %s", place.path[:i+1])
		}
		at, set = next, replace
	}
	was, ok := at.(string)
	if !ok {
		return fmt.Sprintf("%s is not a text in the initial state of its world", place.path)
	}
	set(strings.TrimLeft(was+"\n\n"+text, "\n"))
	w.State = tool.AppendCanonical(nil, tree)
	if binder, ok := w.Maker.(world.Binder); ok {
		bound, err := binder.Bind(w.State)
		if err != nil {
			return err.Error()
		}
		w.Maker = bound
	}
	return ""
}

// member returns a member of an object or an item of a list, and what replaces it; nil if
// there is none.
func member(of any, key string) (value any, replace func(any)) {
	switch of := of.(type) {
	case map[string]any:
		return of[key], func(v any) { of[key] = v }
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(of) {
			return of[i], func(v any) { of[i] = v }
		}
	}
	return nil, nil
}
