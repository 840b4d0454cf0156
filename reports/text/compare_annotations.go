package text

import (
	"fmt"
	"io"
	"slices"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/view/compared"
	"github.com/cupel-eval/cupel/reports/words"
)

// GateAnnotations writes a comparison and a report as workflow commands of GitHub Actions,
// ten together at most: a step shows no more of a kind. Those of a report are its
// Annotations.
func GateAnnotations(w io.Writer, r model.Report, c compare.Comparison) error {
	return writeAnnotations(w, append(compareRemarks(c), remarks(r)...))
}

// compareRemarks are an error for each metric that shows a regression, and for each newly
// broken task of a pair that fails; a warning for what is inconclusive, for a broken task
// elsewhere, for a known-flaky entry that has expired and for a difference that
// misleads; a notice for each pair that passes or has no significant regression, which
// is a warning if the rules do not accept it.
func compareRemarks(c compare.Comparison) (list []annotation) {
	for _, p := range c.Pairs {
		list = append(list, pairRemarks(p, c.Rules)...)
	}
	if v := c.Rules.Gate(c.Verdict); v != stat.Pass && !slices.ContainsFunc(list, func(a annotation) bool { return a.verdict == v }) {
		list = append(list, annotation{v, "regression: " + words.Word(c.Verdict), c.Headline}) // it is about the runs
	}
	for _, d := range c.Differences {
		if d.Misleads {
			what, how := compared.DifferenceWords(c, d)
			list = append(list, annotation{stat.Inconclusive, "regression: " + d.What, what + ": " + how})
		}
	}
	return list
}

func pairRemarks(p compare.Pair, rules compare.Rules) (list []annotation) {
	if p.Verdict == stat.NotJudged {
		return nil
	}
	name := words.Brief(compared.PairName(p), 80)
	for _, m := range p.Metrics {
		if v := compared.VerdictIn(p, m); m.Gates && (v == stat.Fail || v == stat.Inconclusive) {
			list = append(list, annotation{v, fmt.Sprintf("%s: %s: %s", name, compared.MetricTitle(m), words.Word(v)), compared.MetricWhy(m)})
		}
	}
	if v := rules.Gate(p.Verdict); !slices.ContainsFunc(list, func(a annotation) bool { return a.verdict == v }) { // the episodes decided
		list = append(list, annotation{v, fmt.Sprintf("%s: regression: %s", name, compared.GateWords(rules, p.Verdict)), p.Sentence})
	}
	for _, t := range p.Tasks {
		if t.Known != nil && t.Known.Expired {
			list = append(list, annotation{stat.Inconclusive, fmt.Sprintf("%s: %s: known-flaky entry expired", name, words.Brief(t.ID, 60)), compared.KnownWords(*t.Known)})
		}
		if t.Class != flake.NewlyBroken || compared.Excused(t) {
			continue
		}
		v := stat.Inconclusive
		if p.Verdict == stat.Fail {
			v = stat.Fail
		}
		list = append(list, annotation{v, fmt.Sprintf("%s: %s: newly broken", name, words.Brief(t.ID, 60)), compared.TaskWords(t)})
	}
	return list
}
