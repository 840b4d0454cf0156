package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers"
)

// How much of the past is read: of the folders that changed last those of the
// suite, as far as their files fit.
const (
	maxPastFolders = 200
	maxPastRuns    = 20
	maxPastBytes   = 64 << 20
)

// pastKey names a sample: a candidate by its digest, or a provider's model; and a
// task by its digest, or "" for all of them.
type pastKey struct{ of, task string }

func modelKey(provider, model string) string { return "model\x00" + provider + "\x00" + model }

// pastRuns are what is known of episodes like those of the plan.
type pastRuns struct {
	samples map[pastKey]*sample // a nil one is wanted and not yet there
	seen    map[[3]string]bool  // replays show an episode again
	runs    int
	fork    *manifest.Fork // of the plan
	prices  providers.Prices
	day     time.Time
}

func (f *forecaster) newPast() *pastRuns {
	p := &pastRuns{samples: map[pastKey]*sample{}, seen: map[[3]string]bool{}, prices: f.Prices, day: f.priceDay(), fork: f.manifestFork()}
	for _, c := range f.plan.candidates {
		for _, of := range []string{CandidateDigest(c.Candidate), modelKey(c.Provider, c.Model)} {
			p.samples[pastKey{of, ""}] = nil
			for _, t := range f.plan.tasks {
				p.samples[pastKey{of, f.Suite.TaskDigest(t.Task)}] = nil
			}
		}
	}
	return p
}

// read learns from the runs of a suite below a folder, those that changed last
// first, but for the one that is resumed. What cannot be read is said and done
// without.
func (p *pastRuns) read(dir, suite, resumed string) (warnings []string) {
	if dir == "" {
		return nil
	}
	manifests, warnings := pastManifests(dir, suite)
	parts := map[string]bool{resumed: true} // whose episodes are another run's, too
	for _, m := range manifests {
		parts[m.RescoredFrom] = true
		for _, id := range m.MergedFrom {
			parts[id] = true
		}
	}
	left := int64(maxPastBytes)
	for _, m := range manifests {
		if parts[m.RunID] || m.Status == "running" || !p.sameFork(m.Fork) {
			continue
		}
		if left -= ledgerBytes(filepath.Join(dir, m.RunID)); left < 0 || p.runs == maxPastRuns {
			break
		}
		before := len(p.seen)
		learn := p.learner(m)
		for rows, err := range ledger.Scan(filepath.Join(dir, m.RunID)) {
			if err != nil {
				warnings = append(warnings, fmt.Sprintf("past run %s is not taken into account from here on: %s", m.RunID, err))
				break
			}
			learn(rows)
		}
		p.runs += count(len(p.seen) > before)
	}
	return warnings
}

// pastManifests are those of a suite's runs, the one that changed last first.
func pastManifests(dir, suite string) (list []manifest.Manifest, warnings []string) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []string{fmt.Sprintf("past runs cannot be read: %s", err)}
	}
	type folder struct {
		name    string
		changed time.Time
		size    int64
	}
	var folders []folder
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name(), "run.json")); err == nil {
			folders = append(folders, folder{e.Name(), info.ModTime(), info.Size()})
		}
	}
	slices.SortFunc(folders, func(a, b folder) int {
		return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(b.name, a.name))
	})
	left := int64(maxPastBytes)
	for _, f := range folders[:min(len(folders), maxPastFolders)] {
		if left -= f.size; left < 0 {
			break
		}
		m, err := manifest.Read(filepath.Join(dir, f.name))
		switch {
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("past run %s is not taken into account: %s", f.name, err))
		case m.Suite == suite && m.RunID == f.name:
			list = append(list, m)
		}
	}
	return list, warnings
}

func ledgerBytes(dir string) (n int64) {
	for _, name := range []string{"episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			n += info.Size()
		}
	}
	return n
}

// sameFork says whether a run can be learned from: any but a fork from elsewhere.
func (p *pastRuns) sameFork(m *manifest.Fork) bool {
	return m == nil || p.fork != nil && m.Task == p.fork.Task && m.Candidate == p.fork.Candidate && m.Trial == p.fork.Trial && m.Turn == p.fork.Turn
}

