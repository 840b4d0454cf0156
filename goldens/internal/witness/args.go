package witness

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/match"
)

// The bounds of a sampler.
const (
	maxSamples     = 64 // values of one place
	maxSampleDepth = 8
	maxSampleText  = 1_000
)

// sampler makes values that an expected value accepts and a JSON Schema may allow.
// Whether they do is for the caller to check: keywords that it does not know are
// ignored.
type sampler struct {
	root tool.JSON
	// text and numbers are put where the schema allows any.
	text    string
	numbers []string
}

// anything is an expected value that accepts every value.
type anything struct{}

// values makes some values for a place; finite reports that there are no others.
func (s *sampler) values(want any, schema tool.JSON, depth int) (list []any, finite bool) {
	schema = s.resolve(schema)
	switch w := want.(type) {
	case anything:
		return s.allowed(schema, depth)
	case map[string]any:
		if name, operand, ok := match.Matcher(w); ok {
			return s.matching(name, operand, schema, depth)
		}
		return s.object(w, schema, depth)
	case []any:
		items := make([][]any, len(w))
		finite := true
		for i, item := range w {
			list, all := s.values(item, s.element(schema, i), depth+1)
			items[i], finite = list, finite && all
		}
		return products(items, finite, func(row []any) any { return row })
	}
	return []any{want}, true
}

// object makes objects with the members of an expected one.
func (s *sampler) object(w map[string]any, schema tool.JSON, depth int) ([]any, bool) {
	keys := slices.Sorted(maps.Keys(w))
	choices := make([][]any, len(keys))
	finite := true
	for i, key := range keys {
		want := w[key]
		if name, operand, _ := match.Matcher(want); name == "$optional" {
			choices[i] = []any{absent{}}
			if want = operand; operand == true {
				want = anything{}
			}
		}
		list, all := s.values(want, property(schema, key), depth+1)
		choices[i], finite = append(choices[i], list...), finite && all
	}
	return products(choices, finite, func(row []any) any { return joined(keys, row) })
}

// absent represents a member that is left out.
type absent struct{}

func joined(keys []string, values []any) map[string]any {
	out := map[string]any{}
	for i, key := range keys {
		if values[i] != any(absent{}) {
			out[key] = values[i]
		}
	}
	return out
}

// products combines one choice of each place, bounded.
func products(choices [][]any, finite bool, join func([]any) any) ([]any, bool) {
	rows := [][]any{{}}
	for _, list := range choices {
		var next [][]any
		for _, v := range list {
			for _, row := range rows {
				next = append(next, append(slices.Clip(row), v))
			}
		}
		if len(next) > maxSamples {
			next, finite = next[:maxSamples], false
		}
		rows = next
	}
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = join(row)
	}
	return out, finite
}

// matching makes values that a matcher accepts.
func (s *sampler) matching(name string, operand any, schema tool.JSON, depth int) ([]any, bool) {
	switch name {
	case "$any":
		return s.allowed(schema, depth)
	case "$in":
		items, _ := operand.([]any)
		var out []any
		finite := true
		for _, item := range items[:min(len(items), maxSamples)] {
			list, all := s.values(item, schema, depth+1)
			out, finite = append(out, list...), finite && all
		}
		return out, finite && len(items) <= maxSamples
	}
	list, finite := s.allowed(schema, depth)
	if !finite {
		hinted := hints(name, operand)
		list = slices.Concat(hinted, overlaid(hinted, list), list)
	}
	accepts, err := match.Value(map[string]any{name: operand}, "")
	if err != nil {
		return nil, false
	}
	return keepValues(list, accepts), finite
}

func keepValues(list []any, accepts match.Pattern) []any {
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool { return !accepts(v) })
}

// overlaid are texts of a schema that begin with a hint: "2026-06" over "2026-01-01".
func overlaid(hints, list []any) (out []any) {
	for _, h := range hints {
		for _, v := range list {
			begin, _ := h.(string)
			text, _ := v.(string)
			if begin != "" && len(begin) < len(text) && len(out) < maxSamples {
				out = append(out, begin+text[len(begin):])
			}
		}
	}
	return out
}

