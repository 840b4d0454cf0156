// Package dataset reads the rows of CSV and JSON Lines files, and fills them into YAML.
package dataset

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/internal/clip"
)

// The bounds of a file.
const (
	// MaxBytes bounds a file.
	MaxBytes   = 64 << 20
	maxLine    = 4 << 20
	maxColumns = 200
)

// Row is one row of a file.
type Row struct {
	// Line is where the row starts, from 1.
	Line int
	// Values has the cells by column as JSON. Those of a CSV file are strings.
	Values map[string]json.RawMessage
}

// Fault is something wrong with a file. Line counts from 1.
type Fault struct {
	Line   int
	Detail string
}

// CSV reads a file with commas and a header (RFC 4180), at most so many rows. Every row must
// have as many cells as the header. It returns the columns, the rows that can be read and
// what is wrong with the others.
func CSV(text []byte, most int) (columns []string, rows []Row, faults []Fault) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok { // where the next row starts is not known
			return columns, rows, append(faults, Fault{wrong.Line, "not valid CSV: " + wrong.Err.Error()})
		}
		line, _ := r.FieldPos(0)
		switch {
		case columns == nil:
			columns = slices.Clone(cells)
			if detail := badHeader(columns); detail != "" {
				return columns, nil, []Fault{{line, detail}}
			}
			continue
		case len(cells) != len(columns):
			faults = append(faults, Fault{line, fmt.Sprintf("has %d cells, but the header has %d columns", len(cells), len(columns))})
			continue
		case len(rows) == most:
			return columns, rows, append(faults, tooMany(line, most))
		}
		row := Row{Line: line, Values: make(map[string]json.RawMessage, len(cells))}
		for i, cell := range cells {
			if !utf8.ValidString(cell) {
				faults = append(faults, Fault{line, fmt.Sprintf("column %s is not valid UTF-8", columns[i])})
			}
			row.Values[columns[i]], _ = json.Marshal(cell) // a string encodes
		}
		rows = append(rows, row)
	}
	if columns == nil {
		faults = append(faults, Fault{1, "the file is empty; its first line must name the columns"})
	}
	return columns, rows, faults
}

func badHeader(columns []string) string {
	if len(columns) > maxColumns {
		return fmt.Sprintf("has %d columns; at most %d are read", len(columns), maxColumns)
	}
	for i, name := range columns {
		if !columnName.MatchString(name) {
			return fmt.Sprintf("column %d is named %q; a name has letters, digits, _, - and . and starts with a letter or _", i+1, clip.Bytes(name, 100))
		}
		if slices.Contains(columns[:i], name) {
			return fmt.Sprintf("two columns are named %q", name)
		}
	}
	return ""
}

func tooMany(line, most int) Fault { return Fault{line, fmt.Sprintf("at most %d rows are read", most)} }

// Lines reads a file with one JSON object a line, at most so many. Blank lines are skipped.
// It returns the names of all members in the order of their first use, the rows that can be
// read and what is wrong with the others.
func Lines(text []byte, most int) (columns []string, rows []Row, faults []Fault) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	seen := map[string]bool{}
	line := 0
	for part := range bytes.Lines(text) {
		line++
		if part = bytes.TrimSpace(part); len(part) == 0 {
			continue
		}
		if len(rows) == most {
			return columns, rows, append(faults, tooMany(line, most))
		}
		row := Row{Line: line}
		names, detail := object(part, &row.Values)
		if detail != "" {
			faults = append(faults, Fault{line, detail})
			continue
		}
		for _, name := range names {
			if !seen[name] {
				seen[name], columns = true, append(columns, name)
			}
		}
		rows = append(rows, row)
	}
	if line == 0 || len(rows)+len(faults) == 0 {
		faults = append(faults, Fault{1, "the file is empty"})
	}
	return columns, rows, faults
}

