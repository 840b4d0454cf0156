// Package model turns a run into a verdict: a manifest and the rows of its ledger, one
// episode after the other, go in; a finished Report comes out. It computes, and says in
// sentences what the numbers come to; it lays nothing out. Builder is pure.
package model

import (
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/labelling"
	"github.com/cupel-eval/cupel/reports/orchestration"
	"github.com/cupel-eval/cupel/reports/scoring"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/calibration"
	"github.com/cupel-eval/cupel/reports/stat/judging"
	"github.com/cupel-eval/cupel/reports/trend"
)

// Report is everything known about a run's acceptance. Its JSON form is
// report.json; fields are only ever added while Format stays the same. A null
// is unknown, never zero.
type Report struct {
	// Format is the version of this structure, now 2.
	Format int `json:"format"`
	// Verdict is fail if any judged candidate or pooled group fails, else
	// inconclusive if any judged candidate is or none was judged, else pass.
	Verdict  stat.Verdict `json:"verdict"`
	Headline string       `json:"headline"`
	// Outcomes count how the planned episodes of Candidates ended.
	Outcomes manifest.Outcomes `json:"outcomes"`
	// Run is the manifest the report was built from, with the thresholds that decided.
	Run manifest.Manifest `json:"run"`
	// ThresholdsChanged are the thresholds that were given for this report and differ from
	// those of the run's own manifest; absent where none do.
	ThresholdsChanged []manifest.ThresholdChange `json:"thresholds_changed,omitempty"`
	// Candidates are in the manifest's order.
	Candidates []Candidate `json:"candidates"`
	// Groups pool the candidates that share a strategy, a provider and a model;
	// groups of one are left out.
	Groups []Group `json:"groups"`
	// Tasks are in the manifest's order, Cells in the order of Candidates.
	Tasks []Task `json:"tasks"`
	// Episodes are in the ledger's order.
	Episodes []Episode `json:"episodes"`
	// Clusters group the episodes that were not solved by signature, the largest
	// first, within the taxonomy's order.
	Clusters []Cluster `json:"clusters"`
	// Judges are those of the run's tasks; absent without any.
	Judges []judges.Judge `json:"judges,omitempty"`
	// Strategies compares agents that were run with the same models; null where there
	// are no two.
	Strategies *Strategies `json:"strategies,omitempty"`
	// Trend are past runs of the same suite with this one last; null without any.
	Trend []trend.Series `json:"trend,omitempty"`
	// Labels say how far the labels of people agree with the automatic verdicts, and with each
	// other; absent without any.
	Labels []labelling.Row `json:"labels,omitempty"`
	// Figures name the plots, in the order shown.
	Figures []Figure `json:"figures"`
	// Notes say what a reader of the numbers must know.
	Notes []string `json:"notes"`
}

// Share is K of N. Value and Interval are null when N is 0.
type Share struct {
	// K of N are so.
	K int `json:"k"`
	// N is of how many.
	N int `json:"n"`
	// Value is K/N.
	Value *float64 `json:"value"`
	// Interval is that of stat.ShareInterval, clustered by task, at the run's confidence.
	Interval *stat.Interval `json:"interval"`
	// DesignEffect is how many times the variance is that of N independent ones; null
	// where all are so or none, and of a single task.
	DesignEffect *float64 `json:"design_effect"`
}

// Tally is how often something named occurred.
type Tally struct {
	// Name is what is counted.
	Name string `json:"name"`
	// N is how often it occurred.
	N int `json:"n"`
}

// Candidate is one candidate's verdict and what else was measured of it.
type Candidate struct {
	manifest.Candidate
	Verdict stat.Verdict `json:"verdict"`
	// Sentence says the verdict and its reason, without the name.
	Sentence string `json:"sentence"`
	// Criteria are empty when Verdict is not_judged.
	Criteria []Criterion `json:"criteria"`
	Metrics
}

