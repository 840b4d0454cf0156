package main

import (
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/reports"
)

// onActions says whether the process is part of a step of GitHub Actions, which
// looks for commands in everything that is printed.
func (p *process) onActions() bool {
	v, _ := p.env("GITHUB_ACTIONS")
	return v == "true"
}

// annotate prints the verdict as annotations where somebody reads them.
func (p *process) annotate(r reports.Report) error {
	if !p.onActions() {
		return nil
	}
	return reports.Annotations(p.stdout, r)
}

// prose is w for text that people read, which may quote a model: control characters
// are visible, and on GitHub Actions no line of it is a command.
func (p *process) prose(w io.Writer) io.Writer {
	g, ok := w.(guarded)
	if ok { // which must see the text as it is
		w = g.Writer
	}
	if p.onActions() {
		w = &inert{Writer: w}
	}
	w = &visible{Writer: w}
	if ok {
		g.Writer = w
		return g
	}
	return w
}

// inert takes from text what makes a workflow command of it: a line that begins
// with "::", blanks aside, gets a backslash, and "##[" anywhere a blank. It looks
// through characters that draw nothing, as comparisons by language do.
type inert struct {
	io.Writer
	inside bool // a line that shows something already
	hashes int  // how many # came last
}

// Write implements io.Writer.
func (w *inert) Write(b []byte) (int, error) {
	out := make([]byte, 0, len(b)+8)
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == '\n' || r == '\r':
			w.inside, w.hashes = false, 0
		case unicode.IsSpace(r):
			w.hashes = 0
		case !unicode.IsGraphic(r) || invisible.Rune(r) || unicode.Is(unicode.Mn, r):
		default:
			switch {
			case r == ':' && !w.inside:
				out = append(out, '\\')
			case r == '[' && w.hashes >= 2:
				out = append(out, ' ')
			}
			w.inside = true
			if w.hashes++; r != '#' {
				w.hashes = 0
			}
		}
		out, rest = append(out, rest[:size]...), rest[size:]
	}
	if _, err := w.Writer.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
