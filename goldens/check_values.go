package goldens

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens/internal/answer"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// word is one text.
type word struct {
	of   func(*Expect) *string
	read func(yamlfile.Place) string
	// fixed reports that null does not take the text away.
	fixed bool
	// remark is a text that asks for nothing, partOf the field that asks for this one, too.
	remark bool
	partOf string
	// node writes the text; nil writes a word.
	node func(string) *yaml.Node
}

func (w word) set(e *Expect, p yamlfile.Place, _ bool) { *w.of(e) = w.read(p) }

func (w word) takeAway(e *Expect) bool {
	if !w.fixed {
		*w.of(e) = ""
	}
	return !w.fixed
}

func (w word) write(is, was *Expect) *yaml.Node {
	if w.node == nil {
		w.node = yamlfile.Word
	}
	return changed(*w.of(is), *w.of(was), *w.of(is) == "", w.node)
}

func (w word) parts(key string, e *Expect) []Part {
	if *w.of(e) == "" || w.remark || w.partOf != "" {
		return nil
	}
	return []Part{whole(key, func(to *Expect) { *w.of(to) = *w.of(e) })}
}

// changed writes a value that differs from what it was: null where it is gone.
func changed[T any](is, was T, gone bool, node func(T) *yaml.Node) *yaml.Node {
	switch {
	case reflect.DeepEqual(is, was):
		return nil
	case gone:
		return yamlfile.Plain("null")
	}
	return node(is)
}

// whole is the demand of a field as one.
func whole(key string, add func(*Expect)) Part {
	return Part{key, func(o yamlfile.Object) yamlfile.Place { return o.FieldAt(key) }, add}
}

// list is a list of texts; nil, unlike an empty list, means no list.
type list struct {
	of   func(*Expect) *[]string
	read func(yamlfile.Place) []string
	node func(string) *yaml.Node
	// whole reports that the list asks for one thing, not each item for its own.
	whole bool
}

func (l list) set(e *Expect, p yamlfile.Place, _ bool) { *l.of(e) = l.read(p) }

func (l list) takeAway(e *Expect) bool { *l.of(e) = nil; return true }

func (l list) write(is, was *Expect) *yaml.Node {
	return changed(*l.of(is), *l.of(was), *l.of(is) == nil, func(items []string) *yaml.Node {
		out := yamlfile.Sequence(yaml.FlowStyle)
		for _, item := range items {
			out.Content = append(out.Content, l.node(item))
		}
		return out
	})
}

func (l list) parts(key string, e *Expect) []Part {
	items := *l.of(e)
	if !l.whole {
		return itemParts(key, items, l.of)
	}
	if items == nil {
		return nil
	}
	return []Part{whole(key, func(to *Expect) { *l.of(to) = items })}
}

// itemParts are the demands of the items of a list.
func itemParts[T any](key string, items []T, of func(*Expect) *[]T) (out []Part) {
	for i, item := range items {
		out = append(out, Part{key, func(o yamlfile.Object) yamlfile.Place { return o.FieldAt(key).Item(i) }, func(to *Expect) { *of(to) = append(*of(to), item) }})
	}
	return out
}

// named is a mapping of names to texts. read gets what the outcome has inherited.
type named struct {
	of   func(*Expect) *map[string]string
	read func(p yamlfile.Place, base map[string]string, inherits bool) map[string]string
	node func(string) *yaml.Node
}

func (n named) set(e *Expect, p yamlfile.Place, inherits bool) {
	*n.of(e) = n.read(p, *n.of(e), inherits)
}

func (n named) takeAway(e *Expect) bool { *n.of(e) = nil; return true }

// write writes what the mapping has beyond the other one; null takes away what only
// the other has.
func (n named) write(is, was *Expect) *yaml.Node {
	return changed(*n.of(is), *n.of(was), *n.of(is) == nil, func(entries map[string]string) *yaml.Node {
		out := yamlfile.Mapping(yaml.FlowStyle)
		base := *n.of(was)
		for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(base)), maps.Keys(entries))))) {
			switch value, ok := entries[name]; {
			case !ok:
				yamlfile.Add(out, name, yamlfile.Plain("null"), "")
			case value != base[name]:
				yamlfile.Add(out, name, n.node(value), "")
			}
		}
		return out
	})
}

