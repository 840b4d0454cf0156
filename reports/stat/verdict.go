package stat

// Verdict is what the evidence says about a claim: a criterion, a candidate, a
// comparison, a run.
type Verdict string

// The verdicts. Absent data is Inconclusive, never Pass.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	// NotJudged marks what is shown but not on trial.
	NotJudged Verdict = "not_judged"
)

// Worst is Fail if any verdict is, else Inconclusive if any is or there is none,
// else Pass. NotJudged does not count.
func Worst(verdicts []Verdict) Verdict {
	w, judged := Pass, false
	for _, v := range verdicts {
		switch v {
		case Fail:
			return Fail
		case Inconclusive:
			w = Inconclusive
		case NotJudged:
			continue
		}
		judged = true
	}
	if !judged {
		return Inconclusive
	}
	return w
}
