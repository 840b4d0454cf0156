// Package manifest holds run.json: what a run was made from, its acceptance thresholds and
// how it ended. It knows no rows; package ledger holds them.
//
// Conventions: times are RFC 3339 in UTC, money is integer nano-USD, digests are SHA-256 in
// lower-case hex.
package manifest

// Manifest is run.json: what a run was made from and how it ended. For a
// replayed run it holds nothing that varies between two identical runs.
type Manifest struct {
	// Format is the version of this file: see the constant Format.
	Format int    `json:"format"`
	RunID  string `json:"run_id"`
	// Status is running, complete, partial (infrastructure errors or an
	// interruption left episodes without a result) or failed.
	Status string `json:"status"`
	Mode   string `json:"mode"` // replay, record or live
	// Simulated says that at least one candidate is a simulated model.
	Simulated bool   `json:"simulated"`
	Suite     string `json:"suite"`
	// SuitePath is where the suite was read from: a folder, or "builtin:counts".
	SuitePath    string `json:"suite_path"`
	SuiteDigest  string `json:"suite_digest"`
	ConfigDigest string `json:"config_digest"`
	PriceDigest  string `json:"price_digest"`
	// PriceVersion is the date of the price table.
	PriceVersion string `json:"price_version"`
	// LedgerDigest covers all rows except the columns run_id and replayed, so a
	// replay has the digest of the run it replays.
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
	// PlanDigest covers every episode that was selected, those of other shards
	// too: shards of one plan have it in common.
	PlanDigest string `json:"plan_digest"`
	// Shard is "i/n" for a run of the i-th of n parts of its plan; empty for a
	// whole one.
	Shard string `json:"shard,omitempty"`
	// NotSelected is how many episodes of the run's candidates its selection of tasks or
	// episodes left out, in all shards; 0 for a run of the whole suite and for a fork.
	NotSelected int `json:"not_selected,omitempty"`
	// Started is when a recording or live run began, RFC 3339 in UTC; empty for a
	// replay.
	Started string `json:"started,omitempty"`
	// Recorded are the days on which the cassettes of a replay were recorded; absent where
	// none says its day.
	Recorded Days `json:"recorded,omitzero"`
	// Stopped says why a run ended before its plan did: what cap was reached, or
	// that it was interrupted. Empty when it did not.
	Stopped string `json:"stopped,omitempty"`
	// MergedFrom are the ids of the runs this one was merged from, sorted.
	MergedFrom []string `json:"merged_from,omitempty"`
	// RescoredFrom is the id of the run whose episodes were scored again.
	RescoredFrom string `json:"rescored_from,omitempty"`
	// Fork says which recorded episode the run's go on from; nil for any other run.
	Fork *Fork `json:"fork,omitempty"`
	// Decide says how far a run with --decide went; nil for any other run. Its Trials
	// are then the most that a candidate came to, and Planned of a candidate what its
	// rounds came to.
	Decide *Decide `json:"decide,omitempty"`
}

// Days is a range of days, YYYY-MM-DD in UTC. The zero value has none.
type Days struct {
	First string `json:"first"`
	Last  string `json:"last"`
}

// With returns the range with those of another, too.
func (d Days) With(other Days) Days {
	switch (Days{}) {
	case d:
		return other
	case other:
		return d
	}
	return Days{min(d.First, other.First), max(d.Last, other.Last)}
}

// Fork is a recorded episode and the last turn of it that was replayed.
type Fork struct {
	Task      string `json:"task"`
	Candidate string `json:"candidate"`
	Trial     int    `json:"trial"`
	Turn      int    `json:"turn"`
	// Cassette is the episode's, below the suite's cassettes folder, and its
	// SHA-256; a replay has both from the fork's own.
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
	// Planned is how many episodes the run was to have of it.
	Planned int `json:"planned"`
	// PlannedInAll is how many all shards were to have together, in the run of one.
	PlannedInAll int `json:"planned_in_all,omitempty"`
	// Digest covers what the candidate is; see ConfigDigest.
	Digest string `json:"digest"`
	// FallbackModel is asked when a call of Model fails; Settings are what else is said
	// to its agent or bounds it, in a fixed order, but for defaults.
	FallbackModel string    `json:"fallback_model,omitempty"`
	Settings      []Setting `json:"settings,omitempty"`
	// Canary is what the model drift canary found before the run; absent if it was not asked.
	Canary Canary `json:"canary,omitzero"`
}

// Setting is a setting of a candidate, in words.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Task is one task of the run, as far as a report shows it.
type Task struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Tier    string   `json:"tier"`
	Tags    []string `json:"tags,omitempty"`
	Request string   `json:"request"`
	// Scripted says that the task tests the harness with a scripted model.
	Scripted bool `json:"scripted,omitempty"`
	// Session names the conversation the task is part of; empty for a task of its own.
	Session string `json:"session,omitempty"`
	// Digest covers the whole task, with what is expected of it.
	Digest string `json:"digest"`
	// These cover parts of it, in 16 digits; runs of an older cupel lack them.
	RequestDigest string `json:"request_digest,omitempty"`
	WorldDigest   string `json:"world_digest,omitempty"`
	ToolsDigest   string `json:"tools_digest,omitempty"`
	ChecksDigest  string `json:"checks_digest,omitempty"`
}

// Outcomes count how the episodes of a run ended. Their sum is the episodes
// planned.
type Outcomes struct {
	Solved int `json:"solved"`
	// Failed episodes are the model's failures.
	Failed int `json:"failed"`
	// The next three say nothing about the model, and are left out of verdicts.
	InfraErrors   int `json:"infra_errors"`
	HarnessErrors int `json:"harness_errors"`
	BudgetStops   int `json:"budget_stops"`
	// Unfinished episodes have no row: the run ended before them, or in their
	// midst.
	Unfinished int `json:"unfinished"`
}

// WithoutResult is how many of the planned episodes say nothing about a model.
func (o Outcomes) WithoutResult() int {
	return o.InfraErrors + o.HarnessErrors + o.BudgetStops + o.Unfinished
}

// Totals say what a ledger holds.
type Totals struct {
	// Digest is that of the rows: see LedgerDigest of Manifest.
	Digest                     string
	Episodes, Turns, ToolCalls int
}

// SetTotals says in the manifest what its ledger holds.
func (m *Manifest) SetTotals(t Totals) {
	m.LedgerDigest, m.Episodes, m.Turns, m.ToolCalls = t.Digest, t.Episodes, t.Turns, t.ToolCalls
}
