package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// maxTries bounds the arguments that an extra call of one tool is tried with.
const maxTries = 200

// extra are the mutants that change more of the world than the solution does: each calls one
// of the tools once more before it answers. Their arguments are found by trying, see changing.
func (r *reference) extra(specs []tool.Spec) (out []mutant) {
	if r.outcome.StateBefore == nil {
		return nil
	}
	for _, s := range specs {
		out = append(out, mutant{extra: &s, check: fmt.Sprintf("forbidden: [%s], or unchanged, with what it changes", s.Name)})
	}
	return out
}

// changing runs the mutant that makes an extra call, with the first arguments that change the world. ok is false if none
// do, or if the agent may not make the call.
func (l *lab) changing(ctx context.Context, ref *reference, s solution, m *mutant) (o goldens.Outcome, accepted, ok bool) {
	call, found := l.find(ctx, ref, *m.extra)
	if !found {
		return o, false, false
	}
	m.change = change{kind: extraCall, calls: []playbook.Action{{Kind: playbook.Call, Tool: call.Name, Args: call.Args}}, ref: ref.talk}
	m.does = fmt.Sprintf("a solution that also calls %s with %s", call.Name, call.Args)
	o, rows := l.run(ctx, ref.task.ID, newSolver(s, ref.task, m.change))
	return o, accepts(rows.Episode), string(o.StateAfter) != string(ref.outcome.StateAfter)
}

// find looks for a call of a tool that changes the world after all that the solution does.
func (l *lab) find(ctx context.Context, ref *reference, s tool.Spec) (found tool.Call, ok bool) {
	w, err := goldens.OpenWorld(ctx, ref.task, 0)
	if err != nil {
		return found, false
	}
	defer func() { _ = w.Close() }() // what it holds is gone in any case
	tries := []tool.Call{}
	for _, c := range ref.outcome.Calls {
		if c.Executed() {
			tries = append(tries, c.Call)
		}
	}
	made := len(tries)
	for _, args := range ref.tries(s) {
		text, _ := json.Marshal(args) // made of JSON values
		c := tool.Call{Name: s.Name, Args: text}
		if len(l.planned[ref.task.ID].Params.Tools.Validate(c)) == 0 {
			tries = append(tries, c)
		}
	}
	for i, c := range tries {
		e, err := w.Call(ctx, c, ref.task.World.Now)
		if err != nil {
			return found, false
		}
		if i >= made && len(e.Changes) > 0 {
			return c, true
		}
	}
	return found, false
}

// tries are arguments for a tool: the ids and values that the world and the solution have.
func (r *reference) tries(s tool.Spec) (out []map[string]any) {
	schema, _ := decoded(s.Schema).(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	words := r.words()
	for i := range min(maxTries, max(len(words), 1)) {
		args := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			p, _ := properties[name].(map[string]any)
			if v := sample(p, words, i); v != nil {
				args[name] = v
			}
		}
		out = append(out, args)
	}
	return out
}

// sample is the i-th value for a property with a schema; nil if none is known.
func sample(schema map[string]any, words []string, i int) any {
	if enum, _ := schema["enum"].([]any); len(enum) > 0 {
		return enum[i%len(enum)]
	}
	switch schema["type"] {
	case "integer", "number":
		if least, ok := schema["minimum"]; ok {
			return least
		}
		return 1
	case "boolean":
		return true
	case "array":
		items, _ := schema["items"].(map[string]any)
		if v := sample(items, words, i); v != nil {
			return []any{v}
		}
		return nil
	case "string":
		if len(words) > 0 {
			return words[i%len(words)]
		}
	}
	return nil
}

// words are the texts that arguments may be: those of the solution's calls, and the names that the state gives to its
// records, a few of each collection.
func (r *reference) words() (out []string) {
	add := func(word string) {
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	for _, g := range r.talk.groups {
		for _, c := range g.calls {
			args := decoded(c.Args)
			for _, path := range leaves(args, nil) {
				if v, _ := lookUp(args, path); isText(v) {
					add(v.(string))
				}
			}
		}
	}
	state, _ := decoded(r.outcome.StateBefore).(map[string]any)
	for _, collection := range slices.Sorted(maps.Keys(state)) {
		records, _ := state[collection].(map[string]any)
		for i, id := range slices.Sorted(maps.Keys(records)) {
			if i < 3 {
				add(id)
			}
		}
	}
	return out
}

func isText(v any) bool { _, ok := v.(string); return ok }
