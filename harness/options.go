package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/providers/retry"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Options describe a run, in parts by who sets them. Suite and Providers are required; every
// other field works at its zero value. A run only reads its options.
type Options struct {
	Matrix    // what is run
	Rules     // what the configuration says of models, prices and thresholds
	Recording // where answers come from and go to
	RunFolder // what is kept of the run
	Bounds    // how much at a time, and in all
	Parts     // what the calling program brings
	Observers // who is told what happens, and who ends it
}

// Matrix is what is run: tasks by candidates by trials.
type Matrix struct {
	Suite *goldens.Suite
	// Candidates are under test; nil means the suite's own.
	Candidates []goldens.Candidate
	Select     Selection
	// Fork has every episode continue from a recorded one; nil starts them from the beginning. The
	// selection then names candidates only; an empty one means that of the recorded episode.
	Fork *Fork
	// Trials per task and candidate, at least 1; 0 means 1. With Decide they are its
	// MaxTrials.
	Trials int
	// Decide has trials run in rounds until each candidate is decided; nil runs all
	// Trials.
	Decide *Decide
	// Seed is the run's seed, from which ids derive.
	Seed int64
}

// Rules are what the configuration says of models, prices and thresholds.
type Rules struct {
	// Policy bounds episodes and names models. The zero Policy is policy.Default, with all
	// of Providers allowed.
	Policy policy.Policy
	// Prices of models; by the zero Table every cost is unknown.
	Prices price.Table
	// Acceptance has the thresholds; zero fields have their defaults.
	Acceptance manifest.Acceptance
	// Adapters are the versions of the wires' codecs, by provider, for the headers of
	// cassettes.
	Adapters map[string]string
	// CodeVersion names the program in the manifest.
	CodeVersion string
}

// Recording says where answers come from and go to.
type Recording struct {
	// Mode is replay unless set.
	Mode recorder.Mode
	// Cassettes is where replay reads: a folder or a *cassette.Pack. nil means
	// the suite's own, as cassettes.Open finds them.
	Cassettes fs.FS
	// CassetteDir is where record mode writes; required there.
	CassetteDir string
	// Stale leaves out the episodes whose cassettes are fresh; for record mode.
	// Run fails with ErrAllFresh when all are.
	Stale bool
	// ReplaySpeed makes a replay take time: 1 is the recorded speed, 2 twice as fast; 0
	// does not wait. The rows are the same at any speed.
	ReplaySpeed float64
	// RecordCommand is what a person types to record an episode; an empty task
	// and candidate mean all of them. nil means a cupel command.
	RecordCommand func(task, candidate string, trial int) string
}

// RunFolder says what is kept of the run.
type RunFolder struct {
	// Runs is the folder run folders are made in; empty means nothing is written.
	Runs string
	// Resume is the id of a run below Runs that was interrupted: only its
	// unfinished episodes, and those without a result, are run. The other options
	// must be those it was started with; Select is taken from the run.
	Resume string
	// Settings are what the caller needs to make these options again. The run
	// folder keeps them until the run is complete: see ReadSettings. Resuming replaces
	// them, unless they are nil.
	Settings []byte
	// Canary asks the models of a recording or live run the prompts of the model drift
	// canary first, once a day: see Canary. Without Runs it is not asked.
	Canary bool
}

// Bounds say how much is done at a time, and how much in all. Replays have none but
// Concurrency.
type Bounds struct {
	// Concurrency is how many episodes run in parallel, of all providers together; 0
	// means one per processor in replay, and otherwise, for each provider and key, as many
	// as requests.
	Concurrency int
	// LaneConcurrency bounds the requests in flight to one provider with one key, where
	// Limits does not: an episode may send several at a time. 0 means DefaultConcurrency,
	// or Concurrency if that is more.
	LaneConcurrency int
	// Caps bound the spending of a recording or live run. When one is reached the
	// run ends as a valid partial result.
	Caps admission.Caps
	// Limits are those of single providers, by name.
	Limits map[string]admission.Limits
	// Retry says how often failed model calls are made again; the zero value is
	// its default. Its Seed is replaced by each episode's, its Sleep in replay.
	Retry retry.Policy
}

// Parts are what the calling program brings. Functions are called by several episodes in
// parallel.
type Parts struct {
	// Providers are the wires to choose from, by the name candidates use.
	Providers map[string]providers.Factory
	// Key returns the credential of a candidate; nil means none. Never called in replay.
	Key func(goldens.Candidate) (string, error)
	// Transport returns what sends a provider's requests when recording or
	// live; nil means http.DefaultTransport.
	Transport func(provider string) http.RoundTripper
	// Strategies are custom agents, by the name candidates use; they come before the
	// built-in ones.
	Strategies map[string]agent.Strategy
	// Tools are Go functions by the names of tools of the suite, which they
	// run in place of its world or HTTP endpoint. They run in replay, too.
	Tools map[string]episode.ToolFunc
	// LookupEnv finds what the headers of HTTP tools take from the environment,
	// such as os.LookupEnv; nil finds nothing. Never called in replay.
	LookupEnv func(name string) (string, bool)
	// Secrets know the credentials of the process beyond those the run is given
	// here, such as what libraries find for themselves; nil knows none. The run
	// adds its own. Never asked in replay.
	Secrets *secrets.Finder
	// Human answers in live and record mode; nil leaves that to the tasks'
	// replies and approvals. Never called in replay.
	Human episode.Human
	// Now is the wall clock of live and record runs; nil means time.Now.
	Now func() time.Time
}

