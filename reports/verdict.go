package reports

// Verdict is what the evidence says about a criterion, a candidate or a run.
type Verdict string

// The verdicts. Absent data is Inconclusive, never Pass.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	// NotJudged marks a candidate that is shown but not on trial: a script.
	NotJudged Verdict = "not_judged"
)

// worst is Fail if any verdict is, else Inconclusive if any is or there is none,
// else Pass. NotJudged does not count.
func worst(verdicts []Verdict) Verdict {
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
