package goldens

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// addGiven writes what a task gives beyond words, what its answer must look like, and
// the session it belongs to.
func addGiven(out *yaml.Node, t Task) {
	if len(t.Inputs) > 0 {
		inputs := mapping(0)
		for _, in := range t.Inputs {
			add(inputs, in.Name, jsonNode(in.Value), "")
		}
		add(out, "inputs", inputs, "")
	}
	if t.Each != "" {
		add(out, "each", word(t.Each), "")
	}
	if len(t.Images) > 0 {
		var names []string
		for _, img := range t.Images {
			names = append(names, img.File)
		}
		add(out, "images", each(names, quotedNode), "")
	}
	if t.AnswerSchema != nil {
		add(out, "answer_schema", jsonNode(t.AnswerSchema), "")
	}
	if t.Session != "" {
		add(out, "session", word(t.Session), "")
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
		is, err := readImage(a.fsys, img.File)
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
