package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/recorder"
)

// models are those that a candidate's provider may be asked for.
func models(c goldens.Candidate) []string {
	list := []string{c.Model}
	for _, other := range []string{c.Rescue, c.Fallback} {
		if other != "" && !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	return list
}

// leftOut says where the suite's other episodes went.
func (f *forecaster) leftOut() ([]LeftOut, error) {
	inAll, todo := 0, 0
	for _, c := range f.plan.candidates {
		inAll += c.planned
	}
	for _, is := range f.todo {
		todo += count(is)
	}
	list := []LeftOut{}
	left := func(why string, n int) {
		if n > 0 {
			list = append(list, LeftOut{why, n})
		}
	}
	if f.resumed == nil && f.Fork == nil {
		all, chosen, kept, err := f.selection()
		if err != nil {
			return nil, err
		}
		left("of tasks and candidates that are not selected", all-chosen)
		left("not selected by what an earlier run says of them", chosen-kept)
		left("their cassettes are fresh", kept-inAll)
	}
	left("in other shards", inAll-f.plan.len())
	left("the run has their results", f.plan.len()-todo)
	return list, nil
}

// selection counts the episodes of the suite, those of the selected tasks and
// candidates, and of these those that Selection.Episode keeps.
func (f *forecaster) selection() (all, chosen, kept int, err error) {
	p, err := selected(f.Options)
	if err != nil {
		return 0, 0, 0, err
	}
	scripted := false
	for _, c := range p.candidates {
		scripted = scripted || c.Provider == ScriptedCandidate
		for _, t := range p.tasks {
			if t.Scripted != (c.Provider == ScriptedCandidate) {
				continue
			}
			chosen += f.Trials
			for trial := 1; trial <= f.Trials; trial++ {
				kept += count(f.Select.Episode == nil || f.Select.Episode(t.ID, c.Name, trial))
			}
		}
	}
	for _, t := range f.Suite.Tasks {
		switch {
		case !t.Scripted:
			all += f.Trials * len(f.Candidates)
		case scripted:
			all += f.Trials
		}
	}
	return all, chosen, kept, nil
}

// duration puts the candidates side by side that have a lane of their own.
func (f *forecaster) duration(shares []share) DurationEstimate {
	type lane struct {
		provider string
		episodes int
		guesses  guesses
	}
	lanes := map[string]lane{}
	for _, s := range shares {
		if s.outlook.Basis != BasisNobody {
			name := laneName(s.candidate)
			l := lanes[name]
			lanes[name] = lane{s.candidate.Provider, l.episodes + s.outlook.Episodes, l.guesses.plus(s.guesses)}
		}
	}
	var least, expected time.Duration
	work := 0.0                        // of all lanes
	known := f.Mode != recorder.Replay // how fast a replay is nobody has measured here
	for _, l := range lanes {
		if l.episodes == 0 {
			continue
		}
		least = max(least, f.rated(l.provider, l.guesses[mRequests].low, l.guesses[mTokens].low))
		known = known && !math.IsNaN(l.guesses[mElapsed].expected)
		most := f.Concurrency
		if most == 0 {
			most = f.laneEpisodes(l.provider)
		}
		workers := min(most, l.episodes)
		work += l.guesses[mElapsed].expected
		inTurn := time.Duration(l.guesses[mElapsed].expected / float64(workers) * float64(time.Microsecond))
		expected = max(expected, inTurn, f.rated(l.provider, l.guesses[mRequests].expected, l.guesses[mTokens].expected))
	}
	if f.Concurrency > 0 {
		expected = max(expected, time.Duration(work/float64(f.Concurrency)*float64(time.Microsecond)))
	}
	d := DurationEstimate{AtLeast: int64(least / time.Second)}
	if known {
		d.Expected = ptr(int64(math.Ceil(expected.Seconds())))
	}
	return d
}

// rated is how long a provider's limits keep so many requests and tokens: what it
// allows in a minute goes at once.
func (f *forecaster) rated(provider string, requests, tokens float64) time.Duration {
	minutes := 0.0
	l := f.Limits[provider]
	for _, m := range []struct {
		n     float64
		limit int64
	}{{requests, l.RequestsPerMinute}, {tokens, l.TokensPerMinute}} {
		if m.limit > 0 && !math.IsNaN(m.n) {
			minutes = max(minutes, m.n/float64(m.limit)-1)
		}
	}
	return time.Duration(min(minutes*float64(time.Minute), 1<<62))
}

// warn says what would keep the run from starting or from ending, and what is not
// known.
func (f *forecaster) warn(shares []share, total guesses) []string {
	if f.Mode == recorder.Replay {
		return append(f.absent(), "a replay asks nobody: it needs no key and no network and costs nothing")
	}
	var list []string
	for _, text := range f.missing {
		list = append(list, "the run would not start: "+text)
	}
	ofProvider := map[string]guesses{}
	unpaid, strangers := 0.0, []string(nil)
	for _, s := range shares {
		c := s.candidate
		if s.outlook.Basis == BasisNobody || s.outlook.Episodes == 0 {
			continue
		}
		for _, model := range models(c.Candidate) {
			if _, ok := f.Prices.Lookup(c.Provider, model, f.priceDay()); !ok {
				list = append(list, fmt.Sprintf("candidate %s: the price table has no price of model %s of provider %s: its cost is unknown", c.Name, model, c.Provider))
			}
		}
		if s.outlook.Basis == BasisNone {
			strangers = append(strangers, c.Name)
		}
		if s.outlook.Simulated {
			unpaid += s.guesses[mCost].expected
		}
		ofProvider[c.Provider] = ofProvider[c.Provider].plus(s.guesses)
	}
	if strangers != nil {
		list = append(list, "no past run to learn from, so only bounds are known, of: "+abridge(strangers, 8)+"; run a few episodes first")
	}
	if unpaid > 0 {
		list = append(list, "of the expected cost "+amountOf(mCost, unpaid)+" are of simulated models: nobody pays them")
	}
	var spent admission.Spend
	for _, name := range sortedKeys(f.spent) {
		s := f.spent[name]
		spent = admission.Spend{CostNanoUSD: spent.CostNanoUSD + s.CostNanoUSD, Tokens: spent.Tokens + s.Tokens, Requests: spent.Requests + s.Requests}
	}
	list = append(list, capped("", "max_cost", f.Caps, spent, total)...)
	for _, name := range sortedKeys(ofProvider) {
		g := ofProvider[name]
		g.narrow()
		list = append(list, capped("limits."+name+".", "max_cost_usd", f.Limits[name].Caps, f.spent[name], g)...)
	}
	return append(list, f.warnings...)
}

// absent says whether cassettes are missing. A pack is not asked: it would read them.
func (f *forecaster) absent() []string {
	if _, pack := f.Cassettes.(*recorder.Pack); pack || f.Cassettes == nil {
		return nil
	}
	n := 0
	for _, p := range f.plan.all() {
		if p.cassette == "" || p.candidate.Provider == ScriptedCandidate || !f.certain(p.trial) {
			continue
		}
		_, err := fs.Stat(f.Cassettes, p.cassette)
		n += count(errors.Is(err, fs.ErrNotExist))
	}
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf("the run would not start: %d of %d episodes have no cassette", n, f.plan.len())
	if f.CassetteDir != "" {
		text += "; record them with: " + f.RecordCommand("", "", f.Trials)
	}
	return []string{text}
}

// capped says which caps would or could end the run early; money is what the cap on
// cost is called.
func capped(prefix, money string, caps admission.Caps, spent admission.Spend, g guesses) (list []string) {
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
