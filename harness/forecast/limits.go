package forecast

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// asks reports whether any episode sends requests to a provider.
func (s *share) asks() bool { return s.Basis != BasisNobody && s.Episodes > 0 }

// duration treats candidates with separate lanes as parallel.
func (f *forecaster) duration(shares []*share) Duration {
	if f.Batch != nil {
		return Duration{}
	}
	type lane struct {
		limits    admission.Limits
		episodes  int
		estimates estimates
	}
	lanes := map[string]lane{}
	for _, s := range shares {
		if s.asks() {
			name := drive.LaneName(s.any.Candidate, s.any.Key)
			lanes[name] = lane{f.Limits[s.Provider], lanes[name].episodes + s.Episodes, lanes[name].estimates.plus(s.estimates)}
		}
	}
	micros := func(n float64) time.Duration { return time.Duration(n * float64(time.Microsecond)) }
	var least, expected time.Duration
	work := 0.0 // of all lanes
	for _, l := range lanes {
		requests, tokens, elapsed := l.estimates[mRequests], l.estimates[mTokens], l.estimates[mElapsed].expected
		work += elapsed
		least = max(least, rated(l.limits, requests.low, tokens.low))
		most := cmp.Or(f.Concurrency, l.limits.Concurrency, f.LaneConcurrency, harness.DefaultConcurrency)
		expected = max(expected, micros(elapsed/float64(min(most, l.episodes))), rated(l.limits, requests.expected, tokens.expected))
	}
	if f.Concurrency > 0 {
		expected = max(expected, micros(work/float64(f.Concurrency)))
	}
	d := Duration{AtLeast: int64(least / time.Second)}
	if f.Mode != recorder.Replay && !math.IsNaN(work) { // the speed of a replay was not measured here
		d.Expected = new(int64(math.Ceil(expected.Seconds())))
	}
	return d
}

// rated is how long a provider's limits take for these requests and tokens: one minute's
// allowance is sent immediately.
func rated(l admission.Limits, requests, tokens float64) time.Duration {
	minutes := 0.0
	if l.RequestsPerMinute > 0 && !math.IsNaN(requests) {
		minutes = max(minutes, requests/float64(l.RequestsPerMinute)-1)
	}
	if l.TokensPerMinute > 0 && !math.IsNaN(tokens) {
		minutes = max(minutes, tokens/float64(l.TokensPerMinute)-1)
	}
	return time.Duration(min(minutes*float64(time.Minute), 1<<62))
}

// warnf adds a warning.
func (f *forecaster) warnf(format string, args ...any) {
	f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
}

// warn adds warnings about what would stop the run from starting or ending, and about
// unknown inputs. absent episodes of a replay have no cassette.
func (f *forecaster) warn(shares []*share, total estimates, absent int) {
	past := f.warnings // come last
	f.warnings = []string{}
	if f.Mode != recorder.Replay {
		f.warnOfSpending(shares, total)
		helped := 0
		for i, e := range f.plan.Episodes() {
			helped += drive.Count(f.todo[i] && len(e.Task.Helpers()) > 0)
		}
		if helped > 0 {
			f.warnf("%d episodes have a judge or a simulated user: calls, tokens and cost above do not include those of these models", helped)
		}
	} else {
		record := ""
		if f.Records() {
			record = "; record them with: " + f.RecordCommand("", "", f.Trials)
		}
		if absent > 0 {
			f.warnf("the run would not start: %d of %d episodes have no cassette%s", absent, len(f.todo), record)
		}
		f.warnf("a replay sends no requests: it is free and needs neither a key nor a network")
	}
	f.warnings = append(f.warnings, past...)
	if f.Decide != nil {
		rounds := f.Decide.Rounds()
		f.warnf("these are the most episodes that the run can have: a candidate may be decided after each of %d rounds, of which the first has %d of its %d trials per task",
			len(rounds), rounds[0], f.Trials)
	}
}

