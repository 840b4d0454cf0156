package playbook

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// Bounds of a playbook: no solution written by people comes near them.
const (
	maxBytes = 4 << 20
	maxSteps = 500 // of one solution
	maxDepth = 8   // of blocks in blocks
)

// Read reads playbook.yaml of the suite folder fsys; label is what people call the
// folder, and tasks are those that may have a solution. It returns nil if there is no
// such file. The error joins a *goldens.Problem for every fault, ordered by line.
func Read(fsys fs.FS, label string, tasks []Task) (*Book, error) {
	f, err := fsys.Open(File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := newReader(path.Join(label, File), tasks)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(f, maxBytes+1))
		err = errors.Join(err, f.Close())
	}
	switch {
	case err != nil:
		r.src.Failf(1, "", "cannot read the file: %v", err)
	case len(text) > maxBytes:
		r.src.Failf(1, "", "the file is larger than %d MiB", maxBytes>>20)
	default:
		r.text(text)
	}
	if err := r.found.Join(); err != nil {
		return nil, err
	}
	return r.book, nil
}

//go:embed playbook.schema.json
var schemaText []byte

// Schema returns the JSON Schema (2020-12) of playbook.yaml, for completion in editors.
// Read checks more than a schema can say. The caller owns the slice.
func Schema() []byte { return slices.Clone(schemaText) }

// reader holds what reading a playbook has found so far.
type reader struct {
	tasks []Task
	book  *Book
	found *yamlfile.Findings
	src   *yamlfile.Source
	lines map[string]int // of a task's solution, by its id
	// written is the text of a solution, to compare it with others.
	written map[*Play]string
}

func newReader(file string, tasks []Task) *reader {
	found := &yamlfile.Findings{}
	return &reader{tasks: tasks, book: &Book{}, found: found, src: &yamlfile.Source{File: file, Found: found}, lines: map[string]int{}, written: map[*Play]string{}}
}

// text reads the whole file.
func (r *reader) text(text []byte) {
	root, ok := r.src.Parse(text)
	if !ok {
		return
	}
	o := root.Object([]string{"playbook", "equivalent"})
	p, ok := o.Need("playbook")
	if !ok {
		return
	}
	for _, e := range p.Entries() {
		r.entry(e)
	}
	if p, ok := o.Get("equivalent"); ok {
		r.readExcuses(p)
	}
	r.ambiguous()
	for _, t := range r.tasks {
		solved := func(p *Play) bool { return plain(p.task.Request) == plain(t.Request) && p.sameOffer(t) }
		if !slices.ContainsFunc(r.book.plays, solved) {
			r.book.missing = append(r.book.missing, t.ID)
		}
	}
}

// entry reads the solution of one task, or of several.
func (r *reader) entry(e yamlfile.Entry) {
	var tasks []Task
	for id := range strings.SplitSeq(e.Key, ",") {
		id = strings.TrimSpace(id)
		i := slices.IndexFunc(r.tasks, func(t Task) bool { return t.ID == id })
		switch first, dup := r.lines[id]; {
		case i < 0:
			e.KeyAt.Failf("the suite has no task %q that takes a solution%s", id, yamlfile.Suggest(id, r.ids()))
		case dup:
			e.KeyAt.Failf("task %s has a solution already, on line %d", id, first)
		default:
			r.lines[id] = e.KeyAt.At()
			tasks = append(tasks, r.tasks[i])
		}
	}
	if len(tasks) == 0 {
		return
	}
	known := map[string]bool{}
	for _, in := range tasks[0].Inputs {
		known[in] = true
	}
	if tasks[0].Each != "" {
		known[itemName] = true
	}
	for _, t := range tasks[1:] {
		if t.Each != tasks[0].Each || !slices.Equal(t.Inputs, tasks[0].Inputs) {
			e.KeyAt.Failf("tasks %s and %s take different inputs, so they cannot share a solution", tasks[0].ID, t.ID)
		}
	}
	s := &solution{tasks: tasks, names: known}
	before := len(r.found.List)
	steps := s.block(e.Value, 0)
	if !ends(steps) && len(r.found.List) == before {
		e.KeyAt.Failf("the solution of %s does not end: its last step must be answer or give_up, in both branches of an if", e.Key)
	}
	for _, t := range tasks {
		p := &Play{task: t, steps: steps, file: e.Value.Src.File, handed: expression.Need{}}
		r.book.plays = append(r.book.plays, p)
		r.written[p] = string(e.Value.JSON())
	}
}

func (r *reader) ids() (out []string) {
	for _, t := range r.tasks {
		out = append(out, t.ID)
	}
	return out
}

// ambiguous reports tasks that a prompt cannot tell apart and whose solutions differ.
func (r *reader) ambiguous() {
	seen := map[string]*Play{}
	for _, p := range r.book.plays {
		key := plain(p.task.Request) + "\n" + fmt.Sprint(slices.Sorted(maps.Keys(p.offer())))
		first, dup := seen[key]
		if !dup {
			seen[key] = p
			continue
		}
		if r.written[first] != r.written[p] {
			r.src.Failf(r.lines[p.task.ID], "playbook."+p.task.ID, "task %s has the request and tools of task %s, on line %d, but another solution: a prompt cannot tell them apart; give both the same, such as \"%[2]s, %[1]s:\"", p.task.ID, first.task.ID, r.lines[first.task.ID])
		}
	}
}

// offer are the names of the task's tools.
func (p *Play) offer() map[string]bool {
	out := map[string]bool{}
	for _, s := range p.task.Tools.Specs() {
		out[s.Name] = true
	}
	return out
}

func (p *Play) sameOffer(t Task) bool {
	return maps.Equal(p.offer(), (&Play{task: t}).offer())
}

// ends says whether a block always ends the solution.
func ends(steps []step) bool {
	if len(steps) == 0 {
		return false
	}
	switch s := steps[len(steps)-1]; s.kind {
	case anAnswer, aGiveUp:
		return true
	case anIf:
		return ends(s.block) && ends(s.other)
	}
	return false
}
