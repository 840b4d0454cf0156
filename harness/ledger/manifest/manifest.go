// Package manifest reads and writes run.json: the inputs of a run, its acceptance thresholds and
// its outcome. Package ledger has the rows.
//
// Times are RFC 3339 in UTC, money is integer nano-USD, digests are SHA-256 in lower-case hex.
package manifest

import "math"

// Manifest is run.json: the inputs and the outcome of a run. That of a replay has no value that
// varies between two identical runs.
type Manifest struct {
	// Format is the version of this file: see the constant Format.
	Format int    `json:"format"`
	RunID  string `json:"run_id"`
	// Status is running, complete, partial (infrastructure errors or an
	// interruption left episodes without a result) or failed.
	Status string `json:"status"`
	Mode   string `json:"mode"` // replay, record or live
	// Simulated means that at least one candidate is a simulated model.
	Simulated bool   `json:"simulated"`
	Suite     string `json:"suite"`
	// SuitePath is the folder of the suite, or a name such as "builtin:counts".
	SuitePath    string `json:"suite_path"`
	SuiteDigest  string `json:"suite_digest"`
	ConfigDigest string `json:"config_digest"`
	PriceDigest  string `json:"price_digest"`
	// PriceVersion is the date of the price table.
	PriceVersion string `json:"price_version"`
	// LedgerDigest covers all rows except the columns run_id and replayed, so that a replay has
	// the digest of its source.
	LedgerDigest string      `json:"ledger_digest"`
	CodeVersion  string      `json:"code_version"`
	Seed         int64       `json:"seed"`
	Trials       int         `json:"trials"`
	Candidates   []Candidate `json:"candidates"`
	Tasks        []Task      `json:"tasks"`
	Episodes     int         `json:"episodes"`
	Turns        int         `json:"turns"`
	ToolCalls    int         `json:"tool_calls"`
	Outcomes     Outcomes    `json:"outcomes"`
	Acceptance   Acceptance  `json:"acceptance"`
	// PlanDigest covers every selected episode, also those of other shards, so that all shards
	// of a plan have the same digest.
	PlanDigest string `json:"plan_digest"`
	// Shard is "i/n" for a run of the i-th of n parts of its plan; empty for a run of the whole
	// plan.
	Shard string `json:"shard,omitempty"`
	// NotSelected is the number of episodes of the run's candidates that its selection of tasks
	// or episodes omits, in all shards; 0 for a run of the whole suite and for a fork.
	NotSelected int `json:"not_selected,omitempty"`
	// Started is the start time of a recording or live run, RFC 3339 in UTC; empty for a replay.
	Started string `json:"started,omitempty"`
	// Recorded are the days on which the cassettes of a replay were recorded; absent if no
	// cassette has a day.
	Recorded Days `json:"recorded,omitzero"`
	// Stopped is the reason why a run ended before its plan was complete: a cap or an
	// interruption. It is empty if the plan is complete.
	Stopped string `json:"stopped,omitempty"`
	// MergedFrom are the sorted ids of the runs that were merged into this one.
	MergedFrom []string `json:"merged_from,omitempty"`
	// RescoredFrom is the id of the run whose episodes this one scored again.
	RescoredFrom string `json:"rescored_from,omitempty"`
	// LabelledFrom is the id of the run to which this one adds labels of people, and Labels are
	// their files, oldest first.
	LabelledFrom string       `json:"labelled_from,omitempty"`
	Labels       []SourceFile `json:"labels,omitempty"`
	// Fork is the recorded episode that the run's episodes continue; nil if the run is not a
	// fork.
	Fork *Fork `json:"fork,omitempty"`
	// Decide is the state of a run with --decide; nil for other runs. With it, Trials is the
	// largest number of trials that a candidate reached, and Planned of a candidate counts the
	// episodes of its rounds.
	Decide *Decide `json:"decide,omitempty"`
	// Judges are those that checks of the run's tasks name, in the order of the tasks.
	Judges []Judge `json:"judges,omitempty"`
	// Imported says where the episodes come from that cupel did not run; zero for other runs.
	Imported Imported `json:"imported,omitzero"`
}

const (
	// StatusImported is the status of episodes that another program recorded and no check scored.
	StatusImported = "imported"
	// NotScored is the reason why such episodes are excluded.
	NotScored = "not scored"
)

// Imported is the source of a run whose episodes another program recorded.
type Imported struct {
	// Format is that of the files, such as otlp, and Version names its vocabularies.
	Format  string       `json:"format"`
	Version string       `json:"version,omitempty"`
	Sources []SourceFile `json:"sources"`
	// LeftOut counts what is not part of an episode, sorted by name.
	LeftOut []Count `json:"left_out,omitempty"`
	// AsPublished means that the figures are to be those of the source: episodes that broke down
	// count by the verdict it stored, and cases that not all comparable candidates have are left out.
	AsPublished bool `json:"as_published,omitempty"`
	// Crashed is the number of episodes that broke down and have a verdict in the source.
	Crashed int `json:"crashed,omitempty"`
	// NotShared counts cases of a candidate that another one lacks with which it has cases in
	// common, by the candidate.
	NotShared []Count `json:"not_shared,omitempty"`
	// Texts is the SHA-256 of the file with the episodes' texts.
	Texts string `json:"texts"`
}

// Count is a number of things of one name.
type Count struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// SourceFile is a file that was imported, or has labels: its name without folders, size in bytes and SHA-256.
type SourceFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// Days is a range of days, YYYY-MM-DD in UTC. The zero value is empty.
type Days struct {
	First string `json:"first"`
	Last  string `json:"last"`
}

