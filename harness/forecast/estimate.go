package forecast

import (
	"cmp"
	"math"

	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/providers/batch"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
)

// measure is a quantity of an episode.
type measure int

const (
	mCalls measure = iota
	mRequests
	mTokens
	mInput
	mOutput
	mCacheRead
	mCacheWrite
	mReasoning
	mCost    // nano-USD
	mElapsed // microseconds
	mKinds   // turns of the first kind; the other kinds follow
	measures = mKinds + measure(len(kinds))
)

// kinds are the kinds of turns.
var kinds = [...]string{
	turn.KindAct, turn.KindReflect, turn.KindRescue, turn.KindCompress, turn.KindPlan, turn.KindFinal, turn.KindConclude,
}

// observation is one past episode. Unknown values are NaN.
type observation [measures]float64

// runningStats are the mean and variance of numbers.
type runningStats struct {
	n             float64
	sum, mean, m2 float64 // m2 sums the squared distances from the mean
}

func (m *runningStats) add(x float64) {
	if math.IsNaN(x) {
		return
	}
	m.n++
	m.sum += x
	d := x - m.mean
	m.mean += d / m.n
	m.m2 += d * (x - m.mean)
}

// variance is the variance of a single number; NaN for fewer than two.
func (m *runningStats) variance() float64 {
	if m.n < 2 {
		return math.NaN()
	}
	return m.m2 / (m.n - 1)
}

// times estimates the sum of n more such numbers. Its variance includes the spread of each
// number and the error of their mean. With fewer than two observations it uses the given
// variance.
func (m *runningStats) times(n, otherwise float64) estimate {
	v := m.variance()
	if math.IsNaN(v) {
		v = otherwise
	}
	return estimate{expected: m.sum * n / m.n, variance: n*v + n*n*v/m.n}
}

// sample is the statistics of past episodes, by measure.
type sample [measures]runningStats

// estimate is an unknown number. expected and variance are NaN if unknown; an unknown bound
// is infinite or NaN.
type estimate struct{ low, expected, high, variance float64 }

// unbounded is an estimate that adds no bounds.
var unbounded = estimate{low: math.Inf(-1), high: math.Inf(1)}

func (g estimate) plus(h estimate) estimate {
	return estimate{g.low + h.low, g.expected + h.expected, g.high + h.high, g.variance + h.variance}
}

// narrow sets the bounds to 1.96 standard deviations around the expected number.
func (g *estimate) narrow() {
	if d := 1.96 * math.Sqrt(g.variance); !math.IsNaN(g.expected + d) {
		g.low = min(max(g.expected-d, g.low, 0), g.expected)
		g.high = max(min(g.expected+d, g.high), g.expected)
	}
}

// bounds is the range in whole numbers.
func (g estimate) bounds() Range {
	return Range{whole(math.Floor(g.low)), whole(math.Round(g.expected)), whole(math.Ceil(g.high))}
}

// whole is nil if x is unknown or does not fit an int64.
func whole(x float64) *int64 {
	if math.IsNaN(x) || math.Abs(x) >= 1<<62 {
		return nil
	}
	return new(int64(x))
}

// estimates are the sums over some episodes; the zero value is for none.
type estimates [measures]estimate

func (g estimates) plus(h estimates) estimates {
	for m := range g {
		g[m] = g[m].plus(h[m])
	}
	return g
}

func (g *estimates) narrow() {
	for m := range g {
		g[m].narrow()
	}
}

func (g *estimates) estimate() Estimate {
	e := Estimate{
		Calls: g[mCalls].bounds(), Requests: g[mRequests].bounds(), CallsByKind: map[string]*int64{}, CostNanoUSD: g[mCost].bounds(),
		Tokens: Tokens{
			All: g[mTokens].bounds(), Input: g[mInput].bounds(), Output: g[mOutput].bounds(),
			CacheRead: g[mCacheRead].bounds(), CacheWrite: g[mCacheWrite].bounds(), Reasoning: g[mReasoning].bounds(),
		},
	}
	for i, kind := range kinds {
		e.CallsByKind[kind] = g[int(mKinds)+i].bounds().Expected
	}
	return e
}

