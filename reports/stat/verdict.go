package stat

import "slices"

// Verdict is what the evidence says about a claim: a criterion, a candidate, a
// comparison, a run.
type Verdict string

// The verdicts. Absent data is Inconclusive, never Pass.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	// NoRegression is the verdict of a comparison that rules no margin out, where
	// nothing is significantly worse and the loss that matters would have been detected.
	// It lies between Pass and Inconclusive.
	NoRegression Verdict = "no_significant_regression"
	// NotJudged marks what is reported and not judged.
	NotJudged Verdict = "not_judged"
)

// Worst is Fail if any verdict is, else Inconclusive if any is or there is none, else
// NoRegression if any is, else Pass. NotJudged does not count.
func Worst(verdicts []Verdict) Verdict {
	worst := -1
	order := []Verdict{Pass, NoRegression, Inconclusive, Fail}
	for _, v := range verdicts {
		worst = max(worst, slices.Index(order, v))
	}
	if worst < 0 {
		return Inconclusive
	}
	return order[worst]
}
