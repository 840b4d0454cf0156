package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// elsewhere lets the Executor execute the remaining episodes. It reports whether some were
// left.
func elsewhere(r *runner, ctx context.Context, b *runState, todo []bool) (left bool, err error) {
	queues := queuesOf(r, todo)
	w := fleet.Work{Manifest: b.s.manifest, Drain: r.Drain, Ended: b.unitEnded, Units: unitsOf(r, b.s, queues), Progress: b.runStatus}
	for _, q := range queues {
		w.Lanes = append(w.Lanes, q.provider)
	}
	err = r.Executor.Execute(ctx, w)
	for i, is := range todo {
		left = left || is && !b.s.settled(i)
	}
	return left, err
}

// runStatus is the progress that everyone in the fleet sees.
func (b *runState) runStatus() fleet.RunStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, m := b.state(), &b.s.manifest
	return fleet.RunStatus{
		RunID: m.RunID, Suite: m.SuitePath, Mode: m.Mode, Done: p.Done, Total: p.Total, Solved: p.Outcomes.Solved,
		Excluded: p.Outcomes.WithoutResult(), CostNanoUSD: p.CostNanoUSD, CostUnknown: p.CostUnknown,
		Tokens: p.Tokens, Requests: p.Requests, Retries: p.Retries, Stopping: p.Stopping,
	}
}

// unitsOf returns the units of the lanes in turn.
func unitsOf(r *runner, s *store, queues []*queue) iter.Seq2[fleet.Unit, error] {
	return func(yield func(fleet.Unit, error) bool) {
		for n, more := 0, true; more; n++ {
			more = false
			for lane, q := range queues {
				if n >= len(q.places) {
					continue
				}
				more = true
				u, err := unitAt(r, s, q.places[n])
				u.Lane = lane
				if !yield(u, err) || err != nil {
					return
				}
			}
		}
	}
}

func unitAt(r *runner, s *store, place int32) (u fleet.Unit, err error) {
	for _, other := range r.plan.sessionEpisodes(place) {
		i := int(other)
		u.Episodes = append(u.Episodes, r.plan.name(i))
		if s.settled(i) {
			rows, ok, err := s.get(i)
			if err != nil {
				return u, err
			}
			if ok {
				u.Done = append(u.Done, rows)
			}
		}
		switch r.Mode {
		case recorder.Replay:
			digest, err := cassetteDigest(r, i)
			if err != nil {
				return u, err
			}
			u.Cassettes = append(u.Cassettes, digest)
		case recorder.Record:
			if r.resumed == nil || !hasJournal(r, other) {
				break
			}
			path, _ := r.plan.cassette(i)
			name := path + fleet.JournalSuffix
			journal, err := r.store().ReadFile(name, 2*cassette.MaxBytes)
			if err != nil {
				return u, err
			}
			if u.Journals == nil {
				u.Journals = map[string][]byte{}
			}
			u.Journals[name] = journal
		}
	}
	return u, nil
}

// unitEnded stores the cassettes and the rows of a unit.
func (b *runState) unitEnded(res fleet.UnitResult) error {
	b.unit.Lock()
	defer b.unit.Unlock()
	var places []int
	for _, rows := range res.Rows {
		e := &rows.Episode
		i, ok := b.r.plan.find(e.TaskID, e.Candidate, int(e.Trial))
		if !ok {
			return fmt.Errorf("a worker returned episode %s, which is not in the plan", drive.EpisodeName(e.TaskID, e.Candidate, int(e.Trial)))
		}
		places = append(places, i)
	}
	b.r.days.addAll(res.Days)
	for n, rows := range res.Rows {
		i := places[n]
		if b.s.settled(i) {
			continue
		}
		path, _ := b.r.plan.cassette(i)
		if data := res.Cassettes[path]; data != nil {
			if err := b.r.store().WriteFile(path, data); err != nil {
				return fmt.Errorf("save cassette %s: %w", path, err)
			}
		}
		b.began()
		if err := b.ended(i, rows); err != nil {
			return err
		}
		if e := &rows.Episode; e.Status == ledger.StatusBudgetStop {
			b.mu.Lock()
			b.capped = cmp.Or(b.capped, errors.New(e.ErrorText))
			b.mu.Unlock()
		}
	}
	return nil
}

