package draft

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/load"
)

// addGiven writes what a task gives beyond words, what its answer must look like, and
// the session it belongs to.
func addGiven(out *yaml.Node, t goldens.Task) {
	if len(t.Inputs) > 0 {
		inputs := yamlfile.Mapping(0)
		for _, in := range t.Inputs {
			yamlfile.Add(inputs, in.Name, yamlfile.JSONNode(in.Value), "")
		}
		yamlfile.Add(out, "inputs", inputs, "")
	}
	if t.Each != "" {
		yamlfile.Add(out, "each", yamlfile.Word(t.Each), "")
	}
	if len(t.Images) > 0 {
		var names []string
		for _, img := range t.Images {
			names = append(names, img.File)
		}
		yamlfile.Add(out, "images", yamlfile.Each(names, yamlfile.QuotedNode), "")
	}
	if t.AnswerSchema != nil {
		yamlfile.Add(out, "answer_schema", yamlfile.JSONNode(t.AnswerSchema), "")
	}
	if t.Session != "" {
		yamlfile.Add(out, "session", yamlfile.Word(t.Session), "")
	}
}

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
