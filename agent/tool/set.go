package tool

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Set is a fixed list of tools with compiled schemas. It is immutable and safe
// for concurrent use. The nil Set offers no tool.
type Set struct {
	specs   []Spec
	tools   map[string]compiled
	derived sync.Map // texts by name
	valid   validCalls
}

// compiled is one tool ready to validate.
type compiled struct {
	spec   Spec
	schema *jsonschema.Schema
	tree   JSON // the schema's own document, for the order of its properties
	fields []string
}

// NewSet compiles the schemas of specs (JSON Schema 2020-12 unless $schema says
// otherwise; regular expressions are RE2; references outside the schema are
// refused). It reports every problem: a name used twice, an empty name, a schema
// that is not valid JSON Schema, or (Contradictions) one that no arguments could
// satisfy.
func NewSet(specs []Spec) (*Set, error) {
	s := &Set{specs: slices.Clone(specs), tools: make(map[string]compiled, len(specs))}
	var problems []error
	for i, spec := range s.specs {
		if spec.Name == "" {
			problems = append(problems, fmt.Errorf("tool %d: empty name", i))
		} else if _, twice := s.tools[spec.Name]; twice {
			problems = append(problems, fmt.Errorf("tool %d: name %q used twice", i, spec.Name))
		}
		schema, tree, err := compile(string(spec.Schema))
		if err != nil {
			problems = append(problems, fmt.Errorf("tool %d (%q): schema: %w", i, spec.Name, err))
		}
		s.tools[spec.Name] = compiled{spec: spec, schema: schema, tree: tree, fields: fields(tree)}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return s, nil
}

// Specs returns the tools in the order given to NewSet; the caller must not
// change the slice.
func (s *Set) Specs() []Spec {
	if s == nil {
		return nil
	}
	return s.specs
}

// Derived returns the text that write makes of the tools, written once and kept
// as long as the Set: many episodes offer the same tools. name tells texts apart,
// and is a constant; an error is not kept. The nil Set keeps nothing.
func (s *Set) Derived(name string, write func([]Spec) (string, error)) (string, error) {
	if s == nil {
		return write(nil)
	}
	if text, ok := s.derived.Load(name); ok {
		return text.(string), nil
	}
	text, err := write(s.specs)
	if err == nil {
		s.derived.Store(name, text)
	}
	return text, err
}

// Has reports whether a tool of exactly this name is available.
func (s *Set) Has(name string) bool {
	_, ok := s.find(name)
	return ok
}

// Spec returns the tool of exactly this name.
func (s *Set) Spec(name string) (Spec, bool) {
	t, ok := s.find(name)
	return t.spec, ok
}

// Fields returns the names of the tool's top-level arguments in the order its
// schema declares them; nil for an unknown tool. The caller must not change the
// slice.
func (s *Set) Fields(name string) []string {
	t, _ := s.find(name)
	return t.fields
}

func (s *Set) find(name string) (compiled, bool) {
	if s == nil {
		return compiled{}, false
	}
	t, ok := s.tools[name]
	return t, ok
}

// fields lists the property names of a schema document, in its order.
func fields(schema JSON) []string {
	properties, _ := schema.Get("properties")
	var out []string
	for _, m := range properties.Members {
		out = append(out, m.Name)
	}
	return out
}

// Only returns the Set of those tools that are named, in the order of s; names it
// does not have are passed over.
func (s *Set) Only(names []string) *Set {
	return s.with(&Set{tools: map[string]compiled{}}, func(name string) bool { return slices.Contains(names, name) })
}

// With returns the Set of the tools of s and, behind them, those of other, which have other
// names.
func (s *Set) With(other *Set) *Set {
	all := func(string) bool { return true }
	return other.with(s.with(&Set{tools: map[string]compiled{}}, all), all)
}

// with adds the tools of s that fit to a Set.
func (s *Set) with(to *Set, fits func(name string) bool) *Set {
	for _, spec := range s.Specs() {
		if fits(spec.Name) {
			to.specs, to.tools[spec.Name] = append(to.specs, spec), s.tools[spec.Name]
		}
	}
	return to
}
