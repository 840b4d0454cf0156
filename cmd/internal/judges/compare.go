package judges

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/label"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/cmd/internal/sides"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/rubric"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/pairwise"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/packs"
)

// compareOptions are the flags of judge compare that are not settings.
type compareOptions struct {
	judge, recordings string
	asJSON, dryRun    bool
}

// key is a task and a trial.
type key struct {
	task  string
	trial int
}

// side is a candidate of a run, with the episodes that have a result.
type side struct {
	sides.Side
	manifest.Candidate
	episodes map[key]ledger.EpisodeRows
}

// compare has a judge compare two candidates.
func compare(ctx context.Context, h Host, names []string, f compareOptions) error {
	var both [2]side
	for i, name := range names {
		var err error
		if both[i], err = openSide(h.Runs, name); err != nil {
			return err
		}
	}
	if both[0].Dir == both[1].Dir && both[0].Name == both[1].Name {
		return exit.Usage(fmt.Errorf("%s and %s are the same candidate of the same run; name two, as in latest:weak latest:strong", names[0], names[1]))
	}
	o, cleanup, err := h.Run(ctx, cmp.Or(h.Suite, both[1].Manifest.SuitePath))
	if err != nil {
		return err
	}
	defer cleanup()
	jury, err := judgeOf(o.Suite, f.judge)
	if err != nil {
		return exit.Usage(err)
	}
	r := newReport(both[0], both[1], jury, cmp.Or(o.Mode, recorder.Replay))
	pairs, err := r.pair(ctx, h, both, o.Suite, jury)
	if err != nil {
		return err
	}
	done, err := recordIn(h, &o, f.recordings)
	defer done()
	if err != nil {
		return err
	}
	if f.dryRun {
		return forecast(h, f, o, jury, pairs)
	}
	ctx, end := h.Begin(ctx, &o)
	asked, err := pairwise.Ask(ctx, o, jury, pairs)
	end()
	if missing, ok := errors.AsType[*pairwise.MissingError](err); ok {
		return exit.With(exit.Replay, fmt.Errorf("judge %s: %w; record them with: cupel judge compare %s %s --judge %s --mode record", jury.Model.Name, missing, names[0], names[1], jury.Model.Name))
	}
	if err != nil {
		return err
	}
	r.add(pairs, asked, both)
	if f.asJSON {
		to := json.NewEncoder(h.JSON)
		to.SetIndent("", "  ")
		err = to.Encode(r)
	} else {
		err = r.print(h.Stdout)
	}
	switch {
	case err != nil:
		return err
	case asked.Interrupted:
		return exit.With(exit.Interrupted, errors.New("interrupted: what was recorded is kept; the same command asks the rest"))
	case len(r.Failed) > 0:
		return exit.With(exit.Failed, errors.New("the judge gave no preference for some pairs; the same command asks about these again"))
	}
	return nil
}

// forecast says what asking about the pairs would come to.
func forecast(h Host, f compareOptions, o harness.Options, jury helper.Jury, pairs []pairwise.Pair) error {
	if o.Mode != recorder.Record && o.Mode != recorder.Live {
		return exit.Usage(errors.New("--dry-run says what it would cost to ask the judge, and a replay asks nothing; add --mode record"))
	}
	o, err := pairwise.Questions(o, jury, pairs)
	if err != nil {
		return err
	}
	err = harness.ErrAllFresh
	if len(o.Suite.Tasks) > 0 {
		err = h.Forecast(o, f.asJSON)
	}
	switch {
	case errors.Is(err, harness.ErrAllFresh):
		_, err = fmt.Fprintf(h.Stdout, "nothing to ask about %d pairs: the answers are recorded, or the judge would see no difference\n", len(pairs))
	case err == nil && !f.asJSON:
		_, err = fmt.Fprintf(h.Stdout, "each episode is a question about one of %d pairs in one order: one call, or up to %d if a reply is not a preference\n", len(pairs), rubric.Attempts)
	}
	return err
}

// openSide opens RUN:CANDIDATE.
func openSide(runs, name string) (side, error) {
	s, err := sides.Open(runs, name, nil)
	if err != nil {
		return side{}, err
	}
	if len(s.Names) != 1 {
		return side{}, exit.Usage(fmt.Errorf("run %s has %s; name one, as in %s:%s", s.Manifest.RunID, strings.Join(s.Names, ", "), name, append(s.Names, "CANDIDATE")[0]))
	}
	out := side{Side: s, episodes: map[key]ledger.EpisodeRows{}}
	at := slices.IndexFunc(s.Manifest.Candidates, func(c manifest.Candidate) bool { return c.Name == s.Names[0] })
	out.Candidate = s.Manifest.Candidates[at]
	for rows, err := range s.Episodes {
		if err != nil {
			return side{}, err
		}
		e := &rows.Episode
		if e.Candidate == out.Name && hasAnswer(e) {
			out.episodes[key{strings.Clone(e.TaskID), int(e.Trial)}] = rows
		}
	}
	return out, nil
}

// hasAnswer reports whether an episode has a result, or only lacks a verdict.
func hasAnswer(e *ledger.Episode) bool {
	why := e.Excluded()
	return why == "" || why == manifest.NotScored
}

