// Package forecast predicts the episodes, cost and duration of a run without running it:
// see Make.
package forecast

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// Forecast predicts a run. Null is unknown, never zero. Its JSON form is the output of
// cupel run --dry-run --json.
type Forecast struct {
	Suite string `json:"suite"`
	Mode  string `json:"mode"`
	// Batched is set if the requests would be sent in batches, at their prices.
	Batched bool `json:"batched,omitempty"`
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
	// Episodes would be run now; EpisodesInAll counts the whole plan, including other shards
	// and the finished episodes of a resumed run.
	Episodes      int `json:"episodes"`
	EpisodesInAll int `json:"episodes_in_all"`
	// LeftOut counts the other episodes of the suite by reason, in the order in which they are
	// excluded.
	LeftOut    []LeftOut   `json:"left_out"`
	Candidates []Candidate `json:"candidates"`
	Total      Estimate    `json:"total"`
	Duration   Duration    `json:"duration"`
	// PastRuns and PastEpisodes count the basis of the estimates.
	PastRuns     int `json:"past_runs"`
	PastEpisodes int `json:"past_episodes"`
	// Warnings are texts: what would stop the run from starting or ending, and which inputs
	// are unknown.
	Warnings []string `json:"warnings"`
}

// LeftOut is a number of episodes that would not be run, and the reason.
type LeftOut struct {
	Why      string `json:"why"`
	Episodes int    `json:"episodes"`
}

// These are the bases of an estimate.
const (
	// BasisCandidate are past episodes of the same candidate, BasisModel of the same
	// model in another candidate.
	BasisCandidate = "candidate"
	BasisModel     = "model"
	// BasisNone is the policy's worst case: it gives bounds, but no expected value.
	BasisNone = "none"
	// BasisNobody is a replay or a scripted candidate, which send no requests.
	BasisNobody = "nobody"
)

// Candidate is the forecast of one candidate.
type Candidate struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Simulated is set if the cost is not real money.
	Simulated     bool   `json:"simulated"`
	Episodes      int    `json:"episodes"`
	EpisodesInAll int    `json:"episodes_in_all"`
	Basis         string `json:"basis"`
	// PastEpisodes is the number of past episodes; they cover TasksKnown of the Tasks to run.
	// The other tasks are estimated by the mean.
	PastEpisodes int `json:"past_episodes"`
	Tasks        int `json:"tasks"`
	TasksKnown   int `json:"tasks_known"`
	Estimate
}

// Estimate is the sum over episodes.
type Estimate struct {
	// Calls are turns, Requests calls with every attempt.
	Calls    Range `json:"calls"`
	Requests Range `json:"requests"`
	// CallsByKind splits the expected calls by the kinds of turns in the ledger.
	CallsByKind map[string]*int64 `json:"calls_by_kind"`
	Tokens      Tokens            `json:"tokens"`
	CostNanoUSD Range             `json:"cost_nanousd"`
}

// Tokens has the token classes, which are disjoint, and their sum.
type Tokens struct {
	All        Range `json:"all"`
	Input      Range `json:"input"`
	Output     Range `json:"output"`
	CacheRead  Range `json:"cache_read"`
	CacheWrite Range `json:"cache_write"`
	Reasoning  Range `json:"reasoning"`
}

// Range is an unknown number. With past episodes, Low and High are 1.96 standard deviations
// of the forecast's error from Expected, which includes the spread of episodes of one task
// and the uncertainty of its mean. They are not a guarantee and assume an unchanged
// provider. Without past episodes, Low is one call per episode and High the steps of the
// budget at the worst case of the first request, which later ones may exceed. Null is
// unknown.
type Range struct {
	Low      *int64 `json:"low"`
	Expected *int64 `json:"expected"`
	High     *int64 `json:"high"`
}

// Duration is in whole seconds. AtLeast follows from the limits of the
// providers; Expected from past latencies, too. That of batches is unknown.
type Duration struct {
	AtLeast  int64  `json:"at_least_s"`
	Expected *int64 `json:"expected_s"`
}

// Make predicts what harness.Run would do with these options, from the runs below the runs
// folder and the prices of the day. It fails as Run would before its first episode, except
// that missing keys are warnings. It sends no requests and does not create a run folder. It
// reads cassettes only to find stale ones and the beginning of a fork. It locks a run to be
// resumed and, like Run, cuts off a half-written record after a crash.
func Make(o harness.Options) (Forecast, error) {
	f := &forecaster{samples: map[pastKey]*sample{}, seen: map[[3]string]bool{}}
	f.keyless(&o)
	plan, err := harness.NewPlan(o)
	if err != nil {
		return Forecast{}, err
	}
	defer plan.Close()
	f.Options, f.plan, f.manifest = plan.Options(), plan, plan.Manifest()
	if began, err := time.Parse(time.RFC3339Nano, f.manifest.Started); err == nil {
		f.priceDay = began.Truncate(24 * time.Hour)
	}
	if f.todo, f.spent, err = plan.Unfinished(f.learner); err != nil {
		return Forecast{}, err
	}
	if f.Mode != recorder.Replay && f.Runs != "" {
		f.readPast()
	}
	return f.forecast()
}

// forecaster is a forecast in progress.
type forecaster struct {
	harness.Options
	plan     *harness.Plan
	manifest manifest.Manifest // at the start of the run
	priceDay time.Time
	todo     []bool                     // by place in the plan
	spent    map[string]admission.Spend // of a resumed run, by provider
	missing  []string                   // keys and values of headers
	warnings []string
	samples  samples
	seen     map[[3]string]bool // past episodes, because replays repeat them
	runs     int                // past ones with an episode in the samples
}

