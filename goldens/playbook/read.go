package playbook

import (
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// Bounds of a playbook, far above solutions that people write.
const (
	maxBytes = 4 << 20
	maxSteps = 500 // of one solution
	maxDepth = 8   // of blocks in blocks
	// maxSuggested is the number of problems of a file up to which similar names are suggested.
	maxSuggested = 100
)

// Read reads playbook.yaml of the suite folder fsys. label is the folder's name in errors, tasks
// are those that may have a solution, judges those of the suite. It returns nil if there is no such file. The error joins a
// *goldens.Problem for every fault, ordered by line.
func Read(fsys fs.FS, label string, tasks []Task, judges ...Judge) (*Book, error) {
	f, err := fsys.Open(File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := newReader(path.Join(label, File), tasks)
	r.judges = judges
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

// reader is the state of reading a playbook.
type reader struct {
	tasks  []Task
	judges []Judge
	index  map[string]int // of tasks, by id
	book   *Book
	found  *yamlfile.Findings
	src    *yamlfile.Source
	lines  map[string]int // of a task's solution, by its id
	// written is the text of each solution, for comparisons.
	written map[*Play]string
}

func newReader(file string, tasks []Task) *reader {
	found := &yamlfile.Findings{}
	index := make(map[string]int, len(tasks))
	for i, t := range tasks {
		index[t.ID] = i
	}
	return &reader{tasks: tasks, index: index, book: &Book{}, found: found, src: &yamlfile.Source{File: file, Found: found}, lines: map[string]int{}, written: map[*Play]string{}}
}

// text reads the whole file.
func (r *reader) text(text []byte) {
	root, ok := r.src.Parse(text)
	if !ok {
		return
	}
	o := root.Object([]string{"playbook", "equivalent", "judges"})
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
	r.readJudges(o)
	r.briefs()
	solved := r.ambiguous()
	for _, t := range r.tasks {
		for _, s := range t.Tools.Specs() {
			if !slices.Contains(r.book.tools, s.Name) {
				r.book.tools = append(r.book.tools, s.Name)
			}
		}
		if solved[t.prompt()] == nil {
			r.book.missing = append(r.book.missing, t.ID)
		}
	}
}

// entry reads the solution of one task, or of several.
func (r *reader) entry(e yamlfile.Entry) {
	var tasks []Task
	for id := range strings.SplitSeq(e.Key, ",") {
		id = strings.TrimSpace(id)
		i, known := r.index[id]
		switch first, dup := r.lines[id]; {
		case !known:
			e.KeyAt.Failf("the suite has no task %q that takes a solution%s", id, r.suggest(id))
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
		p := &Play{task: t, request: plain(t.Request), steps: steps, file: e.Value.Src.File, outputs: expression.Need{}}
		p.connect()
		r.book.plays = append(r.book.plays, p)
		r.written[p] = string(e.Value.JSON())
	}
}

// suggest returns a hint with the most similar id, and none if the file has too many problems.
func (r *reader) suggest(id string) string {
	if len(r.found.List) > maxSuggested {
		return ""
	}
	return yamlfile.Suggest(id, r.ids())
}

func (r *reader) ids() (out []string) {
	for _, t := range r.tasks {
		out = append(out, t.ID)
	}
	return out
}

// ambiguous reports tasks with equal prompts and different solutions, and returns the first
// solution for each prompt.
func (r *reader) ambiguous() map[string]*Play {
	seen := map[string]*Play{}
	for _, p := range r.book.plays {
		key := p.task.prompt()
		first, dup := seen[key]
		if !dup {
			seen[key] = p
			continue
		}
		if r.written[first] != r.written[p] {
			r.src.Failf(r.lines[p.task.ID], "playbook."+p.task.ID, "task %s has the request and tools of task %s, on line %d, but another solution: a prompt cannot tell them apart; give both the same, such as \"%[2]s, %[1]s:\"", p.task.ID, first.task.ID, r.lines[first.task.ID])
		}
	}
	return seen
}

// briefs reports work of sub-agents with equal texts, by which they find their solutions.
func (r *reader) briefs() {
	first := map[string]part{}
	for _, p := range r.book.plays {
		walkParts(p.steps, func(s *step) {
			for _, p := range s.parts {
				key := plain(p.brief)
				if other, dup := first[key]; dup && other.play != p.play {
					r.src.Failf(p.line, "", "the text by which the sub-agent finds its steps must be of one only, but line %d has it, too", other.line)
				}
				first[key] = p
			}
		})
	}
}

// offer returns the sorted names of the task's tools.
func (t Task) offer() (names []string) {
	for _, s := range t.Tools.Specs() {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// prompt returns the parts of a prompt that identify the task.
func (t Task) prompt() string { return plain(t.Request) + "\n" + strings.Join(t.offer(), "\n") }

// ends reports whether a block always ends the solution.
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