// Worker executes units of a run that another process coordinates. It implements fleet.Worker.
type Worker struct {
	r       *runner
	s       store         // its spending log
	records *fleet.Mirror // nil unless it records
	// closeSuite closes the suite's cassettes if NewWorker opened them; else it is nil.
	closeSuite func()
}

// NewWorker prepares to execute units of the run of m with the caller's own suite,
// configuration and program. If they differ from those of the run, the error is a *ConfigError
// with every difference. Mode, trials, seed and selection of o are replaced by those of the
// run. What the worker spends is written to a folder of the run below o.Runs; a worker with the
// same folder continues the log of one that was killed.
func NewWorker(o Options, m manifest.Manifest) (*Worker, error) {
	o.Mode, o.Trials, o.Seed, o.Select = recorder.Mode(m.Mode), m.Trials, m.Seed, Selection{}
	o.Resume, o.Stale, o.Decide, o.Canary, o.Executor = "", false, nil, false, nil
	for _, c := range m.Candidates {
		o.Select.Candidates = append(o.Select.Candidates, c.Name)
	}
	if m.Fork != nil {
		o.Fork = &Fork{Task: m.Fork.Task, Candidate: m.Fork.Candidate, Trial: m.Fork.Trial, Turn: m.Fork.Turn, Answer: m.Fork.Answer}
	}
	w := &Worker{}
	if o.Mode == recorder.Record {
		w.records = fleet.NewMirror()
		o.Store = w.records
		if o.Cassettes == nil { // for the earlier episodes of sessions that are not recorded again
			var err error
			if o.Cassettes, w.closeSuite, err = cassettes.Open(o.Suite); err != nil {
				return nil, err
			}
		}
	}
	if base := o.Transport; o.Mode != recorder.Replay {
		o.Transport = func(provider string) http.RoundTripper {
			if base == nil {
				return fleet.Transport(http.DefaultTransport)
			}
			return fleet.Transport(base(provider))
		}
	}
	var err error
	if w.r, err = newRunner(o); err != nil {
		if w.closeSuite != nil {
			w.closeSuite()
		}
		return nil, err
	}
	if err := w.join(m); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// join gives the runner the identity of the run.
func (w *Worker) join(m manifest.Manifest) (err error) {
	r := w.r
	if err := errors.Join(differences(r, m)...); err != nil {
		return &ConfigError{fmt.Errorf("run %s cannot be executed here; make files and program of this machine those of the run, and start the worker again:\n%w", m.RunID, err)}
	}
	r.id = m.RunID
	r.resumed = &resumption{manifest: m} // journals of earlier attempts continue
	if r.Mode != recorder.Replay {
		if r.today, err = time.Parse(time.RFC3339Nano, m.Started); err != nil {
			return fmt.Errorf("start of run %s: %w", m.RunID, err)
		}
	}
	if r.Mode != recorder.Replay && r.Runs != "" {
		w.s.dir = filepath.Join(r.Runs, r.id)
		if err := os.MkdirAll(filepath.Join(w.s.dir, filepath.Dir(spendFile)), 0o777); err != nil {
			return err
		}
		if w.s.spending, err = admission.OpenSpendLog(filepath.Join(w.s.dir, spendFile)); err != nil {
			return err
		}
	}
	return newControl(r, &w.s)
}

// Slots is the number of units of a provider that the worker should execute at a time.
func (w *Worker) Slots(provider string) int {
	n := laneEpisodes(&w.r.Options, provider)
	if w.r.Concurrency > 0 {
		n = min(n, w.r.Concurrency)
	}
	return n
}

// Lanes are the limits in force; none in a replay.
func (w *Worker) Lanes() (list []fleet.LaneStatus) {
	if w.r.control == nil {
		return nil
	}
	for _, p := range w.r.control.Snapshot().Providers {
		for _, l := range p.Lanes {
			lane := fleet.LaneStatus{Provider: p.Provider, Key: l.Lane, Limit: l.Limit, InFlight: l.InFlight, Waiting: l.Waiting, Spent: p.Spent}
			if !l.Paused.IsZero() {
				lane.Paused = &l.Paused
			}
			list = append(list, lane)
		}
	}
	return list
}

// Run executes a unit. It fails with fleet.ErrCancelled if ctx or drain ends first, and if the worker
// lacks an episode or has another cassette of it.
func (w *Worker) Run(ctx context.Context, u fleet.Unit, log fleet.Log, drain <-chan struct{}) (res fleet.UnitResult, err error) {
	ctx, stop := drive.Drainable(fleet.WithLog(ctx, log), drain)
	defer stop()
	if w.records == nil {
		return w.run(ctx, u, nil)
	}
	places, err := w.places(u)
	if err != nil {
		return res, err
	}
	recorded := map[string][]byte{}
	for _, i := range places {
		path, _ := w.r.plan.cassette(int(i))
		if path == "" {
			continue
		}
		if err := w.records.Begin(path, log); err != nil {
			return res, fmt.Errorf("take over the recording of %s: %w: %w", path, err, fleet.ErrCancelled)
		}
		defer func() {
			if data := w.records.End(path); data != nil {
				recorded[path] = data
			}
		}()
	}
	res, err = w.run(ctx, u, nil)
	res.Cassettes = recorded
	return res, err
}

// Abandon returns the result of a unit that is not executed, because of lost: harness errors.
func (w *Worker) Abandon(ctx context.Context, u fleet.Unit, lost error) (fleet.UnitResult, error) {
	return w.run(ctx, u, lost)
}

func (w *Worker) run(ctx context.Context, u fleet.Unit, lost error) (res fleet.UnitResult, err error) {
	places, err := w.places(u)
	if err != nil {
		return res, err
	}
	_, err = runUnit(w.r, ctx, places, unitHooks{
		done: func(i int) (ledger.EpisodeRows, bool, error) {
			for _, rows := range u.Done {
				if e := &rows.Episode; w.r.plan.name(i) == drive.EpisodeName(e.TaskID, e.Candidate, int(e.Trial)) {
					return rows, true, nil
				}
			}
			return ledger.EpisodeRows{}, false, nil
		},
		ended: func(i int, rows ledger.EpisodeRows) error {
			if rows.Episode.Status == ledger.StatusCancelled {
				return fleet.ErrCancelled
			}
			if err := w.checkCassette(u, i, slices.Index(places, int32(i)), rows); err != nil && lost == nil {
				return err
			}
			res.Rows = append(res.Rows, rows)
			return nil
		},
		lost: lost,
	})
	res.Days = w.r.days.all()
	return res, err
}

// places are those of a unit's episodes in the plan.
func (w *Worker) places(u fleet.Unit) (places []int32, err error) {
	for _, name := range u.Episodes {
		if !episodeLine.MatchString(name) {
			return nil, fmt.Errorf("%.80q is not TASK/CANDIDATE/TRIAL", name)
		}
		i, ok := w.r.plan.find(splitEpisode(name))
		if !ok {
			return nil, fmt.Errorf("episode %s: %w", name, errNotPlanned)
		}
		places = append(places, int32(i))
	}
	return places, nil
}

// checkCassette checks that a replay has the cassette that the unit names.
func (w *Worker) checkCassette(u fleet.Unit, i, at int, rows ledger.EpisodeRows) (err error) {
	is := rows.Episode.CassetteDigest
	if w.r.Mode != recorder.Replay || at >= len(u.Cassettes) {
		return nil
	}
	if is == "" && u.Cassettes[at] != "" { // it was not opened, or is corrupt in the run, too
		if is, err = cassetteDigest(w.r, i); err != nil {
			return &ConfigError{fmt.Errorf("%w; update the checkout of this worker", err)}
		}
	}
	if is == u.Cassettes[at] {
		return nil
	}
	path, _ := w.r.plan.cassette(i)
	return &ConfigError{fmt.Errorf("cassette %s is not that of the run: %.12q, not %.12q; update the checkout of this worker", path, is, u.Cassettes[at])}
}

// Close closes the cassettes, ends the external agents and gives back what was leased.
func (w *Worker) Close() error {
	w.r.closeCassettes()
	if w.closeSuite != nil {
		w.closeSuite()
	}
	return errors.Join(w.r.hosts.Close(), w.s.closeFiles())
}
