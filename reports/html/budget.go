package html

import "github.com/cupel-eval/cupel/reports/model"

// transcriptBudget shares out the bytes for what was said. Of the episodes of a cell the
// unsolved ones get a share and the first solved one; the shares of what there is
// most to learn from are the largest. Each kind spends in step with how many of
// its episodes have passed: what must be left out is spread over all tasks.
type transcriptBudget struct {
	kinds   map[int]int // by episode; absent for those without a share
	classes [4]budgetClass
}

// budgetClass is what one kind has.
type budgetClass struct{ budget, episodes, seen, spent int }

// The kinds, and what an episode of each weighs.
const (
	firstUnsolved = iota // of a cell
	solvedBeside         // the first of a cell, of a task that was not always solved
	otherUnsolved
	solvedClean // the first of a cell, of a task that was always solved
)

func shareOf(kind int) int { return [...]int{8, 6, 3, 1}[kind] }

func newTranscriptBudget(r model.Report, linked links, budget int) transcriptBudget {
	a := transcriptBudget{kinds: map[int]int{}}
	for _, t := range r.Tasks {
		solved := solvedBeside
		if clean(t) {
			solved = solvedClean
		}
		for _, c := range t.Cells {
			unsolved, first := firstUnsolved, true
			for _, i := range c.Episodes {
				e := &r.Episodes[i]
				switch {
				case linked[i] == "":
				case !e.Solved:
					a.kinds[i], unsolved = unsolved, otherUnsolved
				case first:
					a.kinds[i], first = solved, false
				}
			}
		}
	}
	shares := 0
	for _, kind := range a.kinds {
		a.classes[kind].episodes++
		shares += shareOf(kind)
	}
	for kind := range a.classes {
		if p := &a.classes[kind]; shares > 0 {
			p.budget = int(float64(budget) * float64(p.episodes*shareOf(kind)) / float64(shares))
		}
	}
	return a
}

// has says whether there is a share for the next episode.
func (a *transcriptBudget) has(episode int) bool {
	kind, ok := a.kinds[episode]
	if !ok {
		return false
	}
	p := &a.classes[kind]
	p.seen++
	return float64(p.spent)*float64(p.episodes) < float64(p.budget)*float64(p.seen)
}

func (a *transcriptBudget) spend(episode, bytes int) { a.classes[a.kinds[episode]].spent += bytes }