// judgeOf finds the judge of a suite, which may be left out if there is only one.
func judgeOf(s *goldens.Suite, name string) (helper.Jury, error) {
	var names []string
	for _, j := range s.Judges {
		if j.Model.Name == name || name == "" && len(s.Judges) == 1 {
			return j, nil
		}
		names = append(names, j.Model.Name)
	}
	switch {
	case names == nil:
		return helper.Jury{}, fmt.Errorf("suite %s has no judges; define one under judges (docs/scorers.md), or name another suite with --suite", s.Path)
	case name == "":
		return helper.Jury{}, fmt.Errorf("suite %s has several judges; name one with --judge: %s", s.Path, strings.Join(names, ", "))
	}
	return helper.Jury{}, fmt.Errorf("suite %s has no judge %q; it has: %s", s.Path, name, strings.Join(names, ", "))
}

// pair pairs the episodes of both sides by task and trial, and counts what is left out.
func (r *report) pair(ctx context.Context, h Host, both [2]side, suite *goldens.Suite, jury helper.Jury) (pairs []pairwise.Pair, err error) {
	tasks := map[string]goldens.Task{}
	for _, t := range suite.Tasks {
		tasks[t.ID] = t
	}
	requests := [2]map[string]manifest.Task{requestsOf(both[0].Manifest), requestsOf(both[1].Manifest)}
	shared := map[key]bool{}
	for k := range both[0].episodes {
		switch _, ok := both[1].episodes[k]; {
		case !ok:
			r.LeftOut["only the baseline has a result"]++
		case !sameRequest(requests[0][k.task], requests[1][k.task]):
			r.LeftOut["the runs have different requests"]++
		default:
			shared[k] = true
		}
	}
	for k := range both[1].episodes {
		if _, ok := both[0].episodes[k]; !ok {
			r.LeftOut["only the new one has a result"]++
		}
	}
	if len(shared) == 0 {
		return nil, exit.Usage(fmt.Errorf("%s and %s have no task and trial in common with a result and the same request", r.Baseline, r.New))
	}
	var outcomes [2]map[key]*goldens.Outcome
	for i := range both {
		if outcomes[i], err = r.outcomes(ctx, h, both[i], shared, jury); err != nil {
			return nil, err
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(shared), func(a, b key) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.trial, b.trial)) }) {
		task, ok := tasks[k.task]
		if !ok {
			task = goldens.Task{ID: k.task, Request: requests[1][k.task].Request}
		}
		r.clusters[k.task] = requests[1][k.task].Cluster()
		p := pairwise.Pair{Task: k.task, Trial: k.trial}
		whole := outcomes[0][k] != nil && outcomes[1][k] != nil // or both are shown without calls
		for i, to := range []*scorer.Episode{&p.Baseline, &p.New} {
			e := both[i].episodes[k].Episode
			outcome := outcomes[i][k]
			if !whole {
				outcome = nil
			}
			*to = pairwise.Work(task, e.Status, e.Answer, outcome)
		}
		if !whole && len(jury.Sees) > 0 {
			r.AnswersOnly++
		}
		p.Baseline.With = withOf(task, jury.Model.Name)
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// requestsOf are the tasks of a run by id.
func requestsOf(m manifest.Manifest) map[string]manifest.Task {
	by := map[string]manifest.Task{}
	for _, t := range m.Tasks {
		by[t.ID] = t
	}
	return by
}

// sameRequest compares requests, which manifests have up to a length.
func sameRequest(a, b manifest.Task) bool {
	return a.Request == b.Request && (a.RequestDigest == "" || b.RequestDigest == "" || a.RequestDigest == b.RequestDigest)
}

// withOf is what a task adds to the rubric of a judge.
func withOf(t goldens.Task, judge string) json.RawMessage {
	for _, e := range t.Expect {
		for _, c := range e.Judges {
			if c.Name == judge {
				return c.With
			}
		}
	}
	return nil
}

// outcomes are those of the shared episodes of a side, if the judge sees more than answers.
func (r *report) outcomes(ctx context.Context, h Host, s side, shared map[key]bool, jury helper.Jury) (map[key]*goldens.Outcome, error) {
	out := map[key]*goldens.Outcome{}
	if len(jury.Sees) == 0 {
		return out, nil
	}
	traces, done, err := label.Tracer(ctx, h.Replay, s.Dir, s.Manifest)
	if err != nil {
		r.Why = err.Error()
		return out, context.Cause(ctx)
	}
	defer done()
	for k, rows := range s.episodes {
		if !shared[k] {
			continue
		}
		list, err := traces(rows)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r.Why = err.Error()
		}
		for _, t := range list {
			if t.Outcome != nil {
				out[k] = t.Outcome
			}
		}
	}
	return out, nil
}

// recordIn says where the answers of the judge are recorded: in a folder of YAML files, or in a pack.
// Call done in the end; it is never nil.
func recordIn(h Host, o *harness.Options, to string) (done func(), err error) {
	if ext := filepath.Ext(to); o.Mode != recorder.Live && (packs.Is(to) || ext == ".pack" || ext == ".packs") {
		closePack, err := packing.Use(o, to)
		return func() { packing.Finish(*o, to, true, h.Stderr); closePack() }, err
	}
	if to == "" {
		if o.CassetteDir == "" {
			return func() {}, exit.Usage(fmt.Errorf("suite %s is read-only; name a folder for the recorded answers with --recordings", o.Suite.Path))
		}
		to = filepath.Join(filepath.Dir(o.CassetteDir), "comparisons")
	}
	o.CassetteDir, o.Cassettes, o.Store = to, regular.DirFS(to), nil
	return func() {}, nil
}
