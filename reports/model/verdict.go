package model

import "github.com/cupel-eval/cupel/reports/stat"

// Verdict is what the evidence says about a criterion, a candidate or a run.
type Verdict = stat.Verdict

// The verdicts; see stat.Verdict. NotJudged marks a candidate that is shown but
// not on trial: a script.
const (
	Pass         = stat.Pass
	Fail         = stat.Fail
	Inconclusive = stat.Inconclusive
	NoRegression = stat.NoRegression
	NotJudged    = stat.NotJudged
)
