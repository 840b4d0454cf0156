package compare

import (
	"math"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// often is the power that sizes are given for.
const often = 0.8

// power says what loss these numbers would have detected, and what it would take to
// detect or to rule out one of the margin.
func (m *measured) power(alpha float64) {
	if m.replay {
		m.Power = "Both sides replay the same recordings and nothing differs, which says nothing about new recordings."
		return
	}
	if m.Clusters < 2 {
		m.Power = "All pairs are of one task. A test needs at least two tasks."
		return
	}
	var said []string
	if m.RuledOut != nil && m.Verdict == stat.Pass {
		said = append(said, words.UpperFirst(m.ruledOut())+" is ruled out at "+percent(1-alpha)+".")
	}
	n := m.finder()
	if least, ok := n.detectable(); ok {
		m.Detectable = &least
		said = append(said, "With "+words.Plural(m.Clusters, "task")+" the test detects a "+m.loss()+" of "+m.amount(*m.Detectable)+" with 80% power.")
	} else {
		said = append(said, "With "+words.Plural(m.Clusters, "task")+" the test cannot detect any loss.")
	}
	if m.Verdict == stat.Inconclusive || m.Verdict == stat.NoRegression {
		if m.Detectable == nil || *m.Detectable > *m.Margin {
			said = append(said, m.toDetect(n))
		}
		said = append(said, m.toRuleOut(m.look.Level(alpha)))
	}
	m.Power = strings.Join(said, " ")
}

// toDetect says what would detect a loss of the margin.
func (m *measured) toDetect(n finder) string {
	text := "Detecting a " + m.loss() + " of " + m.amount(*m.Margin) + " with 80% power takes"
	tasks, ok := n.enough(*m.Margin)
	if !ok {
		return text + " more than a million such tasks."
	}
	text += " " + words.Plural(tasks, "such task")
	if trials, ok := m.trials(n); ok {
		text += ", or " + words.Plural(trials, "trial") + " of each"
	}
	return text + "."
}

// trials is how many of each of these tasks would detect a loss of the margin; ok is
// false where no number would, or the resemblance of trials is not known.
func (m *measured) trials(n finder) (trials int, ok bool) {
	sd, icc, ok := stat.Spread(m.pairs)
	if !ok || m.single || m.runs > 2 {
		return 0, false
	}
	trials, ok = atLeast(max(2, m.N/m.Clusters), func(k int) bool {
		n.noise = sd * sd * (icc + (1-icc)/float64(k))
		return n.shows()(*m.Margin)
	})
	return trials, ok && trials > m.N/m.Clusters
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
	if enough(len(list)) {
		return "If nothing changed, these tasks rule out a " + m.loss() + " of " + m.amount(*m.Margin) + " with 80% power."
	}
	tasks, ok := atLeast(len(list), enough)
	if !ok {
		return "Ruling it out takes more than a million such tasks."
	}
	return "Ruling it out with 80% power, if nothing changed, takes about " + strconv.Itoa(tasks) + " tasks."
}
