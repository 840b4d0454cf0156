package prove

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// kind is what a change does to a solution.
type kind int

// The kinds of changes.
const (
	noChange    kind = iota
	dropStep         // a step is left out, and what it would have brought is made up
	repeatStep       // a step is made twice
	swapSteps        // a step is made after the next one
	changeArgs       // a step is made with other arguments, and what comes of it is believed
	answerFirst      // the answer is given before anything is done
	askFirst         // the user is asked an unnecessary question
	extraCall        // something is called before the answer
)

// change is one change of a solution. The zero change is none.
type change struct {
	kind kind
	at   int // the step that is changed
	// calls are what is made in its place, or besides.
	calls []playbook.Action
	// results are what the solution is told of it where it is not made, or not yet.
	results []playbook.Result
	// ref is the unchanged conversation; in a batch it is that of the first item, and the others are not changed.
	ref *talk
}

// mutant is a solution with one change, or its outcome with another answer.
type mutant struct {
	// does completes "the task accepts …", check is what would refuse it.
	does, check string
	change      change
	answer      *string    // the other answer; nil if the solution is changed
	extra       *tool.Spec // a tool that is called besides; nil in other changes
}

// statusClarify is the status of an episode that ends with a question.
const statusClarify = "clarify"

// steps are the mutants that change what a solution does. specs are the available tools.
func (r *reference) steps(specs []tool.Spec) (out []mutant) {
	ref := r.talk
	var results []playbook.Result
	add := func(k kind, at int, calls []playbook.Action, check, format string, args ...any) {
		out = append(out, mutant{does: "a solution that " + fmt.Sprintf(format, args...), check: check, change: change{k, at, calls, results, ref}})
	}
	for i, g := range ref.groups {
		what, first := g.String(), g.calls[0]
		if first.Kind == playbook.Ask {
			add(dropStep, i, nil, "a condition on the status, or calls that need the reply", "does not ask %q", first.Text)
			continue
		}
		results = r.madeUp(g)
		if slices.Contains(r.writes, first.Tool) {
			add(dropStep, i, nil, "state, with what the call changes", "does not call %s and claims that it did", what)
		} else {
			add(dropStep, i, nil, fmt.Sprintf("calls: [%s]", first.Tool), "does not call %s and makes up what it returns", what)
		}
		results = g.results
		add(repeatStep, i, nil, fmt.Sprintf("at_most: {tool_calls: %d}", r.outcome.Executions()), "calls %s twice", what)
		if i+1 < len(ref.groups) && ref.groups[i+1].calls[0].Kind == playbook.Call {
			next := ref.groups[i+1]
			add(swapSteps, i, nil, fmt.Sprintf("order: in_order, with calls: [%s, %s]", first.Tool, next.calls[0].Tool), "calls %s before %s", next, what)
		}
		for _, m := range r.otherArgs(i, schemaOf(specs, first.Tool)) {
			m.change = change{kind: changeArgs, at: i, calls: m.change.calls, ref: ref}
			out = append(out, m)
		}
	}
	if len(ref.groups) > 0 {
		add(answerFirst, 0, nil, "calls, with what the answer needs", "answers before it has called anything")
	}
	if len(ref.groups) > 0 && ref.groups[0].calls[0].Kind == playbook.Ask || r.outcome.Status == statusClarify {
		return out // it has to ask
	}
	add(askFirst, 0, []playbook.Action{{Kind: playbook.Ask, Text: "Are you sure?"}}, fmt.Sprintf("at_most: {clarifies: %d}", r.outcome.Clarifies), "asks the user without need")
	return out
}

// madeUp is what a model would say that a step has brought which it did not make. Of one that changes the world it
// claims what would have come; of another it knows no better than the next record, number or day.
func (r *reference) madeUp(g group) []playbook.Result {
	out := slices.Clone(g.results)
	if slices.Contains(r.writes, g.calls[0].Tool) {
		return out
	}
	values := make([]any, len(out))
	for i := range out {
		values[i] = decoded(out[i].Value)
	}
	for i, root := range values {
		for _, path := range leaves(root, nil) {
			v, _ := lookUp(root, path)
			if next, ok := lookUp(decoded(g.results[(i+1)%len(out)].Value), path); ok && next != v {
				root = put(root, path, next)
			} else if others := r.otherValues([]any{v}, nil, false); len(others) > 0 {
				root = put(root, path, others[0][0])
			} else if text, ok := v.(string); ok {
				root = put(root, path, text+"-2")
			}
		}
		if out[i].Code == "" {
			out[i].Value, _ = json.Marshal(root) // decoded from JSON
		}
	}
	return out
}

// String names the step for people.
func (g group) String() string {
	if n := len(g.calls); n > 1 {
		return fmt.Sprintf("%s (%d calls)", g.calls[0].Tool, n)
	}
	return g.calls[0].Tool
}

