package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
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
	Matrix    // tasks, candidates and trials
	Rules     // models, prices and thresholds from the configuration
	Recording // cassettes and modes
	RunFolder // the folder of the run
	Bounds    // concurrency, caps and rate limits
	Parts     // code from the calling program
	Observers // callbacks, and the signal to drain
}

// Matrix selects what is run: tasks by candidates by trials.
type Matrix struct {
	Suite *goldens.Suite
	// Candidates are under test; nil means the suite's own.
	Candidates []goldens.Candidate
	Select     Selection
	// Fork makes every episode continue from a recorded one; nil starts them from the
	// beginning. The selection then names candidates only; an empty one selects the candidate
	// of the recorded episode.
	Fork *Fork
	// Trials per task and candidate, at least 1; 0 means 1. With Decide they are its
	// MaxTrials.
	Trials int
	// Decide runs trials in rounds until each candidate is decided; nil runs all Trials.
	Decide *Decide
	// Seed is the run's seed, from which ids derive.
	Seed int64
}

// Rules are models, prices and thresholds from the configuration.
type Rules struct {
	// Policy bounds episodes and names models. The zero Policy is policy.Default, with all
	// of Providers allowed.
	Policy policy.Policy
	// Prices of models; by the zero Table every cost is unknown.
	Prices price.Table
	// Acceptance are the thresholds; zero fields mean their defaults.
	Acceptance manifest.Acceptance
	// Adapters are the versions of the wires' codecs, by provider, for the headers of
	// cassettes.
	Adapters map[string]string
	// CodeVersion names the program in the manifest.
	CodeVersion string
}

// Recording configures the mode and the cassettes.
type Recording struct {
	// Mode defaults to replay.
	Mode recorder.Mode
	// Cassettes is read in replay: a folder or a cassette.Archive. nil means the suite's own,
	// see cassettes.Open.
	Cassettes fs.FS
	// CassetteDir is the folder that record mode writes to; required in that mode without Store.
	CassetteDir string
	// Store is what record mode writes to instead of CassetteDir, such as a *packs.Folder. The
	// caller may compact it after the run.
	Store recorder.Store
	// Batch collects the requests of all episodes into batches; nil sends each by itself.
	Batch *batching.Settings
	// Stale leaves out the episodes whose cassettes are fresh; for record mode.
	// Run fails with ErrAllFresh when all are.
	Stale bool
	// WithAgent runs external agents in a replay, against their recordings; without it a
	// replay needs no agent.
	WithAgent bool
	// Scoring says where a replay gets the results of the programs of score checks: from the
	// cassettes, unless it is drive.ScoreAgain or drive.ScoreNothing.
	Scoring drive.Scoring
	// ReplaySpeed scales the timing of a replay: 1 is the recorded speed, 2 twice as fast; 0
	// does not wait. The rows are the same at any speed.
	ReplaySpeed float64
	// RecordCommand returns the shell command that records an episode; an empty task and
	// candidate mean all of them. nil means a cupel command.
	RecordCommand func(task, candidate string, trial int) string
	// RecordFlags follow `cupel run` in the default RecordCommand, such as the --config that
	// names the candidates.
	RecordFlags string
}

// RunFolder configures what cupel writes to disk besides cassettes.
type RunFolder struct {
	// Runs is the parent of run folders; if empty, cupel does not write any.
	Runs string
	// Resume is the id of an interrupted run below Runs. Only its unfinished episodes and
	// those without a result are run. Select is taken from that run; the other options must
	// equal its options.
	Resume string
	// Settings let the caller rebuild these options. The run folder contains them until the
	// run is complete, see ReadSettings. On resuming, non-nil Settings replace the stored
	// ones.
	Settings []byte
	// Canary runs the model drift canary before a recording or live run, once a day: see
	// Canary. Without Runs it does not run.
	Canary bool
}

// Bounds limit concurrency and spending. In a replay only Concurrency has an effect.
type Bounds struct {
	// Concurrency is the largest number of episodes in parallel, over all providers; 0 means
	// one per processor in replay, and otherwise, per provider and key, as many as requests.
	Concurrency int
	// LaneConcurrency bounds the requests in flight per provider and key if Limits does not;
	// an episode may send several in parallel. 0 means DefaultConcurrency, or Concurrency if
	// that is more.
	LaneConcurrency int
	// Caps bound the spending of a recording or live run. A run that reaches one ends as a
	// valid partial result.
	Caps admission.Caps
	// Limits are rate limits by the name of the provider.
	Limits map[string]admission.Limits
	// Sharing shares Caps and the rates of Limits with other processes; nil means that they are
	// this run's alone.
	Sharing Sharing
	// Retry is the policy for failed model calls; zero fields mean its defaults. Its Seed is
	// replaced by each episode's, its Sleep in replay.
	Retry retry.Policy
}

