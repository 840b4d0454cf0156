package cmd

import (
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
