package cmd

import (
	"bytes"
	"io"
	"path/filepath"
)

// machine is standard output for the contents of a file of this name.
func (p *process) machine(name string) io.Writer {
	if filepath.Ext(name) == ".json" {
		return p.json
	}
	return p.stdout
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