// otherArgs are the mutants that make a step with other arguments, one argument at a time; one of a list with several items
// is changed in all of them.
func (r *reference) otherArgs(at int, schema json.RawMessage) (out []mutant) {
	g := r.talk.groups[at]
	first := decoded(g.calls[0].Args)
	byPattern := map[string][][]string{}
	for _, path := range leaves(first, nil) {
		byPattern[pattern(path)] = append(byPattern[pattern(path)], path)
	}
	for _, name := range slices.Sorted(maps.Keys(byPattern)) {
		paths := byPattern[name]
		if len(paths) > 1 && len(g.calls) > 1 {
			continue // lists that may differ in length
		}
		var values []any // of each call, or of each item of the only call
		for _, c := range g.calls {
			for _, path := range paths {
				v, _ := lookUp(decoded(c.Args), path)
				values = append(values, v)
			}
		}
		for _, other := range r.otherValues(values, enumOf(schema, paths[0]), len(paths) > 1) {
			m := mutant{
				does:  fmt.Sprintf("a solution that calls %s with %s %s instead of %s", g, name, show(other[0]), show(values[0])),
				check: fmt.Sprintf("calls: [%s: {%s: …}]", g.calls[0].Tool, paths[0][0]),
			}
			for i, c := range g.calls {
				changed := decoded(c.Args) // a copy of its own
				for k, path := range paths {
					changed = put(changed, path, other[i*len(paths)+k])
				}
				c.Args, _ = json.Marshal(changed) // decoded from JSON
				m.change.calls = append(m.change.calls, c)
			}
			out = append(out, m)
		}
	}
	return out
}

// otherValues are what an argument could be instead: by one, by sign, the opposite, or the value of a
// neighbouring record. values has one for each call of the step, or for each item of a list, whose values only change places
// or signs; every other list is as long.
func (r *reference) otherValues(values []any, enum []any, items bool) (out [][]any) {
	each := func(f func(any) any) {
		list := make([]any, len(values))
		for i, v := range values {
			if list[i] = f(v); list[i] == nil {
				return
			}
		}
		out = append(out, list)
	}
	if items && !same(values) {
		out = append(out, append(slices.Clone(values[1:]), values[0]))
	}
	switch v := values[0].(type) {
	case bool:
		each(func(v any) any { b, ok := v.(bool); return orNil(!b, ok) })
	case json.Number:
		if !items {
			each(func(v any) any { n, _ := v.(json.Number); return number(plusOne(string(n))) })
		}
		if negated := negative(string(v)); negated != "" {
			each(func(v any) any { n, _ := v.(json.Number); return number(negative(string(n))) })
		}
	case string:
		switch {
		case items:
		case len(enum) > 1:
			each(func(v any) any { return after(enum, v) })
		case isDate(v):
			each(func(v any) any { s, _ := v.(string); return orNil(nextDay(s), isDate(s)) })
		case !same(values):
			out = append(out, append(slices.Clone(values[1:]), v))
		default:
			each(func(v any) any { s, _ := v.(string); return r.neighbour(s) })
		}
	}
	return out
}

// same says whether all values are equal.
func same(values []any) bool {
	return !slices.ContainsFunc(values, func(v any) bool { return v != values[0] })
}

func orNil[T any](v T, ok bool) any {
	if !ok {
		return nil
	}
	return v
}

// number is a JSON number; nil for no text.
func number(text string) any { return orNil(json.Number(text), text != "") }

// after is the value that follows v in a list, the first after the last; nil if v is not in it.
func after(list []any, v any) any {
	i := slices.Index(list, v)
	if i < 0 || len(list) < 2 {
		return nil
	}
	return list[(i+1)%len(list)]
}

func isDate(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil }

func nextDay(s string) string {
	day, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return s
	}
	return day.AddDate(0, 0, 1).Format(time.DateOnly)
}

// neighbour is what a neighbouring record has where the results of the solution have s, or an earlier call had
// where a call has it; nil if there is none.
func (r *reference) neighbour(s string) any {
	for _, c := range r.columns {
		if other := after(c.values, s); other != nil {
			return other
		}
	}
	return nil
}

// schemaOf is the schema of a tool's arguments.
func schemaOf(specs []tool.Spec, name string) json.RawMessage {
	for _, s := range specs {
		if s.Name == name {
			return s.Schema
		}
	}
	return nil
}

// enumOf are the values that a schema allows at the top of the arguments; nil if it does not list them.
func enumOf(schema json.RawMessage, path []string) []any {
	v, ok := lookUp(decoded(schema), []string{"properties", path[0], "enum"})
	list, _ := v.([]any)
	if !ok || len(path) > 1 {
		return nil
	}
	return list
}
