package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxCodes bounds the violations shown; the others are summed.
const maxCodes = 6

// violationRow is how often a violation occurred in the turns of each candidate.
type violationRow struct {
	code string
	n    []int // by candidate
}

func (v violationRow) sum() (n int) {
	for _, k := range v.n {
		n += k
	}
	return n
}

// violations lists the codes, the most frequent first.
func violations(r *model.Report) []violationRow {
	var all []violationRow
	at := map[string]int{}
	for i, c := range r.Candidates {
		for _, v := range c.Violations {
			k, known := at[v.Name]
			if !known {
				k = len(all)
				at[v.Name] = k
				all = append(all, violationRow{v.Name, make([]int, len(r.Candidates))})
			}
			all[k].n[i] += v.N
		}
	}
	slices.SortFunc(all, func(a, b violationRow) int {
		return cmp.Or(cmp.Compare(b.sum(), a.sum()), cmp.Compare(a.code, b.code))
	})
	if len(all) <= maxCodes {
		return all
	}
	rest := violationRow{fmt.Sprintf("%d other codes", len(all)-maxCodes+1), make([]int, len(r.Candidates))}
	for _, v := range all[maxCodes-1:] {
		for i, n := range v.n {
			rest.n[i] += n
		}
	}
	return append(all[:maxCodes-1], rest)
}

func violationsTitle(r *model.Report) string {
	turns := 0
	for _, c := range r.Candidates {
		turns += c.Turns
	}
	all := violations(r)
	if turns == 0 || len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("Most frequent violation: %s (%s of %s)", words.Brief(all[0].code, 36), words.Thousands(int64(all[0].sum())), words.Plural(turns, "turn"))
}

func violationsAlt(r *model.Report) string {
	return alt(r, "Violations of "+r.Protocols(), func(c model.Candidate) string {
		if c.Turns == 0 {
			return ""
		}
		short := slices.Clone(c.Violations)
		for i := range short {
			short[i].Name = words.Brief(short[i].Name, 40)
		}
		return view.List(short, 8) + " in " + words.Plural(c.Turns, "turn")
	})
}

// violations is a table of violations per hundred turns, by code and candidate.
func (t theme) violations(r model.Report) drawing {
	all := violations(&r)
	g := matrix{theme: t, note: "Violations per 100 turns. Darker means more; – means no turns."}
	most, sums := 0.0, make([]float64, len(r.Candidates))
	for _, v := range all {
		for i, n := range v.n {
			each := float64(n) / float64(max(1, r.Candidates[i].Turns))
			most, sums[i] = max(most, each), sums[i]+each
		}
	}
	g.columns = worst(maxColumns, len(sums), func(i int) float64 { return sums[i] })
	seen := map[string]bool{}
	for i, v := range all {
		l := matrixLine{label: t.label(v.code, i, 44, seen)}
		for i, n := range v.n {
			turns := r.Candidates[i].Turns
			if turns == 0 {
				l.cells = append(l.cells, matrixCell{text: "–"})
				continue
			}
			each := float64(n) / float64(turns)
			l.cells = append(l.cells, matrixCell{perHundred(each), each / most})
		}
		g.lines = append(g.lines, l)
	}
	return g.drawing(r)
}

// perHundred writes a rate per 100 with at most two significant digits. Only 0 is "0".
func perHundred(v float64) string {
	switch p := 100 * v; {
	case p == 0:
		return "0"
	case p < 0.1:
		return "<.1"
	case p < 9.95:
		return words.Trimmed(p, 1)
	default:
		return strconv.FormatFloat(p, 'f', 0, 64)
	}
}
