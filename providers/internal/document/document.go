// Package document reads YAML (or JSON) files of settings field by field and keeps every
// problem in them, each with its line.
package document

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

// Document reads a YAML (or JSON) file field by field and keeps every problem
// it meets, each with its line.
type Document struct {
	What     string // begins every problem: "policy", "prices"
	Problems []error
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

// Problem adds one; where names the field.
func (d *Document) Problem(n *yaml.Node, where, format string, args ...any) {
	d.Problems = append(d.Problems, &FieldError{d.What, n.Line, where, fmt.Sprintf(format, args...)})
}

// Root parses data to its one mapping, nil if there is none or it is empty.
func (d *Document) Root(data []byte) *yaml.Node {
	if len(data) > maxDocument {
		d.Problems = append(d.Problems, fmt.Errorf("%s: %d bytes are more than the %d allowed", d.What, len(data), maxDocument))
		return nil
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		d.Problems = append(d.Problems, fmt.Errorf("%s: the file is empty", d.What))
		return nil
	} else if err != nil {
		d.Problems = append(d.Problems, fmt.Errorf("%s: not readable as YAML or JSON: %w", d.What, err))
		return nil
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		d.Problems = append(d.Problems, fmt.Errorf("%s: something follows the first document", d.What))
	}
	return doc.Content[0]
}

// Fields calls read for each entry of a mapping, in file order. Keys are text
// and appear once; read returns false for an unknown name.
func (d *Document) Fields(n *yaml.Node, where string, read func(name string, value *yaml.Node) bool) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.Problem(n, where, "must be a mapping")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" || key.ShortTag() == "!!null" {
			d.Problem(key, where, "a field name must be plain text")
			continue
		}
		if seen[key.Value] {
			d.Problem(key, where, "field %.60q appears twice", key.Value)
			continue
		}
		seen[key.Value] = true
		if !read(key.Value, value) {
			d.Problem(key, where, "unknown field %.60q", key.Value)
		}
	}
}

// Text reads a string into to.
func (d *Document) Text(n *yaml.Node, where string, to *string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || strings.TrimSpace(n.Value) == "" {
		d.Problem(n, where, "must be text that is not blank")
		return
	}
	*to = n.Value
}

// Truth reads a boolean into to.
func (d *Document) Truth(n *yaml.Node, where string, to *bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		d.Problem(n, where, "must be true or false")
		return
	}
	*to = strings.EqualFold(n.Value, "true")
}

// Count reads a whole number from 0 to limit into to.
func (d *Document) Count(n *yaml.Node, where string, limit int, to *int) {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || v < 0 || v > limit {
		d.Problem(n, where, "%.60q must be a whole number from 0 to %d", n.Value, limit)
		return
	}
	*to = v
}

// Number reads a number from 0 to limit into to.
func (d *Document) Number(n *yaml.Node, where string, limit float64, to *float64) {
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" && n.ShortTag() != "!!float" || err != nil || !(v >= 0 && v <= limit) {
		d.Problem(n, where, "%.60q must be a number from 0 to %v", n.Value, limit)
		return
	}
	*to = v
}

// Err joins what was found.
func (d *Document) Err() error { return errors.Join(d.Problems...) }

// Day reads a date; it applies from midnight UTC on.
func (d *Document) Day(n *yaml.Node, where string) (time.Time, bool) {
	day, err := time.Parse(time.DateOnly, n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || day.Year() < 1 {
		d.Problem(n, where, "%.60q must be a day, YYYY-MM-DD", n.Value)
		return time.Time{}, false
	}
	return day, true
}

// Names reads a list of different names, at least one.
func (d *Document) Names(n *yaml.Node, where string) []string {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		d.Problem(n, where, "must be a list of at least one name")
		return nil
	}
	var list []string
	for _, item := range n.Content {
		var name string
		if d.Text(item, where, &name); slices.Contains(list, name) {
			d.Problem(item, where, "%.60q appears twice", name)
		}
		list = append(list, name)
	}
	return list
}

// HasField reports whether a mapping has a field of that name.
func HasField(n *yaml.Node, name string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}
