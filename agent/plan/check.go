package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

var idPattern = lazyregexp.New(`^[a-z][a-z0-9_]{0,63}$`)

// check compares the steps with the known tools and inputs and with each other.
func (r *reader) check() {
	for i := range r.out.Steps {
		r.checkID(i)
		s := &r.out.Steps[i]
		at := r.at(i)
		if s.Instructions == "" {
			r.fault(codeBlank, "%s has no instructions", at)
		}
		r.checkDependencies(at, *s)
		r.checkTools(at, *s)
		r.checkMode(at, s)
	}
	for _, c := range cycles(r.out.Steps) {
		for i := range c {
			c[i] = tool.Label(c[i])
		}
		r.fault(codeCycle, "circular dependency: %s", strings.Join(c, " → "))
	}
	for i := range r.out.Steps { // what a list is, is known of all steps only now
		if r.out.Steps[i].Mode == Process {
			r.checkProcess(r.at(i), &r.out.Steps[i])
		}
	}
}

// at names a step.
func (r *reader) at(i int) string {
	if id := r.out.Steps[i].ID; id != "" {
		return fmt.Sprintf("step %q", tool.Label(id))
	}
	return fmt.Sprintf("step %d", i+1)
}

func (r *reader) checkID(i int) {
	id := r.out.Steps[i].ID
	switch {
	case id == "":
		r.fault(codeIDMissing, "%s has no id", r.at(i))
		return
	case !idPattern.MatchString(id):
		r.fault(codeIDPattern, "%s: the id does not match %s", r.at(i), idPattern)
	case r.isInput(id):
		r.fault(codeIDInput, "%s: an input has the same name", r.at(i))
	}
	for _, earlier := range r.out.Steps[:i] {
		if earlier.ID == id {
			r.fault(codeIDDuplicate, "%s: the id is used twice", r.at(i))
			return
		}
	}
}

func (r *reader) isInput(name string) bool {
	return slices.ContainsFunc(r.known.Inputs, func(in strategy.Input) bool { return in.Name == name })
}

func (r *reader) checkDependencies(at string, s Step) {
	for _, dep := range s.DependsOn {
		if _, ok := r.out.Step(dep); !ok && !r.isInput(dep) {
			r.fault(codeUnknownDep, "%s depends on %q, which is neither a step nor an input", at, tool.Label(dep))
		}
	}
}

// checkTools: a restriction that is left empty is one to no tools, never to all.
func (r *reader) checkTools(at string, s Step) {
	for _, name := range s.Tools {
		if !slices.Contains(r.known.Tools, name) {
			r.fault(codeTools, "%s asks for tool %q; known: %s", at, tool.Label(name), strings.Join(r.known.Tools, ", "))
		}
	}
}

// checkMode also fills in the schema of a list to be discovered.
func (r *reader) checkMode(at string, s *Step) {
	switch s.Mode {
	case "", Aggregate, Process:
	case Discover:
		if s.OutputSchema == nil {
			s.OutputSchema = json.RawMessage(anyList)
		} else if !listSchema(s.OutputSchema) {
			r.fault(codeSchema, "%s: the result of a discover step is a list: output_schema must be an array, or an object with exactly one array", at)
		}
	default:
		r.fault(codeMode, "%s: mode %q is none of discover, process, aggregate", at, tool.Label(string(s.Mode)))
		return
	}
	if s.Mode != Process && s.PerItem != "" {
		r.fault(codeItemOnly, "%s: per_item_instructions go with mode process only", at)
	}
	if s.Mode != Process && s.PerItemSchema != nil {
		r.fault(codeItemOnly, "%s: per_item_schema goes with mode process only", at)
	}
}

// checkProcess finds the list that a process step works on and checks its template
// against the known fields of the items.
func (r *reader) checkProcess(at string, s *Step) {
	var lists []string
	for _, dep := range s.DependsOn {
		if r.isList(dep) {
			lists = append(lists, dep)
		}
	}
	if len(lists) != 1 {
		r.fault(codeList, "%s: a process step depends on exactly one list, that is a discover or process step, one whose output_schema is an array, or an input; this one depends on %d", at, len(lists))
	} else {
		s.List = lists[0]
	}
	if s.OutputSchema != nil {
		items, ok := itemSchema(s.OutputSchema)
		switch {
		case !ok:
			r.fault(codeSchema, "%s: the result of a process step is the list of its items' results: output_schema must be an array", at)
		case s.PerItemSchema != nil || items == nil:
		case strings.Contains(string(items), `"$ref"`):
			r.fault(codeSchema, "%s: the items of output_schema refer to the rest of it: give per_item_schema", at)
		default:
			s.PerItemSchema = items
		}
	}
	s.PerItem = cmp.Or(s.PerItem, s.Instructions)
	fields, err := placeholders(s.PerItem)
	if err != nil {
		r.fault(codeTemplate, "%s: per_item_instructions: %v", at, err)
		return
	}
	has, known := r.itemFields(s.List)
	for _, f := range fields {
		if known && f != wholeItem && !slices.Contains(has, f) {
			r.fault(codeItemMissing, "%s: no item has the field {%s}; known: %s", at, f, strings.Join(append(has, wholeItem), ", "))
		}
	}
}

// isList reports whether a dependency's value is a list.
func (r *reader) isList(dep string) bool {
	if s, ok := r.out.Step(dep); ok {
		return s.Mode == Process || s.Mode == Discover || s.OutputSchema != nil && listSchema(s.OutputSchema)
	}
	for _, in := range r.known.Inputs {
		if in.Name == dep {
			_, ok := Items(in.Value)
			return ok
		}
	}
	return false
}

// itemFields are the fields that the items of a step's list have, if that can be
// known before it has run.
func (r *reader) itemFields(dep string) (fields []string, known bool) {
	s, ok := r.out.Step(dep)
	if !ok {
		return nil, false
	}
	item := s.PerItemSchema
	if s.Mode != Process {
		item, _ = itemSchema(s.OutputSchema)
	}
	return closedFields(item)
}
