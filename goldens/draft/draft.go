// Package draft writes a task into a suite folder, such as one made of an episode, and
// makes sure that it is read back as it was meant.
package draft

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/declared"
)

// Draft is a task on its way into a suite folder.
type Draft struct {
	// Task is what is written, under its ID. Its world, budgets and constraints are
	// written out in full: no default of the suite it comes into changes it. It may
	// not be Scripted.
	Task goldens.Task
	// Pinned marks every check of the first outcome with a comment: it was made by
	// Pin and is to be edited.
	Pinned bool
	// From is the suite whose tools the task offers. A suite that lacks one is given
	// its definition, unless it is run over HTTP.
	From *goldens.Suite
	// Candidates are written into a suite.yaml that cupel creates.
	Candidates []goldens.Candidate
	// GoTools are the tools that the program implements as Go functions: see Lint.
	GoTools []string
	// Comments are the first lines of the task's file. Control characters are
	// escaped, and long lines cut.
	Comments []string
}

// Addition is a Draft with the suite it makes.
type Addition struct {
	// Suite is the folder's suite as it will be. It reads the new files from memory.
	Suite *goldens.Suite
	// Files are to be written: the task's first, then its images, suite.yaml last if it
	// is among them.
	Files []AddedFile
	// Differ names tools of the task that the folder's suite defines otherwise: its
	// own definition is the one in force.
	Differ []string
}

// AddedFile is a file of a suite folder.
type AddedFile struct {
	// Path is slash-separated, below the suite folder.
	Path string
	Text []byte
	// Replaces reports that the file is there already and changes.
	Replaces bool
}

// ErrTaken reports that a suite folder has a task, or a file, of the draft's id.
var ErrTaken = errors.New("taken")

// AddTo works out which files of the suite folder fsys the draft makes or changes:
// the task's own, where the suite looks for task files, its images, and suite.yaml if it must
// name that, lacks a tool, or does not exist. The result is loaded and linted, and
// nothing is written. path is the name of the folder. The error is ErrTaken,
// joins the *Problem of what would not load, or says what cannot be added and why.
func (d Draft) AddTo(fsys fs.FS, path string) (Addition, error) {
	a := adding{Draft: d, fsys: fsys, path: path}
	for _, step := range []func() error{a.open, a.place, a.offerTools, a.placeImages, a.write, a.load} {
		if err := step(); err != nil {
			return Addition{}, err
		}
	}
	return a.Addition, nil
}

// adding is a draft on its way into one folder.
type adding struct {
	Draft
	Addition
	fsys      fs.FS
	path      string
	old       *goldens.Suite // nil where there is no suite.yaml yet
	was, text []byte         // of suite.yaml, before and after
}

// open reads the folder's suite, or begins one.
func (a *adding) open() error {
	if a.Task.Scripted {
		return fmt.Errorf("task %s is scripted: it proves the harness, and is written by hand", a.Task.ID)
	}
	text, err := load.ReadFile(a.fsys, load.SuiteFile)
	if _, missing := fs.Stat(a.fsys, load.SuiteFile); errors.Is(missing, fs.ErrNotExist) {
		a.text, err = a.newSuite()
		return err
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path.Join(a.path, load.SuiteFile), err)
	}
	a.was, a.text = text, text
	if a.old, err = load.Suite(a.fsys, a.path, a.From.Worlds); err != nil {
		return err
	}
	for _, t := range a.old.Tasks {
		if strings.EqualFold(t.ID, a.Task.ID) {
			return fmt.Errorf("task id %s is %w: %s:%d", a.Task.ID, ErrTaken, t.File, t.Line)
		}
	}
	return nil
}

// place finds the task's file: where a pattern of the suite takes it in, else below
// tasks, named in suite.yaml.
func (a *adding) place() (err error) {
	if fault := yamlfile.TaskName.Fault(a.Task.ID); fault != "" || a.Task.ID == "" {
		return fmt.Errorf("task id: %s", cmp.Or(fault, "is empty"))
	}
	file := a.Task.ID + ".yaml"
	patterns, name := taskPatterns(a.text), path.Join("tasks", file)
	named := matchesAny(patterns, name)
	for i := 0; i < len(patterns) && !named; i++ {
		p := patterns[i]
		if beside := path.Join(path.Dir(p), file); strings.ContainsAny(path.Base(p), "*?[") && matchesAny(patterns[i:i+1], beside) {
			name, named = beside, true
		}
	}
	if _, err := fs.Stat(a.fsys, name); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the file %s is %w", path.Join(a.path, name), ErrTaken)
	}
	a.Files = []AddedFile{{Path: name}}
	if !named {
		if a.text, err = insertItem(a.text, "tasks", name); err != nil {
			return fmt.Errorf("%s: %w; add %s to its tasks yourself, then try again", path.Join(a.path, load.SuiteFile), err, path.Join(path.Dir(name), "*.yaml"))
		}
	}
	return nil
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil })
}

