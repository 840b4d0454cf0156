// Package harness runs episodes: a suite and candidates go in; a ledger of rows,
// a manifest and a Result come out. It carries out what agents decide, on a
// virtual clock, so that the same inputs give the same bytes at any concurrency.
package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// Result is a finished run.
type Result struct {
	// Dir is the run folder; empty when nothing was written.
	Dir      string
	Manifest ledger.Manifest
	Rows     ledger.Rows
	// Answers are what Options.Human said; the run folder keeps them in
	// replies.yaml.
	Answers []Answers
	// Withheld says where texts held credentials, which were replaced: of what
	// kind, never which.
	Withheld []recorder.Withheld
	// Interrupted says that the run was drained or cancelled before its end.
	Interrupted bool
}

// runner is a run under way.
type runner struct {
	Options
	id           string
	today        time.Time
	configDigest string
	priceDigest  string
	plan         []planned
	answers      *answerBook
	secrets      *recorder.Secrets
	// closeCassettes closes what the runner opened itself.
	closeCassettes func()
}

// Run plans and carries out a run. Bad input is a *ConfigError and starts
// nothing; in replay, missing cassettes are a *recorder.MissingError each,
// joined, and start nothing either. Failures of single episodes are rows, not
// errors. When ctx is cancelled, what is finished is still written.
func Run(ctx context.Context, o Options) (Result, error) {
	r, err := newRunner(o)
	if err != nil {
		return Result{}, err
	}
	defer r.closeCassettes()
	cassettes, err := r.cassettesDigest()
	if err != nil {
		return Result{}, err
	}
	r.identify(cassettes)
	dir, journal, err := r.openFolder()
	if err != nil {
		return Result{}, err
	}
	rows, interrupted, err := r.runAll(ctx, journal)
	if err != nil {
		return Result{}, err
	}
	res := Result{Dir: dir, Rows: rows, Manifest: r.manifest(rows), Answers: r.answers.inOrder(r.plan), Interrupted: interrupted, Withheld: r.secrets.Withheld()}
	if dir == "" {
		return res, nil
	}
	if err := saveAnswers(dir, res.Answers); err != nil {
		return res, err
	}
	if err := ledger.Write(dir, rows); err != nil {
		return res, fmt.Errorf("write ledger of run %s (its journal is complete): %w", r.id, err)
	}
	return res, ledger.WriteManifest(dir, res.Manifest)
}

func newRunner(o Options) (*runner, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &runner{Options: o, priceDigest: o.Prices.Digest(), answers: &answerBook{list: map[string]*Answers{}}, secrets: o.newSecrets()}
	if o.Mode != recorder.Replay {
		r.today = o.Now().UTC()
	}
	r.configDigest = r.digestConfig()
	if err := r.openCassettes(); err != nil {
		return r, err
	}
	switch {
	case r.Fork != nil:
		r.plan, err = r.planFork()
	case r.Stale:
		r.plan, err = r.stalePlan()
	default:
		r.plan, err = makePlan(r.Options)
	}
	if err == nil {
		err = r.taintAll()
	}
	if err != nil {
		r.closeCassettes()
	}
	return r, err
}

