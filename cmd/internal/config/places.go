package config

import (
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
)

// places say where the configuration's candidates stand in its file.
type places struct {
	file  string
	lines map[string]map[string]int // by candidate and field; "" is the candidate itself
}

// findPlaces reads them off the file's text, which is known to be good YAML. Those
// of a matrix stand where it does.
func findPlaces(file string, text []byte, matrix []goldens.Candidate) places {
	out := places{file, map[string]map[string]int{}}
	var top struct {
		Candidates []yaml.Node `yaml:"candidates"`
		Matrix     yaml.Node   `yaml:"matrix"`
	}
	if yaml.Unmarshal(text, &top) != nil {
		return out
	}
	for _, n := range top.Candidates {
		at, name := map[string]int{"": n.Line}, ""
		fields := resolved(&n).Content
		for i := 0; i+1 < len(fields); i += 2 {
			at[fields[i].Value] = fields[i].Line
			if fields[i].Value == "name" {
				name = fields[i+1].Value
			}
		}
		out.lines[name] = at
	}
	for _, c := range matrix {
		out.lines[c.Name] = map[string]int{"": top.Matrix.Line}
	}
	return out
}

// faulty matches a problem of a candidate, and of its field if it names one.
var faulty = regexp.MustCompile(`^candidate ([^:,]+)(?:, task [^:]+)?: (?:([a-z_]+): )?`)

// locate puts file and line before every problem of a candidate of the file.
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