// Parts are code from the calling program. Episodes call these functions in parallel.
type Parts struct {
	// Providers are the available wires by the provider name that candidates use.
	Providers map[string]providers.Factory
	// Key returns the credential of a candidate; nil means none. Never called in replay.
	Key func(goldens.Candidate) (string, error)
	// Transport returns the transport for a provider's requests when recording or live; nil
	// means http.DefaultTransport.
	Transport func(provider string) http.RoundTripper
	// Strategies are custom agents by the name that candidates use; they take precedence over
	// the built-in ones.
	Strategies map[string]agent.Strategy
	// Tools are Go functions by the name of a tool of the suite. They replace its world or
	// HTTP endpoint, in replay, too.
	Tools map[string]episode.ToolFunc
	// Checks are Go functions by the name that a task's score gives as its check. They run in
	// replay, too.
	Checks map[string]scorer.Func
	// LookupEnv reads the environment variables in headers of HTTP tools, like os.LookupEnv;
	// nil finds none. Never called in replay.
	LookupEnv func(name string) (string, bool)
	// Secrets are further credentials of the process, such as those that libraries load; nil
	// means none. The run adds its own. Never used in replay.
	Secrets *secrets.Finder
	// Human answers in live and record mode; nil means the tasks' replies and approvals. Never
	// called in replay.
	Human episode.Human
	// Now is the wall clock of live and record runs; nil means time.Now.
	Now func() time.Time
	// Executor executes the episodes in other processes; nil executes them in this one.
	Executor fleet.Executor
}

// Observers are called on events, and may end the run.
type Observers struct {
	// Progress is called after every episode. Episodes come in the order in which
	// they end.
	Progress func(Progress)
	// Watch is called when the run begins and, except in a replay without waiting, every
	// second and when the limit of a lane changes. The run never calls Progress and Watch
	// concurrently, and waits until they return.
	Watch func(Progress)
	// Traced is called after every episode with its trace, by several episodes in parallel.
	// Retaining traces costs memory; rerun.Replayer can produce them again.
	Traced func(ledger.EpisodeRows, []episode.Trace)
	// Observe, if not nil, is called with parts of model replies as they arrive, by several
	// episodes in parallel: see episode.StreamEvent.
	Observe func(episode.StreamEvent)
	// Drain, when closed, ends the run within about a second: no further episode starts, waits
	// for admission and between attempts end immediately, and requests still in flight after a
	// second are cancelled. Unfinished episodes have no result.
	Drain <-chan struct{}
}

// Selection narrows a run. An empty list selects everything. Selecting a task of a session
// also selects the tasks before it.
type Selection struct {
	// Tasks and Candidates are names or path.Match patterns.
	Tasks, Candidates []string
	// Tags select tasks that carry at least one of them.
	Tags []string
	// Episode narrows further; nil accepts every episode. The earlier episodes of the session
	// of an accepted episode are included.
	Episode func(task, candidate string, trial int) bool
	// Exact excludes the earlier episodes of a session that Episode does not accept.
	Exact bool
	// Shard is the part of the selection that is run; the zero value means all of it.
	Shard Shard
}

// ConfigError means that a run cannot start because of its options. It joins every problem
// found.
type ConfigError struct{ Err error }

// Error lists the problems.
func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns the joined problems.
func (e *ConfigError) Unwrap() error { return e.Err }

// withDefaults returns o with defaults filled in, or all of its errors.
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
	o.Mode = cmp.Or(o.Mode, recorder.Replay)
	if !slices.Contains([]recorder.Mode{recorder.Replay, recorder.Record, recorder.Live}, o.Mode) {
		errs = append(errs, fmt.Errorf("mode %q: must be replay, record or live", o.Mode))
	}
	if o.Mode == recorder.Record && !o.Records() {
		errs = append(errs, errors.New("record mode needs a suite folder on disk to write cassettes into: a built-in suite is read-only; name its folder in the source, such as goldens/counts, begin a suite with `cupel init`, or record into a pack with --pack FOLDER"))
	}
	if o.Stale && o.Mode != recorder.Record {
		errs = append(errs, errors.New("stale cassettes can be recorded again only in record mode; use record mode"))
	}
	errs = append(errs, checkBatch(o))
	if o.WithAgent && o.Mode != recorder.Replay {
		errs = append(errs, fmt.Errorf("external agents always run in mode %s; leave with-agent out", o.Mode))
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
		o.Now = time.Now //nolint:forbidigo // the only wall clock; used in live and recording runs
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
	cmd := "cupel run" + o.RecordFlags + " --mode record --suite " + filepath.ToSlash(o.Suite.Path)
	add := func(flag string, values ...string) {
		text := strings.Join(values, ",")
		if strings.ContainsAny(text, "*?[:' ") {
			text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		}
		if text != "" {
			cmd += " " + flag + " " + text
		}
	}
	chosen := o.Select
	if task != "" {
		chosen = Selection{Tasks: []string{task}, Candidates: []string{candidate}}
	}
	if f := o.Fork; f != nil && (task == "" || f.Base(candidate) != candidate) { // it names its own task
		add("--fork", f.String())
		if chosen.Tasks = nil; task != "" {
			chosen.Candidates = []string{f.Base(candidate)}
		}
	}
	add("--task", chosen.Tasks...)
	add("--tag", chosen.Tags...)
	add("--candidate", chosen.Candidates...)
	switch {
	case task == "" && o.Decide != nil:
		add("--decide --max-trials", strconv.Itoa(trial))
	case trial > 1:
		add("--trials", strconv.Itoa(trial))
	}
	return cmd
}

// maxTrials bounds a mistyped --trials.
const maxTrials = 10_000

// checkTools rejects Go functions for tools that the suite does not have.
func checkTools(o Options) error {
	var errs []error
	for _, name := range drive.SortedKeys(o.Tools) {
		has := slices.ContainsFunc(o.Suite.Tools, func(s tool.Spec) bool { return s.Name == name })
		if !has || o.Tools[name] == nil {
			var names []string
			for _, s := range o.Suite.Tools {
				names = append(names, s.Name)
			}
			errs = append(errs, fmt.Errorf("tool %q: a Go function must be non-nil and have the name of one of the suite's tools: %s", name, clip.Names(names, 80)))
		}
	}
	return errors.Join(errs...)
}
