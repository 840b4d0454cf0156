package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// Plan is the resolved episodes of a run that has not started. Packages forecast and rerun
// use it.
type Plan struct {
	r      *runner
	unlock func()
}

// NewPlan plans a run. It fails in the same cases as Run before its first episode. If the
// run is resumed, NewPlan locks it until Close.
func NewPlan(o Options) (p *Plan, err error) {
	p = &Plan{unlock: func() {}}
	if o.Resume != "" {
		if p.unlock, err = lockRun(o); err != nil {
			return nil, err
		}
	}
	if p.r, err = newRunner(o); err != nil {
		p.unlock()
		return nil, err
	}
	return p, nil
}

// Close closes the cassettes and unlocks a resumed run.
func (p *Plan) Close() {
	p.r.closeCassettes()
	p.unlock()
}

// Options returns the options with their defaults. For a resumed run Select is its
// episodes.
func (p *Plan) Options() Options { return p.r.Options }

// Manifest returns the manifest at the start of the run, without its id.
func (p *Plan) Manifest() manifest.Manifest { return p.r.manifest() }

// Candidates returns the candidates of the plan, including those without an episode.
func (p *Plan) Candidates() []goldens.Candidate { return p.r.plan.goldens() }

// Selected returns the selected candidates and tasks, including those that Options.Stale
// skips because their cassettes are fresh.
func (p *Plan) Selected() (candidates []goldens.Candidate, tasks []goldens.Task, err error) {
	all, err := selected(p.r.Options)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range all.tasks {
		tasks = append(tasks, t.Task)
	}
	return all.goldens(), tasks, nil
}

// Episodes returns the episodes in ledger order, each with its place.
func (p *Plan) Episodes() iter.Seq2[int, drive.Planned] { return p.r.plan.all() }

// Unfinished returns, by place, which episodes are still to be run. In a resumed run these
// are the ones without a result; spent is the spending of its requests so far by provider.
// The function that visit returns for the run's manifest gets the episodes of its journal.
// Like Resume it cuts off a half-written record after a crash.
func (p *Plan) Unfinished(visit func(manifest.Manifest) func(ledger.EpisodeRows)) (todo []bool, spent map[string]admission.Spend, err error) {
	r, n := p.r, p.r.plan.len()
	todo = slices.Repeat([]bool{true}, n)
	if r.resumed == nil {
		return todo, nil, nil
	}
	dir := filepath.Join(r.Runs, r.Resume)
	s := &store{dir: dir, plan: r.plan, at: make([]int64, n), todo: todo, excluded: make([]bool, n)}
	learn := visit(r.resumed.manifest)
	j, err := ledger.OpenJournal(dir, func(rec ledger.EpisodeRows, at int64) error {
		learn(rec)
		return s.visit(rec, at)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("forecast: resume run %s: %w", r.Resume, err)
	}
	if d := r.resumed.manifest.Decide; d != nil {
		for i, c := range r.plan.cells {
			todo[i] = todo[i] && int(c.Trial) <= reach(d, r.plan.candidates[c.Candidate].Name, len(d.Rounds))
		}
	}
	if err := j.Close(); err != nil || r.Mode == recorder.Replay {
		return todo, nil, err
	}
	log, err := admission.OpenSpendLog(filepath.Join(dir, spendFile))
	if err != nil {
		return nil, nil, fmt.Errorf("forecast: resume run %s: %w", r.Resume, err)
	}
	spent = maps.Clone(log.Spent())
	return todo, spent, log.Close()
}

// errNotPlanned means that an episode has no task, candidate or trial in the plan.
var errNotPlanned = errors.New("no such episode in the suite or the configuration")

// Execute replays one episode, after the earlier ones of its session, and returns its rows
// and trace. It does not write, and fails only if the plan does not have the task,
// candidate or trial. It is safe for concurrent use.
func (p *Plan) Execute(ctx context.Context, task, candidate string, trial int) (rows ledger.EpisodeRows, traces []episode.Trace, err error) {
	plan := p.r.plan
	t := slices.IndexFunc(plan.tasks, func(t plannedTask) bool { return t.ID == task })
	c := slices.IndexFunc(plan.candidates, func(c resolvedCandidate) bool { return c.Name == candidate })
	if t < 0 || c < 0 || trial < 1 || trial > p.r.Trials {
		return rows, nil, errNotPlanned
	}
	e := plan.candidates[c].episode(plan.options, plan.tasks[t].Task, plan.tasks[t].tools, trial)
	setHistory(&e, p.r.loadHistory(ctx, &e))
	rows = p.r.env().Run(ctx, &e, func(t episode.Trace) { traces = append(traces, t) })
	return rows, traces, nil
}
