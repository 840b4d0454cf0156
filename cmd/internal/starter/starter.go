// Package starter writes the files that a project begins with.
package starter

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// external is the folder with what is written in place of other files, and beside them, for
// an agent of the user's own.
const external = "external"

// Options are what to write.
type Options struct {
	// Files has the files, and in the folder external those of a project with an external
	// agent.
	Files fs.FS
	// Root is the folder to write to.
	Root string
	// External asks for a project with an external agent.
	External bool
	// Out gets a line for each file.
	Out io.Writer
}

// Write writes every file that does not exist yet.
func Write(o Options) error {
	own, err := fs.Sub(o.Files, external)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if o.External {
		if err := o.writeAll(own, nil); err != nil {
			return err
		}
	}
	return o.writeAll(o.Files, func(path string) bool {
		_, err := fs.Stat(own, path)
		return path == external || o.External && path != "." && err == nil
	})
}

// writeAll writes the files of a tree but those that leave names.
func (o Options) writeAll(files fs.FS, leave func(path string) bool) error {
	return fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("init: %w", err)
		case leave != nil && leave(path) && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || leave != nil && leave(path):
			return nil
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return fmt.Errorf("init: %w", err)
		}
		if program := Python(); path == configuration && program != "" {
			text = []byte(strings.ReplaceAll(string(text), "[python3, ", "["+program+", "))
		}
		return o.write(filepath.Join(o.Root, filepath.FromSlash(path)), text)
	})
}

func (o Options) write(to string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		_, _ = fmt.Fprintf(o.Out, "kept    %s (exists)\n", to)
		return nil
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if _, err := f.Write(text); err != nil {
		_ = f.Close()
		return fmt.Errorf("init: write %s: %w", to, err)
	}
	_, _ = fmt.Fprintf(o.Out, "wrote   %s\n", to)
	return f.Close()
}

// Python is the name of a Python 3 on this machine; empty if there is none.
func Python() string {
	for _, name := range []string{"python3", "python"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return ""
}
