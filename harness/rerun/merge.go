package rerun

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// shardRun is one of the runs that are merged.
type shardRun struct {
	dir      string
	manifest manifest.Manifest
	episodes iter.Seq2[ledger.EpisodeRows, error]
	shard    harness.Shard
}

// ended reports whether the run has a ledger. A killed run has none and counts as missing.
func (s shardRun) ended() bool { return s.manifest.Status != "running" }

// Merge joins the runs of a plan's shards into one run below runs, and returns its folder
// and manifest. Its ledger equals that of a run of the whole plan. It refuses runs of
// another suite, configuration, price table, program or plan, and duplicate shards, with
// every reason in one *ConfigError. If shards are missing or unfinished, the manifest lists
// them and the merged run is partial. Merge only reads the given folders.
func Merge(runs string, dirs []string) (dir string, m manifest.Manifest, err error) {
	shards, err := readShards(dirs)
	if err != nil {
		return "", m, err
	}
	m = mergedManifest(shards)
	dir, done, err := derive(runs, m.RunID)
	if err != nil {
		return "", m, err
	}
	defer func() { done(err) }()
	if m, err = mergeLedgers(dir, shards, m); err != nil {
		return "", m, fmt.Errorf("merge into %s: %w", dir, err)
	}
	return dir, m, nil
}

// derive creates and locks the folder of a run that is derived from others. done unlocks it
// and, after an error, removes the folder unless it existed before.
func derive(runs, id string) (dir string, done func(error), err error) {
	dir = filepath.Join(runs, id)
	_, err = os.Stat(dir)
	made := err != nil
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return dir, nil, fmt.Errorf("make run folder %s: %w", dir, err)
	}
	unlock, err := ledger.Lock(dir)
	return dir, func(err error) {
		if err != nil && made {
			_ = os.RemoveAll(dir) // the original error is more useful
		}
		unlock()
	}, err
}

func readShards(dirs []string) ([]shardRun, error) {
	var shards []shardRun
	var errs []error
	for _, dir := range dirs {
		m, episodes, err := ledger.Open(dir)
		if err != nil {
			return nil, err
		}
		s := shardRun{dir: dir, manifest: m, episodes: episodes}
		if m.Shard == "" {
			errs = append(errs, fmt.Errorf("%s is not a shard: it was run without --shard, or is already merged", dir))
		} else if s.shard, err = harness.ParseShard(m.Shard); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", dir, err))
		}
		shards = append(shards, s)
	}
	if len(shards) == 0 {
		errs = append(errs, errors.New("no runs"))
	}
	if err := errors.Join(append(errs, mismatches(shards)...)...); err != nil {
		return nil, &harness.ConfigError{Err: fmt.Errorf("cannot merge:\n%w", err)}
	}
	slices.SortFunc(shards, func(a, b shardRun) int { return cmp.Compare(a.shard.Index, b.shard.Index) })
	return shards, nil
}

// mismatches returns the differences of runs that rule out one common plan.
func mismatches(shards []shardRun) []error {
	var errs []error
	taken := map[int]string{}
	shards = slices.DeleteFunc(slices.Clone(shards), func(s shardRun) bool { return s.shard.Count == 0 })
	for _, s := range shards {
		first, m := shards[0], s.manifest
		for _, d := range []struct{ what, a, b string }{
			{"modes", first.manifest.Mode, m.Mode},
			{"suites", first.manifest.SuiteDigest, m.SuiteDigest},
			{"candidates, policies or seeds", first.manifest.ConfigDigest, m.ConfigDigest},
			{"price tables", first.manifest.PriceDigest, m.PriceDigest},
			{"versions of cupel", first.manifest.CodeVersion, m.CodeVersion},
			{"plans", first.manifest.PlanDigest, m.PlanDigest},
			{"acceptance thresholds", fmt.Sprint(first.manifest.Acceptance), fmt.Sprint(m.Acceptance)},
			{"numbers of shards", fmt.Sprint(first.shard.Count), fmt.Sprint(s.shard.Count)},
		} {
			if d.a != d.b {
				errs = append(errs, fmt.Errorf("%s and %s have different %s: %.60s and %.60s", first.dir, s.dir, d.what, d.a, d.b))
			}
		}
		if other, ok := taken[s.shard.Index]; ok {
			errs = append(errs, fmt.Errorf("%s and %s are both shard %s", other, s.dir, s.shard))
		}
		taken[s.shard.Index] = s.dir
	}
	return errs
}

