package reports

import (
	"errors"
	"io"
	"path/filepath"
)

// writeFigures writes every figure of r as dir/*.svg and *.png. dir exists.
func writeFigures(dir string, r Report) error {
	var errs error
	for _, f := range r.Figures {
		path := filepath.Join(dir, f.Name)
		errs = errors.Join(errs,
			writeFile(path+".svg", func(w io.Writer) error { return writeSVG(w, r, f) }),
			writeFile(path+".png", func(w io.Writer) error { return writePNG(w, r, f) }))
	}
	return errs
}
