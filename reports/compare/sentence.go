package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
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
	m := p.decisive()
	said := []string{p.figures(m)}
	switch {
	case p.gap != "" && !passes && !sure:
		p.Verdict, p.short = stat.Inconclusive, p.gap
		said = append(said, "No verdict is possible: "+p.gap)
	case passes && p.cut != "":
		p.Verdict, p.short = stat.Inconclusive, p.cut
		said = append(said, "A pass is not possible: "+p.cut)
	case p.Verdict == stat.Inconclusive && hidden:
		p.short = words.Plural(len(p.lost), "pair") + " without a result"
		said = append(said, p.concealed())
	default:
		said = p.reason(m, said[0], rules)
	}
	for _, s := range said {
		if s != "" {
			p.Sentence = words.Join(" ", p.Sentence, strings.TrimSuffix(s, ".")+".")
		}
	}
}

// decisive is the first gating metric with the verdict of the pair.
func (p *comparing) decisive() *measured {
	for i := range p.gating {
		if p.gating[i].Verdict == p.Verdict {
			return &p.gating[i]
		}
	}
	return &p.gating[0]
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

// subject is the new side at the start of a sentence. Names of candidates stay as they are.
func (p *comparing) subject() string {
	if p.oneRun {
		return p.Labels.New
	}
	return "The new run"
}

// figures are a metric of both sides and its change; empty without data.
func (p *comparing) figures(m *measured) string {
	if m.P == nil {
		return ""
	}
	tasks := words.Plural(m.Clusters, "task")
	verb, of := "takes", " for an episode in "+tasks
	switch m.Name {
	case "solved":
		if verb, of = "solves", " of "+tasks; !m.single {
			of = " of its episodes in " + tasks
		}
	case contractValid:
		verb, of = "gives", " "+m.word()+" in "+tasks
	case attackSuccess:
		verb, of = "falls for", " of attacks in "+tasks
	case "cost":
		verb = "costs"
	case "latency":
		of = " for a turn in " + tasks
	}
	if m.Unit == unitScore {
		verb, of = "reaches", " of "+m.word()+" in "+tasks
	}
	return fmt.Sprintf("%s %s %s%s, %s %s: %s", p.subject(), verb, m.value(*m.New), of, p.side(p.Labels.Baseline), m.value(*m.Baseline), m.Metric.change())
}

// concealed says what the lost pairs could hide, of an inconclusive verdict.
func (p *comparing) concealed() string {
	commands := make([]string, len(p.resume))
	for i, run := range p.resume {
		commands[i] = "cupel run --resume " + run
	}
	for i := range p.gating {
		if m := &p.gating[i]; m.hidden {
			worst := m.worst.Metric
			worst.Interval = nil
			return fmt.Sprintf("A pass is not possible: in the worst case of the %s (%s), %s change by %s. To run them: %s",
				p.short, some(p.lost), m.word(), worst.change(), strings.Join(commands, " and "))
		}
	}
	return ""
}

// reason adds to the figures what the verdict rests on, and sets it in short.
func (p *comparing) reason(m *measured, figures string, rules Rules) []string {
	switch margin := m.Margin; {
	case m.P == nil:
		p.short = "no data for " + m.word()
		return []string{words.UpperFirst(p.short), m.Note}
	case p.Verdict == stat.Fail:
		p.short = m.changed()
		return []string{figures, "The " + m.loss() + " is significant (adjusted p " + chance(*m.Adjusted) + ")"}
	case p.Verdict == stat.NoRegression:
		return []string{figures, fmt.Sprintf("The test would have detected a %[1]s of %[2]s with 80%% power, and found none; a %[1]s of the margin (%[3]s) is not ruled out", m.loss(), m.amount(m.limit(rules)), m.amount(*margin))}
	case p.Verdict == stat.Inconclusive:
		p.short = "more trials needed"
		return []string{figures, fmt.Sprintf("No %[1]s of %[2]s is significant, and a %[1]s of the margin (%[3]s) is not ruled out", m.loss(), m.word(), m.amount(*margin))}
	}
	same := true
	var out []string
	for i := range p.gating {
		m := &p.gating[i]
		same = same && m.replay
		if m.Improved && p.better == "" {
			p.better = m.changed()
		}
		out = append(out, m.ruledOut()+" of "+m.word())
	}
	if same {
		p.short = "both replay the same recordings"
		return []string{p.subject() + " is unchanged: both sides replay the same recordings and no gating metric differs"}
	}
	return []string{figures, "Ruled out: " + strings.Join(out, "; ")}
}

// ruledOut is what a pass of a metric rules out.
func (m *measured) ruledOut() string {
	switch {
	case m.growth > 0:
		return "a growth of " + percent(m.growth) + " or more"
	case m.RuledOut == nil || *m.RuledOut == 0:
		return "any " + m.loss()
	}
	return "a " + m.loss() + " of " + m.amount(*m.RuledOut) + " or more"
}

// loss is what a change for the worse is called.
func (m *Metric) loss() string {
	if m.Name == attackSuccess {
		return "rise"
	}
	return "loss"
}

// word is what a gating metric counts.
func (m *Metric) word() string {
	switch m.Name {
	case "solved":
		return "solved episodes"
	case contractValid, attackSuccess:
		return words.LowerFirst(m.Title)
	}
	if m.Unit == unitScore {
		return "the mean of " + m.Name
	}
	return m.Name
}

// changed says by how much a gating metric is better or worse.
func (m *measured) changed() string {
	much, up := m.amount(*m.Effect), *m.Effect > 0
	if m.Relative != nil && m.Unit != unitShare {
		much = percent(math.Abs(*m.Relative))
	}
	of := func(more, less string) string {
		if up {
			return much + " " + more
		}
		return much + " " + less
	}
	if m.Unit == unitScore {
		return m.amount(*m.Effect) + map[bool]string{true: " higher ", false: " lower "}[up] + m.Name
	}
	switch m.Name {
	case "solved":
		return of("more", "fewer") + " tasks solved"
	case "cost":
		return of("higher", "lower") + " cost"
	case "latency":
		return of("longer", "shorter") + " turns"
	}
	return of("more", "fewer") + " " + m.word()
}

// headline is the verdict and what it rests on in a few words. Several pairs are named.
func headline(c Comparison, all []comparing) string {
	word := map[stat.Verdict]string{stat.Pass: "No regression", stat.Fail: "Regression", stat.NoRegression: "No significant regression", stat.Inconclusive: "Inconclusive"}[c.Verdict]
	better := c.Verdict == stat.Pass && slices.ContainsFunc(all, func(p comparing) bool { return p.better != "" })
	var names []string
	short := "no candidates to compare"
	for i := range all {
		p := &all[i]
		if p.Verdict != c.Verdict || better && p.better == "" {
			continue
		}
		if names = append(names, clip.FirstBytes(p.New.Name, maxWord)); len(names) > 1 {
			continue
		}
		if short = p.short; better {
			word, short = "Improved", p.better
		}
	}
	text := words.Join(": ", word, short)
	switch n := len(names); {
	case len(all) < 2 || n == len(all) && c.Verdict == stat.Pass && !better:
		return text
	case n == 1:
		return text + " (" + names[0] + ")"
	default:
		return fmt.Sprintf("%s (%s and %d more of %d candidates)", text, names[0], n-1, len(all))
	}
}