// mergedManifest is the manifest without the totals of the ledger.
func mergedManifest(shards []shardRun) manifest.Manifest {
	m := shards[0].manifest
	m.Candidates = slices.Clone(m.Candidates)
	m.Shard, m.Stopped, m.Outcomes = "", "", manifest.Outcomes{}
	var at time.Time
	var why []string
	have := map[int]bool{}
	for _, s := range shards {
		m.MergedFrom = append(m.MergedFrom, s.manifest.RunID)
		if id, err := ulid.ParseStrict(s.manifest.RunID); err == nil && ulid.Time(id.Time()).After(at) {
			at = ulid.Time(id.Time())
		}
		m.Recorded = m.Recorded.With(s.manifest.Recorded)
		if s.manifest.Started != "" {
			m.Started = min(m.Started, s.manifest.Started)
		}
		if s.manifest.Stopped != "" {
			why = append(why, fmt.Sprintf("shard %s: %s", s.shard, s.manifest.Stopped))
		}
		if !s.ended() {
			why = append(why, fmt.Sprintf("shard %s has not ended (cupel run --resume %s)", s.shard, s.dir))
		}
		have[s.shard.Index] = true
	}
	for i := 1; i <= shards[0].shard.Count; i++ {
		if !have[i] {
			why = append(why, fmt.Sprintf("shard %s is missing", harness.Shard{Index: i, Count: shards[0].shard.Count}))
		}
	}
	for i := range m.Candidates {
		m.Candidates[i].Planned, m.Candidates[i].PlannedInAll = m.Candidates[i].PlannedInAll, 0
	}
	slices.Sort(m.MergedFrom)
	m.Stopped = strings.Join(why, "; ")
	m.RunID = drive.NewRunID(at, append([]string{"merge"}, m.MergedFrom...)...)
	return m
}

// mergeLedgers writes the shards' episodes in ledger order, and the manifest with their
// totals.
func mergeLedgers(dir string, shards []shardRun, m manifest.Manifest) (manifest.Manifest, error) {
	w, err := ledger.NewWriter(dir)
	if err != nil {
		return m, err
	}
	defer w.Abort()
	planned := 0
	for _, c := range m.Candidates {
		planned += c.Planned
	}
	var sources []*source
	var dirs []string
	for _, s := range shards {
		dirs = append(dirs, s.dir)
		if !s.ended() {
			continue
		}
		src := &source{}
		src.next, src.stop = iter.Pull2(s.episodes)
		defer src.stop()
		if err := src.advance(); err != nil {
			return m, err
		}
		sources = append(sources, src)
	}
	for {
		first := firstOf(sources)
		if first == nil {
			break
		}
		rows := first.rows
		rows.SetRun(m.RunID)
		rows.Episode.AddTo(&m.Outcomes)
		if err := w.Append(rows); err != nil {
			return m, err
		}
		if err := first.advance(); err != nil {
			return m, err
		}
	}
	return w.Close(func(t manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(t)
		m.Outcomes.Unfinished = planned - t.Episodes
		m.Status = drive.StatusWith(m.Outcomes)
		return m, episode.CopyAnswers(dir, dirs...)
	})
}

// source is an open ledger.
type source struct {
	next func() (ledger.EpisodeRows, error, bool)
	stop func()
	rows ledger.EpisodeRows
	more bool
}

func (s *source) advance() (err error) {
	s.rows, err, s.more = s.next()
	return err
}

// firstOf returns the source with the next episode in ledger order; nil at the end.
func firstOf(sources []*source) *source {
	var first *source
	for _, s := range sources {
		if s.more && (first == nil || s.rows.Episode.Compare(first.rows.Episode.Key) < 0) {
			first = s
		}
	}
	return first
}
