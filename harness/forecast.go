package harness

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// Outlook is what a run would do, and what that is likely to come to. Null is
// unknown, never zero. It has the JSON form of cupel run --dry-run --json.
type Outlook struct {
	Suite string `json:"suite"`
	Mode  string `json:"mode"`
	// PriceDay is the day whose prices apply, yyyy-mm-dd; empty for a replay.
	PriceDay     string `json:"price_day"`
	PriceVersion string `json:"price_version"`
	// Shard is i/n; empty for the whole plan.
	Shard string `json:"shard"`
	// Tasks are those with an episode in the whole plan, without ScriptedTasks, which
	// test the harness.
	Tasks         int `json:"tasks"`
	ScriptedTasks int `json:"scripted_tasks"`
	Trials        int `json:"trials"`
	// Episodes would be run now; EpisodesInAll are those of the whole plan, with
	// other shards' and those that a resumed run has done.
	Episodes      int `json:"episodes"`
	EpisodesInAll int `json:"episodes_in_all"`
	// LeftOut says where the other episodes of the suite went, in the order in which
	// they are dropped.
	LeftOut    []LeftOut          `json:"left_out"`
	Candidates []CandidateOutlook `json:"candidates"`
	Total      Estimate           `json:"total"`
	Duration   DurationEstimate   `json:"duration"`
	// PastRuns and PastEpisodes are what the estimates were made from.
	PastRuns     int `json:"past_runs"`
	PastEpisodes int `json:"past_episodes"`
	// Warnings are for people: what would keep the run from starting or ending, and
	// what is not known.
	Warnings []string `json:"warnings"`
}

// LeftOut is a number of episodes that would not be run, and why.
type LeftOut struct {
	Why      string `json:"why"`
	Episodes int    `json:"episodes"`
}

// What an estimate is made from.
const (
	// BasisCandidate are past episodes of the same candidate, BasisModel of the same
	// model in another candidate.
	BasisCandidate = "candidate"
	BasisModel     = "model"
	// BasisNone is the policy's worst case: nothing is expected, only bounded.
	BasisNone = "none"
	// BasisNobody is a replay or a scripted candidate: nobody is asked.
	BasisNobody = "nobody"
)

// CandidateOutlook is the part of one candidate.
type CandidateOutlook struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Simulated says that nobody is paid.
	Simulated     bool   `json:"simulated"`
	Episodes      int    `json:"episodes"`
	EpisodesInAll int    `json:"episodes_in_all"`
	Basis         string `json:"basis"`
	// PastEpisodes were found; TasksKnown of the Tasks to run are among theirs, the
	// others are taken to be like the mean of all.
	PastEpisodes int `json:"past_episodes"`
	Tasks        int `json:"tasks"`
	TasksKnown   int `json:"tasks_known"`
	Estimate
}

// Estimate is what episodes are likely to come to together.
type Estimate struct {
	// Calls are turns, Requests calls with every attempt.
	Calls    Range `json:"calls"`
	Requests Range `json:"requests"`
	// CallsByKind splits the expected calls by the kinds of turns in the ledger.
	CallsByKind map[string]*int64 `json:"calls_by_kind"`
	Tokens      TokenEstimate     `json:"tokens"`
	CostNanoUSD Range             `json:"cost_nanousd"`
}

// TokenEstimate has the token classes, which are disjoint, and their sum.
type TokenEstimate struct {
	All        Range `json:"all"`
	Input      Range `json:"input"`
	Output     Range `json:"output"`
	CacheRead  Range `json:"cache_read"`
	CacheWrite Range `json:"cache_write"`
	Reasoning  Range `json:"reasoning"`
}

// Range is a number that is not known yet. With past episodes to learn from, Low
// and High are 1.96 standard deviations of the forecast's error from Expected: the
// spread of episodes of one task and the uncertainty of its mean. That is no
// guarantee, and knows nothing of a provider that changes. Without, Low is one call
// an episode and High the steps of the budget at the worst case of the first
// request, which later ones may exceed. Null is unknown.
type Range struct {
	Low      *int64 `json:"low"`
	Expected *int64 `json:"expected"`
	High     *int64 `json:"high"`
}

// DurationEstimate is in whole seconds. AtLeast follows from the limits of the
// providers; Expected from past latencies, too.
type DurationEstimate struct {
	AtLeast  int64  `json:"at_least_s"`
	Expected *int64 `json:"expected_s"`
}

// forecaster is a forecast under way.
type forecaster struct {
	*runner
	todo     []bool
	missing  []string // keys and values of headers
	warnings []string
	past     *pastRuns
	spent    map[string]admission.Spend // of a resumed run, by provider
}

