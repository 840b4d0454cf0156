package playbook

import (
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// Excuse is an entry under equivalent in playbook.yaml: the reason why a task may accept certain
// mutants of its solution, which are then not mistakes. `cupel suite prove` uses it.
type Excuse struct {
	// Mutant is the description of the mutant, as suite prove prints it; * matches any text.
	Mutant string
	// Why is the reason.
	Why string
	at  yamlfile.Place
}

// Excuses returns the excuses of a task in the order of the file.
func (b *Book) Excuses(id string) []Excuse {
	if b == nil {
		return nil
	}
	return b.excuses[id]
}

// Matches reports whether the excuse applies to a mutant with this description.
func (e Excuse) Matches(does string) bool {
	parts := strings.Split(e.Mutant, "*")
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(does, parts[0])
	if last == 0 || !ok {
		return ok && rest == ""
	}
	for _, part := range parts[1:last] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}

// Unused returns the problem of an excuse without a matching mutant.
func (e Excuse) Unused() error {
	return &yamlfile.Problem{File: e.at.Src.File, Line: e.at.At(), Field: e.at.Path, Detail: "the task accepts no mutant that does this; remove the excuse, or write what suite prove says"}
}

// readExcuses reads the excuses of all tasks.
func (r *reader) readExcuses(p yamlfile.Place) {
	r.book.excuses = map[string][]Excuse{}
	for _, e := range p.Entries() {
		if _, known := r.index[e.Key]; !known {
			e.KeyAt.Failf("the suite has no task %q that takes a solution%s", e.Key, r.suggest(e.Key))
			continue
		}
		for _, item := range e.Value.Items() {
			o := item.Object([]string{"mutant", "why"})
			x := Excuse{at: item}
			if p, ok := o.Need("mutant"); ok {
				x.Mutant = p.Filled()
			}
			if p, ok := o.Need("why"); ok {
				x.Why = p.Filled()
			}
			r.book.excuses[e.Key] = append(r.book.excuses[e.Key], x)
		}
	}
}
