package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// kinds names YAML's tags and the types of fields.
var kinds = map[string]string{
	"seq": "a list", "map": "a mapping", "str": "text", "string": "text", "int": "a whole number", "int64": "a whole number",
	"float": "a number", "float64": "a number", "bool": "true or false", "[]goldens.Candidate": "a list of candidates",
	"goldens.Candidate": "a candidate", "goldens.Memory": "a mapping such as {turns: 10} or {off: true}",
	"strategy.Batch": "a mapping such as {size: 4}", "strategy.PlanBounds": "a mapping such as {steps: 50}", "limits.Bounds": "a mapping such as {background: 3}", "limits.Memory": "a mapping such as {observe: true}",
	"[]string": "a list of texts", "time.Duration": "a duration such as 300ms or 15s", "map[string]string": "a mapping of names to text",
}

// decoder reads YAML nodes into Go values by their yaml tags, and collects every problem
// with its file, line and field.
type decoder struct {
	file string
	errs []error
	open []*yaml.Node // mappings being read, to detect cycles
}

// decode reads the text of a file. Its error joins all problems.
func decode(file string, text []byte, to *fileConfig) error {
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil { // of the syntax, which yaml has no type for
		line, detail := 0, ""
		if n, _ := fmt.Sscanf(err.Error(), "yaml: line %d:", &line); n == 1 {
			_, detail, _ = strings.Cut(strings.TrimPrefix(err.Error(), "yaml: "), ": ")
			return fmt.Errorf("%s:%d: not valid YAML: %s; check the indentation of this line and of those above", file, line, detail)
		}
		return fmt.Errorf("%s: %w", file, err)
	}
	to.lines = map[string]int{}
	for i, n := range doc.Content[0].Content {
		if i%2 == 0 {
			to.lines[n.Value] = n.Line
		}
	}
	d := decoder{file: file}
	d.read(doc.Content[0], reflect.ValueOf(to).Elem(), "")
	d.read(&to.Candidates, reflect.ValueOf(&to.list).Elem(), "candidates")
	return errors.Join(d.errs...)
}

func (d *decoder) problem(n *yaml.Node, field, detail string) {
	if field != "" {
		detail = field + ": " + detail
	}
	d.errs = append(d.errs, fmt.Errorf("%s:%d: %s", d.file, n.Line, detail))
}

// read reads a node into to. A null leaves to unchanged.
func (d *decoder) read(n *yaml.Node, to reflect.Value, field string) {
	if node, ok := to.Addr().Interface().(*yaml.Node); ok {
		*node = *n
		return
	}
	n = resolved(n)
	if n.IsZero() || n.ShortTag() == "!!null" {
		return
	}
	name := strings.TrimPrefix(to.Type().String(), "*")
	want := map[reflect.Kind]yaml.Kind{reflect.Struct: yaml.MappingNode, reflect.Slice: yaml.SequenceNode}[to.Kind()]
	if to.Kind() == reflect.Map && to.Type().Elem().Kind() == reflect.Struct {
		want = yaml.MappingNode
	}
	switch {
	case want == 0 && n.Decode(to.Addr().Interface()) != nil, want != 0 && n.Kind != want:
		value := ""
		if n.Kind == yaml.ScalarNode {
			value = fmt.Sprintf(" `%.60s`", n.Value)
		}
		d.problem(n, field, "must be "+cmp.Or(kinds[name], "a mapping")+", not "+cmp.Or(kindOf(n), n.ShortTag())+value)
	case to.Kind() == reflect.Map && want != 0:
		to.Set(reflect.MakeMap(to.Type()))
		for i := 0; i+1 < len(n.Content); i += 2 {
			value := reflect.New(to.Type().Elem()).Elem()
			d.read(n.Content[i+1], value, field+"."+n.Content[i].Value)
			to.SetMapIndex(reflect.ValueOf(n.Content[i].Value), value)
		}
	case want == yaml.MappingNode:
		d.fields(n, to, field)
	case want == yaml.SequenceNode:
		to.Set(reflect.MakeSlice(to.Type(), len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			d.read(item, to.Index(i), fmt.Sprintf("%s[%d]", field, i))
		}
	}
}

// fields reads a mapping into a struct. It reads merged mappings first, so that the
// mapping's own fields replace theirs.
func (d *decoder) fields(n *yaml.Node, to reflect.Value, field string) {
	if slices.Contains(d.open, n) {
		d.problem(n, field, "contains itself")
		return
	}
	d.open = append(d.open, n)
	defer func() { d.open = d.open[:len(d.open)-1] }()
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() != "!!merge" {
			continue
		}
		merged := []*yaml.Node{n.Content[i+1]}
		if list := resolved(n.Content[i+1]); list.Kind == yaml.SequenceNode {
			merged = slices.Clone(list.Content)
			slices.Reverse(merged) // the first one counts most
		}
		for _, m := range merged {
			d.read(m, to, field)
		}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		known := reflect.VisibleFields(to.Type())
		at := slices.IndexFunc(known, func(f reflect.StructField) bool {
			tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			return tag != "" && tag == key.Value
		})
		switch {
		case key.ShortTag() == "!!merge":
		case at < 0:
			d.problem(key, field, fmt.Sprintf("unknown field %q; `cupel init` writes a commented file with every field", key.Value))
		case seen[key.Value]:
			d.problem(key, field, fmt.Sprintf("field %q appears twice", key.Value))
		default:
			seen[key.Value] = true
			d.read(n.Content[i+1], to.FieldByIndex(known[at].Index), strings.TrimPrefix(field+"."+key.Value, "."))
		}
	}
}