// Observers are told what happens, and may end the run.
type Observers struct {
	// Progress is called after every episode. Episodes come in the order in which
	// they end.
	Progress func(Progress)
	// Watch is called when the run begins; unless it is a replay that does not wait, also when
	// the limit of a lane changes, and every second. Of Progress and Watch one is called
	// at a time, and the run waits for it.
	Watch func(Progress)
	// Traced is called after every episode with what happened in it, by several in
	// parallel. What it keeps takes room: rerun.Replayer has all of it again.
	Traced func(ledger.EpisodeRows, []episode.Trace)
	// Observe, if not nil, is told what models say while they say it, by several episodes in
	// parallel: see episode.StreamEvent.
	Observe func(episode.StreamEvent)
	// Drain, when closed, ends the run within about a second: no other episode is
	// started, every wait for admission and between attempts ends, and what is in flight
	// after a second is cancelled. Episodes that were not finished have no result.
	Drain <-chan struct{}
}

// Selection narrows a run. An empty list selects everything. A task of a session
// brings those before it along.
type Selection struct {
	// Tasks and Candidates are names or path.Match patterns.
	Tasks, Candidates []string
	// Tags select tasks that carry at least one of them.
	Tags []string
	// Episode narrows further; nil takes every episode. Those of its session before one
	// that is taken are taken, too.
	Episode func(task, candidate string, trial int) bool
	// Exact takes only what Episode takes, without the earlier episodes of its sessions.
	Exact bool
	// Shard is the part of the selection that is run; the zero value is all of it.
	Shard Shard
}

// ConfigError is a run that cannot start because of what it was told. It joins
// every problem found.
type ConfigError struct{ Err error }

// Error lists the problems.
func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns the joined problems.
func (e *ConfigError) Unwrap() error { return e.Err }

// withDefaults returns o with defaults filled in, or everything wrong with it.
func (o Options) withDefaults() (Options, error) {
	var errs []error
	if o.Suite == nil {
		return o, &ConfigError{errors.New("run: no suite")}
	}
	if o.Candidates == nil {
		o.Candidates = o.Suite.Candidates
	}
	o.Policy = o.policy()
	errs = append(errs, checkDecide(&o))
	if o.Decide != nil {
		o.Trials = o.Decide.MaxTrials
	}
	if o.Trials < 0 || o.Trials > maxTrials {
		errs = append(errs, fmt.Errorf("trials %d: must be 1 to %d", o.Trials, maxTrials))
	}
	o.Trials = max(o.Trials, 1)
	if o.Mode == "" {
		o.Mode = recorder.Replay
	}
	if !slices.Contains([]recorder.Mode{recorder.Replay, recorder.Record, recorder.Live}, o.Mode) {
		errs = append(errs, fmt.Errorf("mode %q: must be replay, record or live", o.Mode))
	}
	if o.Mode == recorder.Record && o.CassetteDir == "" {
		errs = append(errs, errors.New("record mode needs a suite folder on disk to write cassettes into: a built-in suite is read-only; name its folder in the source, such as goldens/counts, or begin a suite with `cupel init`"))
	}
	if o.Stale && o.Mode != recorder.Record {
		errs = append(errs, errors.New("only what is recorded can be recorded again because it is stale: use record mode"))
	}
	if s := o.ReplaySpeed; s < 0 || math.IsNaN(s) || math.IsInf(s, 0) {
		errs = append(errs, fmt.Errorf("replay speed %v: must be 0 (at once) or more; 1 is the recorded pace", s))
	} else if s > 0 && o.Mode != recorder.Replay {
		errs = append(errs, fmt.Errorf("replay speed %v: mode %s goes at the network's pace; leave it out", s, o.Mode))
	}
	if o.Concurrency < 0 || o.LaneConcurrency < 0 {
		errs = append(errs, fmt.Errorf("concurrency %d, lane concurrency %d: must be 0, for the default, or more", o.Concurrency, o.LaneConcurrency))
	}
	errs = append(errs, checkTools(o))
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the driver's seam: live and recording runs only
	}
	if o.RecordCommand == nil {
		o.RecordCommand = o.recordCommand
	}
	if err := o.Acceptance.Validate(); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return o, &ConfigError{err}
	}
	return o, nil
}

// policy is the Policy, or the default one that allows every provider of o.
func (o Options) policy() policy.Policy {
	if o.Policy.Providers != nil {
		return o.Policy
	}
	p := policy.Default()
	for name := range o.Providers {
		if _, ok := p.Providers[name]; !ok {
			p.Providers[name] = policy.Provider{}
		}
	}
	return p
}

// recordCommand is the default of RecordCommand.
func (o Options) recordCommand(task, candidate string, trial int) string {
	cmd := "cupel run --mode record --suite " + filepath.ToSlash(o.Suite.Path)
	if task == "" && o.Decide != nil {
		return cmd + fmt.Sprintf(" --decide --max-trials %d", trial)
	}
	if task != "" {
		cmd += fmt.Sprintf(" --task %s --candidate %s", task, candidate)
	}
	if trial > 1 {
		cmd += fmt.Sprintf(" --trials %d", trial)
	}
	return cmd
}

// maxTrials bounds a mistyped --trials.
const maxTrials = 10_000

// checkTools finds Go functions for tools the suite does not have.
func checkTools(o Options) error {
	var errs []error
	for _, name := range drive.SortedKeys(o.Tools) {
		has := slices.ContainsFunc(o.Suite.Tools, func(s tool.Spec) bool { return s.Name == name })
		if !has || o.Tools[name] == nil {
			var names []string
			for _, s := range o.Suite.Tools {
				names = append(names, s.Name)
			}
			errs = append(errs, fmt.Errorf("tool %q: a Go function must be non-nil and have the name of one of the suite's tools: %s", name, drive.Abridge(names, 80)))
		}
	}
	return errors.Join(errs...)
}
