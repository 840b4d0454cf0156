package reports

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// Write writes dir/report: index.html with a page for each task below tasks/,
// report.md, junit.xml, report.json and every figure as plots/*.svg and *.png.
// details, if not nil, says what was said in an episode; see DetailOf. Each file
// replaces its predecessor atomically, so that a reader never sees half of one,
// and pages of tasks that are no more are removed; the same report gives the same
// bytes.
func Write(dir string, r Report, details DetailOf) error {
	root := filepath.Join(dir, "report")
	if err := WritePages(root, r, inlineSVG, details); err != nil {
		return err
	}
	for _, out := range []struct {
		name   string
		render func(io.Writer, Report) error
	}{{"report.md", Markdown}, {"junit.xml", JUnit}, {"report.json", JSON}} {
		path := filepath.Join(root, out.name)
		if err := atomicfile.Render(path, func(w io.Writer) error { return out.render(w, r) }); err != nil {
			return fmt.Errorf("reports: write %s: %w", path, err)
		}
	}
	return writeFigures(filepath.Join(root, "plots"), r)
}