// Forecast says what Run would do with these options, and what that is likely to
// come to by the runs below Options.Runs and the prices of the day. It fails as Run
// would before its first episode, but for keys that are missing, which are
// warnings. It sends nothing and makes no run folder. Cassettes are read only to
// tell stale ones and the beginning of a fork; of a run to be resumed it takes the
// lock, and like Resume cuts off what a crash left half written.
func Forecast(o Options) (Outlook, error) {
	f := &forecaster{spent: map[string]admission.Spend{}}
	f.keyless(&o)
	if o.Resume != "" {
		unlock, err := lockRun(o)
		if err != nil {
			return Outlook{}, err
		}
		defer unlock()
	}
	r, err := newRunner(o)
	if err != nil {
		return Outlook{}, err
	}
	defer r.closeCassettes()
	f.runner, f.todo = r, slices.Repeat([]bool{true}, r.plan.len())
	f.past = f.newPast()
	if err := f.done(); err != nil {
		return Outlook{}, err
	}
	if r.Mode != recorder.Replay {
		f.warnings = append(f.warnings, f.past.read(r.Runs, r.Suite.Name, r.Resume)...)
	}
	return f.outlook()
}

// keyless lets a plan be made without credentials, and notes which are missing.
func (f *forecaster) keyless(o *Options) {
	note := func(text string) {
		if !slices.Contains(f.missing, text) {
			f.missing = append(f.missing, text)
		}
	}
	if find := o.Key; find != nil {
		o.Key = func(c goldens.Candidate) (string, error) {
			key, err := find(c)
			if err != nil {
				note(fmt.Sprintf("candidate %s: %s", c.Name, err))
				return "", nil
			}
			return key, nil
		}
	}
	find := o.LookupEnv
	o.LookupEnv = func(name string) (string, bool) {
		if find != nil {
			if value, ok := find(name); ok && value != "" {
				return value, true
			}
		}
		note("a header of an HTTP tool needs " + name + ": set it")
		return "not-set-in-a-dry-run", true
	}
}

// done reads off the journal of a resumed run what is not to be run again, and
// learns from it.
func (f *forecaster) done() error {
	if f.resumed == nil {
		return nil
	}
	dir := filepath.Join(f.Runs, f.Resume)
	s := &store{dir: dir, plan: f.plan, at: make([]int64, f.plan.len()), todo: f.todo, lost: make([]bool, f.plan.len())}
	learn := f.past.learner(f.resumed.manifest)
	j, err := ledger.OpenJournal(dir, func(rec ledger.EpisodeRows, at int64) error {
		learn(rec)
		return s.visit(rec, at)
	})
	if err != nil {
		return fmt.Errorf("forecast: resume run %s: %w", f.Resume, err)
	}
	if d := f.resumed.manifest.Decide; d != nil {
		for i, c := range f.plan.cells {
			f.todo[i] = f.todo[i] && int(c.trial) <= reach(d, f.plan.candidates[c.candidate].Name, len(d.Rounds))
		}
	}
	if err := j.Close(); err != nil || f.Mode == recorder.Replay {
		return err
	}
	log, err := admission.OpenSpendLog(filepath.Join(dir, spendFile))
	if err != nil {
		return fmt.Errorf("forecast: resume run %s: %w", f.Resume, err)
	}
	f.spent = maps.Clone(log.Spent())
	return log.Close()
}

// outlook puts everything together.
func (f *forecaster) outlook() (Outlook, error) {
	left, err := f.leftOut()
	if err != nil {
		return Outlook{}, err
	}
	out := Outlook{
		Suite: f.Suite.Name, Mode: string(f.Mode), PriceVersion: f.Prices.Version(), Shard: f.Select.Shard.String(),
		Trials: f.Trials, LeftOut: left, Candidates: []CandidateOutlook{}, PastRuns: f.past.runs,
	}
	if f.Mode != recorder.Replay {
		out.PriceDay = f.priceDay().Format(time.DateOnly)
	}
	for _, t := range f.plan.tasks {
		out.Tasks += count(t.planned && !t.Scripted)
		out.ScriptedTasks += count(t.planned && t.Scripted)
	}
	shares, total := f.shares(), guesses{}
	for _, s := range shares {
		out.Candidates = append(out.Candidates, s.outlook)
		out.Episodes += s.outlook.Episodes
		out.EpisodesInAll += s.outlook.EpisodesInAll
		out.PastEpisodes += s.outlook.PastEpisodes
		total = total.plus(s.guesses)
	}
	total.narrow()
	out.Total = total.estimate()
	out.Duration = f.duration(shares)
	out.Warnings = append([]string{}, f.warn(shares, total)...)
	if f.Decide != nil {
		rounds := f.Decide.Rounds()
		out.Warnings = append(out.Warnings, fmt.Sprintf("these are the most episodes that the run can have: a candidate may be decided after each of %d rounds, of which the first has %d of its %d trials per task",
			len(rounds), rounds[0], f.Trials))
	}
	return out, nil
}

func (f *forecaster) priceDay() time.Time { return f.today.Truncate(24 * time.Hour) }
