package harness

import (
	"cmp"
	"sort"
	"strings"

	"github.com/cupel-eval/cupel/harness/internal/drive"
)

// name is that of the i-th episode.
func (p *plan) name(i int) string {
	c := p.cells[i]
	return drive.EpisodeName(p.tasks[c.Task].ID, p.candidates[c.Candidate].Name, int(c.Trial))
}

// find returns the place of an episode in the plan.
func (p *plan) find(task, candidate string, trial int) (int, bool) {
	return sort.Find(len(p.cells), func(i int) int {
		c := p.cells[i]
		return cmp.Or(
			strings.Compare(task, p.tasks[c.Task].ID),
			strings.Compare(candidate, p.candidates[c.Candidate].Name),
			cmp.Compare(trial, int(c.Trial)))
	})
}