// hints are values that a matcher may accept.
func hints(name string, operand any) (out []any) {
	switch name {
	case "$regex":
		text, _ := operand.(string)
		for _, sample := range regexSamples(text) {
			out = append(out, sample)
		}
	case "$normalize":
		if long, ok := operand.(map[string]any); ok {
			operand = long["text"]
		}
		out = append(out, operand)
	case "$gte", "$lte":
		out = append(out, operand)
		if d, ok := match.AsDecimal(operand); ok {
			for n := d.Floor() - 1; n <= d.Floor()+2; n++ {
				out = append(out, wholeNumber(n))
			}
		}
	}
	return out
}

func wholeNumber(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// resolve follows references within the schema.
func (s *sampler) resolve(schema tool.JSON) tool.JSON {
	for range maxSampleDepth {
		ref, ok := schema.Get("$ref")
		if !ok {
			break
		}
		at := s.root
		for _, name := range strings.Split(strings.TrimPrefix(ref.Text(), "#"), "/")[1:] {
			at, _ = at.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
		schema = at
	}
	return schema
}

// property is the schema of a member, element that of an item.
func property(schema tool.JSON, key string) tool.JSON {
	properties, _ := schema.Get("properties")
	if p, ok := properties.Get(key); ok {
		return p
	}
	rest, _ := schema.Get("additionalProperties")
	return rest
}

func (s *sampler) element(schema tool.JSON, i int) tool.JSON {
	if prefix, _ := schema.Get("prefixItems"); i < len(prefix.Elems) {
		return prefix.Elems[i]
	}
	items, _ := schema.Get("items")
	return items
}

// allowed makes values for a schema alone.
func (s *sampler) allowed(schema tool.JSON, depth int) (list []any, finite bool) {
	schema = s.resolve(schema)
	if depth > maxSampleDepth {
		return nil, false
	}
	if fixed, ok := schema.Get("const"); ok {
		return []any{fixed.Decoded()}, true
	}
	if enum, ok := schema.Get("enum"); ok {
		for _, v := range enum.Elems[:min(len(enum.Elems), maxSamples)] {
			list = append(list, v.Decoded())
		}
		return list, len(enum.Elems) <= maxSamples
	}
	for _, branches := range []string{"anyOf", "oneOf", "allOf"} {
		all, _ := schema.Get(branches)
		for _, branch := range all.Elems[:min(len(all.Elems), maxSamples)] {
			some, _ := s.allowed(branch, depth+1)
			list = append(list, some...)
		}
	}
	finite = len(list) == 0
	for _, kind := range kinds(schema) {
		some, all := s.ofKind(kind, schema, depth)
		list, finite = append(list, some...), finite && all
	}
	return list[:min(len(list), maxSamples)], finite
}

// kinds are the types that a schema allows, or that its keywords are about.
func kinds(schema tool.JSON) []string {
	if kind, ok := schema.Get("type"); ok {
		if len(kind.Elems) == 0 {
			return []string{kind.Text()}
		}
		var out []string
		for _, k := range kind.Elems {
			out = append(out, k.Text())
		}
		return out
	}
	for _, about := range [][2]string{
		{"properties", "object"}, {"required", "object"}, {"items", "array"}, {"pattern", "string"}, {"minLength", "string"}, {"minimum", "number"}, {"maximum", "number"},
	} {
		if _, ok := schema.Get(about[0]); ok {
			return []string{about[1], "other"}
		}
	}
	return []string{"string", "integer", "boolean", "object", "other"}
}

// ofKind makes values of one type.
func (s *sampler) ofKind(kind string, schema tool.JSON, depth int) ([]any, bool) {
	switch kind {
	case "null":
		return []any{nil}, true
	case "boolean":
		return []any{true, false}, true
	case "integer", "number":
		return s.someNumbers(schema), false
	case "string":
		return s.someTexts(schema), false
	case "array":
		n := max(count(schema, "minItems"), 1)
		if most, ok := schema.Get("maxItems"); ok && most.Raw == "0" {
			return []any{[]any{}}, true
		}
		items := make([]any, 0, min(n, maxSamples))
		for i := range min(n, maxSamples) {
			list, _ := s.values(anything{}, s.element(schema, i), depth+1)
			if len(list) == 0 {
				return []any{[]any{}}, false
			}
			items = append(items, list[i%len(list)])
		}
		return []any{items, []any{}}, false
	case "object":
		return s.someObjects(schema, depth)
	}
	return nil, false
}

// someObjects makes objects with the required members, and with all declared ones.
func (s *sampler) someObjects(schema tool.JSON, depth int) ([]any, bool) {
	properties, _ := schema.Get("properties")
	closed, _ := schema.Get("additionalProperties")
	_, patterns := schema.Get("patternProperties")
	if len(properties.Members) == 0 && closed.Raw == "false" && !patterns {
		return []any{map[string]any{}}, true
	}
	var all, needed []string
	for _, m := range properties.Members {
		all = append(all, m.Name)
	}
	required, _ := schema.Get("required")
	for _, name := range required.Elems {
		needed = append(needed, name.Text())
	}
	var out []any
	for _, keys := range [][]string{needed, all} {
		choices := make([][]any, len(keys))
		for i, key := range keys {
			choices[i], _ = s.values(anything{}, property(schema, key), depth+1)
		}
		some, _ := products(choices, false, func(row []any) any { return joined(keys, row) })
		out = append(out, some[:min(len(some), maxSamples/2)]...)
	}
	return out, false
}

// someNumbers begins with the numbers wanted, another one for each place.
func (s *sampler) someNumbers(schema tool.JSON) (out []any) {
	for _, n := range s.numbers {
		out = append(out, json.Number(n))
	}
	if len(s.numbers) > 0 {
		s.numbers = append(slices.Clone(s.numbers[1:]), s.numbers[0])
	}
	for _, keyword := range []string{"default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		v, ok := schema.Get(keyword)
		if !ok || v.Kind != '0' {
			continue
		}
		out = append(out, v.Decoded())
		if d, ok := match.AsDecimal(v.Decoded()); ok {
			out = append(out, wholeNumber(d.Floor()), wholeNumber(d.Floor()+1), wholeNumber(d.Floor()-1))
		}
	}
	return append(out, wholeNumber(1), wholeNumber(0), wholeNumber(2))
}

// formats are samples of the formats that schemas name.
var formats = map[string]string{
	"date": "2026-05-13", "date-time": "2026-05-13T12:00:00Z", "time": "12:00:00Z", "duration": "P1D", "email": "a@example.org",
	"hostname": "example.org", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri": "https://example.org/", "uuid": "123e4567-e89b-12d3-a456-426614174000",
}

func (s *sampler) someTexts(schema tool.JSON) (out []any) {
	list := []string{"x", "some text"}
	if s.text != "" {
		list = append([]string{s.text}, list...)
	}
	if format, _ := schema.Get("format"); formats[format.Text()] != "" {
		list = append([]string{formats[format.Text()]}, list...)
	}
	if expr, ok := schema.Get("pattern"); ok {
		list = append(regexSamples(expr.Text()), list...)
	}
	least, most := count(schema, "minLength"), count(schema, "maxLength")
	for _, text := range list {
		if n := least - utf8.RuneCountInString(text); n > 0 {
			text += strings.Repeat("x", n)
		}
		if r := []rune(text); most > 0 && len(r) > most {
			text = string(r[:most])
		}
		out = append(out, text)
	}
	return out
}

// count reads a keyword that is a small count; 0 where the schema has none.
func count(schema tool.JSON, keyword string) int {
	v, _ := schema.Get(keyword)
	n, _ := strconv.Atoi(v.Raw)
	return min(n, maxSampleText)
}