func (n named) parts(key string, e *Expect) (out []Part) {
	entries := *n.of(e)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		out = append(out, Part{key, func(o yamlfile.Object) yamlfile.Place { return o.FieldAt(key).FieldAt(name) }, func(to *Expect) {
			if *n.of(to) == nil {
				*n.of(to) = map[string]string{}
			}
			(*n.of(to))[name] = entries[name]
		}})
	}
	return out
}

// calls is a list of tool calls.
type calls struct {
	of        func(*Expect) *[]CallMatch
	forbidden bool
}

func (c calls) set(e *Expect, p yamlfile.Place, _ bool) { *c.of(e) = readCalls(p, c.forbidden) }

func (c calls) takeAway(e *Expect) bool { *c.of(e) = nil; return true }

func (c calls) write(is, was *Expect) *yaml.Node {
	return changed(*c.of(is), *c.of(was), *c.of(is) == nil, callsNode)
}

// parts are a demand for each call and, of required ones, one for their order, which
// asks for all of them.
func (c calls) parts(key string, e *Expect) []Part {
	out := itemParts(key, *c.of(e), c.of)
	if c.forbidden {
		return out
	}
	for i, add := range out {
		out[i].Add = func(to *Expect) {
			if to.Trajectory.Order == "" && e.Trajectory.Order != Subset {
				add.Add(to)
			}
		}
	}
	if e.Trajectory.Order != "" {
		out = append(out, whole("order", func(to *Expect) {
			to.Trajectory.Order, to.Trajectory.Required = e.Trajectory.Order, e.Trajectory.Required
		}))
	}
	return out
}

// caps are the upper limits of counts.
type caps struct{}

// cap is one of them: its name in at_most and the name of its result.
type capOf struct {
	name, check string
	of          func(*Expect) **int
	count       func(Outcome) int
	what        string
}

var capsOf = []capOf{
	{"clarifies", "max_clarifies", func(e *Expect) **int { return &e.MaxClarifies }, func(o Outcome) int { return o.Clarifies }, "clarifying questions"},
	{"steps", "max_steps", func(e *Expect) **int { return &e.MaxSteps }, func(o Outcome) int { return o.Steps }, "steps"},
	{"tool_calls", "max_tool_calls", func(e *Expect) **int { return &e.MaxToolCalls }, Outcome.Executions, "executed tool calls"},
}

// set reads at_most; an empty cap takes the inherited one away.
func (caps) set(e *Expect, p yamlfile.Place, inherits bool) {
	names := make([]string, len(capsOf))
	for i, c := range capsOf {
		names[i] = c.name
	}
	o := p.Object(names)
	for _, c := range capsOf {
		switch p, ok := o.Get(c.name); {
		case ok && inherits && p.Null():
			*c.of(e) = nil
		case ok:
			*c.of(e) = new(int(p.Integer(0, maxCap)))
		}
	}
}

func (caps) takeAway(e *Expect) bool {
	e.MaxClarifies, e.MaxSteps, e.MaxToolCalls = nil, nil, nil
	return true
}

func (caps) write(is, was *Expect) *yaml.Node {
	out := yamlfile.Mapping(yaml.FlowStyle)
	for _, c := range capsOf {
		node := changed(*c.of(is), *c.of(was), *c.of(is) == nil, func(n *int) *yaml.Node { return yamlfile.Node(*n) })
		if node != nil {
			yamlfile.Add(out, c.name, node, "")
		}
	}
	if len(out.Content) == 0 {
		return nil
	}
	return out
}

func (caps) parts(key string, e *Expect) (out []Part) {
	for _, c := range capsOf {
		if limit := *c.of(e); limit != nil {
			out = append(out, Part{key, func(o yamlfile.Object) yamlfile.Place { return o.FieldAt(key).FieldAt(c.name) }, func(to *Expect) { *c.of(to) = limit }})
		}
	}
	return out
}

// The words an expectation may use, as package agent and the ledger spell them.
// A failed or cancelled episode cannot be an expectation.
var (
	expectStatuses = []string{"answered", "answered_after_clarify", "respond_error", "clarify", "awaiting_input", "cannot_proceed", "stopped"}
	stopReasons    = []string{"max_steps", "max_seconds", "max_tool_calls", "thrash", "stall", "contract_violation", "max_tokens", "max_cost", "max_iterations", "final_schema", "invalid_plan", "failed_step", "plan_denied", "blocked", "silent", "max_turns", "background_left"}
	orders         = []string{string(Strict), string(InOrder), string(AnyOrder), string(Subset)}
)