// With returns the smallest range that includes both.
func (d Days) With(other Days) Days {
	switch (Days{}) {
	case d:
		return other
	case other:
		return d
	}
	return Days{min(d.First, other.First), max(d.Last, other.Last)}
}

// Fork is a recorded episode and its last replayed turn.
type Fork struct {
	Task      string `json:"task"`
	Candidate string `json:"candidate"`
	Trial     int    `json:"trial"`
	Turn      int    `json:"turn"`
	// Answer, in place of a turn, was given to what the episode awaited.
	Answer string `json:"answer,omitempty"`
	// Cassette is the path of the episode's cassette below the suite's cassettes folder, with
	// its SHA-256. A replay reads both from the cassette of the fork.
	Cassette       string `json:"cassette"`
	CassetteDigest string `json:"cassette_digest"`
}

// Candidate is one candidate of the run.
type Candidate struct {
	Name          string `json:"name"`
	Agent         string `json:"agent"`
	Provider      string `json:"provider"`
	Model         string `json:"model"`
	OutputMode    string `json:"output_mode"`
	PromptProfile string `json:"prompt_profile"`
	RescueModel   string `json:"rescue_model,omitempty"`
	Simulated     bool   `json:"simulated,omitempty"`
	// Planned is the number of its planned episodes.
	Planned int `json:"planned"`
	// PlannedInAll is the number of its planned episodes in all shards, in the run of one.
	PlannedInAll int `json:"planned_in_all,omitempty"`
	// Incapable is the number of the run's tasks that were left out of the candidate's plan,
	// because its strategy takes no further messages of the user, or no functions.
	Incapable int `json:"incapable,omitempty"`
	// Digest covers the configuration of the candidate; see ConfigDigest.
	Digest string `json:"digest"`
	// FallbackModel is called if a call of Model fails. PlannerModel makes the plans; empty means
	// Model. Settings are all other settings of the agent that differ from their defaults, in a
	// fixed order.
	FallbackModel string    `json:"fallback_model,omitempty"`
	PlannerModel  string    `json:"planner_model,omitempty"`
	Settings      []Setting `json:"settings,omitempty"`
	// Canary is the finding of the model drift canary before the run; absent if it did not run.
	Canary Canary `json:"canary,omitzero"`
}

// Setting is a setting of a candidate as text.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Task has the parts of a task that a report shows.
type Task struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Tier    string   `json:"tier"`
	Tags    []string `json:"tags,omitempty"`
	Request string   `json:"request"`
	// Scripted means that the task tests the harness with a scripted model.
	Scripted bool `json:"scripted,omitempty"`
	// Session names the conversation that the task is part of; empty if there is none.
	Session string `json:"session,omitempty"`
	// Base is the id of the task without attack, of a task that an injection made; empty for others.
	Base string `json:"base,omitempty"`
	// Digest covers the whole task with its expectations.
	Digest string `json:"digest"`
	// These digests of 16 digits cover parts of the task. Runs of an older cupel lack them.
	RequestDigest string `json:"request_digest,omitempty"`
	WorldDigest   string `json:"world_digest,omitempty"`
	ToolsDigest   string `json:"tools_digest,omitempty"`
	ChecksDigest  string `json:"checks_digest,omitempty"`
}

// Cluster names the tasks that are no independent evidence together: those of a session, whose
// episodes remember each other, and a task with its attacks.
func (t Task) Cluster() string {
	switch {
	case t.Session != "":
		return "session " + t.Session
	case t.Base != "":
		return t.Base
	}
	return t.ID
}

// JudgePrefix begins the names of the checks of judges.
const JudgePrefix = "judge."

// Judge is a judge that checks of the run's tasks name.
type Judge struct {
	// Check is the name of its check, such as judge.tone.
	Check    string `json:"check"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// AtLeast is the least score that passes; null leaves it to the judge.
	AtLeast *float64 `json:"at_least,omitempty"`
	// Digest is that of its scores in the ledger. It covers Rubric, Settings (the model with its
	// settings) and Prompt, which are digests of parts, and AtLeast.
	Digest   string `json:"digest"`
	Rubric   string `json:"rubric"`
	Settings string `json:"settings"`
	Prompt   string `json:"prompt"`
}

// Threshold returns AtLeast, or −Inf without it.
func (j Judge) Threshold() float64 {
	if j.AtLeast == nil {
		return math.Inf(-1)
	}
	return *j.AtLeast
}

// Outcomes count the outcomes of a run's episodes. Their sum is the number of planned episodes.
type Outcomes struct {
	Solved int `json:"solved"`
	// Failed counts the failures of the model.
	Failed int `json:"failed"`
	// The next three say nothing about the model, so verdicts do not count them.
	InfraErrors   int `json:"infra_errors"`
	HarnessErrors int `json:"harness_errors"`
	BudgetStops   int `json:"budget_stops"`
	// Unfinished episodes have no row, because the run ended before or during them.
	Unfinished int `json:"unfinished"`
	// NotScored counts imported episodes, which no check looked at.
	NotScored int `json:"not_scored,omitempty"`
}

// WithoutResult returns the number of planned episodes that say nothing about a model.
func (o Outcomes) WithoutResult() int {
	return o.InfraErrors + o.HarnessErrors + o.BudgetStops + o.Unfinished + o.NotScored
}

// Totals summarise a ledger.
type Totals struct {
	// Digest is the digest of the rows: see Manifest.LedgerDigest.
	Digest                     string
	Episodes, Turns, ToolCalls int
}

// SetTotals stores the totals of its ledger in the manifest.
func (m *Manifest) SetTotals(t Totals) {
	m.LedgerDigest, m.Episodes, m.Turns, m.ToolCalls = t.Digest, t.Episodes, t.Turns, t.ToolCalls
}
