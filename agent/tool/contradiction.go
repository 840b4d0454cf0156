package tool

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Contradiction is a place of a valid schema that no value could satisfy.
type Contradiction struct {
	// Path are the names and indexes that lead to the place from the schema's
	// root, such as properties, label; empty for the root.
	Path []string
	// Detail says what contradicts what.
	Detail string
}

func (c Contradiction) String() string { return "/" + strings.Join(c.Path, "/") + ": " + c.Detail }

// Contradictions is the error of a schema that contradicts itself, ordered by place.
type Contradictions []Contradiction

func (c Contradictions) Error() string {
	out := make([]string, len(c))
	for i, one := range c {
		out[i] = one.String()
	}
	return strings.Join(out, "; ")
}

// contradictions finds what people get wrong in an arguments schema and the
// library does not mind. It does not find everything. Object keywords are judged
// wherever an object is allowed, bounds where nothing else is. What is below
// not, if, then and else is left alone: there, nothing may be what is meant.
func contradictions(root *jsonschema.Schema) Contradictions {
	w := contradictionWalk{seen: map[*jsonschema.Schema]bool{}}
	w.visit(root, nil)
	slices.SortFunc(w.found, func(a, b Contradiction) int {
		return cmp.Or(slices.Compare(a.Path, b.Path), cmp.Compare(a.Detail, b.Detail))
	})
	return w.found
}

type contradictionWalk struct {
	seen  map[*jsonschema.Schema]bool
	found Contradictions
}

// visit checks a schema and everything it applies to a value or to parts of it.
func (w *contradictionWalk) visit(s *jsonschema.Schema, path []string) {
	if s == nil || w.seen[s] || s.Bool != nil {
		return
	}
	w.seen[s] = true
	for _, detail := range slices.Concat(enumFaults(s), requiredFaults(s), boundFaults(s)) {
		w.found = append(w.found, Contradiction{Path: path, Detail: detail})
	}
	w.visit(s.Ref, pathOf(s.Ref, under(path, "$ref")))
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		w.visit(s.Properties[name], append(slices.Clip(path), "properties", name))
	}
	byText := func(a, b jsonschema.Regexp) int { return cmp.Compare(a.String(), b.String()) }
	for _, re := range slices.SortedFunc(maps.Keys(s.PatternProperties), byText) {
		w.visit(s.PatternProperties[re], append(slices.Clip(path), "patternProperties", re.String()))
	}
	for _, list := range []struct {
		name    string
		schemas []*jsonschema.Schema
	}{{"allOf", s.AllOf}, {"anyOf", s.AnyOf}, {"oneOf", s.OneOf}, {"prefixItems", s.PrefixItems}} {
		for i, one := range list.schemas {
			w.visit(one, append(slices.Clip(path), list.name, strconv.Itoa(i)))
		}
	}
	w.visit(s.Items2020, under(path, "items"))
	if items, ok := s.Items.(*jsonschema.Schema); ok { // of older drafts
		w.visit(items, under(path, "items"))
	}
	if rest, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		w.visit(rest, under(path, "additionalProperties"))
	}
}

// pathOf is where a referenced schema stands, or path if that is another resource.
func pathOf(s *jsonschema.Schema, path []string) []string {
	if s == nil {
		return nil
	}
	pointer, ok := strings.CutPrefix(s.Location, schemaURL+"#/")
	if !ok {
		return path
	}
	var out []string
	for part := range strings.SplitSeq(pointer, "/") {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		out = append(out, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return out
}

// enumFaults reports an enum or const of which nothing is left.
func enumFaults(s *jsonschema.Schema) []string {
	fits := func(v any) bool { return s.Validate(v) == nil }
	switch {
	case s.Enum != nil && len(s.Enum.Values) == 0:
		return []string{"enum is empty, so that no value is allowed"}
	case s.Enum != nil && !slices.ContainsFunc(s.Enum.Values, fits):
		return []string{"no value of enum satisfies the keywords beside it"}
	case s.Enum == nil && s.Const != nil && !fits(*s.Const):
		return []string{"const does not satisfy the keywords beside it"}
	}
	return nil
}

// requiredFaults reports properties that must and must not be there.
func requiredFaults(s *jsonschema.Schema) []string {
	if !allows(s, "object") {
		return nil
	}
	var out []string
	for _, name := range s.Required {
		declared, ok := s.Properties[name]
		switch {
		case ok && isFalse(declared):
			out = append(out, fmt.Sprintf("required names %q, whose schema is false", name))
		case !ok && isFalse(s.AdditionalProperties) && !matchesPattern(s, name):
			out = append(out, fmt.Sprintf("required names %q, which is not in properties while additionalProperties is false", name))
		}
	}
	if n := len(s.Required); s.MaxProperties != nil && n > *s.MaxProperties {
		out = append(out, fmt.Sprintf("required names %d properties, maxProperties allows %d", n, *s.MaxProperties))
	}
	return out
}

func matchesPattern(s *jsonschema.Schema, name string) bool {
	for re := range s.PatternProperties {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}

// isFalse reports the schema that allows nothing, in either of the library's forms.
func isFalse(schema any) bool {
	switch s := schema.(type) {
	case bool:
		return !s
	case *jsonschema.Schema:
		return s != nil && s.Bool != nil && !*s.Bool
	}
	return false
}

// allows reports whether type lets values of this type through.
func allows(s *jsonschema.Schema, name string) bool {
	return s.Types == nil || slices.Contains(s.Types.ToStrings(), name)
}

// boundFaults reports lower bounds above upper ones, where type leaves no value
// that the bounds do not concern.
func boundFaults(s *jsonschema.Schema) []string {
	var out []string
	crossed := func(typ, low, high string, min, max *int) {
		if only(s, typ) && min != nil && max != nil && *min > *max {
			out = append(out, fmt.Sprintf("%s %d is more than %s %d", low, *min, high, *max))
		}
	}
	crossed("string", "minLength", "maxLength", s.MinLength, s.MaxLength)
	crossed("array", "minItems", "maxItems", s.MinItems, s.MaxItems)
	crossed("object", "minProperties", "maxProperties", s.MinProperties, s.MaxProperties)
	if !only(s, "number", "integer") {
		return out
	}
	for _, b := range []struct {
		low, high string
		min, max  *big.Rat
		open      bool // neither bound is a value
	}{
		{"minimum", "maximum", s.Minimum, s.Maximum, false},
		{"exclusiveMinimum", "maximum", s.ExclusiveMinimum, s.Maximum, true},
		{"minimum", "exclusiveMaximum", s.Minimum, s.ExclusiveMaximum, true},
		{"exclusiveMinimum", "exclusiveMaximum", s.ExclusiveMinimum, s.ExclusiveMaximum, true},
	} {
		if b.min == nil || b.max == nil {
			continue
		}
		if c := b.min.Cmp(b.max); c > 0 || b.open && c == 0 {
			out = append(out, b.low+" leaves nothing below "+b.high)
		}
	}
	return out
}

// only reports whether type allows nothing but the named types.
func only(s *jsonschema.Schema, names ...string) bool {
	if s.Types == nil {
		return false
	}
	return !slices.ContainsFunc(s.Types.ToStrings(), func(t string) bool { return !slices.Contains(names, t) })
}
