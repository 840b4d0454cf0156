package drive

import (
	"context"
	"io/fs"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/providers/retry"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Env is shared by the episodes of a run. Episodes that run in parallel only read it.
type Env struct {
	RunID string
	Mode  recorder.Mode
	// Today is the day of a recording or live run; zero in replay.
	Today time.Time
	// Resumed is set if a recording may find journals of an earlier attempt.
	Resumed bool
	// Speed is the speed of a replay; 0 does not wait.
	Speed float64
	// Cassettes is the source of a replay, Store the target of a recording.
	Cassettes fs.FS
	Store     recorder.Store
	// Header returns the header of an episode's cassette, without its day.
	Header func(Planned) cassette.Header
	// Command returns the shell command that records an episode.
	Command func(task, candidate string, trial int) string
	// Base returns the transport for a provider's requests; nil means http.DefaultTransport.
	Base func(provider string) http.RoundTripper
	// Tools are Go functions by the names of tools.
	Tools map[string]episode.ToolFunc
	// Checks are Go functions by the names of checks. Scoring says which programs run in replay.
	Checks  map[string]scorer.Func
	Scoring Scoring
	// LookupEnv reads environment variables for headers of HTTP tools.
	LookupEnv func(name string) (string, bool)
	// Human answers questions; nil means the world answers.
	Human   episode.Human
	Answers *AnswerBook
	// Recorded receives the day of every cassette that a replay opens. Episodes that run in
	// parallel call it; nil ignores the days.
	Recorded func(day string)
	// Observe is called with parts of model replies; nil means no calls.
	Observe func(episode.StreamEvent)
	Retry   retry.Policy

	Prices       price.Table
	PriceDigest  string
	ConfigDigest string

	// HelperKey returns the credential of a helper's model; nil means none. Never called in replay.
	HelperKey func(goldens.Candidate) (string, error)

	// External runs the episodes of external agents. They and helpers use Factories: all wires by provider.
	External  func(context.Context, *Env, *Planned, func(episode.Trace)) ledger.EpisodeRows
	Factories map[string]providers.Factory

	Secrets  *secrets.Finder
	Cleaners *sync.Pool         // of *cleaner, for a replay
	Control  *admission.Control // nil in replay
	// Batches collects the requests of providers with a batch API; nil sends each by itself.
	Batches *batching.Collector
}

// NewRecorder opens or creates the cassette of an episode.
func (v *Env) NewRecorder(p Planned) (*recorder.Recorder, error) {
	o := recorder.Options{
		Mode: v.Mode, FS: v.Cassettes, Store: v.Store, Path: p.Cassette, Command: v.commandOf(p), Speed: v.Speed,
	}
	if v.Mode == recorder.Replay {
		rec, err := recorder.New(o)
		if err == nil && v.Recorded != nil {
			v.Recorded(rec.Header().Recorded)
		}
		return rec, err
	}
	if v.Mode == recorder.Record { // because its digests take a fifth of the time of a live episode
		o.Run, o.Resume, o.KeepJournal = v.RunID, v.Resumed, true
		o.Header = v.Header(p)
		o.Header.Recorded = v.Today.Format(time.DateOnly)
	}
	o.Base, o.Secrets = toolTransport{v.base(p.Candidate.Provider), v.Secrets}, v.Secrets
	return recorder.New(o)
}

// PriceDay is the day of the recording, so that a replay has the cost that was paid.
func (v *Env) PriceDay(rec *recorder.Recorder) time.Time {
	if v.Mode != recorder.Replay {
		return v.Today.Truncate(24 * time.Hour)
	}
	day, err := time.Parse(time.DateOnly, rec.Header().Recorded)
	if err != nil {
		return time.Time{} // a foreign cassette has no day, so no price applies
	}
	return day
}

func (v *Env) commandOf(p Planned) string {
	return v.Command(p.Task.ID, p.Candidate.Name, p.Trial)
}

// lane returns the lane for a candidate's requests; nil if they are not limited.
func (v *Env) lane(c goldens.Candidate, key string) *admission.Lane {
	if v.Control == nil || c.Provider == episode.ScriptedCandidate {
		return nil
	}
	return v.Control.Lane(c.Provider, c.BaseURL+"\x00"+key)
}

// clean replaces credentials in every text of an episode's rows. A replay reuses its
// cleaners, because it has all credentials from the start, so a text that was clean in one
// episode is clean in the next.
func (v *Env) clean(rows ledger.EpisodeRows) ledger.EpisodeRows {
	c, ok := v.Cleaners.Get().(*cleaner)
	if !ok {
		c = NewCleaner(v.Secrets)
	}
	c.Record(reflect.ValueOf(&rows).Elem())
	if v.Mode == recorder.Replay {
		v.Cleaners.Put(c)
	}
	return rows
}
