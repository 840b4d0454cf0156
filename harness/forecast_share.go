package harness

import (
	"cmp"
	"math"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// share is the part of one candidate.
type share struct {
	candidate resolvedCandidate
	outlook   CandidateOutlook
	guesses   guesses
}

// shares are those of the candidates with episodes in the plan.
func (f *forecaster) shares() []share {
	inAll, mine := f.plan.candidates, make([][]int, len(f.plan.candidates))
	for i := range mine {
		mine[i] = make([]int, len(f.plan.tasks))
	}
	for i, c := range f.plan.cells {
		mine[c.candidate][c.task] += count(f.todo[i])
	}
	digests := make([]string, len(f.plan.tasks))
	for i, t := range f.plan.tasks {
		digests[i] = f.Suite.TaskDigest(t.Task)
	}
	var shares []share
	for i, c := range inAll {
		if c.planned == 0 {
			continue
		}
		s := share{candidate: c, outlook: CandidateOutlook{
			Name: c.Name, Provider: c.Provider, Model: c.Model, Simulated: simulated(c.Provider), EpisodesInAll: c.planned,
		}}
		for _, n := range mine[i] {
			s.outlook.Episodes += n
			s.outlook.Tasks += count(n > 0)
		}
		f.guess(&s, mine[i], digests)
		s.outlook.Estimate = s.guesses.estimate()
		shares = append(shares, s)
	}
	return shares
}

// guess says what the episodes of a candidate come to, so many of each task.
func (f *forecaster) guess(s *share, tasks []int, digests []string) {
	if f.Mode == recorder.Replay || s.candidate.Provider == ScriptedCandidate {
		s.outlook.Basis = BasisNobody // and nothing is spent, which is known
		return
	}
	of, wide := f.past.of(s.candidate)
	s.outlook.Basis = BasisNone
	if wide != nil {
		s.outlook.PastEpisodes, s.outlook.Basis = int(wide[mCalls].n), BasisModel
		if of == CandidateDigest(s.candidate.Candidate) {
			s.outlook.Basis = BasisCandidate
		}
	} else {
		wide = &sample{}
	}
	var rest [measures]float64 // episodes of tasks that nothing is known of
	for t, n := range tasks {
		if n == 0 {
			continue
		}
		s.guesses = s.guesses.plus(f.worst(s.candidate, t, float64(n)))
		own := f.past.samples[pastKey{of, digests[t]}]
		s.outlook.TasksKnown += count(own != nil)
		for m := range measures {
			if own == nil || own[m].n == 0 {
				rest[m] += float64(n)
				continue
			}
			s.guesses[m].add(own[m].times(float64(n), wide[m].variance()))
		}
	}
	for m := range measures {
		g := &s.guesses[m]
		if rest[m] > 0 {
			g.add(wide[m].times(rest[m], math.NaN()))
		}
		if m != mCalls && m != mRequests && !math.IsNaN(g.variance) {
			g.low, g.high = math.NaN(), math.NaN() // the past says more than the worst case
		}
		g.narrow()
	}
}

// add adds what is expected, not the bounds.
func (g *guess) add(h guess) {
	g.expected += h.expected
	g.variance += h.variance
}

// of is the sample of a candidate, or else that of its model; nil without any.
func (p *pastRuns) of(c resolvedCandidate) (of string, wide *sample) {
	for _, of := range []string{CandidateDigest(c.Candidate), modelKey(c.Provider, c.Model)} {
		if s := p.samples[pastKey{of, ""}]; s != nil {
			return of, s
		}
	}
	return "", nil
}

// defaultAttempts are those of the zero providers.RetryPolicy.
const defaultAttempts = 4

// worst are the bounds of n episodes of a task: one call at least, and at most as
// many as the budget has steps, each at the worst case of the first request. A
// condensing call is no step.
func (f *forecaster) worst(c resolvedCandidate, task int, n float64) (g guesses) {
	t := f.plan.tasks[task]
	p := c.episode(f.Options, t.Task, t.tools, 1)
	steps := math.Inf(1)
	if most := p.params.Budgets.MaxSteps; most > 0 {
		steps = float64(most)
		if c.fork != nil {
			steps -= float64(c.fork.turn)
		}
	}
	if p.params.Compress {
		steps *= 2
	}
	nan := math.NaN()
	for m := range g {
		g[m].low, g[m].high = nan, nan
	}
	attempts := float64(cmp.Or(f.Retry.Attempts, defaultAttempts))
	g[mCalls].low, g[mCalls].high = n, n*steps
	g[mRequests].low, g[mRequests].high = n, n*steps*attempts
	in, out, cost := f.worstRequest(p)
	for m, each := range map[measure]float64{mInput: in, mOutput: out, mTokens: in + out} {
		g[m].high = n * steps * each
	}
	if most := p.params.Budgets.MaxTokens; most > 0 {
		g[mTokens].high = min(g[mTokens].high, n*(float64(most)+in+out)) // the last request begins below it
	}
	g[mCost].high = n * steps * cost
	if most := p.params.Budgets.MaxCostNanoUSD; most > 0 {
		g[mCost].high = min(g[mCost].high, n*(float64(most)+cost))
	}
	return g
}

// worstRequest is the worst case of an episode's first request, the dearest of those
// it begins with, at the dearest of its models; NaN is unknown.
func (f *forecaster) worstRequest(p planned) (in, out, cost float64) {
	nan := math.NaN()
	calls := p.firstCalls(p.params)
	if len(calls) == 0 {
		return nan, nan, nan
	}
	for _, c := range calls {
		most, answer, ok := providers.WorstTokens(c.Call)
		if !ok {
			return float64(most), nan, nan
		}
		in, out = max(in, float64(most)), max(out, float64(answer))
		for _, model := range models(p.candidate) {
			nano, ok := f.Prices.Worst(p.candidate.Provider, model, most, answer, f.priceDay())
			if !ok {
				return float64(most), float64(answer), nan
			}
			cost = max(cost, float64(nano))
		}
	}
	return in, out, cost
}