// digestConfig covers what a candidate is and the policy, not where its
// provider lives or which episodes are selected.
func (r *runner) digestConfig() string {
	type candidate struct {
		Name, Agent, Provider, Model, Mode, Profile, Rescue string
		RescueOnContradiction, Compress                     bool              `json:",omitempty"`
		Region                                              string            `json:",omitempty"`
		Stream                                              bool              `json:",omitempty"`
		Headers, Query                                      map[string]string `json:",omitempty"`
		Body                                                map[string]any    `json:",omitempty"`
	}
	var list []any
	for _, c := range r.Candidates {
		list = append(list, candidate{
			c.Name, c.Agent, c.Provider, c.Model, c.Mode, c.Profile, c.Rescue, c.RescueOnContradiction, c.Compress,
			c.Region, c.Stream, c.Headers, c.Query, c.Body,
		}, c.MaxTokens, c.Temperature)
	}
	text, err := json.Marshal([]any{list, r.Policy.Digest(), r.Seed})
	if err != nil {
		panic("harness: " + err.Error()) // unreachable: plain strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// identify gives the run its id: for a replay the same inputs give the same id.
func (r *runner) identify(cassettes string) {
	at, unique := r.today, r.today.Format(time.RFC3339Nano)
	if r.Mode == recorder.Replay {
		unique = cassettes
		for _, p := range r.plan {
			if p.task.World.Now.After(at) {
				at = p.task.World.Now
			}
		}
	}
	parts := []string{string(r.Mode), unique, r.Suite.Digest, r.configDigest, r.priceDigest, r.CodeVersion, fmt.Sprint(r.Seed, r.Trials)}
	for _, p := range r.plan {
		parts = append(parts, p.task.ID, p.candidate.Name, fmt.Sprint(p.trial))
	}
	r.id = newRunID(at, parts...)
}

// openFolder makes the run folder and its journal, which replaces that of an
// identical earlier replay.
func (r *runner) openFolder() (string, *ledger.Journal, error) {
	if r.Runs == "" {
		return "", nil, nil
	}
	dir := filepath.Join(r.Runs, r.id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("make run folder %s: %w", dir, err)
	}
	m := r.manifest(ledger.Rows{})
	m.Status = "running"
	if err := ledger.WriteManifest(dir, m); err != nil {
		return "", nil, err
	}
	if err := os.RemoveAll(filepath.Join(dir, "journal")); err != nil {
		return "", nil, fmt.Errorf("clear journal of the earlier replay: %w", err)
	}
	j, err := ledger.OpenJournal(dir, nil)
	if err != nil {
		return "", nil, err
	}
	j.Sync = r.Mode != recorder.Replay // what was paid for must survive a crash
	return dir, j, nil
}

// runAll runs the plan with bounded concurrency and returns the rows in plan order.
func (r *runner) runAll(ctx context.Context, journal *ledger.Journal) (ledger.Rows, bool, error) {
	var (
		mu       sync.Mutex
		wg       sync.WaitGroup
		progress = Progress{Total: len(r.plan)}
		done     = make([]*ledger.EpisodeRows, len(r.plan))
		failed   error
		work     = make(chan int)
	)
	finish := func(i int, rows ledger.EpisodeRows) {
		mu.Lock()
		defer mu.Unlock()
		if rows.Episode.Status == "cancelled" {
			return // it has no result: a later run repeats it
		}
		done[i] = &rows
		if journal != nil && failed == nil {
			_, failed = journal.Append(rows)
		}
		progress.add(rows.Episode)
		if r.Progress != nil {
			r.Progress(progress)
		}
	}
	for range r.workers() {
		wg.Go(func() {
			for i := range work {
				finish(i, r.runEpisode(ctx, r.plan[i], nil))
			}
		})
	}
	interrupted := false
	for i := range r.plan {
		select {
		case <-ctx.Done():
			interrupted = true
		case <-r.Drain:
			interrupted = true
		case work <- i:
			continue
		}
		break
	}
	close(work)
	wg.Wait()
	if journal != nil {
		failed = errors.Join(failed, journal.Close())
	}
	return collect(done), interrupted || ctx.Err() != nil, failed
}

func (r *runner) workers() int {
	n := r.Concurrency
	if n <= 0 && r.Mode == recorder.Replay {
		n = runtime.GOMAXPROCS(0)
	} else if n <= 0 {
		n = 8
	}
	return min(n, len(r.plan))
}

func (p *Progress) add(e ledger.Episode) {
	p.Done++
	p.Solved += count(e.Solved)
	p.InfraErrors += count(e.InfraError)
	if e.CostNanoUSD != nil {
		p.CostNanoUSD += *e.CostNanoUSD
	}
	p.Last = e
}

// collect concatenates the rows of the finished episodes in ledger order.
func collect(done []*ledger.EpisodeRows) ledger.Rows {
	var rows ledger.Rows
	done = slices.DeleteFunc(done, func(d *ledger.EpisodeRows) bool { return d == nil })
	slices.SortFunc(done, func(a, b *ledger.EpisodeRows) int { return a.Episode.Compare(b.Episode.Key) })
	for _, d := range done {
		rows.Episodes = append(rows.Episodes, d.Episode)
		rows.Turns = append(rows.Turns, d.Turns...)
		rows.ToolCalls = append(rows.ToolCalls, d.ToolCalls...)
	}
	return rows
}

// newRecorder opens or begins the cassette of an episode.
func (r *runner) newRecorder(p planned) (*recorder.Recorder, error) {
	o := recorder.Options{
		Mode: r.Mode, FS: r.Cassettes, Dir: r.CassetteDir, Path: p.cassette, Command: r.command(p), Speed: r.ReplaySpeed,
	}
	if r.Mode == recorder.Replay {
		return recorder.New(o)
	}
	o.Header = r.header(p)
	o.Header.Recorded = r.today.Format(time.DateOnly)
	p.forkHeader(&o.Header)
	base := toolTransport{models: http.DefaultTransport, tools: http.DefaultTransport, secrets: r.secrets}
	if r.Transport != nil {
		base.models = r.Transport(p.candidate.Provider)
	}
	o.Base, o.Secrets = base, r.secrets
	return recorder.New(o)
}

// priceDay is the day of the recording, so that a replay costs what was paid.
func (r *runner) priceDay(rec *recorder.Recorder) time.Time {
	if r.Mode != recorder.Replay {
		return r.today.Truncate(24 * time.Hour)
	}
	day, err := time.Parse(time.DateOnly, rec.Header().Recorded)
	if err != nil {
		return time.Time{} // a foreign cassette says nothing: no price applies
	}
	return day
}

func (r *runner) command(p planned) string {
	return r.RecordCommand(p.task.ID, p.candidate.Name, p.trial)
}