// object reads a JSON object and the names of its members in order.
func object(text []byte, into *map[string]json.RawMessage) (names []string, detail string) {
	if len(text) > maxLine {
		return nil, fmt.Sprintf("is longer than %d MiB", maxLine>>20)
	}
	if !utf8.Valid(text) {
		return nil, "is not valid UTF-8"
	}
	if text[0] != '{' {
		return nil, "must be a JSON object"
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, "is not valid JSON: " + err.Error()
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	_, _ = dec.Token() // the brace: the text is valid
	for dec.More() {
		token, _ := dec.Token()
		name, _ := token.(string)
		if slices.Contains(names, name) {
			return nil, fmt.Sprintf("has the member %q twice", clip.Bytes(name, 100))
		}
		if len(names) == maxColumns {
			return nil, fmt.Sprintf("has more than %d members", maxColumns)
		}
		names = append(names, name)
		var value json.RawMessage
		_ = dec.Decode(&value)
	}
	return names, ""
}

// columnName matches the name of a column, reference {column}, {column:json}, {{ or }} in a
// template.
var (
	columnName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	reference  = regexp.MustCompile(`\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_.-]*)(:json)?\}`)
)

// Names returns the columns that a text refers to, in its order.
func Names(text string) (out []string) {
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			out = append(out, m[1])
		}
	}
	return out
}

// Fill returns a copy of a template with the values of a row. A text that is {column} and
// nothing else becomes the column's value, of any type; in a longer text, {column} is
// replaced by the value, strings as they are and other values as JSON. {column:json} is the
// value that the text of a cell has as JSON. {{ and }} are braces. A column that the row
// lacks is null. Every node has the line of the row. detail says which cell is not JSON.
func Fill(template *yaml.Node, row Row) (filled *yaml.Node, detail string) {
	n := template
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Style: n.Style, Value: n.Value, Line: row.Line, Column: 1}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			out.Content = append(out.Content, &yaml.Node{Kind: c.Kind, Tag: c.Tag, Style: c.Style, Value: c.Value, Content: c.Content, Alias: c.Alias, Line: row.Line, Column: 1})
			continue
		}
		part, wrong := Fill(c, row)
		if detail == "" {
			detail = wrong
		}
		out.Content = append(out.Content, part)
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return out, detail
	}
	if m := reference.FindStringSubmatch(n.Value); m != nil && m[0] == n.Value && m[1] != "" {
		value, wrong := row.value(m[1], m[2] != "")
		return node(value, row.Line), wrong
	}
	out.Value = reference.ReplaceAllStringFunc(n.Value, func(text string) string {
		m := reference.FindStringSubmatch(text)
		if m[1] == "" {
			return text[:1]
		}
		value, wrong := row.value(m[1], m[2] != "")
		if detail == "" {
			detail = wrong
		}
		return plain(value)
	})
	out.Tag, out.Style = "!!str", yaml.DoubleQuotedStyle
	return out, detail
}

// value is the value of a column; asJSON reads it from a text.
func (r Row) value(column string, asJSON bool) (value json.RawMessage, detail string) {
	value = r.Values[column]
	var text string
	if !asJSON || json.Unmarshal(value, &text) != nil {
		return value, ""
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Sprintf("column %s must be JSON, but is %q", column, clip.Bytes(text, 100))
	}
	return json.RawMessage(text), ""
}

// plain is a value within a text.
func plain(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	if string(value) == "null" {
		return ""
	}
	return string(value)
}

// node is a JSON value as YAML.
func node(value json.RawMessage, line int) *yaml.Node {
	out := &yaml.Node{Kind: yaml.ScalarNode, Line: line, Column: 1}
	switch text := strings.TrimSpace(string(value)); {
	case text == "" || text == "null":
		out.Tag, out.Value = "!!null", "null"
	case text[0] == '"':
		out.Tag, out.Style = "!!str", yaml.DoubleQuotedStyle
		_ = json.Unmarshal(value, &out.Value)
	case text[0] == 't' || text[0] == 'f':
		out.Tag, out.Value = "!!bool", text
	case text[0] == '[':
		out.Kind, out.Tag = yaml.SequenceNode, "!!seq"
		var items []json.RawMessage
		_ = json.Unmarshal(value, &items)
		for _, item := range items {
			out.Content = append(out.Content, node(item, line))
		}
	case text[0] == '{':
		out.Kind, out.Tag = yaml.MappingNode, "!!map"
		members(value, func(name string, v json.RawMessage) {
			out.Content = append(out.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: name, Line: line, Column: 1}, node(v, line))
		})
	default:
		out.Value = text
		if out.Tag = "!!int"; strings.ContainsAny(text, ".eE") {
			out.Tag = "!!float"
		}
	}
	return out
}

// members calls f with the members of an object in their order.
func members(object json.RawMessage, f func(name string, value json.RawMessage)) {
	dec := json.NewDecoder(bytes.NewReader(object))
	_, _ = dec.Token()
	for dec.More() {
		token, _ := dec.Token()
		name, _ := token.(string)
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return
		}
		f(name, value)
	}
}