// keyless sets options that allow a plan without credentials, and notes the missing ones.
func (f *forecaster) keyless(o *harness.Options) {
	note := func(text string) {
		if !slices.Contains(f.missing, text) {
			f.missing = append(f.missing, text)
		}
	}
	if key := o.Key; key != nil {
		o.Key = func(c goldens.Candidate) (string, error) {
			found, err := key(c)
			if err != nil {
				note(fmt.Sprintf("candidate %s: %s", c.Name, err))
			}
			return found, nil
		}
	}
	env := o.LookupEnv
	o.LookupEnv = func(name string) (string, bool) {
		if env != nil {
			if value, ok := env(name); ok && value != "" {
				return value, true
			}
		}
		note("a tool or a world needs " + name + ": set it")
		return "not-set-in-a-dry-run", true
	}
}

// share is the episodes of one candidate.
type share struct {
	Candidate
	digest    string
	tasks     map[string]*taskShare
	any       drive.Planned // one of its episodes
	estimates estimates
}

// taskShare is a candidate's episodes of one task: one of them, and their number.
type taskShare struct {
	drive.Planned
	n float64
}

// shares returns the candidates with episodes in the plan. absent counts the episodes of a
// replay without a cassette.
func (f *forecaster) shares() (list []*share, absent int) {
	byName := map[string]*share{}
	for _, c := range f.manifest.Candidates {
		s := &share{digest: c.Digest, tasks: map[string]*taskShare{}, Candidate: Candidate{
			Name: c.Name, Provider: c.Provider, Model: c.Model, Simulated: c.Simulated, EpisodesInAll: cmp.Or(c.PlannedInAll, c.Planned),
		}}
		byName[c.Name] = s
		list = append(list, s)
	}
	for i, e := range f.plan.Episodes() {
		absent += drive.Count(isAbsent(f.Options, e))
		if !f.todo[i] {
			continue
		}
		s := byName[e.Candidate.Name]
		if s.tasks[e.Task.ID] == nil {
			s.any, s.tasks[e.Task.ID] = e, &taskShare{Planned: e}
			s.Tasks++
		}
		s.tasks[e.Task.ID].n++
		s.Episodes++
	}
	return list, absent
}

// forecast puts everything together.
func (f *forecaster) forecast() (out Forecast, err error) {
	m := f.manifest
	out = Forecast{
		Suite: f.Suite.Name, Mode: m.Mode, PriceVersion: m.PriceVersion, Shard: m.Shard, Trials: f.Trials,
		Candidates: []Candidate{}, PastRuns: f.runs, Batched: f.Batch != nil,
	}
	if f.Mode != recorder.Replay {
		out.PriceDay = f.priceDay.Format(time.DateOnly)
	}
	for _, t := range m.Tasks {
		out.Tasks += drive.Count(!t.Scripted)
		out.ScriptedTasks += drive.Count(t.Scripted)
	}
	shares, absent := f.shares()
	var total estimates
	for _, s := range shares {
		f.estimate(s)
		s.Estimate = s.estimates.estimate()
		out.Candidates = append(out.Candidates, s.Candidate)
		out.Episodes += s.Episodes
		out.EpisodesInAll += s.EpisodesInAll
		out.PastEpisodes += s.PastEpisodes
		total = total.plus(s.estimates)
	}
	total.narrow()
	out.Total = total.estimate()
	out.Duration = f.duration(shares)
	f.warn(shares, total, absent)
	out.Warnings = f.warnings
	out.LeftOut, err = f.leftOut(out.EpisodesInAll, out.Episodes)
	return out, err
}

// leftOut returns why the suite's other episodes are not run: inAll counts those in the
// plan of all shards, todo those to be run now.
func (f *forecaster) leftOut(inAll, todo int) (list []LeftOut, err error) {
	all, chosen, kept := inAll, inAll, inAll
	if f.Resume == "" && f.Fork == nil {
		all, chosen, kept, err = selected(f.plan, f.Options)
	}
	list = []LeftOut{}
	for _, l := range []LeftOut{
		{"of tasks and candidates that are not selected", all - chosen},
		{"not selected by the results of an earlier run", chosen - kept},
		{"their cassettes are fresh", kept - inAll},
		{"in other shards", inAll - len(f.todo)},
		{"the run has their results", len(f.todo) - todo},
	} {
		if l.Episodes > 0 {
			list = append(list, l)
		}
	}
	return list, err
}

// selected counts the episodes of the suite, those of the selected tasks and candidates,
// and those of them that Selection.Episode accepts.
func selected(plan *harness.Plan, o harness.Options) (all, chosen, kept int, err error) {
	candidates, tasks, err := plan.Selected()
	scripted := 0
	for _, c := range candidates {
		if c.Provider == episode.ScriptedCandidate {
			scripted = 1
		}
		for _, t := range tasks {
			for trial := 1; trial <= o.Trials && t.Scripted == (c.Provider == episode.ScriptedCandidate); trial++ {
				chosen++
				kept += drive.Count(o.Select.Episode == nil || o.Select.Episode(t.ID, c.Name, trial))
			}
		}
	}
	for _, t := range o.Suite.Tasks {
		if t.Scripted {
			all += o.Trials * scripted
		} else {
			all += o.Trials * len(o.Candidates)
		}
	}
	return all, chosen, kept, err
}