// Metrics are measured, without a threshold. Rates are over scored episodes:
// those that have a row and are not Excluded.
type Metrics struct {
	// Episodes have a row. InfraErrors, HarnessErrors, BudgetStops and Interrupted
	// of them are not scored; Unfinished are planned and have no row.
	Episodes      int `json:"episodes"`
	InfraErrors   int `json:"infra_errors"`
	HarnessErrors int `json:"harness_errors"`
	BudgetStops   int `json:"budget_stops"`
	Interrupted   int `json:"interrupted"`
	Unfinished    int `json:"unfinished"`
	// NotScored are imported episodes, which no check looked at.
	NotScored int `json:"not_scored,omitempty"`
	// Success is solved of scored episodes without attack.
	Success Share `json:"success"`
	// Attacks are what injections made of the candidate; absent without any.
	Attacks *Attacks `json:"attacks,omitempty"`
	// PassAt and PassAll estimate the chance that at least one and that all of the
	// run's number of trials solve a task; absent from a run of one trial, and
	// where no task has as many scored ones.
	PassAt  *Repeat `json:"pass_at_k,omitempty"`
	PassAll *Repeat `json:"pass_all_k,omitempty"`
	// Turns are decisions with a reply in scored episodes, of every strategy: not
	// those of rescue and compress. ErrorTurns had none. Truncated turns hit the token cap and count as invalid.
	Turns      int `json:"turns"`
	ErrorTurns int `json:"error_turns"`
	Truncated  int `json:"truncated"`
	// Repaired is repaired of Turns; Thrash and Stall are scored episodes with at
	// least one such event.
	Repaired Share `json:"repaired"`
	Thrash   Share `json:"thrash"`
	Stall    Share `json:"stall"`
	// Cost is the nano-USD spent on all episodes, null when any is unpriced;
	// CostKnown sums the priced ones. CostPerSolved is Cost over solved episodes.
	Cost      *int64 `json:"cost_nanousd"`
	CostKnown int64  `json:"cost_known_nanousd"`
	Unpriced  int    `json:"unpriced_episodes"`
	// Batched counts the turns that were sent in batches. Saved is the nano-USD that they would
	// have cost more without; null without any, and where that is unknown.
	Batched       int      `json:"batched_turns"`
	Saved         *int64   `json:"saved_nanousd"`
	CostPerSolved *float64 `json:"cost_per_solved_nanousd"`
	// Tokens over all episodes, null when any episode did not report.
	TokensIn         *int64 `json:"tokens_in"`
	TokensOut        *int64 `json:"tokens_out"`
	TokensCacheRead  *int64 `json:"tokens_cache_read"`
	TokensCacheWrite *int64 `json:"tokens_cache_write"`
	TokensReasoning  *int64 `json:"tokens_reasoning"`
	// Extra are the turns beyond the ordinary ones, of all episodes, and what they
	// cost: reflect, rescue and compress, in this order, then those of planner, step,
	// fallback, final and conclude that occur. A turn may be of two kinds.
	Extra []ExtraTurns `json:"extra_turns"`
	// Latency spreads the durations of Turns, null without any; TTFT the times to
	// the first token, null if no turn was streamed. The bins count them.
	Latency     *Spread  `json:"latency_us"`
	LatencyBins []LogBin `json:"latency_us_bins"`
	TTFT        *Spread  `json:"ttft_us"`
	TTFTBins    []LogBin `json:"ttft_us_bins"`
	// Violations, Statuses (with the stop reason, as in "stopped: thrash") and
	// ModelsServed come most frequent first.
	Violations   []Tally `json:"violations"`
	Statuses     []Tally `json:"statuses"`
	ModelsServed []Tally `json:"models_served"`
	// Limited are the turns whose requests got an output limit from the proxy.
	Limited int `json:"-"`
	// Steps counts solved episodes by their number of steps.
	Steps []stat.Count `json:"steps_of_solved"`
	// Calibration compares the confidence stated in an episode's last turn that
	// stated one with whether the episode was solved. Brier is null without any.
	Calibration []calibration.Bin `json:"calibration"`
	Brier       *float64          `json:"brier"`
	// UserFaults are scored episodes in which the simulated user broke its rules.
	UserFaults int `json:"user_faults,omitempty"`
	// ClarifyGoals are solved episodes whose expected outcome is a question: they
	// do not count in clarifies_per_success.
	ClarifyGoals int `json:"clarify_goals_solved"`
	// ExpectedStops are solved episodes that a guard stopped, as their tasks ask: they
	// count neither in steps_per_solved nor in clarifies_per_success.
	ExpectedStops int `json:"expected_stops_solved"`
	// Scores are the mean scores of checks by programs and judges, without attacked episodes;
	// absent without any.
	Scores []scoring.Mean `json:"scores,omitempty"`
	// Judges and Users are what judges and simulated users used, which is not part of the
	// candidate's cost and tokens; absent without any.
	Judges *scoring.Use `json:"judges,omitempty"`
	Users  *scoring.Use `json:"users,omitempty"`
	// Orchestration is absent without sub-agents, tasks and approvals.
	Orchestration *orchestration.Totals `json:"orchestration,omitempty"`
	// Work is left out of reports of contract agents alone.
	Work *Work `json:"work,omitempty"`
}

