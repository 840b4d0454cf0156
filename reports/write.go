package reports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write writes dir/report: index.html, report.md, junit.xml, report.json and
// every figure as plots/*.svg and *.png. Each file replaces its predecessor
// atomically, so that a reader never sees half of one; the same report gives the
// same bytes.
func Write(dir string, r Report) error {
	root := filepath.Join(dir, "report")
	if err := os.MkdirAll(filepath.Join(root, "plots"), 0o755); err != nil {
		return fmt.Errorf("reports: %w", err)
	}
	for _, f := range []struct {
		name   string
		render func(io.Writer, Report) error
	}{{"index.html", HTML}, {"report.md", Markdown}, {"junit.xml", JUnit}, {"report.json", JSON}} {
		if err := writeFile(filepath.Join(root, f.name), func(w io.Writer) error { return f.render(w, r) }); err != nil {
			return err
		}
	}
	return writeFigures(filepath.Join(root, "plots"), r)
}

// writeFile renders beside path and then replaces it in one step.
func writeFile(path string, render func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("reports: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name()) // what matters is the first error
			err = fmt.Errorf("reports: write %s: %w", path, err)
		}
	}()
	b := bufio.NewWriterSize(tmp, 64<<10)
	err = errors.Join(render(b), b.Flush())
	if e := tmp.Chmod(0o644); err == nil {
		err = e
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
