package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/internal/regular"
)

//go:embed mutants.yaml
var table []byte

// mutant is one small change of behaviour.
type mutant struct {
	ID    string
	Class string `yaml:"-"`
	// File is a path below the repository. Old occurs in it exactly once; New takes
	// its place.
	File, Old, New string
	// Breaks says what a user would notice.
	Breaks string
	// Equivalent says why no behaviour changes; such a mutant is listed and not run.
	Equivalent string
}

var mutantID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// readTable returns the mutants in the order written. The error joins every problem
// of the table, those of mutated files below root too.
func readTable(text []byte, root string) ([]mutant, error) {
	var classes []struct {
		Class   string
		Mutants []mutant
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&classes); err != nil {
		return nil, fmt.Errorf("mutants.yaml: %w", err)
	}
	var out []mutant
	var errs []error
	seen := map[string]bool{}
	for _, c := range classes {
		for _, m := range c.Mutants {
			m.Class = c.Class
			if seen[m.ID] {
				errs = append(errs, fmt.Errorf("mutant %s: the id is used twice", m.ID))
			}
			seen[m.ID] = true
			if _, err := m.source(root); err != nil {
				errs = append(errs, fmt.Errorf("mutant %s: %w", m.ID, err))
			}
			out = append(out, m)
		}
	}
	return out, errors.Join(errs...)
}

// source is the text of the mutated file.
func (m mutant) source(root string) ([]byte, error) {
	if !mutantID.MatchString(m.ID) || m.Class == "" || m.Breaks == "" || m.Old == m.New {
		return nil, errors.New("a mutant has an id such as steps-off-by-one, a class, a change and words for what it breaks")
	}
	before, err := regular.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(before), m.Old); n != 1 {
		return nil, fmt.Errorf("%s: the old text occurs %d times and must occur once; adapt the mutant to the file", m.File, n)
	}
	after := []byte(strings.Replace(string(before), m.Old, m.New, 1))
	if _, err := parser.ParseFile(token.NewFileSet(), m.File, after, parser.SkipObjectResolution); err != nil {
		return nil, fmt.Errorf("the mutated file is not Go: %w", err)
	}
	return after, nil
}
