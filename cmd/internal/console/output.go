package console

import (
	"cmp"
	"io"
	"os"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/term"

	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// Width is the width of the terminal behind a writer, in columns; 100 if there is none.
func Width(w io.Writer) int { return cmp.Or(Terminal(w), 100) }

// Terminal is the width of the terminal behind a writer, in columns; 0 if there is none.
func Terminal(w io.Writer) int {
	if f, ok := File(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return max(0, columns)
		}
	}
	return 0
}

// Table returns a plain table that is rendered to a writer: no box, headers as they
// are given. to may be nil for a table whose text is read only.
func Table(to io.Writer, header ...any) table.Writer {
	w := table.NewWriter()
	w.SetOutputMirror(to)
	if len(header) > 0 {
		w.AppendHeader(header)
	}
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = 0
	w.SetStyle(style)
	return w
}

// WriteFile replaces the file that -o names in one step. What is there and is not a
// file, such as a pipe or /dev/stdout, is written to as it is; a link keeps its place.
func WriteFile(path string, text []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, text, 0o666)
	}
	return atomicfile.WriteBytes(path, text)
}
