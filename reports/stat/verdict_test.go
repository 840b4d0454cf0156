package stat

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		in   []Verdict
		want Verdict
	}{
		{nil, Inconclusive}, {[]Verdict{NotJudged}, Inconclusive}, {[]Verdict{Pass}, Pass}, {[]Verdict{Pass, NotJudged}, Pass},
		{[]Verdict{Pass, Inconclusive}, Inconclusive}, {[]Verdict{Pass, NoRegression, NotJudged}, NoRegression}, {[]Verdict{Inconclusive, NoRegression}, Inconclusive},
		{[]Verdict{Inconclusive, Fail, Pass}, Fail}, {[]Verdict{Fail}, Fail},
	} {
		require.Equal(t, c.want, Worst(c.in), "%v", c.in)
	}
}
