package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// The heat map shows runs of at least minHeat tasks, whose table is long: at most maxTiers
// tiers, and the someHot hardest tasks.
const (
	minHeat  = 100
	maxTiers = 6
	someHot  = 8
)

// add sums the results of two cells.
func add(c model.Cell, d model.Cell) model.Cell {
	return model.Cell{Solved: c.Solved + d.Solved, Scored: c.Scored + d.Scored}
}

// all is the result of all candidates.
func all(t model.Task) (sum model.Cell) {
	for _, c := range t.Cells {
		sum = add(sum, c)
	}
	return sum
}

// share solved; NaN without a result.
func share(c model.Cell) float64 { return float64(c.Solved) / float64(c.Scored) }

// heat is a cell of the heat map: 0 and 100 are exact.
func heat(c model.Cell) matrixCell {
	if c.Scored == 0 {
		return matrixCell{text: "–"}
	}
	p := int(math.Round(100 * share(c)))
	if c.Solved > 0 && c.Solved < c.Scored {
		p = min(99, max(1, p))
	}
	return matrixCell{fmt.Sprint(p), 1 - share(c)}
}

// tasksTitle counts scripted tasks only if there are no others.
func tasksTitle(r *model.Report) string {
	always, n, noun := 0, 0, "task"
	tasks := slices.DeleteFunc(slices.Clone(r.Tasks), func(t model.Task) bool { return t.Scripted })
	if len(tasks) == 0 {
		tasks, noun = r.Tasks, "scripted task"
	}
	for _, t := range tasks {
		if all := all(t); all.Scored > 0 {
			n++
			if all.Solved == all.Scored {
				always++
			}
		}
	}
	if n < minHeat {
		return ""
	}
	return fmt.Sprintf("%s of %s are always solved", words.Thousands(int64(always)), words.Plural(n, noun))
}

func tasksAlt(r *model.Report) string {
	tiers := tiers(r)
	text := alt(r, "Share of episodes solved", func(c model.Candidate) string {
		i := slices.IndexFunc(r.Candidates, func(k model.Candidate) bool { return k.Name == c.Name })
		var parts []string
		for _, t := range tiers {
			if c := t.Cells[i]; c.Scored > 0 {
				parts = append(parts, strings.TrimSpace(words.Brief(t.ID, 30)+" "+words.Percent(share(c))))
			}
		}
		return strings.Join(parts[:min(len(parts), 8)], ", ")
	})
	var hard []string
	for _, t := range hardest(r, 5) {
		if all := all(t); all.Scored > 0 && all.Solved < all.Scored {
			hard = append(hard, words.Brief(t.ID, 30)+" "+words.Percent(share(all)))
		}
	}
	if len(hard) > 0 {
		text += " Hardest, over all candidates: " + strings.Join(hard, ", ") + "."
	}
	return text
}

// tiers sum the tasks of each tier, in the order of the tasks.
func tiers(r *model.Report) (tiers []model.Task) {
	at := map[string]int{}
	for _, t := range r.Tasks {
		i, known := at[t.Tier]
		if !known {
			i = len(tiers)
			at[t.Tier] = i
			tiers = append(tiers, model.Task{ID: t.Tier, Cells: make([]model.Cell, len(r.Candidates))})
		}
		for k, c := range t.Cells {
			tiers[i].Cells[k] = add(tiers[i].Cells[k], c)
		}
	}
	return tiers
}

// hardest are at most n tasks that have a result, those solved least often
// first.
func hardest(r *model.Report, n int) []model.Task {
	tasks := slices.DeleteFunc(slices.Clone(r.Tasks), func(t model.Task) bool { return all(t).Scored == 0 })
	slices.SortStableFunc(tasks, func(a, b model.Task) int { return cmp.Compare(share(all(a)), share(all(b))) })
	return tasks[:min(n, len(tasks))]
}

// tasks is a heat map of the share solved, candidates × tasks.
func (t theme) tasks(r model.Report) drawing {
	g := matrix{theme: t, note: "Percentage of episodes solved. Darker means fewer; – means no result."}
	tiers := tiers(&r)
	g.columns = worst(maxColumns, len(r.Candidates), func(i int) (failed float64) {
		for _, t := range tiers {
			failed += float64(t.Cells[i].Scored - t.Cells[i].Solved)
		}
		return failed
	})
	add := func(heading string, tasks []model.Task) {
		g.lines = append(g.lines, matrixLine{label: heading})
		seen := map[string]bool{}
		for i, k := range tasks {
			l := matrixLine{label: t.label(cmp.Or(k.ID, "no tier"), i, 14, seen)}
			for _, c := range k.Cells {
				l.cells = append(l.cells, heat(c))
			}
			g.lines = append(g.lines, l)
		}
	}
	if len(tiers) > 1 {
		add("by tier", tiers[:min(len(tiers), maxTiers)])
	}
	hardest := hardest(&r, someHot)
	add(fmt.Sprintf("hardest %d", len(hardest)), hardest)
	return g.drawing(r)
}
