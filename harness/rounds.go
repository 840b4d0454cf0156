package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// Decide makes a run proceed in rounds and stop each candidate as soon as it is decided. A
// round is the next trials of every task for each undecided candidate.
type Decide struct {
	// MaxTrials is the largest number of trials per task and candidate; at least 1.
	MaxTrials int
	// Baselines are the ids of the runs that After compares with, for the manifest.
	Baselines []string
	// Rules is the text of everything else that After's verdicts depend on: equal rules and
	// episodes must give equal verdicts. It may omit the acceptance thresholds.
	Rules string
	// Before, if not nil, is called before anything starts, with the initial manifest. Its
	// error is a configuration error.
	Before func(m manifest.Manifest) error
	// After judges the candidates by all episodes so far, which are in ledger order and can be
	// iterated several times. The manifest describes a run that ended with this round: its
	// Decide has the round and the candidates stopped earlier. After returns the candidates to
	// stop now; the caller fills in their Round. It is never called while an episode is in
	// flight or while Progress or Watch is running.
	After func(m manifest.Manifest, episodes iter.Seq2[ledger.EpisodeRows, error]) ([]manifest.Stop, error)
}

// maxLooks is the largest number of rounds of a run: more looks save few episodes.
const maxLooks = 5

// Rounds returns the trials of each task by the end of each round: up to five steps to
// MaxTrials, as equal as possible.
func (d *Decide) Rounds() []int {
	n := min(d.MaxTrials, maxLooks)
	var out []int
	for i := 1; i <= n; i++ {
		out = append(out, int(math.Round(float64(d.MaxTrials)*float64(i)/float64(n))))
	}
	return out
}

// checkDecide rejects options that cannot be combined with rounds.
func checkDecide(o *Options) error {
	if o.Decide == nil {
		return nil
	}
	var errs []error
	refuse := func(is bool, what, why string) {
		if is {
			errs = append(errs, fmt.Errorf("a run in rounds cannot be %s: %s", what, why))
		}
	}
	if n := o.Decide.MaxTrials; n < 1 || n > maxTrials {
		errs = append(errs, fmt.Errorf("at most %d trials: must be 1 to %d", n, maxTrials))
	}
	refuse(o.Select.Shard.Count > 0, "one of several shards", "a round is judged by all of its episodes; leave out the shard")
	refuse(o.Fork != nil, "a fork", "a fork has one task and no verdict; leave out the fork")
	refuse(o.Select.Episode != nil, "a selection of single episodes", "a round is judged by all of its episodes; select tasks and candidates only")
	refuse(o.Stale, "a recording of stale cassettes", "it would leave out episodes of a round; record all of them")
	refuse(o.Decide.After == nil, "decided", "Decide.After is missing")
	return errors.Join(errs...)
}

// decision returns the manifest's Decide for a run in rounds that has not started.
func (r *runner) decision() *manifest.Decide {
	if r.Decide == nil {
		return nil
	}
	return &manifest.Decide{
		Rounds: r.Decide.Rounds(), Baselines: r.Decide.Baselines, Stops: []manifest.Stop{},
		RulesDigest: drive.DigestOf(r.Acceptance.Resolved(), r.Decide.Rules),
	}
}

// decisionKey is the part of a run's id that identifies its decision rules, which a resumed
// run must not change; empty without rounds.
func decisionKey(d *manifest.Decide) string {
	if d == nil {
		return ""
	}
	return drive.DigestOf(d.Rounds, strings.Join(d.Baselines, "\n"), d.RulesDigest)
}

// certain reports whether every candidate gets this trial regardless of decisions.
func (o *Options) certain(trial int) bool {
	return o.Decide == nil || trial <= o.Decide.Rounds()[0]
}

// reach is a candidate's last trial so far: by the round in which it was stopped, otherwise
// by the round in progress.
func reach(d *manifest.Decide, candidate string, round int) int {
	if s, ok := d.Stop(candidate); ok {
		round = s.Round
	}
	return d.Rounds[round-1]
}

// upTo returns the manifest of a run up to a round, with each candidate's totals, and the
// number of its episodes.
func (r *runner) upTo(m manifest.Manifest, round int) (manifest.Manifest, int) {
	d := *m.Decide
	d.Stops = slices.Clone(d.Stops)
	m.Decide, m.Trials = &d, 0
	m.Candidates = slices.Clone(m.Candidates)
	perTrial := map[string]int{}
	for _, c := range r.plan.cells {
		if c.Trial == 1 {
			perTrial[r.plan.candidates[c.Candidate].Name]++
		}
	}
	all := 0
	for i := range m.Candidates {
		c := &m.Candidates[i]
		trials := reach(&d, c.Name, round)
		c.Planned = perTrial[c.Name] * trials
		m.Trials = max(m.Trials, trials)
		all += c.Planned
	}
	return m, all
}

