package flowsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/match"
	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/world"
)

// Initial implements judge.Kind.
func (k kind) Initial() json.RawMessage {
	if k.base == nil {
		return nil
	}
	return k.base.Text()
}

// Lacks implements judge.Kind.
func (k kind) Lacks(tool string) bool { return k.base != nil && k.base.lacks(tool) }

// paths has, by part of the state, the fields of its entities; nil where anything may follow.
var paths = map[string][]string{
	"credentials": {"id", "name", "status", "type"},
	"effects":     nil,
	"executions":  {"error", "id", "mode", "status", "version", "workflow"},
	"files":       {},
	"folders":     {"id", "name", "parent", "project"},
	"projects":    {"id", "name"},
	"tables":      {"columns", "id", "name", "rows"},
	"tags":        {"id", "name"},
	"workItems":   {"attempted", "evidence", "executionId", "id", "status", "success", "version", "workflowId"},
	"workflows":   {"activeVersion", "archived", "draft", "draftVersion", "folder", "id", "name", "project", "tags", "versions"},
}

// NoPath implements judge.Kind.
func (k kind) NoPath(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	fields, ok := paths[keys[0]]
	switch {
	case !ok:
		return fmt.Sprintf("the state has no %q; it has: %s", keys[0], strings.Join(sortedKeys(paths), ", "))
	case len(keys) > 2 && fields != nil && !slices.Contains(fields, keys[2]):
		return fmt.Sprintf("an entry of %s has no %q; it has: %s", keys[0], keys[2], strings.Join(fields, ", "))
	}
	return ""
}

// Demand implements judge.Kind. The demands are workflow and effects.
func (k kind) Demand(name string, want json.RawMessage) (met func(initial, final json.RawMessage) []string, err error) {
	var v any
	if err := json.Unmarshal(want, &v); err != nil {
		return nil, world.BadState(".", "is not JSON: %v", err)
	}
	r := &reader{}
	at := value{r, nil, v}
	switch name {
	case "workflow":
		met = k.workflowDemand(at)
	case "effects":
		all := expected(at)
		met = func(initial, final json.RawMessage) []string {
			return all.missing("effects", all.compared(effectsSince(initial, final)))
		}
	default:
		return nil, world.BadState(".", "there is no check %q", name)
	}
	return met, r.all()
}

// pattern is what an item or an effect must be: of objects, the members that it names.
type pattern struct {
	text string
	fits match.Pattern
	kind string // of an effect
}

// patterns are what a list of items or effects must be, in any order.
type patterns []pattern

// maxPatterns bounds how many items a demand names.
const maxPatterns = 1000

func expected(v value) (out patterns) {
	if v.v == nil {
		v.fail("must be a list")
	}
	items := v.items()
	if len(items) > maxPatterns {
		v.fail("must have at most %d entries, but has %d", maxPatterns, len(items))
		return nil
	}
	for _, item := range items {
		p := pattern{text: string(must(item.v))}
		if o, ok := item.v.(map[string]any); ok {
			p.kind, _ = o["kind"].(string)
		} else {
			item.fail("must be a mapping of fields to values")
		}
		var err error
		if p.fits, err = partial(exact(item.v)); err != nil {
			item.fail("%s", err)
		}
		out = append(out, p)
	}
	return out
}

// exact is a value with its numbers as they were written, as package match takes them.
func exact(v any) (out any) {
	dec := json.NewDecoder(bytes.NewReader(must(v)))
	dec.UseNumber()
	_ = dec.Decode(&out) // of what was just encoded
	return out
}

// partial compiles a value: an object demands its members, a list as many items.
func partial(want any) (match.Pattern, error) {
	if _, _, matcher := match.Matcher(want); matcher {
		return match.Value(want, "value")
	}
	switch want := want.(type) {
	case map[string]any:
		members := map[string]match.Pattern{}
		for _, name := range sortedKeys(want) {
			p, err := partial(want[name])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			members[name] = p
		}
		return func(v any) bool {
			o, ok := v.(map[string]any)
			for name, p := range members {
				inner, has := o[name]
				ok = ok && (has || want[name] == nil) && p(inner)
			}
			return ok
		}, nil
	case []any:
		items := make([]match.Pattern, len(want))
		for i, item := range want {
			p, err := partial(item)
			if err != nil {
				return nil, fmt.Errorf("%d: %w", i, err)
			}
			items[i] = p
		}
		return func(v any) bool {
			list, ok := v.([]any)
			if !ok || len(list) != len(items) {
				return false
			}
			for i, p := range items {
				if !p(list[i]) {
					return false
				}
			}
			return true
		}, nil
	}
	return match.Value(want, "value")
}

// missing says which patterns have no item of their own, and which items no pattern.
func (all patterns) missing(what string, got []any) (wrong []string) {
	for i := range got {
		got[i] = exact(got[i])
	}
	made := match.Assign(len(all), len(got), func(i, j int) bool { return all[i].fits(got[j]) })
	lacking, extra := match.Unpaired(made, len(got))
	for _, i := range lacking {
		wrong = append(wrong, fmt.Sprintf("%s: want %s, which is not among %d", what, state.Show(json.RawMessage(all[i].text)), len(got)))
	}
	for _, j := range extra {
		wrong = append(wrong, fmt.Sprintf("%s: got %s, which is not wanted", what, state.Show(must(got[j]))))
	}
	return wrong
}

// compared are the effects that a demand is about: messages and rows, and requests that
// change something or are of a kind that it names.
func (all patterns) compared(effects []any) (out []any) {
	requests := slices.ContainsFunc(all, func(p pattern) bool { return p.kind == "request" })
	for _, e := range effects {
		o, _ := e.(map[string]any)
		if o["kind"] == "request" && !requests && o["method"] == "GET" {
			continue
		}
		out = append(out, e)
	}
	return out
}

// effectsSince lists the effects of an episode.
func effectsSince(initial, final json.RawMessage) (out []any) {
	read := func(text json.RawMessage) (list []map[string]any) {
		effects, _, _ := state.Get(text, state.Path{"effects"})
		_ = json.Unmarshal(effects, &list) // of a state of this kind
		return list
	}
	for _, e := range read(final)[len(read(initial)):] {
		out = append(out, flat(e)...)
	}
	return out
}

// flat is an effect with its detail beside its kind; rows are one each.
func flat(e map[string]any) (out []any) {
	detail, _ := e["detail"].(map[string]any)
	one := map[string]any{}
	for _, from := range []map[string]any{detail, e} {
		for name, v := range from {
			if name != "detail" && name != "rows" {
				one[name] = v
			}
		}
	}
	rows, ok := detail["rows"].([]any)
	if !ok {
		return []any{one}
	}
	for _, row := range rows {
		each := map[string]any{"row": row}
		maps.Copy(each, one)
		out = append(out, each)
	}
	return out
}
