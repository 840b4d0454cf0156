package goldens

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// object is a mapping with a fixed set of fields.
type object struct {
	place
	fields map[string]place
}

// object reads a mapping that has no other fields than those allowed.
func (p place) object(allowed []string) object {
	o := object{place: p, fields: map[string]place{}}
	for _, e := range p.entries() {
		if !slices.Contains(allowed, e.key) {
			e.keyAt.failf("unknown field%s; allowed: %s", suggest(e.key, allowed), listed(allowed))
			continue
		}
		o.fields[e.key] = e.value
	}
	return o
}

// get returns a field, and whether the file has it.
func (o object) get(name string) (place, bool) {
	p, ok := o.fields[name]
	return p, ok
}

func (o object) has(name string) bool {
	_, ok := o.fields[name]
	return ok
}

// need returns a field that must be there.
func (o object) need(name string) (place, bool) {
	p, ok := o.fields[name]
	if !ok && o.isMapping() {
		o.fieldAt(name).failf("is missing")
	}
	return p, ok
}

// fieldAt is the place of a field of p, or p with the field's path where p has
// no such field.
func (p place) fieldAt(name string) place {
	if p.isMapping() {
		for _, e := range p.entries() {
			if e.key == name {
				return e.value
			}
		}
	}
	p.path = strings.TrimPrefix(p.path+"."+name, ".")
	return p
}

// item is the place of a list's item, or the list where it is not one.
func (p place) item(i int) place {
	if n := p.value(); n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return p.items()[i]
	}
	return p
}

func (p place) isMapping() bool { return p.value().Kind == yaml.MappingNode }

// listed writes words as a list for people.
func listed(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// suggest returns " (did you mean X?)" for the nearest allowed word, or nothing
// when none is near.
func suggest(word string, allowed []string) string {
	best, distance := "", 3
	for _, a := range allowed {
		if d := edits(strings.ToLower(word), strings.ToLower(a)); d < distance && d < max(len(a), 2) {
			best, distance = a, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// edits is the Levenshtein distance of two words; words of very different
// length are far apart without being compared.
func edits(a, b string) int {
	if len(a) > len(b)+3 || len(b) > len(a)+3 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitution := diagonal
			if a[i] != b[j] {
				substitution++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitution, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// inside is the place that names and indexes lead to, as far as they do.
func (p place) inside(path []string) place {
	for _, name := range path {
		if p.isMapping() {
			p = p.fieldAt(name)
			continue
		}
		if i, err := strconv.Atoi(name); err == nil && p.value().Kind == yaml.SequenceNode {
			p = p.item(i)
		}
	}
	return p
}
