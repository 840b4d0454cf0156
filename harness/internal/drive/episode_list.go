package drive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// EpisodeName returns the name of an episode of a run for display.
func EpisodeName(task, candidate string, trial int) string {
	return fmt.Sprintf("%s/%s/%d", task, candidate, trial)
}

// EpisodeList names episodes in twelve bytes each, because a run may have 100,000.
type EpisodeList struct {
	names map[string]int32
	texts []string
	Cells []Cell // with indexes of their task and candidate in texts
}

func (l *EpisodeList) number(name string) int32 {
	n, ok := l.names[name]
	if !ok {
		if l.names == nil {
			l.names = map[string]int32{}
		}
		name = strings.Clone(name) // because it may be part of a line
		n = int32(len(l.texts))
		l.names[name], l.texts = n, append(l.texts, name)
	}
	return n
}

// Add adds an episode to the end.
func (l *EpisodeList) Add(task, candidate string, trial int) {
	l.Cells = append(l.Cells, Cell{l.number(task), l.number(candidate), int32(trial)})
}

// At returns the i-th episode.
func (l *EpisodeList) At(i int) (task, candidate string, trial int) {
	c := l.Cells[i]
	return l.texts[c.Task], l.texts[c.Candidate], int(c.Trial)
}

// sort makes has work; add undoes that.
func (l *EpisodeList) sort() { slices.SortFunc(l.Cells, compareCells) }

func (l *EpisodeList) has(task, candidate string, trial int) bool {
	t, ok := l.names[task]
	c, also := l.names[candidate]
	_, found := slices.BinarySearchFunc(l.Cells, Cell{t, c, int32(trial)}, compareCells)
	return ok && also && found
}

func compareCells(a, b Cell) int {
	return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Candidate, b.Candidate), cmp.Compare(a.Trial, b.Trial))
}

// Cell is an episode by the places of its task and candidate in the plan.
type Cell struct{ Task, Candidate, Trial int32 }

// Filter returns the candidates of the list, in the order in which they first appear, and
// a function that reports whether an episode is in the list. base replaces the name of
// each candidate.
func (l *EpisodeList) Filter(base func(candidate string) string) (candidates []string, has func(task, candidate string, trial int) bool) {
	var wanted EpisodeList
	for i := range l.Cells {
		task, candidate, trial := l.At(i)
		candidate = base(candidate)
		wanted.Add(task, candidate, trial)
		if !slices.Contains(candidates, candidate) {
			candidates = append(candidates, candidate)
		}
	}
	wanted.sort()
	return candidates, wanted.has
}
