package harness

import (
	"math"

	"github.com/cupel-eval/cupel/agent"
)

// measure is something that an episode has a number of.
type measure int

const (
	mCalls measure = iota
	mRequests
	mAct
	mReflect
	mRescue
	mCompress
	mPlan
	mFinal
	mConclude
	mTokens
	mInput
	mOutput
	mCacheRead
	mCacheWrite
	mReasoning
	mCost    // nano-USD
	mElapsed // microseconds
	measures
)

// kinds are the measures that count turns of a kind.
var kinds = map[string]measure{
	agent.KindAct: mAct, agent.KindReflect: mReflect, agent.KindRescue: mRescue, agent.KindCompress: mCompress,
	agent.KindPlan: mPlan, agent.KindFinal: mFinal, agent.KindConclude: mConclude,
}

// observation is one past episode. What is not known of it is NaN.
type observation [measures]float64

// moments sum up numbers.
type moments struct {
	n             float64
	sum, mean, m2 float64 // m2 sums the squared distances from the mean
}

func (m *moments) add(x float64) {
	if math.IsNaN(x) {
		return
	}
	m.n++
	m.sum += x
	d := x - m.mean
	m.mean += d / m.n
	m.m2 += d * (x - m.mean)
}

// variance is that of a single number; NaN for fewer than two.
func (m *moments) variance() float64 {
	if m.n < 2 {
		return math.NaN()
	}
	return m.m2 / (m.n - 1)
}

// times is the sum of n more numbers like these, and the variance of the error in
// saying so: each has its own, and all have that of the mean. Fewer than two
// numbers have the variance given.
func (m *moments) times(n, otherwise float64) guess {
	v := m.variance()
	if math.IsNaN(v) {
		v = otherwise
	}
	return guess{expected: m.sum * n / m.n, variance: n*v + n*n*v/m.n}
}

// sample is the moments of past episodes, by measure.
type sample [measures]moments

func (s *sample) add(o observation) {
	for i := range s {
		s[i].add(o[i])
	}
}

// guess is a number that is not known yet. NaN is unknown.
type guess struct{ low, expected, high, variance float64 }

// narrow pulls the bounds to 1.96 standard deviations around the expected number.
func (g *guess) narrow() {
	d := 1.96 * math.Sqrt(g.variance)
	if math.IsNaN(g.expected) || math.IsNaN(d) {
		return
	}
	low, high := max(g.expected-d, 0), g.expected+d
	if !math.IsNaN(g.low) {
		low = min(max(low, g.low), g.expected)
	}
	if !math.IsNaN(g.high) {
		high = max(min(high, g.high), g.expected)
	}
	g.low, g.high = low, high
}

func (g guess) plus(h guess) guess {
	return guess{g.low + h.low, g.expected + h.expected, g.high + h.high, g.variance + h.variance}
}

// bounds is the range in whole numbers.
func (g guess) bounds() Range {
	return Range{whole(math.Floor(g.low)), whole(math.Round(g.expected)), whole(math.Ceil(g.high))}
}

// whole is nil for what is unknown or no int64.
func whole(x float64) *int64 {
	if math.IsNaN(x) || math.Abs(x) >= 1<<62 {
		return nil
	}
	return ptr(int64(x))
}

// guesses are those of some episodes together; the zero value is of none.
type guesses [measures]guess

func (g guesses) plus(h guesses) guesses {
	for i := range g {
		g[i] = g[i].plus(h[i])
	}
	return g
}

func (g *guesses) narrow() {
	for i := range g {
		g[i].narrow()
	}
}

func (g *guesses) estimate() Estimate {
	e := Estimate{
		Calls: g[mCalls].bounds(), Requests: g[mRequests].bounds(), CallsByKind: map[string]*int64{}, CostNanoUSD: g[mCost].bounds(),
		Tokens: TokenEstimate{
			All: g[mTokens].bounds(), Input: g[mInput].bounds(), Output: g[mOutput].bounds(),
			CacheRead: g[mCacheRead].bounds(), CacheWrite: g[mCacheWrite].bounds(), Reasoning: g[mReasoning].bounds(),
		},
	}
	for kind, m := range kinds {
		e.CallsByKind[kind] = g[m].bounds().Expected
	}
	return e
}
