package draft

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/load"
)

// pictures places the images of the task below images, and returns the files that
// are not there yet.
func (a *adding) pictures() ([]AddedFile, error) {
	var out []AddedFile
	a.Task.Images = slices.Clone(a.Task.Images)
	for i := range a.Task.Images {
		img := &a.Task.Images[i]
		img.File = fmt.Sprintf("images/%s-%d.%s", a.Task.ID, i+1, strings.TrimPrefix(img.MediaType, "image/"))
		is, err := load.ReadImage(a.fsys, img.File)
		switch _, missing := fs.Stat(a.fsys, img.File); {
		case errors.Is(missing, fs.ErrNotExist):
			out = append(out, AddedFile{Path: img.File, Text: img.Data})
		case err != nil:
			return nil, fmt.Errorf("image %s: %w", path.Join(a.path, img.File), err)
		case !bytes.Equal(is, img.Data):
			return nil, fmt.Errorf("the file %s is %w", path.Join(a.path, img.File), ErrTaken)
		}
	}
	return out, nil
}
