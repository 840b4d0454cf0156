// Package harness runs a suite with candidates and returns a Result with a ledger of rows
// and a manifest. It executes the commands of agents on a virtual clock, so that the same
// inputs give the same bytes at any concurrency.
package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/external"
	"github.com/cupel-eval/cupel/harness/external/launch"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Result is a finished run.
type Result struct {
	// Dir is the run folder; empty if the run has none.
	Dir      string
	Manifest manifest.Manifest
	// Rows are the rows of a run without a folder. With a folder they are in its ledger: see
	// ledger.Read and ledger.Scan.
	Rows ledger.Rows
	// Excluded are the episodes without a result.
	Excluded Excluded
	// Answers are the answers of Options.Human; the run folder stores them in replies.yaml.
	Answers []episode.Answers
	// Redactions lists where credentials in texts were replaced and of what kind they were,
	// never the credentials.
	Redactions []secrets.Redaction
	// NotUnderstood lists parts of the providers' usage that the token counts do not cover,
	// sorted by provider. The cost of these turns is unknown.
	NotUnderstood []UsageDoubt
	// Waiting says which batches go on at their providers.
	Waiting []string
	// Interrupted is set if the run was drained or cancelled before its end.
	Interrupted bool
}

// UsageDoubt is a part of the usage of a provider's replies that the token counts do not
// cover.
type UsageDoubt struct {
	Provider string
	// What is "FIELD: REASON", see providers.Usage.
	What string
	// Turns is the number of turns that have it.
	Turns int
}

// Excluded sums up the episodes with an infrastructure or harness error and those a
// cap stopped.
type Excluded struct {
	// ByKind counts them by error kind; First are the first few in ledger order.
	ByKind map[string]int
	First  []ledger.Episode
}

const maxLostShown = 10

func (l *Excluded) add(e ledger.Episode) {
	if e.Excluded() == "" {
		return
	}
	if l.ByKind == nil {
		l.ByKind = map[string]int{}
	}
	l.ByKind[e.ErrorKind]++
	if len(l.First) < maxLostShown {
		l.First = append(l.First, e)
	}
}

// runner is a run in progress.
type runner struct {
	Options
	id           string
	today        time.Time
	configDigest string
	priceDigest  string
	plan         *plan
	answers      *drive.AnswerBook
	secrets      *secrets.Finder
	cleaners     *sync.Pool            // of *cleaner, for a replay
	days         *recordingDays        // of the cassettes of a replay
	control      *admission.Control    // nil in replay
	changes      chan admission.Change // of limits, for Watch; nil without Watch
	batches      *batching.Collector   // nil without Batch
	resumed      *resumption           // nil unless the run is resumed
	hosts        *external.Hosts       // of external agents
	absent       map[int]error         // in a replay in rounds: the missing cassettes that only later rounds need
	// closeCassettes closes what the runner opened itself.
	closeCassettes func()
}

// Run plans and executes a run. Bad input is a *ConfigError; in replay, missing cassettes
// are a joined *cassette.MissingError each. Both are returned before an episode starts.
// Failures of single episodes are rows, not errors. If ctx is cancelled, the finished
// episodes are still written.
func Run(ctx context.Context, o Options) (res Result, err error) {
	if o.Resume != "" {
		unlock, err := lockRun(o)
		if err != nil {
			return Result{}, err
		}
		defer unlock()
	}
	unlock, err := lockCassettes(o)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	r, err := newRunner(o)
	if err != nil {
		return Result{}, err
	}
	defer func() { r.closeCassettes(); err = errors.Join(err, r.hosts.Close()) }()
	digest, err := cassettesDigest(r)
	if err != nil {
		return Result{}, err
	}
	r.identify(digest)
	if r.Decide != nil && r.Decide.Before != nil {
		if err := r.Decide.Before(r.manifest()); err != nil {
			return Result{}, &ConfigError{err}
		}
	}
	s, err := openStore(r)
	if err != nil {
		return Result{}, err
	}
	needless := false // the folder already has the results of this replay
	defer func() {
		closed := s.close()
		if needless {
			closed = errors.Join(closed, os.RemoveAll(s.dir))
		}
		if closed != nil && err == nil { // such as a spending log that failed during the run
			closed = fmt.Errorf("run %s: %w\n%s", r.id, closed, s.hint())
		}
		err = errors.Join(err, closed)
	}()
	ctx, stopDrain := drive.Drainable(ctx, o.Drain)
	defer stopDrain()
	if err := startCanary(r, ctx, s); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", r.id, err)
	}
	stop, waiting, err := runBatched(r, ctx, s)
	res = Result{Dir: s.dir, Answers: r.answers.Of(r.plan.len(), r.plan.name), Interrupted: stop.interrupted, Waiting: waiting, Redactions: r.secrets.Redactions()}
	var missing *cassettes.MissingError
	if errors.As(err, &missing) && r.resumed == nil {
		needless = s.dir != ""
		return Result{}, err
	}
	if err != nil {
		return res, fmt.Errorf("run %s stopped: %w\n%s", r.id, err, s.hint())
	}
	return res, r.conclude(s, stop, &res)
}