// offerTools adds the tools that the folder's suite lacks.
func (a *adding) offerTools() (err error) {
	for _, name := range a.Task.Tools {
		is := func(s tool.Spec) bool { return s.Name == name }
		i := slices.IndexFunc(a.From.Tools, is)
		if i < 0 {
			return fmt.Errorf("suite %s has no tool %q to take over", a.From.Path, name)
		}
		if a.old != nil && slices.ContainsFunc(a.old.Tools, is) {
			if !sameTool(a.From, a.old, name) {
				a.Differ = append(a.Differ, name)
			}
			continue
		}
		how := ""
		if a.From.Remote(name) {
			how = "is run over HTTP or by an MCP server"
		} else if w := a.Task.World; w.Kind == declared.Kind && slices.ContainsFunc(w.Maker.Tools(), is) {
			how = "has rules"
		}
		if how != "" {
			return fmt.Errorf("tool %s %s, and %s has none of that name: copy its definition from %s first", name, how, a.path, a.From.Path)
		}
		item, err := yamlfile.FlowLine(toolNode(a.From.Tools[i], a.From.Approval(name), a.From.Fixed[name]))
		if err != nil {
			return fmt.Errorf("write tool %s: %w", name, err)
		}
		if a.text, err = insertItem(a.text, "tools", item); err != nil {
			return fmt.Errorf("%s: %w; copy tool %s into it yourself, then try again", path.Join(a.path, load.SuiteFile), err, name)
		}
	}
	return nil
}

// sameTool reports whether two suites define a tool equally.
func sameTool(a, b *goldens.Suite, name string) bool {
	only := func(s *goldens.Suite) string {
		one := &goldens.Suite{HTTP: map[string]world.HTTPTool{}, Approvals: map[string]goldens.Approval{name: s.Approval(name)}}
		if i := slices.IndexFunc(s.Tools, func(t tool.Spec) bool { return t.Name == name }); i >= 0 {
			one.Tools = s.Tools[i : i+1]
		}
		if h, ok := s.HTTP[name]; ok {
			one.HTTP[name] = h
		}
		if m, ok := s.MCP[name]; ok {
			one.MCP = map[string]toolserver.Server{name: m}
		}
		if r, ok := s.Fixed[name]; ok {
			one.Fixed = map[string]json.RawMessage{name: r}
		}
		return one.ContentDigest()
	}
	return only(a) == only(b)
}

// placeImages places the images of the task below images, and adds the files that are not
// there yet.
func (a *adding) placeImages() error {
	a.Task.Images = slices.Clone(a.Task.Images)
	for i := range a.Task.Images {
		img := &a.Task.Images[i]
		img.File = fmt.Sprintf("images/%s-%d.%s", a.Task.ID, i+1, strings.TrimPrefix(img.MediaType, "image/"))
		is, err := load.ReadImage(a.fsys, img.File)
		switch _, missing := fs.Stat(a.fsys, img.File); {
		case errors.Is(missing, fs.ErrNotExist):
			a.Files = append(a.Files, AddedFile{Path: img.File, Text: img.Data})
		case err != nil:
			return fmt.Errorf("image %s: %w", path.Join(a.path, img.File), err)
		case !bytes.Equal(is, img.Data):
			return fmt.Errorf("the file %s is %w", path.Join(a.path, img.File), ErrTaken)
		}
	}
	return nil
}

// write makes the texts of the task's file and of suite.yaml.
func (a *adding) write() (err error) {
	if !slices.Equal(a.text, a.was) {
		a.Files = append(a.Files, AddedFile{load.SuiteFile, a.text, a.old != nil})
	}
	a.Files[0].Text, err = a.file()
	return err
}

// load reads the suite as it will be, and makes sure that the task is in it as it
// was meant, and every other one as it was.
func (a *adding) load() error {
	s, err := load.Suite(newOverlay(a.fsys, a.Files), a.path, a.From.Worlds)
	if err != nil {
		return err
	}
	if err := s.Lint(a.GoTools...); err != nil {
		return err
	}
	i := slices.IndexFunc(s.Tasks, func(t goldens.Task) bool { return t.ID == a.Task.ID })
	switch {
	case i < 0:
		return fmt.Errorf("suite %s would not find task %s in %s", a.path, a.Task.ID, a.Files[0].Path)
	case s.Tasks[i].World.Program != a.Task.World.Program:
		return fmt.Errorf("the files that the command of task %s's world names are not in %s; copy them from %s first", a.Task.ID, a.path, a.From.Path)
	case !sameTasks(s.Tasks[i:i+1], []goldens.Task{a.Task}):
		return fmt.Errorf("task %s cannot be written as YAML without a change", a.Task.ID)
	case a.old != nil && !sameTasks(slices.Delete(slices.Clone(s.Tasks), i, i+1), a.old.Tasks):
		return fmt.Errorf("the other tasks of %s would change: those without tools of their own offer every tool of the suite; give defaults a list of tools first", a.path)
	}
	a.Suite = s
	return nil
}

func sameTasks(a, b []goldens.Task) bool {
	words := func(list []goldens.Task) (out [][]string) {
		for _, t := range list {
			w := []string{t.Title}
			for _, e := range t.Expect {
				w = append(w, e.Note)
			}
			out = append(out, append(w, t.Probes...))
		}
		return out
	}
	return (&goldens.Suite{Tasks: a}).ContentDigest() == (&goldens.Suite{Tasks: b}).ContentDigest() && reflect.DeepEqual(words(a), words(b))
}
