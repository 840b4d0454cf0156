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
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/goldens"
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
	res := Result{Dir: dir, Rows: rows, Manifest: r.manifest(rows), Answers: r.answers.inOrder(r.plan), Interrupted: interrupted}
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
	r := &runner{Options: o, priceDigest: o.Prices.Digest(), answers: &answerBook{list: map[string]*Answers{}}}
	if o.Mode != recorder.Replay {
		r.today = o.Now().UTC()
	}
	r.configDigest = r.digestConfig()
	r.plan, err = makePlan(r.Options)
	return r, err
}

// digestConfig covers what a candidate is and the policy, not where its
// provider lives or which episodes are selected.
func (r *runner) digestConfig() string {
	type candidate struct {
		Name, Agent, Provider, Model, Mode, Profile, Rescue string
		RescueOnContradiction, Compress                     bool `json:",omitempty"`
	}
	var list []any
	for _, c := range r.Candidates {
		list = append(list, candidate{c.Name, c.Agent, c.Provider, c.Model, c.Mode, c.Profile, c.Rescue, c.RescueOnContradiction, c.Compress}, c.MaxTokens, c.Temperature)
	}
	text, err := json.Marshal([]any{list, r.Policy.Digest(), r.Seed})
	if err != nil {
		panic("harness: " + err.Error()) // unreachable: plain strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// cassettesDigest covers every cassette a replay will read, and finds the missing ones.
func (r *runner) cassettesDigest() (string, error) {
	if r.Mode != recorder.Replay {
		return "", nil
	}
	var missing []error
	h := sha256.New()
	for _, p := range r.plan {
		if p.cassette == "" {
			continue
		}
		_, err := copyFile(h, r.Cassettes, p.cassette)
		switch {
		case errors.Is(err, fs.ErrNotExist) && p.candidate.Provider == ScriptedCandidate:
			// needed only if the script calls an HTTP tool
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, &recorder.MissingError{Path: p.cassette, Command: r.command(p)})
		case err != nil:
			return "", fmt.Errorf("read cassette %s: %w", p.cassette, err)
		}
	}
	if len(missing) > 0 {
		return "", &MissingCassettes{Missing: missing, Planned: len(r.plan), All: r.RecordCommand("", "", r.Trials)}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func copyFile(w io.Writer, fsys fs.FS, name string) (int64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	return io.Copy(w, f)
}

// MissingCassettes says that a replay cannot start.
type MissingCassettes struct {
	// Missing holds one *recorder.MissingError per episode.
	Missing []error
	Planned int
	// All is the command that records every one of them.
	All string
}

// Error shows the first one and how many there are.
func (e *MissingCassettes) Error() string {
	text := e.Missing[0].Error()
	if len(e.Missing) > 1 {
		text += fmt.Sprintf("\n%d of %d planned episodes have no cassette; record all with: %s", len(e.Missing), e.Planned, e.All)
	}
	return text
}

// Unwrap returns the missing ones.
func (e *MissingCassettes) Unwrap() []error { return e.Missing }

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
	j, err := ledger.OpenJournal(dir)
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
			failed = journal.Append(rows)
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

// collect concatenates the rows of the finished episodes in plan order.
func collect(done []*ledger.EpisodeRows) ledger.Rows {
	var rows ledger.Rows
	for _, d := range done {
		if d != nil {
			rows.Episodes = append(rows.Episodes, d.Episode)
			rows.Turns = append(rows.Turns, d.Turns...)
			rows.ToolCalls = append(rows.ToolCalls, d.ToolCalls...)
		}
	}
	return rows
}

// newRecorder opens or begins the cassette of an episode.
func (r *runner) newRecorder(p planned, secrets []string) (*recorder.Recorder, error) {
	o := recorder.Options{
		Mode: r.Mode, FS: r.Cassettes, Dir: r.CassetteDir, Path: p.cassette, Command: r.command(p),
	}
	if r.Mode == recorder.Replay {
		return recorder.New(o)
	}
	o.Header = recorder.Header{
		Suite: p.suite.Name, Task: p.task.ID, Candidate: p.candidate.Name, Trial: p.trial,
		Provider: p.candidate.Provider, Model: p.candidate.Model, Simulated: simulated(p.candidate.Provider),
		Recorded: r.today.Format(time.DateOnly), Adapter: r.Adapters[p.candidate.Provider], Digests: agent.Digests(p.params),
	}
	o.Header.Digests["policy"] = r.Policy.Digest()
	base := toolTransport{models: http.DefaultTransport, tools: http.DefaultTransport, secrets: secrets}
	if r.Transport != nil {
		base.models = r.Transport(p.candidate.Provider)
	}
	o.Base, o.Secrets = base, secrets
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

func (r *runner) manifest(rows ledger.Rows) ledger.Manifest {
	m := ledger.Manifest{
		Format: 1, RunID: r.id, Mode: string(r.Mode), Suite: r.Suite.Name, SuitePath: r.Suite.Path,
		SuiteDigest: r.Suite.Digest, ConfigDigest: r.configDigest, PriceDigest: r.priceDigest,
		PriceVersion: r.Prices.Version(), LedgerDigest: ledger.Digest(rows), CodeVersion: r.CodeVersion,
		Seed: r.Seed, Trials: r.Trials, Episodes: len(rows.Episodes), Turns: len(rows.Turns),
		ToolCalls: len(rows.ToolCalls), Acceptance: r.Acceptance.Resolved(), Status: "complete",
	}
	if len(rows.Episodes) < len(r.plan) || slices.ContainsFunc(rows.Episodes, func(e ledger.Episode) bool { return e.InfraError }) {
		m.Status = "partial"
	}
	seenC, seenT := map[string]bool{}, map[string]bool{}
	for _, p := range r.plan {
		if c := p.candidate; !seenC[c.Name] {
			seenC[c.Name] = true
			m.Candidates = append(m.Candidates, ledger.ManifestCandidate{
				Name: c.Name, Agent: c.Agent, Provider: c.Provider, Model: c.Model, OutputMode: c.Mode,
				PromptProfile: c.Profile, RescueModel: c.Rescue, Simulated: simulated(c.Provider),
			})
			m.Simulated = m.Simulated || simulated(c.Provider)
		}
		if t := p.task; !seenT[t.ID] {
			seenT[t.ID] = true
			m.Tasks = append(m.Tasks, manifestTask(t))
		}
	}
	return m
}

func manifestTask(t goldens.Task) ledger.ManifestTask {
	return ledger.ManifestTask{ID: t.ID, Title: t.Title, Tier: t.Tier, Tags: t.Tags, Request: bounded(t.Request, 400)}
}

// Replay runs the one episode of the plan with this trial again, from its
// cassette, and returns its rows and what happened. It writes nothing.
func Replay(ctx context.Context, o Options, trial int) (ledger.EpisodeRows, []Trace, error) {
	o.Mode, o.Runs = recorder.Replay, ""
	r, err := newRunner(o)
	if err != nil {
		return ledger.EpisodeRows{}, nil, err
	}
	r.plan = slices.DeleteFunc(r.plan, func(p planned) bool { return p.trial != trial })
	if len(r.plan) != 1 {
		return ledger.EpisodeRows{}, nil, &ConfigError{fmt.Errorf("replay takes one episode, the selection has %d", len(r.plan))}
	}
	if _, err := r.cassettesDigest(); err != nil {
		return ledger.EpisodeRows{}, nil, err
	}
	var traces []Trace
	rows := r.runEpisode(ctx, r.plan[0], func(t Trace) { traces = append(traces, t) })
	return rows, traces, nil
}
