package config

import (
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
)

// places has the lines of the configuration's candidates in its file.
type places struct {
	file  string
	lines map[string]map[string]int // by candidate and field; "" is the candidate itself
}

// findPlaces finds the lines of the candidates. Those of a matrix have the matrix's line.
func findPlaces(file string, candidates *yaml.Node, matrixLine int, matrix []goldens.Candidate) places {
	out := places{file, map[string]map[string]int{}}
	for _, n := range resolved(candidates).Content {
		at, name := map[string]int{"": n.Line}, ""
		fields := resolved(n).Content
		for i := 0; i+1 < len(fields); i += 2 {
			at[fields[i].Value] = fields[i].Line
			if fields[i].Value == "name" {
				name = fields[i+1].Value
			}
		}
		out.lines[name] = at
	}
	for _, c := range matrix {
		out.lines[c.Name] = map[string]int{"": matrixLine}
	}
	return out
}

// faulty matches a problem of a candidate, and the field if the problem names one.
var faulty = regexp.MustCompile(`^candidate ([^:,]+)(?:, task [^:]+)?: (?:([a-z_]+): )?`)

// locate adds file and line to every problem of a candidate of the file.
func (p places) locate(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		m := faulty.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		at := p.lines[m[1]]
		line, ok := at[m[2]]
		if !ok {
			line = at[""]
		}
		if line > 0 {
			lines[i] = fmt.Sprintf("%s:%d: %s", p.file, line, l)
		}
	}
	return strings.Join(lines, "\n")
}
