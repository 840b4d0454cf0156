package compare

import (
	"math"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/reports/stat"
)

// often is the power that sizes are given for.
const often = 0.8

// power says what loss these numbers would have shown, and what it would take to
// show or to rule out one of the margin. tests are all gating ones: each must bear
// the adjustment for the others.
func (m *measured) power(alpha float64, tests int) {
	if m.P == nil {
		m.Power = "No data: nothing can be shown."
		return
	}
	if m.replay {
		m.Power = "The same recordings on both sides, and nothing differs: this says that they are treated alike, and nothing about new ones."
		return
	}
	if m.Clusters < 2 {
		m.Power = "All of one task: at least two are needed to know a spread."
		return
	}
	var said []string
	if m.RuledOut != nil && m.Verdict == stat.Pass {
		said = append(said, "A loss of "+m.amount(*m.RuledOut)+" or more is ruled out at "+percent(1-alpha)+".")
	}
	d := stat.Design{Tasks: m.Clusters, Trials: 1, SD: m.change.mean.SE * math.Sqrt(float64(m.Clusters)), ICC: 1, Alpha: 2 * alpha / float64(tests)}
	least, ok := d.Detectable(often)
	if ok {
		m.Detectable = &least
		said = append(said, "These "+plural(m.Clusters, "task")+" would have shown a loss of "+m.amount(least)+" four times out of five.")
	} else {
		said = append(said, m.unseen(alpha))
	}
	if m.Verdict == stat.Inconclusive {
		if ok && least > *m.Margin {
			said = append(said, m.toShow(d))
		}
		said = append(said, m.toRuleOut(alpha))
	}
	m.Power = strings.Join(said, " ")
}

// unseen says what no spread leaves open.
func (m *measured) unseen(alpha float64) string {
	share := -math.Expm1(math.Log(alpha) / float64(m.Clusters))
	return "None of " + plural(m.Clusters, "task") + " differs: up to " + percent(share) + " of tasks like these may still, unseen."
}

// toShow says what would show a loss of the margin.
func (m *measured) toShow(d stat.Design) string {
	text := "To show one of " + m.amount(*m.Margin)
	tasks, ok := d.TasksNeeded(*m.Margin, often)
	if !ok {
		return text + " no number of tasks would do."
	}
	text += " as often it takes " + plural(tasks, "such task")
	if trials, ok := m.trials(d); ok {
		text += ", or " + plural(trials, "trial") + " of each"
	}
	return text + "."
}

// trials is how many of each of these tasks would show a loss of the margin; ok is
// false where no number would, or the resemblance of trials is not known.
func (m *measured) trials(d stat.Design) (n int, ok bool) {
	sd, icc, ok := stat.Spread(m.pairs)
	if !ok || m.single {
		return 0, false
	}
	d.SD, d.ICC = sd, icc
	n, ok = d.TrialsNeeded(*m.Margin, often)
	return n, ok && n > m.N/m.Clusters
}

// toRuleOut says how many such tasks would rule out a loss of the margin four times
// out of five, if nothing changed.
func (m *measured) toRuleOut(alpha float64) string {
	list, least, target := m.claim()
	g := float64(len(list))
	mean, spread := 0.0, 0.0
	for _, c := range list {
		mean += c.Num / g
	}
	still := target + *m.Margin // what there is where nothing changed
	for i := range list {
		spread += (list[i].Num - mean) * (list[i].Num - mean) / (g - 1)
		list[i].Num += still - mean
		least = min(least, list[i].Num)
	}
	enough := func(tasks int) bool {
		bound, ok := stat.LowerBound(list, least, float64(tasks)/g, alpha)
		return ok && bound-stat.TQuantile(often, float64(tasks-1))*math.Sqrt(spread/float64(tasks)) > target
	}
	const most = 1 << 20
	low, high := 1, max(2, len(list))
	for !enough(high) {
		if low, high = high, 2*high; high > most {
			return "To rule it out, more than a million such tasks."
		}
	}
	for high-low > max(1, high/200) {
		if mid := low + (high-low)/2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return "To rule out one of " + m.amount(*m.Margin) + " where nothing changed takes about " + strconv.Itoa(high) + "."
}
