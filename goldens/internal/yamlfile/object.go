package yamlfile

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/internal/spell"
)

// Object is a mapping with a fixed set of fields.
type Object struct {
	Place
	fields map[string]Place
}

// Object reads a mapping that has no other fields than those allowed.
func (p Place) Object(allowed []string) Object {
	o := Object{Place: p, fields: map[string]Place{}}
	for _, e := range p.Entries() {
		if !slices.Contains(allowed, e.Key) {
			e.KeyAt.Failf("unknown field%s; allowed: %s", Suggest(e.Key, allowed), Listed(allowed))
			continue
		}
		o.fields[e.Key] = e.Value
	}
	return o
}

// Get returns a field, and whether the file has it.
func (o Object) Get(name string) (Place, bool) {
	p, ok := o.fields[name]
	return p, ok
}

// Has reports whether the object has the field.
func (o Object) Has(name string) bool {
	_, ok := o.fields[name]
	return ok
}

// Read reads a field into to where the object has it.
func Read[T any](o Object, name string, to *T, read func(Place) T) {
	if p, ok := o.Get(name); ok {
		*to = read(p)
	}
}

// Need returns a field that must be there.
func (o Object) Need(name string) (Place, bool) {
	p, ok := o.fields[name]
	if !ok && o.IsMapping() {
		o.FieldAt(name).Failf("is missing")
	}
	return p, ok
}

// FieldAt is the place of a field of p, or p with the field's path where p has
// no such field.
func (p Place) FieldAt(name string) Place {
	if p.IsMapping() {
		for _, e := range p.Entries() {
			if e.Key == name {
				return e.Value
			}
		}
	}
	p.Path = strings.TrimPrefix(p.Path+"."+name, ".")
	return p
}

// Item is the place of a list's item, or the list where it is not one.
func (p Place) Item(i int) Place {
	if n := p.Value(); n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return p.Items()[i]
	}
	return p
}

// IsMapping reports whether the value is a mapping.
func (p Place) IsMapping() bool { return p.Value().Kind == yaml.MappingNode }

// Listed writes words as a list for people.
func Listed(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// Suggest returns " (did you mean X?)" for the nearest allowed word, or nothing
// when none is near.
func Suggest(word string, allowed []string) string {
	best := spell.Nearest(word, allowed)
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// Leads reports whether names and indexes lead from p to a value that is written there.
func (p Place) Leads(path []string) bool {
	for _, name := range path {
		next := p.Inside([]string{name})
		if next.Node == p.Node {
			return false
		}
		p = next
	}
	return true
}

// Inside is the place that names and indexes lead to, as far as they do.
func (p Place) Inside(path []string) Place {
	for _, name := range path {
		if p.IsMapping() {
			p = p.FieldAt(name)
			continue
		}
		if i, err := strconv.Atoi(name); err == nil && p.Value().Kind == yaml.SequenceNode {
			p = p.Item(i)
		}
	}
	return p
}
