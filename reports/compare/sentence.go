package compare

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/reports/stat"
)

// conclude decides a pair, and says why.
func (p *comparing) conclude() {
	var verdicts []stat.Verdict
	for i := range p.gating {
		verdicts = append(verdicts, p.gating[i].Verdict)
	}
	p.Verdict = stat.Worst(verdicts)
	switch {
	case p.gap != "":
		p.Verdict, p.Sentence = stat.Inconclusive, "cannot be judged: "+p.gap
	case p.Verdict == stat.Pass && p.cut != "":
		p.Verdict, p.Sentence = stat.Inconclusive, "cannot pass: "+p.cut
	default:
		p.Sentence = p.reason()
	}
	p.predicate, p.Sentence = p.Sentence, strings.ToUpper(p.Sentence[:1])+p.Sentence[1:]+"."
}

// reason is what the verdict rests on: the first metric that has it, and with a
// pass all of them.
func (p *comparing) reason() string {
	var passed []string
	same := true
	for i := range p.gating {
		m := &p.gating[i].Metric
		switch {
		case p.Verdict == stat.Pass:
			passed = append(passed, p.gating[i].borne())
			same = same && p.gating[i].replay
		case m.Verdict == p.Verdict && p.Verdict == stat.Fail:
			return m.lost() + fmt.Sprintf(" (%s before, %s now, over %s; adjusted p %s)", m.value(*m.Baseline), m.value(*m.Trial), plural(m.Clusters, "task"), pValue(*m.Adjusted))
		case m.Verdict == p.Verdict && m.P == nil:
			if m.Note != "" {
				return "cannot be judged by " + word(m.Name) + " (" + strings.TrimSuffix(m.Note, ".") + ")"
			}
			return "cannot be judged by " + word(m.Name) + ": there is no data"
		case m.Verdict == p.Verdict:
			return "is neither shown to be worse nor not worse: " + m.open()
		}
	}
	if same {
		return "is treated as before: both sides replay the same recordings, and nothing that gates differs"
	}
	m := &p.gating[0].Metric
	text := fmt.Sprintf("is not worse by more than %s (solved %s before, %s now, over %s", strings.Join(passed, ", "), m.value(*m.Baseline), m.value(*m.Trial), plural(m.Clusters, "task"))
	if m.RuledOut != nil {
		text += "; a loss of " + points(*m.RuledOut) + " or more is ruled out"
	}
	return text + ")"
}

// borne is the margin in a sentence about what is ruled out.
func (m *measured) borne() string {
	if m.growth > 0 {
		return percent(m.growth) + " of " + word(m.Name)
	}
	return points(m.drop) + " of " + word(m.Name)
}

// word is what a gating metric counts.
func word(name string) string {
	switch name {
	case "solved":
		return "solved episodes"
	case "valid_json":
		return "valid outputs"
	}
	return name
}

// lost says what is worse, and by how much.
func (m *Metric) lost() string {
	much := m.amount(*m.Effect)
	if m.Relative != nil && m.Unit != unitShare {
		much = percent(*m.Relative)
	}
	switch m.Name {
	case "solved":
		return "solves " + much + " less"
	case "valid_json":
		return "gives " + much + " fewer valid outputs"
	case "cost":
		return "costs " + much + " more"
	case "latency":
		return "takes " + much + " longer for a turn"
	}
	return "takes " + much + " more " + m.Name
}

// open says what an inconclusive metric leaves open.
func (m *Metric) open() string {
	text := fmt.Sprintf("%s %s before, %s now, over %s", word(m.Name), m.value(*m.Baseline), m.value(*m.Trial), plural(m.Clusters, "task"))
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
	word := map[stat.Verdict]string{stat.Pass: "No regression: ", stat.Fail: "Regression: ", stat.Inconclusive: "Inconclusive: "}[c.Verdict]
	n := 0
	for i := range all {
		if all[i].Verdict == c.Verdict {
			n++
		}
	}
	for i := range all {
		if p := &all[i]; p.Verdict == c.Verdict {
			text := word + p.Trial.Name + " " + p.predicate
			if n > 1 {
				text += fmt.Sprintf("; and %d more of %s", n-1, plural(len(all), "candidate"))
			}
			return text + "."
		}
	}
	return word + "no candidates to compare."
}
