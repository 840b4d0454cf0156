package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

// A fail of one test or a pass of both stops a candidate, and the last round stops all.
func TestSettle(t *testing.T) {
	a := func(v stat.Verdict) judgement { return judgement{v, "acceptance", "says " + string(v) + "."} }
	r := func(v stat.Verdict) judgement { return judgement{v, "regression", "says " + string(v) + "."} }
	for _, c := range []struct {
		by      []judgement
		last    bool
		verdict stat.Verdict
		why     string
		stop    bool
	}{
		{[]judgement{a(stat.Pass)}, false, stat.Pass, "acceptance: says pass.", true},
		{[]judgement{a(stat.Fail)}, false, stat.Fail, "acceptance: says fail.", true},
		{[]judgement{a(stat.Inconclusive)}, false, stat.Inconclusive, "acceptance: says inconclusive.", false},
		{[]judgement{a(stat.Inconclusive)}, true, stat.Inconclusive, "acceptance: says inconclusive.", true},
		{[]judgement{a(stat.NotJudged)}, false, stat.NotJudged, "says not_judged.", true},
		{[]judgement{a(stat.Pass), r(stat.Inconclusive)}, false, stat.Inconclusive, "regression: says inconclusive.", false},
		{[]judgement{a(stat.Inconclusive), r(stat.Pass)}, false, stat.Inconclusive, "acceptance: says inconclusive.", false},
		{[]judgement{a(stat.Inconclusive), r(stat.Fail)}, false, stat.Fail, "regression: says fail.", true},
		{[]judgement{a(stat.Fail), r(stat.Pass)}, false, stat.Fail, "acceptance: says fail.", true},
		{[]judgement{a(stat.Pass), r(stat.NoRegression)}, false, stat.NoRegression, "regression: says no_significant_regression.", true},
		{[]judgement{a(stat.Pass), r(stat.Pass)}, false, stat.Pass, "acceptance: says pass. regression: says pass.", true},
		{[]judgement{a(stat.Inconclusive), r(stat.NoRegression)}, false, stat.Inconclusive, "acceptance: says inconclusive.", false},
	} {
		v, why, stop := settle(c.by, c.last)
		require.Equal(t, []any{c.verdict, c.why, c.stop}, []any{v, why, stop}, "%v", c.by)
	}
}