// learner adds episodes of a run to the samples. Those without a result are left
// out: they ended too early.
func (p *pastRuns) learner(m manifest.Manifest) func(ledger.EpisodeRows) {
	candidates, tasks := map[string]manifest.Candidate{}, map[string]string{}
	for _, c := range m.Candidates {
		candidates[c.Name] = c
	}
	for _, t := range m.Tasks {
		tasks[t.ID] = t.Digest
	}
	return func(rows ledger.EpisodeRows) {
		e := rows.Episode
		c, ok := candidates[e.Candidate]
		if !ok || e.InfraError || e.Provider == ScriptedCandidate {
			return
		}
		o, ok := p.observe(rows, c)
		again := [3]string{c.Digest, tasks[e.TaskID], cmp.Or(e.CassetteDigest, fmt.Sprintf("%s/%s/%s/%d", e.RunID, e.TaskID, e.Candidate, e.Trial))}
		if !ok || p.seen[again] {
			return
		}
		taken := false
		for _, of := range []string{c.Digest, modelKey(e.Provider, e.Model)} {
			taken = p.take(pastKey{of, ""}, o) || taken
			if task := tasks[e.TaskID]; task != "" {
				p.take(pastKey{of, task}, o)
			}
		}
		if taken {
			p.seen[again] = true
		}
	}
}

// take adds an episode to a sample if it is wanted.
func (p *pastRuns) take(key pastKey, o observation) bool {
	s, wanted := p.samples[key]
	if !wanted {
		return false
	}
	if s == nil {
		s = &sample{}
		p.samples[key] = s
	}
	s.add(o)
	return true
}

// observe counts what an episode came to, from the turn a fork goes on at, at the
// prices of the day. Writes to a cache are priced as short-lived ones: a ledger
// does not tell them apart. ok is false for an episode with nothing to learn from.
func (p *pastRuns) observe(rows ledger.EpisodeRows, c manifest.Candidate) (o observation, ok bool) {
	from := 0
	if p.fork != nil {
		from = p.fork.Turn
	}
	for _, t := range rows.Turns {
		if int(t.Turn) <= from {
			continue
		}
		if !ok {
			ok = true
			o[mElapsed] = float64(max(0, rows.Episode.TsStart+rows.Episode.ElapsedUs-t.TsStart))
		}
		o[mCalls]++
		o[mRequests] += float64(max(1, t.Attempts))
		if kind, known := kinds[t.Kind]; known {
			o[kind]++
		}
		o.spend(p.prices, t, askedModel(t, c), p.day)
	}
	return o, ok
}

// askedModel is whom a turn asked. A second model that is asked for a plan or a step
// of it is known only by the name it answered with.
func askedModel(t ledger.Turn, c manifest.Candidate) string {
	switch {
	case t.Role == agent.RoleRescue:
		return c.RescueModel
	case t.Role == agent.RoleFallback, c.FallbackModel != "" && t.ModelServed == c.FallbackModel:
		return c.FallbackModel
	}
	return t.Model
}

// spend adds the tokens and the cost of a turn.
func (o *observation) spend(prices providers.Prices, t ledger.Turn, model string, day time.Time) {
	u := providers.Usage{Reported: true, Tier: t.ServiceTier}
	for _, c := range []struct {
		m    measure
		n    *int64
		into *int64
	}{
		{mInput, t.In, &u.Input}, {mOutput, t.Out, &u.Output}, {mCacheRead, t.CacheRead, &u.CacheRead},
		{mCacheWrite, t.CacheWrite, &u.CacheWrite}, {mReasoning, t.Reasoning, &u.Reasoning},
	} {
		n := math.NaN()
		if c.n != nil && *c.n >= 0 { // a ledger is untrusted
			n, *c.into = float64(*c.n), *c.n
		} else {
			u.Reported = false
		}
		o[c.m] += n
		o[mTokens] += n
	}
	if cost, ok := prices.Cost(t.Provider, model, u, day); ok {
		o[mCost] += float64(cost)
	} else {
		o[mCost] = math.NaN()
	}
}
