// Package compare compares a run with a baseline, which is one run or several of one
// configuration, or two candidates of one run: the rows of all go in, a Comparison
// comes out, paired by task and trial, with the configuration differences, an effect
// with its interval for every metric, a class for every task, and one verdict. It is
// pure; package reports renders.
//
// Every metric is a difference of two ratios of sums over the same pairs (paired.go).
// Its p is that of swapping the runs of whole tasks, which is exact if nothing
// changed, however the trials of a task resemble each other (measure.go). Holm over
// all gating metrics and pairs keeps the chance of any false alarm at α; a pass must
// rule out a loss of the margin in every gating metric, allowing for tasks that break
// and were not seen (rule.go), and for what the lost pairs could have been (missing.go).
// With neither, it says which loss would have been detected, and what it would take
// (finder.go, power.go).
// simulation_test.go holds all of this; make evidence holds it over more.
package compare

import (
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
)

// Comparison is everything known about what changed from the baseline to the new
// run. Its JSON form is published (docs/schema/comparison.json); fields are only
// ever added while Format stays the same. A null is unknown, never zero.
type Comparison struct {
	// Format is the version of this structure, now 3.
	Format int `json:"format"`
	// Verdict is Fail if any pair has a significant regression, Pass if for all a loss
	// of the margin is ruled out, NoRegression if for the others one of Rules.Detectable
	// would have been detected, else Inconclusive.
	Verdict stat.Verdict `json:"verdict"`
	// Headline is the verdict in a few words: "Regression: 9.4 points fewer tasks solved".
	Headline string `json:"headline"`
	// OneRun says that every pair is of two candidates of one run.
	OneRun bool `json:"one_run"`
	// Baseline is the first baseline run, Pooled are the others of the same
	// configuration.
	Baseline Side   `json:"baseline"`
	Pooled   []Side `json:"pooled,omitempty"`
	New      Side   `json:"new"`
	// Differences are the parts of the configuration that differ.
	Differences []Difference `json:"differences"`
	// Rules are the levels and margins in force, resolved.
	Rules Rules  `json:"rules"`
	Pairs []Pair `json:"pairs"`
	// Notes say what a reader of the numbers must know.
	Notes []string `json:"notes"`
}

// Side is one of the two runs, as far as a comparison shows it.
type Side struct {
	RunID       string `json:"run_id"`
	Suite       string `json:"suite"`
	Mode        string `json:"mode"`
	Status      string `json:"status"`
	Started     string `json:"started,omitempty"`
	CodeVersion string `json:"code_version"`
	Trials      int    `json:"trials"`
	Simulated   bool   `json:"simulated"`
}

// Difference is something the two runs or candidates do not have in common.
type Difference struct {
	// What is one of agent, provider, model, model behind the name, output mode, prompt, rescue model,
	// candidate, suite, tasks, checks, world, tools, prices, code, seed, trials,
	// mode, acceptance.
	What string `json:"what"`
	// Where names the candidate or tasks, where it is not the whole run.
	Where    string `json:"where,omitempty"`
	Baseline string `json:"baseline"`
	New      string `json:"new"`
	// Misleads says that outcomes cannot be compared across it: other checks,
	// another world. Such tasks are refused, left out or compared, as configured.
	Misleads bool `json:"misleads"`
}

// Pair compares one candidate of the baseline with one of the new run.
type Pair struct {
	// Labels are what texts call the two sides: the names of the candidates if both
	// are of one run, else "baseline" and "new".
	Labels   Names              `json:"labels"`
	Baseline manifest.Candidate `json:"baseline"`
	New      manifest.Candidate `json:"new"`
	Verdict  stat.Verdict       `json:"verdict"`
	// Sentence gives the figures of the metric that decided, and why the verdict is what
	// it is: one to three sentences.
	Sentence string `json:"sentence"`
	// Metrics are the gating ones first.
	Metrics []Metric `json:"metrics"`
	// Tasks are in the order of the new run, those it lacks after them.
	Tasks []Task `json:"tasks"`
	// FailureChanges has the kinds of failure on both sides, in the taxonomy's order.
	FailureChanges []FailureChange `json:"drift"`
	// Episodes are paired by task and trial; BaselineOnly and NewOnly have no
	// partner. WithoutResult pairs lost one or both to something that says nothing
	// about the model, and are left out.
	Episodes      int `json:"episodes"`
	BaselineOnly  int `json:"baseline_only"`
	NewOnly       int `json:"new_only"`
	WithoutResult int `json:"without_result"`
	// Known are paired episodes of tasks on the known-flaky list: reported, but no
	// part of a gating metric.
	Known int `json:"known_flaky"`
}