// runRounds runs the plan in rounds. If an episode of a round has no result, that round is
// the last and is not decided; a resumed run continues with it.
func runRounds(r *runner, ctx context.Context, cancel context.CancelCauseFunc, b *runState) (stopped, error) {
	d := b.s.manifest.Decide
	for d.Finished < len(d.Rounds) && len(d.Stops) < len(b.s.manifest.Candidates) {
		round := d.Finished + 1
		todo, err := beginRound(r, b, round)
		if err != nil {
			return stopped{}, err
		}
		stop := b.stopped(ctx, runQueues(r, ctx, cancel, b, todo))
		if b.failed != nil || stop.why != "" {
			return stop, b.failed
		}
		if n := b.s.withoutResult(d.Rounds[round-1]); n > 0 {
			stop.why = fmt.Sprintf("round %d of %d was not decided: %d of its episodes have no result", round, len(d.Rounds), n)
			return stop, nil
		}
		if err := decideRound(r, b, round); err != nil {
			return stopped{}, err
		}
	}
	return b.stopped(ctx, false), nil
}

// beginRound returns which episodes are to be run for a round. In a replay it fails unless
// all of them have a cassette.
func beginRound(r *runner, b *runState, round int) (todo []bool, err error) {
	d := b.s.manifest.Decide
	todo = make([]bool, r.plan.len())
	total := 0
	var missing []error
	for i, c := range r.plan.cells {
		if int(c.Trial) > reach(d, r.plan.candidates[c.Candidate].Name, round) {
			continue
		}
		total++
		if todo[i] = b.s.todo[i]; todo[i] && r.absent[i] != nil {
			missing = append(missing, r.absent[i])
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("round %d of %d: %w", round, len(d.Rounds), missingCassettes(r, missing))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress.Round, b.progress.Rounds, b.progress.Total = round, len(d.Rounds), total
	return todo, nil
}

// withoutResult counts the episodes up to a trial that have no result or are still to be
// run. It excludes those of stopped candidates.
func (s *store) withoutResult(trial int) (n int) {
	for i, c := range s.plan.cells {
		if int(c.Trial) <= trial {
			n += drive.Count(s.todo[i] || s.excluded[i])
		}
	}
	return n
}

// decideRound judges the candidates and drops the trials of those that are stopped.
func decideRound(r *runner, b *runState, round int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.s.manifest.Decide
	d.Finished = round
	m, _ := r.upTo(b.s.manifest, round)
	m.Status = "complete"
	stops, err := r.Decide.After(r.cleanManifest(m), b.s.rows(d.Rounds[round-1]))
	if err != nil {
		return fmt.Errorf("decide round %d of %d: %w", round, len(d.Rounds), err)
	}
	at := map[string]int{}
	for i, c := range m.Candidates {
		at[c.Name] = i
	}
	for _, s := range stops {
		if _, known := at[s.Candidate]; !known {
			return fmt.Errorf("decide round %d of %d: %q is not a candidate of the run", round, len(d.Rounds), s.Candidate)
		}
		if _, again := d.Stop(s.Candidate); again {
			continue
		}
		s.Round = round
		d.Stops = append(d.Stops, s)
	}
	slices.SortStableFunc(d.Stops, func(a, b manifest.Stop) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(at[a.Candidate], at[b.Candidate]))
	})
	return b.s.giveUp(d, round)
}

// rows returns all episodes up to a trial, in ledger order.
func (s *store) rows(trial int) iter.Seq2[ledger.EpisodeRows, error] {
	return func(yield func(ledger.EpisodeRows, error) bool) {
		for i, c := range s.plan.cells {
			if int(c.Trial) > trial {
				continue
			}
			rows, ok, err := s.get(i)
			if (ok || err != nil) && !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

// giveUp drops the remaining episodes of the candidates that are stopped in a round.
func (s *store) giveUp(d *manifest.Decide, round int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.plan.cells {
		name := s.plan.candidates[c.Candidate].Name
		stop, ok := d.Stop(name)
		if !ok || stop.Round != round || int(c.Trial) <= d.Rounds[round-1] {
			continue
		}
		if !s.todo[i] || s.excluded[i] {
			return fmt.Errorf("candidate %s is stopped after round %d, but the run already has its trial %d: the decision rules have changed; start a new run", name, round, c.Trial)
		}
		s.todo[i] = false
	}
	return nil
}

// missingCassettes is the error of a replay that lacks cassettes.
func missingCassettes(r *runner, missing []error) error {
	out := &cassettes.MissingError{Missing: missing, Planned: r.plan.len(), All: r.RecordCommand("", "", r.Trials)}
	if !r.Records() {
		out.All, out.Suite = "", r.Suite.Path
	}
	return out
}

// absentLater notes the missing cassette of an episode that may not be needed.
func absentLater(r *runner, i int, missing *cassette.MissingError) {
	if r.absent == nil {
		r.absent = map[int]error{}
	}
	r.absent[i] = missing
}