// ExtraTurns are the turns of one kind. Cost is null when any is unpriced.
type ExtraTurns struct {
	Kind  string `json:"kind"`
	Turns int    `json:"turns"`
	Cost  *int64 `json:"cost_nanousd"`
}

// Group pools judged candidates of one strategy, provider and model.
type Group struct {
	// Agent is the strategy; left out where it is the contract agent.
	Agent      string   `json:"agent,omitempty"`
	Provider   string   `json:"provider"`
	Model      string   `json:"model"`
	Candidates []string `json:"candidates"`
	// Mixes names what the pooled candidates differ in, such as "output mode:
	// json_schema, prompt".
	Mixes    []string     `json:"mixes"`
	Verdict  stat.Verdict `json:"verdict"`
	Sentence string       `json:"sentence"`
	Criteria []Criterion  `json:"criteria"`
}

// Task is one row of the table tasks × candidates.
type Task struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Tier  string `json:"tier"`
	// Base is the task without attack of a task that an injection made; absent for others.
	Base string `json:"base,omitempty"`
	// Scripted says that it tests the harness: such a task is counted separately.
	Scripted bool   `json:"scripted"`
	Cells    []Cell `json:"cells"`
}

// Cell is one task by one candidate.
type Cell struct {
	Solved int `json:"solved"`
	// Scored leaves out episodes without a result.
	Scored int `json:"scored"`
	// MeanSteps is over scored episodes, null without any.
	MeanSteps *float64 `json:"mean_steps"`
	// Episodes index Report.Episodes, by trial.
	Episodes []int `json:"episodes"`
}

// Cluster are episodes with the same kind of failure and signature.
type Cluster struct {
	failure.Cause
	// Episodes index Report.Episodes, in its order; Shortest is the one with the
	// fewest turns, the first of several.
	Episodes []int `json:"episodes"`
	Shortest int   `json:"shortest"`
	// Tasks and Candidates count the episodes by task and by candidate, most first.
	Tasks      []Tally `json:"tasks"`
	Candidates []Tally `json:"candidates"`
}

// Episode is one episode's outcome. The transcripts of a bounded number are kept
// beside it.
type Episode struct {
	ID         string `json:"episode_id"`
	Task       string `json:"task"`
	Candidate  string `json:"candidate"`
	Trial      int    `json:"trial"`
	Status     string `json:"status"`
	StopReason string `json:"stop_reason"`
	Solved     bool   `json:"solved"`
	// Excluded says why the episode has no result: "infrastructure error",
	// "harness error", "budget stop" or "interrupted"; empty for a scored episode.
	Excluded string `json:"excluded"`
	// Failure is the first failing check, or the error, in one line of at most
	// 1 KiB; empty when solved.
	Failure string `json:"failure"`
	// Harm says which change did harm, whether the episode is solved or not; absent if
	// none did.
	Harm string `json:"harm,omitempty"`
	// Injection is that of an attacked episode. AttackSucceeded is absent where it is not known.
	Injection       string `json:"injection,omitempty"`
	AttackSucceeded *bool  `json:"attack_succeeded,omitempty"`
	// Cause sorts the failure; absent when solved.
	Cause       *failure.Cause `json:"cause,omitempty"`
	Steps       int            `json:"steps"`
	CostNanoUSD *int64         `json:"cost_nanousd"`
	// ElapsedUs is null if a turn was batched.
	ElapsedUs *int64 `json:"elapsed_us"`

	attempt compare.Attempt // what comparisons of strategies look at
	judged  judging.Pattern // the judges that decided it; zero without

	Anchor string          `json:"-"` // of the transcript on the page; empty without one
	Kept   *keptTranscript `json:"-"` // nil for most episodes of a large run
}

// Figure is one plot.
type Figure struct {
	// Name is the file name without its suffix.
	Name string `json:"name"`
	// Title states what the plot shows.
	Title string `json:"title"`
	// Alt describes the data in words, for those who cannot see the plot.
	Alt string `json:"alt"`
}

// Names of the plots that are shown in sections of their own.
const (
	FigTrend      = "trend"
	FigStrategies = "strategies"
)
