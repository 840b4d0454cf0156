package goldens

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"gopkg.in/yaml.v3"
)

// The bounds of one document, aliases expanded.
const (
	maxNodes = 1_000_000
	maxDepth = 100
)

// source is one YAML file being read.
type source struct {
	file  string
	found *findings
}

func (r *source) failf(line int, field, format string, args ...any) {
	r.found.list = append(r.found.list, &Problem{File: r.file, Line: max(line, 1), Field: field, Detail: fmt.Sprintf(format, args...)})
}

// parse returns the root of the file's only document. ok is false when there
// is none that can be read; the problem is then recorded.
func (r *source) parse(text []byte) (root place, ok bool) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		r.failf(1, "", "the file is empty")
		return place{}, false
	case err != nil:
		line, detail := syntaxError(err)
		r.failf(min(line, lines(text)), "", "not valid YAML: %s", detail)
		return place{}, false
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.failf(max(second.Line, doc.Content[0].Line), "", "a suite file holds one YAML document, and here another begins")
		return place{}, false
	}
	top := doc.Content[0]
	m := measurer{size: map[*yaml.Node]int{}, open: map[*yaml.Node]bool{}}
	if m.count(top, 0); m.fault != "" {
		r.failf(m.line, "", "%s", m.fault)
		return place{}, false
	}
	return place{src: r, node: top}, true
}

// yamlBreak matches what ends a line in YAML 1.1.
var yamlBreak = regexp.MustCompile("\r\n|[\n\r\u0085\u2028\u2029]")

func lines(text []byte) int { return len(yamlBreak.FindAllIndex(text, -1)) + 1 }

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(?s:(.*))$`)

// syntaxError splits the parser's message into its line, 1 if it names none,
// and the rest.
func syntaxError(err error) (line int, detail string) {
	m := yamlLine.FindStringSubmatch(err.Error())
	line, _ = strconv.Atoi(m[1])
	return max(line, 1), m[2]
}

// measurer finds out how large a document is once its aliases are expanded,
// without expanding them.
type measurer struct {
	size  map[*yaml.Node]int
	open  map[*yaml.Node]bool
	fault string
	line  int
}

// count returns the number of nodes below and including n.
func (m *measurer) count(n *yaml.Node, depth int) int {
	if m.fault != "" {
		return 0
	}
	if depth > maxDepth {
		m.fail(n, fmt.Sprintf("nested deeper than %d levels", maxDepth))
		return 0
	}
	if m.open[n] {
		m.fail(n, "an alias contains itself")
		return 0
	}
	size, ok := m.size[n]
	if !ok {
		m.open[n] = true
		size = 1
		if n.Kind == yaml.AliasNode {
			size += m.count(n.Alias, depth+1)
		}
		for _, c := range n.Content {
			size += m.count(c, depth+1)
		}
		delete(m.open, n)
		m.size[n] = size
	}
	if size > maxNodes {
		m.fail(n, fmt.Sprintf("more than %d values once aliases are expanded", maxNodes))
	}
	return size
}

func (m *measurer) fail(n *yaml.Node, fault string) {
	if m.fault == "" {
		m.fault, m.line = fault, n.Line
	}
}
