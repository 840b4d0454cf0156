package plot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/parallel"
	"github.com/cupel-eval/cupel/reports/model"
)

// Drawings are the figures of a report, drawn once for its page and its files. They are
// immutable.
type Drawings struct{ all []drawn }

// DrawAll draws every figure of r, as many at once as there are processors.
func DrawAll(r model.Report) (Drawings, error) {
	d := Drawings{make([]drawn, len(r.Figures))}
	return d, each(len(r.Figures), func(i int) (err error) {
		d.all[i], err = drawSVG(r, r.Figures[i])
		return err
	})
}

// Inline is the function [Inline] for the figures drawn.
func (d Drawings) Inline(_ model.Report, f model.Figure) (string, error) {
	for _, k := range d.all {
		if k.Name == f.Name {
			return k.inline(), nil
		}
	}
	return "", fmt.Errorf("reports: plot %q is not drawn: draw all of the report's", f.Name)
}

// Write writes every figure as dir/*.svg, and removes the files of figures in dir that an
// earlier report left, pictures included. dir exists. It returns all errors.
func (d Drawings) Write(dir string) error {
	written := map[string]bool{}
	for _, k := range d.all {
		written[k.Name+".svg"] = true
	}
	var errs []error
	for _, f := range figures() {
		for _, name := range []string{f.name + ".svg", f.name + ".png"} {
			if !written[name] {
				if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
					errs = append(errs, fmt.Errorf("reports: %w", err))
				}
			}
		}
	}
	return errors.Join(append(errs, each(len(d.all), func(i int) error { return writeFile(dir, d.all[i].Name+".svg", d.all[i].write) }))...)
}

// WritePNGs writes every figure of r as dir/*.png, as many at once as there are
// processors: the work of a second where SVG takes hundredths. dir exists. It returns
// all errors.
func WritePNGs(dir string, r model.Report) error {
	return each(len(r.Figures), func(i int) error {
		return writeFile(dir, r.Figures[i].Name+".png", func(w io.Writer) error { return writePNG(w, r, r.Figures[i]) })
	})
}

func writeFile(dir, name string, write func(io.Writer) error) error {
	path := filepath.Join(dir, name)
	if err := atomicfile.Render(path, write); err != nil {
		return fmt.Errorf("reports: write %s: %w", path, err)
	}
	return nil
}

// each calls do for 0 to n-1 on all processors and joins the errors in that order.
func each(n int, do func(i int) error) error {
	errs := make([]error, n)
	parallel.Each(n, func(i int) { errs[i] = do(i) })
	return errors.Join(errs...)
}
