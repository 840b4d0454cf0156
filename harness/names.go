package harness

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// episodeName is how people name an episode of a run.
func episodeName(task, candidate string, trial int) string {
	return fmt.Sprintf("%s/%s/%d", task, candidate, trial)
}

// name is that of the i-th episode.
func (p *plan) name(i int) string {
	c := p.cells[i]
	return episodeName(p.tasks[c.task].ID, p.candidates[c.candidate].Name, int(c.trial))
}

// find returns the place of an episode in the plan.
func (p *plan) find(task, candidate string, trial int) (int, bool) {
	return sort.Find(len(p.cells), func(i int) int {
		c := p.cells[i]
		return cmp.Or(
			strings.Compare(task, p.tasks[c.task].ID),
			strings.Compare(candidate, p.candidates[c.candidate].Name),
			cmp.Compare(trial, int(c.trial)))
	})
}

// episodeList names episodes in twelve bytes each: a run may have 100,000.
type episodeList struct {
	names map[string]int32
	texts []string
	cells []cell // their task and candidate are places in texts
}

func (l *episodeList) number(name string) int32 {
	n, ok := l.names[name]
	if !ok {
		if l.names == nil {
			l.names = map[string]int32{}
		}
		name = strings.Clone(name) // it may be part of a line
		n = int32(len(l.texts))
		l.names[name], l.texts = n, append(l.texts, name)
	}
	return n
}

func (l *episodeList) add(task, candidate string, trial int) {
	l.cells = append(l.cells, cell{l.number(task), l.number(candidate), int32(trial)})
}

// at returns the i-th episode.
func (l *episodeList) at(i int) (task, candidate string, trial int) {
	c := l.cells[i]
	return l.texts[c.task], l.texts[c.candidate], int(c.trial)
}

// sort makes has work; add undoes that.
func (l *episodeList) sort() { slices.SortFunc(l.cells, compareCells) }

func (l *episodeList) has(task, candidate string, trial int) bool {
	t, ok := l.names[task]
	c, also := l.names[candidate]
	_, found := slices.BinarySearchFunc(l.cells, cell{t, c, int32(trial)}, compareCells)
	return ok && also && found
}

func compareCells(a, b cell) int {
	return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.candidate, b.candidate), cmp.Compare(a.trial, b.trial))
}