// warnOfSpending adds warnings about missing, unknown or capped inputs of a run that sends
// requests.
func (f *forecaster) warnOfSpending(shares []*share, total estimates) {
	for _, text := range f.missing {
		f.warnf("the run would not start: %s", text)
	}
	ofProvider := map[string]estimates{}
	unpaid, unknown := 0.0, []string(nil)
	for _, s := range shares {
		if !s.asks() {
			continue
		}
		if why := s.any.Candidate.Alone(); why != "" {
			f.warnf("candidate %s: %s", s.Name, why)
		}
		for _, model := range drive.ModelsOf(s.any.Candidate) {
			if _, ok := f.Prices.Lookup(s.Provider, model, f.priceDay); !ok {
				f.warnf("candidate %s: the price table has no price of model %s of provider %s: its cost is unknown", s.Name, model, s.Provider)
			}
		}
		if s.Basis == BasisNone {
			unknown = append(unknown, s.Name)
		}
		if s.Simulated {
			unpaid += s.estimates[mCost].expected
		}
		ofProvider[s.Provider] = ofProvider[s.Provider].plus(s.estimates)
	}
	if unknown != nil && f.Runs != "" { // otherwise there is nothing to learn from
		f.warnf("no past runs to estimate from, so only bounds are known for: %s; run a few episodes first", clip.Names(unknown, 8))
	}
	if f.Batch != nil {
		f.warnf("each turn waits for a batch, which its provider ends within 24 hours: the duration is unknown")
	}
	if unpaid > 0 {
		f.warnf("%s of the expected cost is for simulated models and is not charged", dollars(unpaid))
	}
	var spent admission.Spend
	for _, s := range f.spent {
		spent = spent.Plus(s)
	}
	f.warnOfCaps("max_cost", "", f.Caps, spent, total)
	for _, name := range slices.Sorted(maps.Keys(ofProvider)) {
		g := ofProvider[name]
		g.narrow()
		f.warnOfCaps("max_cost_usd", "limits."+name+".", f.Limits[name].Caps, f.spent[name], g)
	}
}

// isAbsent reports whether an episode of a replay has no cassette.
func isAbsent(o harness.Options, e drive.Planned) bool {
	if o.Mode != recorder.Replay || o.Cassettes == nil || e.Cassette == "" || e.Candidate.Provider == episode.ScriptedCandidate ||
		o.Decide != nil && e.Trial > o.Decide.Rounds()[0] {
		return false
	}
	if pack, ok := o.Cassettes.(cassette.Archive); ok {
		_, has := pack.Digest(e.Cassette)
		return !has
	}
	_, err := fs.Stat(o.Cassettes, e.Cassette)
	return errors.Is(err, fs.ErrNotExist)
}

func dollars(nano float64) string { return fmt.Sprintf("$%.4f", nano/1e9) }

// warnOfCaps adds warnings about caps that would or could end the run early; money is the
// name of the cap on cost.
func (f *forecaster) warnOfCaps(money, prefix string, caps admission.Caps, spent admission.Spend, g estimates) {
	for _, c := range []struct {
		name       string
		cap, spent int64
		estimate
		text func(float64) string
	}{
		{money, caps.CostNanoUSD, spent.CostNanoUSD, g[mCost], dollars},
		{"max_tokens", caps.Tokens, spent.Tokens, g[mTokens], func(n float64) string { return fmt.Sprintf("%.0f tokens", n) }},
		{"max_requests", caps.Requests, spent.Requests, g[mRequests], func(n float64) string { return fmt.Sprintf("%.0f requests", n) }},
	} {
		left, name := float64(c.cap-c.spent), prefix+c.name+" "+c.text(float64(c.cap))
		if c.spent > 0 {
			name += ", of which " + c.text(float64(c.spent)) + " are spent,"
		}
		switch {
		case c.cap == 0:
		case c.expected > left:
			f.warnf("%s would end the run early: %s are expected, so about %.0f %% of them fit", name, c.text(c.expected), math.Floor(100*max(left, 0)/c.expected))
		case c.high <= left:
		case math.IsNaN(c.high) || math.IsInf(c.high, 1):
			f.warnf("%s may end the run early: its total has no known bound", name)
		default:
			f.warnf("%s may end the run early: it can come to %s", name, c.text(math.Ceil(c.high)))
		}
	}
}
