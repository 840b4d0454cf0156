package compare

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/stat"
)

// conclude decides a pair, and says why.
func (p *comparing) conclude(rules Rules) {
	var verdicts []stat.Verdict
	for i := range p.gating {
		verdicts = append(verdicts, p.gating[i].Verdict)
	}
	p.Verdict = stat.Worst(verdicts)
	hidden, sure := false, false
	for i := range p.gating {
		m := &p.gating[i]
		hidden = hidden || m.hidden
		sure = sure || m.Verdict == stat.Fail && m.surely(rules.Alpha)
	}
	passes := p.Verdict == stat.Pass || p.Verdict == stat.NoRegression
	switch {
	case p.gap != "" && !passes && !sure:
		p.Verdict, p.Sentence = stat.Inconclusive, "cannot be judged: "+p.gap
	case passes && p.cut != "":
		p.Verdict, p.Sentence = stat.Inconclusive, "cannot pass: "+p.cut
	case p.Verdict == stat.Inconclusive && hidden:
		p.Sentence = p.concealed()
	default:
		p.Sentence = p.reason(rules)
	}
	p.predicate, p.Sentence = p.Sentence, strings.ToUpper(p.Sentence[:1])+p.Sentence[1:]+"."
}

// side names a side in a sentence, by its label.
func (p *comparing) side(label string) string {
	switch {
	case p.oneRun:
		return label
	case label == p.Labels.New:
		return "the new run"
	}
	return "the baseline"
}

// run is side, for what is true of a whole run.
func (p *comparing) run(label string) string {
	if p.oneRun {
		return "the run"
	}
	return p.side(label)
}

// concealed says what the lost pairs could hide, of an inconclusive verdict.
func (p *comparing) concealed() string {
	for i := range p.gating {
		if m := &p.gating[i]; m.hidden {
			return fmt.Sprintf("cannot pass: in the worst case of the %s, %s change by %s instead of %s", p.unseen(), m.word(), m.signed(*m.worst.Effect), m.signed(*m.Effect))
		}
	}
	return ""
}

// reason is what the verdict rests on: the first metric that has it, and with a
// pass all of them.
func (p *comparing) reason(rules Rules) string {
	var passed []string
	same := true
	for i := range p.gating {
		m := &p.gating[i].Metric
		switch {
		case p.Verdict == stat.Pass:
			passed = append(passed, p.gating[i].tolerated())
			same = same && p.gating[i].replay
		case m.Verdict == p.Verdict && p.Verdict == stat.Fail:
			return fmt.Sprintf("%s than %s (%s; adjusted p %s)", m.lost(), p.side(p.Labels.Baseline), p.values(m), pValue(*m.Adjusted))
		case m.Verdict == p.Verdict && m.P == nil:
			if m.Note != "" {
				return "cannot be judged by " + m.word() + " (" + strings.TrimSuffix(m.Note, ".") + ")"
			}
			return "cannot be judged by " + m.word() + ": there is no data"
		case m.Verdict == p.Verdict && p.Verdict == stat.NoRegression:
			return "is not significantly worse than " + p.side(p.Labels.Baseline) + ", and a loss of " + m.amount(p.gating[i].limit(rules)) + " of " + m.word() + " would have been detected with 80% power; " + p.open(m)
		case m.Verdict == p.Verdict:
			return "is neither significantly worse than " + p.side(p.Labels.Baseline) + " nor certain to be within the margin; " + p.open(m)
		}
	}
	if same {
		return "does not differ from " + p.side(p.Labels.Baseline) + ": both replay the same recordings, and no gating metric differs"
	}
	m := &p.gating[0].Metric
	text := fmt.Sprintf("is not worse than %s by more than %s (solved: %s", p.side(p.Labels.Baseline), strings.Join(passed, ", "), p.values(m))
	if m.RuledOut != nil {
		text += "; a loss of " + points(*m.RuledOut) + " or more is ruled out"
	}
	return text + ")"
}

// values are those of a metric on both sides.
func (p *comparing) values(m *Metric) string {
	return fmt.Sprintf("%s %s, %s %s, over %s", p.Labels.Baseline, m.value(*m.Baseline), p.Labels.New, m.value(*m.New), plural(m.Clusters, "task"))
}

// tolerated is the margin in a sentence about what is ruled out.
func (m *measured) tolerated() string {
	if m.growth > 0 {
		return percent(m.growth) + " of " + m.word()
	}
	return points(m.drop) + " of " + m.word()
}

// word is what a gating metric counts.
func (m *Metric) word() string {
	switch m.Name {
	case "solved":
		return "solved episodes"
	case contractValid:
		return strings.ToLower(m.Title[:1]) + m.Title[1:]
	}
	return m.Name
}

// lost says what is worse, and by how much.
func (m *Metric) lost() string {
	much := m.amount(*m.Effect)
	if m.Relative != nil && m.Unit != unitShare {
		much = percent(*m.Relative)
	}
	switch m.Name {
	case "solved":
		return "solves " + much + " fewer"
	case contractValid:
		return "gives " + much + " fewer " + m.word()
	case "cost":
		return "costs " + much + " more"
	case "latency":
		return "takes " + much + " longer for a turn"
	}
	return "takes " + much + " more " + m.Name
}

// open says what an inconclusive metric leaves open.
func (p *comparing) open(m *Metric) string {
	text := m.word() + ": " + p.values(m)
	if m.Interval != nil {
		text += fmt.Sprintf(", a change of %s to %s (95%%)", m.signed(m.Interval.Low), m.signed(m.Interval.High))
	}
	return text + "; the margin is " + m.amount(*m.Margin)
}

// signed is a change with its sign.
func (m *Metric) signed(v float64) string {
	s := m.amount(v)
	switch {
	case v < 0 && !strings.HasPrefix(s, "0 "):
		return "−" + s
	case v > 0:
		return "+" + s
	}
	return s
}

// headline is the verdict and its first reason.
func headline(c Comparison, all []comparing) string {
	word := map[stat.Verdict]string{stat.Pass: "No regression: ", stat.Fail: "Regression: ", stat.NoRegression: "No significant regression: ", stat.Inconclusive: "Inconclusive: "}[c.Verdict]
	n := 0
	for i := range all {
		if all[i].Verdict == c.Verdict {
			n++
		}
	}
	for i := range all {
		if p := &all[i]; p.Verdict == c.Verdict {
			text := word + clip.FirstBytes(p.New.Name, maxWord) + " " + p.predicate
			if n > 1 {
				text += fmt.Sprintf("; and %d more of %s", n-1, plural(len(all), "candidate"))
			}
			return text + "."
		}
	}
	return word + "no candidates to compare."
}
