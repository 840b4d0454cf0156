// Package console is what the program prints on: writers that leave credentials and
// control characters out, tables, short texts of unknown origin, and the files of -o.
package console

import (
	"bytes"
	"io"
	"os"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Text is out for texts: inert, and without the credentials that secrets know when they
// are written.
func Text(out io.Writer, secrets *secrets.Finder) io.Writer {
	return guarded{&invisible.Writer{Writer: out}, secrets}
}

// JSON is out for JSON, which stays exact except for credentials. Nothing in it is a
// command of a CI system.
func JSON(out io.Writer, secrets *secrets.Finder) io.Writer {
	return guarded{&exactJSON{Writer: out}, secrets}
}

// Commands is out for the annotations of GitHub Actions, whose commands are left as they
// are.
func Commands(out io.Writer, secrets *secrets.Finder) io.Writer {
	return guarded{&invisible.Writer{Writer: out, Commands: true}, secrets}
}

// guarded writes text on without the credentials that are known by then.
type guarded struct {
	io.Writer
	secrets *secrets.Finder
}

// Write implements io.Writer. What is split over two writes is not found: every
// message is written by one.
func (g guarded) Write(b []byte) (int, error) {
	text := string(b)
	clean := g.secrets.Redact("output", text)
	if clean == text {
		return g.Writer.Write(b)
	}
	_, err := io.WriteString(g.Writer, clean)
	return len(b), err
}

// File returns the file behind one of these writers, such as a terminal.
func File(w io.Writer) (*os.File, bool) {
	if g, ok := w.(guarded); ok {
		w = g.Writer
	}
	if v, ok := w.(*invisible.Writer); ok {
		w = v.Writer
	}
	f, ok := w.(*os.File)
	return f, ok
}

// exactJSON writes JSON on with every number sign that follows another one as an
// escape: the same values for who reads the JSON, and no command such as
// "##[error]" for what runs a CI job. All of a line's other text is in quotation
// marks, so no line begins with a command.
type exactJSON struct {
	io.Writer
	hash bool // a number sign came last
}

// Write implements io.Writer.
func (w *exactJSON) Write(b []byte) (int, error) {
	if !w.hash && !bytes.Contains(b, []byte("##")) {
		w.hash = bytes.HasSuffix(b, []byte("#"))
		return w.Writer.Write(b)
	}
	out := make([]byte, 0, len(b)+16)
	for _, c := range b {
		if c == '#' && w.hash {
			out = append(out, `\u0023`...)
		} else {
			out = append(out, c)
		}
		w.hash = c == '#'
	}
	if _, err := w.Writer.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