var plainNumber = lazyregexp.New(`^-?[0-9]+(\.[0-9]+)?$`)

const maxCap = 10_000

// choice reads one of some words.
func choice(words []string) func(yamlfile.Place) string {
	return func(p yamlfile.Place) string { return p.Choice(words...) }
}

// expressions reads a list of expressions of RE2.
func expressions(p yamlfile.Place) []string {
	out := p.Words()
	for i, item := range p.Items() {
		_, err := compileAll("", out[i:i+1])
		item.Faulty(err, "[0]: ")
	}
	return out
}

// numbers reads numbers as they are written: 449, 25.0.
func numbers(p yamlfile.Place) (out []string) {
	for _, item := range p.Items() {
		if n, ok := readDecimal(item); ok {
			out = append(out, n)
		}
	}
	return out
}

// allowedNumbers reads numbers; an empty list allows none.
func allowedNumbers(p yamlfile.Place) []string { return append([]string{}, numbers(p)...) }

// readDecimal reads a number as it is written.
func readDecimal(p yamlfile.Place) (string, bool) {
	s, tag, ok := p.Scalar()
	switch {
	case !ok || tag != "!!int" && tag != "!!float" && tag != "!!str":
		p.Wants("a number")
	case !plainNumber.MatchString(s):
		p.Failf("must be a number written in plain digits, such as 1234567 or 25.5, but is %q", s)
	default:
		return s, true
	}
	return "", false
}

// readNear reads numbers by name over the inherited ones.
func readNear(p yamlfile.Place, base map[string]string, inherits bool) map[string]string {
	out := map[string]string{}
	maps.Copy(out, base)
	for _, e := range p.Entries() {
		if inherits && e.Value.Null() {
			delete(out, e.Key)
		} else if n, ok := readDecimal(e.Value); ok {
			out[e.Key] = n
		}
	}
	if p.Faulty(answer.CheckNames(out), "near: "); len(out) == 0 {
		return nil
	}
	return out
}

func validNear(e Expect) error { return answer.CheckNames(e.Near) }

// readSignals reads conditions by signal name over the inherited ones.
func readSignals(p yamlfile.Place, base map[string]string, inherits bool) map[string]string {
	out := map[string]string{}
	maps.Copy(out, base)
	for _, e := range p.Entries() {
		if inherits && e.Value.Null() {
			delete(out, e.Key)
			continue
		}
		condition, tag, ok := e.Value.Scalar()
		if !ok || !slices.Contains([]string{"!!str", "!!bool", "!!int", "!!float"}, tag) {
			e.Value.Wants("a condition")
			continue
		}
		if known := signalNames(); !slices.Contains(known, e.Key) {
			e.KeyAt.Failf("unknown signal%s; allowed: %s", yamlfile.Suggest(e.Key, known), yamlfile.Listed(known))
			continue
		}
		condition = strings.ReplaceAll(condition, " ", "")
		if _, err := parseCondition(e.Key, condition); err != nil {
			e.Value.Failf("%s", strings.TrimPrefix(err.Error(), "signals."+e.Key+": "))
			continue
		}
		out[e.Key] = condition
	}
	return out
}

func validSignals(e Expect) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(e.Signals)) {
		if _, err := parseCondition(name, e.Signals[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func conditionNode(condition string) *yaml.Node {
	if condition == "true" || condition == "false" {
		return yamlfile.Plain(condition)
	}
	return yamlfile.QuotedNode(condition)
}

// schemaEnum is the schema of a word; one that null takes away has a description.
func schemaEnum(words []string, description string) string {
	enum := []any{}
	for _, w := range words {
		enum = append(enum, w)
	}
	schema := map[string]any{"enum": enum}
	if description != "" {
		schema["enum"], schema["description"] = append(enum, nil), description
	}
	text, _ := json.Marshal(schema) // words always encode
	return string(text)
}

// schemaRef is the schema of a field that shares one.
func schemaRef(name, description string) string {
	schema := map[string]any{"$ref": "#/$defs/" + name}
	if description != "" {
		schema["description"] = description
	}
	text, _ := json.Marshal(schema) // words always encode
	return string(text)
}

const schemaCaps = `{
	"type": ["object", "null"], "additionalProperties": false,
	"properties": {"clarifies": {"$ref": "#/$defs/cap"}, "steps": {"$ref": "#/$defs/cap"}, "tool_calls": {"$ref": "#/$defs/cap"}}
}`
