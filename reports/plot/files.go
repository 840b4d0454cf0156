package plot

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/reports/model"
)

// WriteAll writes every figure of r as dir/*.svg and *.png, as many at once
// as there are processors. dir exists. It returns all errors, in the order of
// the figures.
func WriteAll(dir string, r model.Report) error {
	errs := make([]error, 2*len(r.Figures))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(errs)) {
		workers.Go(func() {
			for i := range next {
				f := r.Figures[i/2]
				suffix, write := ".svg", WriteSVG
				if i%2 == 1 {
					suffix, write = ".png", WritePNG
				}
				path := filepath.Join(dir, f.Name+suffix)
				if errs[i] = atomicfile.Render(path, func(w io.Writer) error { return write(w, r, f) }); errs[i] != nil {
					errs[i] = fmt.Errorf("reports: write %s: %w", path, errs[i])
				}
			}
		})
	}
	for i := range errs {
		next <- i
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}