// Metric is one measurement on both sides of a pair, over the same episodes.
type Metric struct {
	// Name is solved, contract_valid, steps, clarifies, cost, tokens, elapsed,
	// latency, thrash, stall, harm, which only worlds that can change have, utility_under_attack or
	// attack_success, or the name of a check that gives scores, such as judge.tone.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Unit is "share", "steps", "clarifies", "nano-USD", "tokens", "us" or "score".
	Unit string `json:"unit"`
	// HigherIsBetter is the good direction.
	HigherIsBetter bool `json:"higher_is_better"`
	// Gates says that it is a gating metric: it can fail the gate.
	Gates    bool     `json:"gates"`
	Baseline *float64 `json:"baseline"`
	New      *float64 `json:"new"`
	// Effect is New − Baseline; Interval its two-sided 95 % interval, null where
	// the spread between tasks is unknown.
	Effect   *float64       `json:"effect"`
	Interval *stat.Interval `json:"interval"`
	// Relative is Effect as a share of Baseline, null where that is 0.
	Relative *float64 `json:"relative"`
	// N are paired observations, Clusters the tasks they come from.
	N        int `json:"n"`
	Clusters int `json:"tasks"`
	// P is two-sided for metrics that are reported and one-sided, for a change to
	// the worse, for gating ones. Adjusted allows for all of the comparison's
	// metrics of the same kind: Holm over gating ones, Benjamini–Hochberg over the rest.
	P        *float64 `json:"p"`
	Adjusted *float64 `json:"adjusted_p"`
	// Margin is the tolerated loss, in the metric's unit; null where none is set.
	Margin *float64 `json:"margin"`
	// RuledOut is the loss from which on every larger one is ruled out at 1 − α; a
	// gating share passes where it is below the margin. Null for other metrics.
	RuledOut *float64 `json:"ruled_out"`
	// Detectable is the loss of these tasks that would have been detected with 80 % power,
	// in the worst case that tasks fail altogether; null for metrics that do not gate and
	// where no loss would have been.
	Detectable *float64 `json:"detectable"`
	// Test names the tests and the interval.
	Test string `json:"test"`
	// Verdict is not_judged for a metric that does not gate.
	Verdict stat.Verdict `json:"verdict"`
	// Improved says that a gating metric is significantly better: by ImprovedP and by the
	// interval. It changes no verdict.
	Improved bool `json:"improved"`
	// ImprovedP is the two-sided p of a gating metric, adjusted for all gating metrics. It is
	// null for other metrics, whose P is two-sided already.
	ImprovedP *float64 `json:"improved_adjusted_p"`
	// Power says what loss these numbers could have detected, and what more would take.
	Power string `json:"power"`
	// Note is empty or says what was left out.
	Note string `json:"note"`
}

// Task is one task of a pair.
type Task struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Baseline and New are its scored trials.
	Baseline stat.Trials     `json:"baseline"`
	New      stat.Trials     `json:"new"`
	Class    flake.Stability `json:"class"`
	// P is Fisher's, one-sided in the direction of the change; Adjusted allows for
	// all tasks of the comparison (Benjamini–Hochberg). Share is the exact 95 %
	// interval of the share of passes over both, as if nothing had changed.
	P        float64       `json:"p"`
	Adjusted float64       `json:"adjusted_p"`
	Share    stat.Interval `json:"share"`
	// Evidence says in one line what speaks for the class.
	Evidence string `json:"evidence"`
	// Known is its entry on the known-flaky list, null without one.
	Known *KnownFlaky `json:"known_flaky"`
	// Episodes are pairs worth a look, at most four: those whose outcomes differ
	// first, the shortest first.
	Episodes []EpisodePair `json:"episodes"`
}

// EpisodePair is a trial on both sides. An id is empty where that side has none.
type EpisodePair struct {
	Trial      int    `json:"trial"`
	BaselineID string `json:"baseline_id"`
	NewID      string `json:"new_id"`
	// Ended is the outcome and the status: "solved: answered", "failed: stopped:
	// max_steps", "no result: infrastructure error".
	BaselineEnded string `json:"baseline_ended"`
	NewEnded      string `json:"new_ended"`
	// Turn is the first turn whose decision differs, counted from 1; 0 if none does or
	// a side has no episode.
	Turn int `json:"first_divergence"`
	// What differs there, in one line.
	What string `json:"what"`
}

// KnownFlaky is an entry of the known-flaky list of cupel.yaml: a task that is
// reported but does not gate until it expires.
type KnownFlaky struct {
	Task string `json:"task"`
	// Candidate is a name, or empty for all.
	Candidate string `json:"candidate,omitempty"`
	Owner     string `json:"owner"`
	// Expires is a date, YYYY-MM-DD: the last day on which it counts.
	Expires string `json:"expires"`
	Reason  string `json:"reason,omitempty"`
	// Expired says that the day of the comparison is later: the task gates again.
	Expired bool `json:"expired"`
}

// FailureChange is how often episodes failed in one way on each side, of all scored pairs: with
// several baseline runs an episode of the new run is in a pair with each.
type FailureChange struct {
	Kind     failure.Kind `json:"kind"`
	Baseline int          `json:"baseline"`
	New      int          `json:"new"`
	// BaselineOf and NewOf are the pairs these are counted among.
	BaselineOf int `json:"baseline_of"`
	NewOf      int `json:"new_of"`
	// P is of the paired permutation test, clustered by task; Adjusted is
	// Benjamini–Hochberg over the kinds. Null without pairs.
	P        *float64 `json:"p"`
	Adjusted *float64 `json:"adjusted_p"`
	// Changed says that the share changed: Adjusted is at most α, and the change at least
	// five points.
	Changed bool `json:"moved"`
}
