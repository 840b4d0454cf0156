package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// The bounds of one document, aliases expanded.
const (
	maxNodes = 1_000_000
	maxDepth = 100
)

// Source is one YAML file being read.
type Source struct {
	File  string
	Found *Findings
	text  []byte
}

// Failf records a problem of the file.
func (r *Source) Failf(line int, field, format string, args ...any) {
	r.Found.List = append(r.Found.List, &Problem{File: r.File, Line: max(line, 1), Field: field, Detail: fmt.Sprintf(format, args...)})
}

// Parse returns the root of the file's only document. ok is false if it
// cannot be read; the problem is then recorded.
func (r *Source) Parse(text []byte) (root Place, ok bool) {
	r.text = text
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		r.Failf(1, "", "the file is empty")
		return Place{}, false
	case err != nil:
		line, detail := syntaxError(err)
		r.Failf(min(line, lines(text)), "", "not valid YAML: %s", detail)
		return Place{}, false
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.Failf(max(second.Line, doc.Content[0].Line), "", "a suite file must contain one YAML document, and here another starts")
		return Place{}, false
	}
	top := doc.Content[0]
	m := Measurer{Size: map[*yaml.Node]int{}, Open: map[*yaml.Node]bool{}}
	if m.Count(top, 0); m.Fault != "" {
		r.Failf(m.Line, "", "%s", m.Fault)
		return Place{}, false
	}
	return Place{Src: r, Node: top}, true
}

// YamlBreak matches what ends a line in YAML 1.1.
var YamlBreak = lazyregexp.New("\r\n|[\n\r\u0085\u2028\u2029]")

func lines(text []byte) int { return len(YamlBreak.FindAllIndex(text, -1)) + 1 }

// indent returns how far the first line of text after a line is indented.
func (r *Source) indent(line int) int {
	for _, text := range YamlBreak.Split(string(r.text), -1)[line:] {
		if rest := strings.TrimLeft(text, " "); rest != "" {
			return len(text) - len(rest)
		}
	}
	return 0
}

// syntaxError splits the parser's message into its line, 1 if it names none,
// and the rest. The parser says nowhere else where it stopped.
func syntaxError(err error) (line int, detail string) {
	detail = strings.TrimPrefix(err.Error(), "yaml: ")
	if n, _ := fmt.Sscanf(detail, "line %d: ", &line); n == 1 {
		_, detail, _ = strings.Cut(detail, ": ")
	}
	return max(line, 1), detail
}

// Measurer finds out how large a document is once its aliases are expanded,
// without expanding them.
type Measurer struct {
	Size  map[*yaml.Node]int
	Open  map[*yaml.Node]bool
	Fault string
	Line  int
}

// Count returns the number of nodes below and including n.
func (m *Measurer) Count(n *yaml.Node, depth int) int {
	if m.Fault != "" {
		return 0
	}
	if depth > maxDepth {
		m.fail(n, fmt.Sprintf("nested deeper than %d levels", maxDepth))
		return 0
	}
	if m.Open[n] {
		m.fail(n, "an alias contains itself")
		return 0
	}
	size, ok := m.Size[n]
	if !ok {
		m.Open[n] = true
		size = 1
		if n.Kind == yaml.AliasNode {
			size += m.Count(n.Alias, depth+1)
		}
		for _, c := range n.Content {
			size += m.Count(c, depth+1)
		}
		delete(m.Open, n)
		m.Size[n] = size
	}
	if size > maxNodes {
		m.fail(n, fmt.Sprintf("more than %d values once aliases are expanded", maxNodes))
	}
	return size
}

func (m *Measurer) fail(n *yaml.Node, fault string) {
	if m.Fault == "" {
		m.Fault, m.Line = fault, n.Line
	}
}