// errKept means that the folder has a complete run, which an interrupted one does not
// replace.
var errKept = errors.New("the folder has a complete run")

// conclude writes the ledger in its order, then the manifest with the final status.
func (r *runner) conclude(s *store, stop stopped, res *Result) error {
	m, err := s.write(res, func(t manifest.Totals, o manifest.Outcomes) (manifest.Manifest, error) {
		m := r.concluded(s.manifest, t, o, stop)
		switch {
		case s.dir == "":
			return m, nil
		case s.finished && m.Status != "complete":
			return m, errKept
		}
		return m, episode.SaveAnswers(s.dir, res.Answers)
	})
	kept := errors.Is(err, errKept)
	if err != nil && !kept {
		return fmt.Errorf("conclude run %s: %w\n%s", r.id, err, s.hint())
	}
	res.Manifest = m
	if s.dir != "" && (kept || m.Status == "complete") {
		return s.removeJournal()
	}
	return nil
}

func newRunner(o Options) (*runner, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &runner{Options: o, priceDigest: o.Prices.Digest(), answers: drive.NewAnswerBook(), secrets: newSecrets(o), cleaners: &sync.Pool{}, days: &recordingDays{}, hosts: &external.Hosts{Launch: launch.Options{Lookup: o.LookupEnv}, WithAgent: o.WithAgent}}
	if o.Mode != recorder.Replay {
		r.today = o.Now().UTC()
	}
	if err := loadResumed(r); err != nil {
		return nil, err
	}
	r.configDigest = r.digestConfig()
	if err := openCassettes(r); err != nil {
		return r, err
	}
	if r.plan, err = r.makePlan(); err == nil {
		r.plan.seal()
		err = errors.Join(checkResumed(r), registerAll(r))
	}
	if err != nil {
		r.closeCassettes()
	}
	return r, err
}

func (r *runner) makePlan() (*plan, error) {
	switch {
	case r.Fork != nil:
		return planFork(r)
	case r.Stale:
		return stalePlan(r.Options)
	}
	return makePlan(r.Options)
}

// digestConfig covers the candidates' settings and the policy, but not the addresses of
// providers or the selection.
func (r *runner) digestConfig() string {
	var list []any
	for _, c := range r.Candidates {
		list = append(list, digestible(c), c.MaxTokens, c.Temperature)
	}
	text, err := json.Marshal([]any{list, r.Policy.Digest(), r.Seed})
	if err != nil {
		panic("harness: " + err.Error()) // unreachable: plain strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// identify sets the run's id: for a replay the same inputs give the same id.
func (r *runner) identify(cassettes string) {
	at, unique := r.today, r.today.Format(time.RFC3339Nano)
	if r.Mode == recorder.Replay {
		unique = cassettes
		for _, c := range r.plan.cells {
			if now := r.plan.tasks[c.Task].World.Now; now.After(at) {
				at = now
			}
		}
	}
	parts := []string{
		string(r.Mode), unique, r.Suite.Digest, r.configDigest, r.priceDigest, r.CodeVersion, fmt.Sprint(r.Seed, r.Trials),
		r.plan.digest, r.Select.Shard.String(),
	}
	if r.Decide != nil {
		parts = append(parts, decisionKey(r.decision()))
	}
	if r.WithAgent {
		parts = append(parts, r.Now().Format(time.RFC3339Nano)) // an agent may act in another way each time
	}
	if r.resumed != nil {
		r.id = r.Resume
		return
	}
	r.id = drive.NewRunID(at, parts...)
}

func (r *runner) command(p drive.Planned) string {
	return r.RecordCommand(p.Task.ID, p.Candidate.Name, p.Trial)
}

// env returns the environment that the episodes of the run share.
func (r *runner) env() *drive.Env {
	v := &drive.Env{
		RunID: r.id, Mode: r.Mode, Today: r.today, Resumed: r.resumed != nil, Speed: r.ReplaySpeed,
		Cassettes: r.Cassettes, Store: r.store(), Header: r.header, Command: r.RecordCommand, Base: r.Transport,
		Tools: r.Tools, Checks: r.Checks, Scoring: r.Scoring, LookupEnv: r.LookupEnv, Answers: r.answers, Recorded: r.days.add, Observe: r.Observe, Retry: r.Retry,
		Prices: r.Prices, PriceDigest: r.priceDigest, ConfigDigest: r.configDigest,
		Secrets: r.secrets, Cleaners: r.cleaners, Control: r.control, Batches: r.batches, HelperKey: r.Key, Factories: r.Providers, External: r.hosts.Run,
	}
	if r.Mode != recorder.Replay {
		v.Human = r.Human
	}
	return v
}
