package text

import (
	"fmt"
	"io"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/view/compared"
	"github.com/cupel-eval/cupel/reports/words"
)

// CompareJUnit writes one test suite for each pair of candidates, and in it one
// test case for each gating metric and one for each task. A metric fails by its
// verdict, and is skipped where it is inconclusive. One with no significant regression
// passes, with its figures as output, unless the rules do not accept that: then it is
// skipped, too. A newly broken task fails; one
// on the known-flaky list is skipped, with its owner, until the entry expires; one
// without a trial on both sides is skipped. Any other task passes: flaky is not
// broken, and what always failed is not a regression.
func CompareJUnit(w io.Writer, c compare.Comparison) error {
	all := junitSuites{Name: words.Clip("regression of "+c.New.Suite, 200), Time: seconds(0)}
	for _, p := range c.Pairs {
		s := junitSuite{Name: words.Clip(compared.PairName(p), 200), Time: seconds(0)}
		if c.OneRun {
			s.Properties = append(s.Properties, junitProperty{"run", words.Clip(c.New.RunID, 100)})
		} else {
			s.Properties = append(s.Properties, junitProperty{"baseline", words.Clip(compared.RunIDs(compared.Baselines(c)), 400)}, junitProperty{"new", words.Clip(c.New.RunID, 100)})
		}
		s.Properties = append(s.Properties, junitProperty{"verdict", words.Word(p.Verdict)}, junitProperty{"reason", words.Clip(p.Sentence, 600)})
		for _, d := range c.Differences {
			what, how := compared.DifferenceWords(c, d)
			s.Properties = append(s.Properties, junitProperty{"differs: " + what, how})
		}
		for _, m := range p.Metrics {
			m.Verdict = compared.VerdictIn(p, m)
			s.metric(m, c.Rules)
		}
		for _, t := range p.Tasks {
			s.task(t)
		}
		all.Suites = append(all.Suites, s)
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
	}
	if err := writeXML(w, all); err != nil {
		return fmt.Errorf("reports: comparison as JUnit: %w", err)
	}
	return nil
}

// metric adds a case for a gating metric, a property for any other.
func (s *junitSuite) metric(m compare.Metric, rules compare.Rules) {
	why := words.Clip(compared.MetricWhy(m), 800)
	if !m.Gates {
		s.Properties = append(s.Properties, junitProperty{words.Clip(m.Name, 100), why})
		return
	}
	c := junitCase{Name: words.Clip(m.Name, 100), Class: s.Name + ".metrics", Time: seconds(0)}
	said := compared.GateWords(rules, m.Verdict) + ": " + why
	switch {
	case m.Verdict == stat.Fail:
		c.Failure = &junitProblem{Message: words.Clip(why, 300), Type: "regression", Text: why}
	case rules.Gate(m.Verdict) == stat.Inconclusive:
		c.Skipped = &junitProblem{Message: words.Clip(said, 300)}
	case m.Verdict == stat.NoRegression:
		c.Output = said
	}
	s.addCase(c)
}

func (s *junitSuite) task(t compare.Task) {
	c := junitCase{Name: words.Clip(t.ID, 200), Class: s.Name, Time: seconds(0)}
	went := fmt.Sprintf("%s, %s", t.Class, compared.TaskWords(t))
	switch {
	case compared.Excused(t):
		c.Skipped = &junitProblem{Message: words.Clip("known to be flaky ("+compared.KnownWords(*t.Known)+"): "+went, 500)}
	case t.Class == flake.NewlyBroken:
		text := went
		for _, e := range t.Episodes {
			text += "\n" + compared.EpisodeWords(e)
		}
		if t.Known != nil {
			text += "\nknown-flaky entry: " + compared.KnownWords(*t.Known)
		}
		c.Failure = &junitProblem{Message: words.Clip(went, 300), Type: string(t.Class), Text: text}
	case t.Class == flake.Unknown:
		c.Skipped = &junitProblem{Message: words.Clip(went, 300)}
	}
	s.addCase(c)
}

// addCase adds a case, and counts it.
func (s *junitSuite) addCase(c junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}
