package yamlfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Problem is one fault of a suite file.
type Problem struct {
	// File is the path people gave for the suite, joined with the file's name in it.
	File string
	// Line counts from 1.
	Line int
	// Column counts characters from 1; 0 if the problem is not at one character.
	Column int
	// Field is where in the file, such as tasks[3].expect.status; empty when
	// the fault is the file's as a whole. Detail says what is wrong and what
	// would be right.
	Field, Detail string
	// Tool is the tool that no built-in world implements; empty for any other problem.
	Tool string
	// Kind is the kind of a defect of a benchmark's question; empty for any other problem.
	Kind string
}

// Error prints file:line: field: detail, with the column after the line if there is one.
func (p *Problem) Error() string {
	at := fmt.Sprintf("%s:%d", p.File, p.Line)
	if p.Column > 0 {
		at += fmt.Sprintf(":%d", p.Column)
	}
	if p.Field != "" {
		at += ": " + p.Field
	}
	return at + ": " + p.Detail
}

// Findings collects the problems of a suite while it is being read.
type Findings struct {
	List  []*Problem
	twice int
}

// Fatal counts the problems that leave a value without a meaning: all but keys that are there
// twice, of which the first holds.
func (f *Findings) Fatal() int { return len(f.List) - f.twice }

// Sorted returns the problems in reading order, each once: a value that is read twice
// is wrong twice.
func (f *Findings) Sorted() (out []*Problem) {
	slices.SortStableFunc(f.List, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	seen := map[Problem]bool{}
	for _, p := range f.List {
		if !seen[*p] {
			seen[*p] = true
			out = append(out, p)
		}
	}
	return out
}

// Join returns the problems in reading order, or nil when there are none.
func (f *Findings) Join() error { return JoinProblems(f.Sorted()) }

// JoinProblems joins problems to one error; nil if there are none.
func JoinProblems(list []*Problem) error {
	errs := make([]error, len(list))
	for i, p := range list {
		errs[i] = p
	}
	return errors.Join(errs...)
}
