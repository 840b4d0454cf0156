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
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// duration puts the candidates side by side that have a lane of their own.
func (f *forecaster) duration(shares []*share) Duration {
	type lane struct {
		provider  string
		episodes  int
		estimates estimates
	}
	lanes := map[string]lane{}
	for _, s := range shares {
		if s.Basis != BasisNobody && s.Episodes > 0 {
			l := lanes[s.lane]
			lanes[s.lane] = lane{s.Provider, l.episodes + s.Episodes, l.estimates.plus(s.estimates)}
		}
	}
	var least, expected time.Duration
	work := 0.0                        // of all lanes
	known := f.Mode != recorder.Replay // how fast a replay is was not measured here
	for _, l := range lanes {
		elapsed := l.estimates[mElapsed].expected
		known = known && !math.IsNaN(elapsed)
		work += elapsed
		least = max(least, rated(f.Limits[l.provider], l.estimates[mRequests].low, l.estimates[mTokens].low))
		most := cmp.Or(f.Concurrency, f.Limits[l.provider].Concurrency, f.LaneConcurrency, harness.DefaultConcurrency)
		inTurn := time.Duration(elapsed / float64(min(most, l.episodes)) * float64(time.Microsecond))
		expected = max(expected, inTurn, rated(f.Limits[l.provider], l.estimates[mRequests].expected, l.estimates[mTokens].expected))
	}
	if f.Concurrency > 0 {
		expected = max(expected, time.Duration(work/float64(f.Concurrency)*float64(time.Microsecond)))
	}
	d := Duration{AtLeast: int64(least / time.Second)}
	if known {
		d.Expected = new(int64(math.Ceil(expected.Seconds())))
	}
	return d
}

// rated is how long a provider's limits keep so many requests and tokens: what it
// allows in a minute goes at once.
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

// warn says what would keep the run from starting or from ending, and what is not
// known.
func (f *forecaster) warn(shares []*share, total estimates) (list []string) {
	for _, text := range f.missing {
		list = append(list, "the run would not start: "+text)
	}
	ofProvider := map[string]estimates{}
	unpaid, unknown := 0.0, []string(nil)
	for _, s := range shares {
		if s.Basis == BasisNobody || s.Episodes == 0 {
			continue
		}
		for _, model := range s.models {
			if _, ok := f.Prices.Lookup(s.Provider, model, f.priceDay); !ok {
				list = append(list, fmt.Sprintf("candidate %s: the price table has no price of model %s of provider %s: its cost is unknown", s.Name, model, s.Provider))
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
	if unknown != nil {
		list = append(list, "no past run to learn from, so only bounds are known, of: "+drive.Abridge(unknown, 8)+"; run a few episodes first")
	}
	if unpaid > 0 {
		list = append(list, "of the expected cost "+amountOf(mCost, unpaid)+" are of simulated models: nobody pays them")
	}
	var spent admission.Spend
	for _, s := range f.spent {
		spent = spent.Plus(s)
	}
	list = append(list, capped("", "max_cost", f.Caps, spent, total)...)
	for _, name := range slices.Sorted(maps.Keys(ofProvider)) {
		g := ofProvider[name]
		g.narrow()
		list = append(list, capped("limits."+name+".", "max_cost_usd", f.Limits[name].Caps, f.spent[name], g)...)
	}
	return append(list, f.warnings...)
}

// isAbsent reports whether an episode of a replay has no cassette. A pack is not asked,
// because it would read them.
func (f *forecaster) isAbsent(e drive.Planned) bool {
	_, pack := f.Cassettes.(*cassette.Pack)
	if f.Mode != recorder.Replay || pack || f.Cassettes == nil || e.Cassette == "" || e.Candidate.Provider == episode.ScriptedCandidate ||
		f.Decide != nil && e.Trial > f.Decide.Rounds()[0] {
		return false
	}
	_, err := fs.Stat(f.Cassettes, e.Cassette)
	return errors.Is(err, fs.ErrNotExist)
}

// capped says which caps would or could end the run early; money is what the cap on
// cost is called.
func capped(prefix, money string, caps admission.Caps, spent admission.Spend, g estimates) (list []string) {
	for _, c := range []struct {
		name       string
		cap, spent int64
		m          measure
	}{
		{money, caps.CostNanoUSD, spent.CostNanoUSD, mCost},
		{"max_tokens", caps.Tokens, spent.Tokens, mTokens},
		{"max_requests", caps.Requests, spent.Requests, mRequests},
	} {
		if c.cap == 0 {
			continue
		}
		left, name := float64(c.cap-c.spent), prefix+c.name+" "+amountOf(c.m, float64(c.cap))
		if c.spent > 0 {
			name += ", of which " + amountOf(c.m, float64(c.spent)) + " are spent,"
		}
		switch e, high := g[c.m].expected, g[c.m].high; {
		case e > left:
			list = append(list, fmt.Sprintf("%s would end the run early: %s are expected, so about %.0f %% of them fit", name, amountOf(c.m, e), math.Floor(100*max(left, 0)/e)))
		case high <= left:
		case math.IsNaN(high) || math.IsInf(high, 1):
			list = append(list, name+" may end the run early: how much it comes to has no known bound")
		default:
			list = append(list, fmt.Sprintf("%s may end the run early: it can come to %s", name, amountOf(c.m, math.Ceil(high))))
		}
	}
	return list
}

// amountOf writes an amount for people.
func amountOf(m measure, n float64) string {
	switch m {
	case mCost:
		return fmt.Sprintf("$%.4f", n/1e9)
	case mTokens:
		return fmt.Sprintf("%.0f tokens", n)
	}
	return fmt.Sprintf("%.0f requests", n)
}
