package providers

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// maxDocument bounds a policy or price file, in bytes.
const maxDocument = 1 << 20

// document reads a YAML (or JSON) file field by field and keeps every problem
// it meets, each with its line.
type document struct {
	what     string // begins every problem: "policy", "prices"
	problems []error
}

// FieldError is what is wrong with a field of a policy or of a price file.
type FieldError struct {
	// What is "policy" or "prices", Line that of the field, counted from 1.
	What string
	Line int
	// Field is the way to the field, such as defaults.max_tokens; of the whole it is What.
	Field, Detail string
}

// Error prints what: line: field: detail.
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: line %d: %s: %s", e.What, e.Line, e.Field, e.Detail)
}

// problem adds one; where names the field.
func (d *document) problem(n *yaml.Node, where, format string, args ...any) {
	d.problems = append(d.problems, &FieldError{d.what, n.Line, where, fmt.Sprintf(format, args...)})
}

// root parses data to its one mapping, nil if there is none or it is empty.
func (d *document) root(data []byte) *yaml.Node {
	if len(data) > maxDocument {
		d.problems = append(d.problems, fmt.Errorf("%s: %d bytes are more than the %d allowed", d.what, len(data), maxDocument))
		return nil
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		d.problems = append(d.problems, fmt.Errorf("%s: the file is empty", d.what))
		return nil
	} else if err != nil {
		d.problems = append(d.problems, fmt.Errorf("%s: not readable as YAML or JSON: %w", d.what, err))
		return nil
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		d.problems = append(d.problems, fmt.Errorf("%s: something follows the first document", d.what))
	}
	return doc.Content[0]
}

// fields calls read for each entry of a mapping, in file order. Keys are text
// and appear once; read reports a name it does not know by returning false.
func (d *document) fields(n *yaml.Node, where string, read func(name string, value *yaml.Node) bool) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.problem(n, where, "must be a mapping")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" || key.ShortTag() == "!!null" {
			d.problem(key, where, "a field name must be plain text")
			continue
		}
		if seen[key.Value] {
			d.problem(key, where, "field %.60q appears twice", key.Value)
			continue
		}
		seen[key.Value] = true
		if !read(key.Value, value) {
			d.problem(key, where, "unknown field %.60q", key.Value)
		}
	}
}

// text reads a string into to.
func (d *document) text(n *yaml.Node, where string, to *string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || strings.TrimSpace(n.Value) == "" {
		d.problem(n, where, "must be text that is not blank")
		return
	}
	*to = n.Value
}

// truth reads a boolean into to.
func (d *document) truth(n *yaml.Node, where string, to *bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		d.problem(n, where, "must be true or false")
		return
	}
	*to = strings.EqualFold(n.Value, "true")
}

// count reads a whole number from 0 to limit into to.
func (d *document) count(n *yaml.Node, where string, limit int, to *int) {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || v < 0 || v > limit {
		d.problem(n, where, "%.60q must be a whole number from 0 to %d", n.Value, limit)
		return
	}
	*to = v
}

// number reads a number from 0 to limit into to.
func (d *document) number(n *yaml.Node, where string, limit float64, to *float64) {
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" && n.ShortTag() != "!!float" || err != nil || !(v >= 0 && v <= limit) {
		d.problem(n, where, "%.60q must be a number from 0 to %v", n.Value, limit)
		return
	}
	*to = v
}

// err joins what was found.
func (d *document) err() error { return errors.Join(d.problems...) }

// day reads a date; it holds from midnight UTC on.
func (d *document) day(n *yaml.Node, where string) (time.Time, bool) {
	day, err := time.Parse(time.DateOnly, n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || day.Year() < 1 {
		d.problem(n, where, "%.60q must be a day, YYYY-MM-DD", n.Value)
		return time.Time{}, false
	}
	return day, true
}

// names reads a list of different names, at least one.
func (d *document) names(n *yaml.Node, where string) []string {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		d.problem(n, where, "must be a list of at least one name")
		return nil
	}
	var list []string
	for _, item := range n.Content {
		var name string
		if d.text(item, where, &name); slices.Contains(list, name) {
			d.problem(item, where, "%.60q appears twice", name)
		}
		list = append(list, name)
	}
	return list
}

// hasField says whether a mapping has a field of that name.
func hasField(n *yaml.Node, name string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}
