package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxNamed is how many candidates a sentence of the headline names.
const maxNamed = 6

// Opening is what a page says around its headline.
type Opening struct {
	// Standings say which candidates pass, which fail by which criteria and which are
	// inconclusive; empty for a single candidate. AllMet names those that meet all criteria.
	Standings, AllMet string
	// When says when the episodes were made, what of and what they cost, and Command what
	// makes such a run again, for a shell.
	When, Command string
	// AllSimulated says that no judged candidate is a real model.
	AllSimulated bool
}

// OpeningOf is the opening of a report.
func OpeningOf(r model.Report) Opening {
	measured := slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return !c.Simulated && c.Provider != model.Scripted })
	return Opening{standings(r), allMet(r), when(r), command(r), r.Run.Simulated && !measured}
}

func standings(r model.Report) string {
	var sentences []string
	for _, verdict := range []stat.Verdict{stat.Pass, stat.Inconclusive, stat.Fail} {
		var order []string
		by := map[string][]string{} // names by the criteria that they fail
		for _, c := range r.Candidates {
			if c.Verdict != verdict || len(r.Candidates) < 2 {
				continue
			}
			var missed []string
			for _, k := range c.Criteria {
				if k.Verdict == stat.Fail {
					missed = append(missed, words.LowerFirst(words.Brief(k.Title, 60)))
				}
			}
			what := words.And(missed)
			if by[what] == nil {
				order = append(order, what)
			}
			by[what] = append(by[what], words.Brief(c.Name, 60))
		}
		verbs := map[stat.Verdict][2]string{stat.Pass: {"passes", "pass"}, stat.Inconclusive: {"is inconclusive", "are inconclusive"}, stat.Fail: {"fails", "fail"}}[verdict]
		for _, what := range order {
			names := by[what]
			verb := verbs[min(len(names)-1, 1)]
			if more := len(names) - maxNamed; more > 1 {
				names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
			}
			sentences = append(sentences, words.Join(" ", words.And(names), verb, what)+".")
		}
	}
	return strings.Join(sentences, " ")
}

func when(r model.Report) string {
	m, text := r.Run, "Replay of recorded cassettes"
	if days := m.Recorded; days.First != "" {
		text = "Replay of cassettes recorded on " + day(days.First)
		if days.Last != days.First {
			text = "Replay of cassettes recorded from " + day(days.First) + " to " + day(days.Last)
		}
	}
	if m.Imported.Format != "" {
		text = "Imported"
	}
	if at, err := time.Parse(time.RFC3339Nano, m.Started); err == nil {
		text = map[string]string{"live": "Live run"}[m.Mode]
		text = cmp.Or(text, "Recorded") + " " + at.UTC().Format("2 Jan 2006, 15:04 UTC")
	}
	var known, unpriced int64
	for _, c := range r.Candidates {
		known, unpriced = known+c.CostKnown, unpriced+int64(c.Unpriced)
	}
	spent := words.USD(float64(known))
	switch {
	case known == 0:
		spent = ""
	case unpriced > 0:
		spent = "at least " + spent
	}
	if spent != "" && m.Mode == "replay" {
		spent += " when recorded"
	}
	revision := ""
	if m.SuiteDigest != "" {
		revision = "suite revision " + words.Brief(m.SuiteDigest, 13)
	}
	return words.Join(" · ", text, spent, strings.TrimSuffix(revision, "…"))
}

// day writes YYYY-MM-DD as people do; anything else stays as it is, cut short.
func day(text string) string {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return words.Brief(text, 20)
	}
	return words.Day(at)
}

var plainArgument = lazyregexp.New(`^[\w./:@+-]+$`)

func command(r model.Report) string {
	suite := strings.TrimPrefix(cmp.Or(r.Run.SuitePath, r.Run.Suite), "builtin:")
	if !plainArgument.MatchString(suite) {
		suite = "'" + strings.ReplaceAll(words.Clip(suite, 200), "'", `'\''`) + "'"
	}
	text := "cupel run --suite " + suite
	if r.Run.Mode != "replay" && r.Run.Mode != "" {
		text += " --mode " + words.Brief(r.Run.Mode, 20)
	}
	if r.Run.Trials > 1 {
		text += fmt.Sprintf(" --trials %d", r.Run.Trials)
	}
	return text
}

// CandidateMade says what a candidate is made of: its model, and what distinguishes it
// from the other candidates.
func CandidateMade(r model.Report, c model.Candidate) (list []Fact) {
	for _, part := range []struct {
		label string
		of    func(model.Candidate) string
	}{
		{"agent", func(c model.Candidate) string { return c.Agent }},
		{"model", func(c model.Candidate) string { return words.Join("/", c.Provider, c.Model) }},
		{"output mode", func(c model.Candidate) string { return c.OutputMode }},
		{"prompt", func(c model.Candidate) string { return c.PromptProfile }},
		{"rescue", func(c model.Candidate) string { return c.RescueModel }},
		{"fallback", func(c model.Candidate) string { return c.FallbackModel }},
		{"planner", func(c model.Candidate) string { return c.PlannerModel }},
	} {
		differs := part.label == "model" || slices.ContainsFunc(r.Candidates, func(o model.Candidate) bool {
			return part.of(o) != part.of(c) && o.Provider != model.Scripted
		})
		if value := part.of(c); differs && value != "" {
			list = append(list, Fact{part.label, words.Brief(value, 80)})
		}
	}
	return list
}

// Reasons say a verdict and what decided it, one criterion a line.
func (j Judgement) Reasons() (lines []string) {
	if j.Verdict != stat.Fail && j.Verdict != stat.Inconclusive || j.Explains() {
		return []string{words.UpperFirst(words.Visible(j.Sentence))}
	}
	lead := map[stat.Verdict]string{stat.Fail: "Fails: ", stat.Inconclusive: "Inconclusive: "}[j.Verdict]
	for _, c := range j.Criteria {
		if c.Verdict == j.Verdict {
			value := c.ValueText()
			if c.Value == nil {
				value = map[bool]string{true: "unknown", false: "no data"}[c.Raw != nil]
			}
			lines = append(lines, fmt.Sprintf("%s%s %s (needs %s)", lead, words.LowerFirst(words.Visible(c.Title)), value, c.NeedsText()))
		}
	}
	return lines
}
