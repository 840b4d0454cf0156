package forecast

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/batch"
)

// These constants bound how much is read of the suite's past runs, newest first.
const (
	maxPastFolders = 200
	maxPastRuns    = 20
	maxPastBytes   = 64 << 20
)

// pastKey names a sample: a candidate by its digest, or a provider's model; and a
// task by its digest, or "" for all of them.
type pastKey struct{ of, task string }

func modelKey(provider, model string) string { return "model\x00" + provider + "\x00" + model }

// readPast reads the runs of the suite below the runs folder, newest first, except the one
// that is resumed. Unreadable runs are warnings.
func (f *forecaster) readPast() {
	manifests := f.pastManifests()
	parts := map[string]bool{f.Resume: true} // with episodes that another run has, too
	for _, m := range manifests {
		parts[m.RescoredFrom], parts[m.LabelledFrom] = true, true
		for _, id := range m.MergedFrom {
			parts[id] = true
		}
	}
	left := int64(maxPastBytes)
	for _, m := range manifests {
		if parts[m.RunID] || m.Status == "running" || m.Fork != nil && !sameFork(*m.Fork, f.manifest.Fork) {
			continue
		}
		dir := filepath.Join(f.Runs, m.RunID)
		for _, name := range []string{"episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
				left -= info.Size()
			}
		}
		if left < 0 || f.runs == maxPastRuns {
			break
		}
		before, learn := len(f.seen), f.learner(m)
		for rows, err := range ledger.Scan(dir) {
			if err != nil {
				f.warnf("past run %s is ignored from here on: %s", m.RunID, err)
				break
			}
			learn(rows)
		}
		f.runs += drive.Count(len(f.seen) > before)
	}
}

// sameFork reports whether a fork has the same beginning as the plan.
func sameFork(m manifest.Fork, is *manifest.Fork) bool {
	return is != nil && m.Task == is.Task && m.Candidate == is.Candidate && m.Trial == is.Trial && m.Turn == is.Turn
}

// pastManifests returns the manifests of the suite's runs, newest first.
func (f *forecaster) pastManifests() (list []manifest.Manifest) {
	folders, err := manifest.Newest(f.Runs, "", maxPastFolders, maxPastBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.warnf("past runs cannot be read: %s", err)
	}
	for _, d := range folders {
		m, err := manifest.Read(d.Dir)
		if name := filepath.Base(d.Dir); err != nil {
			f.warnf("past run %s is ignored: %s", name, err)
		} else if m.Suite == f.Suite.Name && m.RunID == name {
			list = append(list, m)
		}
	}
	return list
}

// learner adds to the samples the episodes of a run whose candidate or model is in the
// plan. It skips those without a result, which ended too early.
func (f *forecaster) learner(m manifest.Manifest) func(ledger.EpisodeRows) {
	wanted, candidates, tasks := map[string]bool{}, map[string]manifest.Candidate{}, map[string]string{}
	for _, c := range f.plan.Candidates() {
		wanted[harness.CandidateDigest(c)], wanted[modelKey(c.Provider, c.Model)] = true, true
	}
	for _, c := range m.Candidates {
		candidates[c.Name] = c
	}
	for _, t := range m.Tasks {
		tasks[t.ID] = t.Digest
	}
	return func(rows ledger.EpisodeRows) {
		e := rows.Episode
		c, known := candidates[e.Candidate]
		o, ok := f.observe(rows, c)
		of := [...]string{c.Digest, modelKey(e.Provider, e.Model)}
		again := [3]string{c.Digest, tasks[e.TaskID], cmp.Or(e.CassetteDigest, fmt.Sprintf("%s/%s/%s/%d", e.RunID, e.TaskID, e.Candidate, e.Trial))}
		if !known || !ok || e.Excluded() != "" || e.Provider == episode.ScriptedCandidate || f.seen[again] || !wanted[of[0]] && !wanted[of[1]] {
			return
		}
		f.seen[again] = true
		for _, of := range of {
			f.samples.add(pastKey{of, ""}, o)
			if task := tasks[e.TaskID]; task != "" {
				f.samples.add(pastKey{of, task}, o)
			}
		}
	}
}

// samples are the statistics of past episodes.
type samples map[pastKey]*sample

// add adds an episode to a sample.
func (s samples) add(key pastKey, o observation) {
	if s[key] == nil {
		s[key] = &sample{}
	}
	for m, x := range o {
		s[key][m].add(x)
	}
}

// observe returns the quantities of an episode, from the fork's turn on, at the prices of
// the day. It prices cache writes as short-lived ones, because a ledger does not
// distinguish them. ok is false for an episode without usable data.
func (f *forecaster) observe(rows ledger.EpisodeRows, c manifest.Candidate) (o observation, ok bool) {
	from := 0
	if f.manifest.Fork != nil {
		from = f.manifest.Fork.Turn
	}
	for _, t := range rows.Turns {
		if int(t.Turn) <= from {
			continue
		}
		if !ok {
			ok = true
			o[mElapsed] = float64(max(0, rows.Episode.TsStart+rows.Episode.Micros()-t.TsStart))
		}
		o[mCalls]++
		o[mRequests] += float64(max(1, t.Attempts))
		if kind := slices.Index(kinds[:], t.Kind); kind >= 0 {
			o[int(mKinds)+kind]++
		}
		o.spend(f, t, askedModel(t, c))
	}
	return o, ok
}

// askedModel is the model of a turn. A second model for plans or steps is known only by the
// name in its reply.
func askedModel(t ledger.Turn, c manifest.Candidate) string {
	switch {
	case t.Role == turn.RoleRescue:
		return c.RescueModel
	case t.Role == turn.RoleFallback, c.FallbackModel != "" && t.ModelServed == c.FallbackModel:
		return c.FallbackModel
	case t.Role == turn.RolePlanner && c.PlannerModel != "":
		return c.PlannerModel
	}
	return t.Model
}

// batched reports whether the run sends requests to a provider in batches.
func batched(o harness.Options, provider string) bool { return o.Batch != nil && batch.Has(provider) }

// spend adds the tokens of a turn, and what it would cost in this run.
func (o *observation) spend(f *forecaster, t ledger.Turn, model string) {
	class := func(m measure, n *int64) int64 {
		if n == nil || *n < 0 { // because a ledger is untrusted
			o[m], o[mTokens] = math.NaN(), math.NaN()
			return -1 // which has no known cost
		}
		o[m] += float64(*n)
		o[mTokens] += float64(*n)
		return *n
	}
	u := providers.Usage{
		Reported: true, Tier: t.ServiceTier, Input: class(mInput, t.In), Output: class(mOutput, t.Out),
		CacheRead: class(mCacheRead, t.CacheRead), CacheWrite: class(mCacheWrite, t.CacheWrite), Reasoning: class(mReasoning, t.Reasoning),
	}
	switch {
	case batched(f.Options, t.Provider):
		u.Tier = batch.Tier
	case t.Batched:
		u.Tier = ""
	}
	cost, ok := f.Prices.Cost(t.Provider, model, u, f.priceDay)
	if o[mCost] += float64(cost); !ok {
		o[mCost] = math.NaN()
	}
}