// estimate fills in the estimates of a candidate's episodes.
func (f *forecaster) estimate(s *share) {
	if f.Mode == recorder.Replay || s.Provider == episode.ScriptedCandidate {
		s.Basis = BasisNobody // the spending is known to be zero
		return
	}
	of, wide := s.digest, f.samples[pastKey{s.digest, ""}]
	s.Basis = BasisCandidate
	if wide == nil {
		of, s.Basis = modelKey(s.Provider, s.Model), BasisModel
		wide = f.samples[pastKey{of, ""}]
	}
	if wide == nil {
		wide, s.Basis = &sample{}, BasisNone
	}
	s.PastEpisodes = int(wide[mCalls].n)
	var rest [measures]float64 // episodes of tasks without past episodes
	for _, t := range f.manifest.Tasks {
		planned := s.tasks[t.ID]
		if planned == nil {
			continue
		}
		s.estimates = s.estimates.plus(f.worst(planned))
		own := f.samples[pastKey{of, t.Digest}]
		s.TasksKnown += drive.Count(own != nil)
		for m := range measures {
			if own == nil || own[m].n == 0 {
				rest[m] += planned.n
			} else {
				s.estimates[m] = s.estimates[m].plus(own[m].times(planned.n, wide[m].variance()))
			}
		}
	}
	for m := range measures {
		g := &s.estimates[m]
		if rest[m] > 0 {
			*g = g.plus(wide[m].times(rest[m], math.NaN()))
		}
		if m != mCalls && m != mRequests && !math.IsNaN(g.variance) {
			g.low, g.high = unbounded.low, unbounded.high // past episodes are more informative than the worst case
		}
		g.narrow()
	}
}

// defaultAttempts is the default of retry.Policy.
const defaultAttempts = 4

// worst returns the bounds of episodes: at least one call each, and at most the steps of
// the budget, each at the worst case of the first request. A condensing call is not a step.
func (f *forecaster) worst(t *taskShare) (g estimates) {
	budgets, steps := t.Params.Budgets, math.Inf(1)
	if budgets.MaxSteps > 0 {
		steps = float64(budgets.MaxSteps)
		if t.Fork != nil {
			steps -= float64(t.Fork.Turn)
		}
	}
	if t.Params.Compress {
		steps *= 2
	}
	for m := range g {
		g[m] = unbounded
	}
	most := t.n * steps
	g[mCalls].low, g[mCalls].high = t.n, most
	g[mRequests].low, g[mRequests].high = t.n, most*float64(cmp.Or(f.Retry.Attempts, defaultAttempts))
	in, out, cost := worstRequest(f, t.Planned)
	g[mInput].high, g[mOutput].high, g[mTokens].high, g[mCost].high = most*in, most*out, most*(in+out), most*cost
	if budgets.MaxTokens > 0 {
		g[mTokens].high = min(g[mTokens].high, t.n*(float64(budgets.MaxTokens)+in+out)) // the last request starts below the cap
	}
	if budgets.MaxCostNanoUSD > 0 {
		g[mCost].high = min(g[mCost].high, t.n*(float64(budgets.MaxCostNanoUSD)+cost))
	}
	return g
}

// worstRequest is the worst case of an episode's most expensive first request at its most
// expensive model; NaN is unknown.
func worstRequest(f *forecaster, p drive.Planned) (in, out, cost float64) {
	nan := math.NaN()
	calls := p.FirstCalls(p.Params)
	if len(calls) == 0 {
		return nan, nan, nan
	}
	for _, c := range calls {
		most, answer, ok := price.WorstTokens(c.Call)
		if !ok {
			return float64(most), nan, nan
		}
		in, out = max(in, float64(most)), max(out, float64(answer))
		for _, model := range drive.ModelsOf(p.Candidate) {
			provider := p.Candidate.Provider
			nano, ok := f.Prices.Worst(provider, model, most, answer, f.priceDay)
			if batched(f.Options, provider) {
				nano, ok = f.Prices.WorstOf(batch.Tier, provider, model, most, answer, f.priceDay)
			}
			if !ok {
				return float64(most), float64(answer), nan
			}
			cost = max(cost, float64(nano))
		}
	}
	return in, out, cost
}
