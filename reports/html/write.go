package html

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/reports/model"
)

// WritePages writes the report as pages below root: index.html with a page for each task
// in tasks/. Pages of tasks that no longer exist are removed. The folders of the plots and of
// the tasks are made; see reports.Write. details may be nil.
func WritePages(root string, r model.Report, plots Plots, details DetailOf) error {
	return newFolder(r, plots).write(root, details)
}

// write writes the pages: those of tasks first, so that no link of the index
// leads nowhere.
func (f *folder) write(root string, details DetailOf) error {
	for _, name := range []string{"plots", "tasks"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o777); err != nil {
			return fmt.Errorf("reports: %w", err)
		}
	}
	for _, name := range []string{"", "plots", "tasks"} {
		atomicfile.Sweep(filepath.Join(root, name))
	}
	// Below a link somebody else's pages might be.
	if info, err := os.Lstat(filepath.Join(root, "tasks")); err != nil || !info.IsDir() {
		return fmt.Errorf("reports: %s is not a folder: remove it and write the report again", filepath.Join(root, "tasks"))
	}
	for _, file := range []struct{ name, text string }{{"page.css", pageStyle}, {"page.js", pageScript}} {
		if err := writeFile(filepath.Join(root, file.name), func(w io.Writer) error { _, err := io.WriteString(w, file.text); return err }); err != nil {
			return err
		}
	}
	index, err := f.index()
	if err != nil {
		return err
	}
	// Before the new ones: on a file system that folds case an old name may be a new one.
	if err := removeOld(filepath.Join(root, "tasks"), f.pages); err != nil {
		return err
	}
	for k, at := range f.order {
		name := filepath.FromSlash(f.pages[f.r.Tasks[at].ID])
		if err := writeFile(filepath.Join(root, name), func(w io.Writer) error { return f.page(w, k, details) }); err != nil {
			return err
		}
	}
	if len(f.missing) > 0 { // the index says why
		if index, err = f.index(); err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(root, "index.html"), func(w io.Writer) error { _, err := w.Write(index); return err })
}

// removeOld removes the pages that an earlier report left and that are not among the current
// ones.
func removeOld(dir string, pages map[string]string) error {
	current := map[string]bool{}
	for _, name := range pages {
		current[name] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reports: %w", err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".html" && !current["tasks/"+e.Name()] {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("reports: remove the page of an earlier report: %w", err)
			}
		}
	}
	return nil
}

// writeFile replaces path with what render writes.
func writeFile(path string, render func(io.Writer) error) error {
	if err := atomicfile.Render(path, render); err != nil {
		return fmt.Errorf("reports: write %s: %w", path, err)
	}
	return nil
}
