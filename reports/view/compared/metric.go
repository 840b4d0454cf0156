package compared

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
	"github.com/cupel-eval/cupel/reports/words"
)

// Change is a metric's, with its unit: "-15.6 pts".
func Change(m compare.Metric) string {
	return words.Signed(m.Unit, m.Effect) + words.Points(m.Unit, m.Effect)
}

// Margin is the tolerated loss of a metric.
func Margin(m compare.Metric) string {
	return strings.TrimPrefix(words.Signed(m.Unit, m.Margin), "+") + words.Points(m.Unit, m.Margin)
}

// MetricWhy says in one line what decided a gating metric.
func MetricWhy(m compare.Metric) string {
	return fmt.Sprintf("%s %s → %s, %s (%s); %s", MetricTitle(m), words.InUnit(m.Unit, m.Baseline), words.InUnit(m.Unit, m.New), Change(m), words.SpanOf(m.Unit, m.Interval), Details(m))
}

// AdjustedP is the adjusted p of the change that a metric shows. A gating metric is tested
// for the worse, where an improvement has a p of about 1, so an improved one shows the p of
// its improvement.
func AdjustedP(m compare.Metric) string {
	if m.Improved {
		return words.Chance(m.ImprovedP)
	}
	return words.Chance(m.Adjusted)
}

// Significant says of a metric that changed significantly whether it became better (Pass) or
// worse (Fail), and NotJudged of any other.
func Significant(m compare.Metric, alpha float64) stat.Verdict {
	switch {
	case m.Improved:
		return stat.Pass
	case m.Effect == nil || m.Adjusted == nil || !multiple.Rejects(*m.Adjusted, alpha):
		return stat.NotJudged
	case !m.Gates && *m.Effect > 0 == m.HigherIsBetter:
		return stat.Pass
	}
	return stat.Fail
}

// Details are what is known of a metric apart from its values.
func Details(m compare.Metric) string {
	var parts []string
	switch {
	case m.Improved:
		parts = append(parts, "adjusted p "+AdjustedP(m)+" (two-sided)")
	case m.P != nil:
		parts = append(parts, fmt.Sprintf("p %s, adjusted %s", words.Chance(m.P), words.Chance(m.Adjusted)))
	}
	if m.Margin != nil {
		parts = append(parts, "margin "+Margin(m))
	}
	parts = append(parts, fmt.Sprintf("%s of %s", words.Plural(m.N, "pair"), words.Plural(m.Clusters, "task")))
	return words.Join(" ", strings.Join(parts, "; ")+".", m.Note, m.Power)
}

// MetricTitle is a metric's name within a line.
func MetricTitle(m compare.Metric) string { return words.LowerFirst(cmp.Or(m.Title, m.Name, "metric")) }

// VerdictIn is a metric's verdict within its pair: where too much was lost to judge
// the pair, no metric fails.
func VerdictIn(p compare.Pair, m compare.Metric) stat.Verdict {
	if m.Verdict == stat.Fail && p.Verdict != stat.Fail {
		return stat.Inconclusive
	}
	return m.Verdict
}

// MetricWord is the verdict of a metric in a table.
func MetricWord(m compare.Metric) string {
	switch {
	case !m.Gates:
		return "not gated"
	case m.Improved && m.Verdict == stat.Pass:
		return "improved"
	}
	return words.Word(m.Verdict)
}
