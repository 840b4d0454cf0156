// Package ledger defines the rows of a run (episodes, turns, tool calls), and reads and writes
// them as Parquet. It imports no provider, so that reports do not link one.
//
// Times are UTC microseconds since the Unix epoch, durations integer microseconds, money integer
// nano-USD. Token classes are disjoint. A nil pointer is null: unknown, never zero.
package ledger

import "github.com/cupel-eval/cupel/harness/ledger/work"

// Key has the first columns of every table: what was under test, and the episode.
type Key struct {
	RunID     string `parquet:"run_id,dict"`
	EpisodeID string `parquet:"episode_id,dict"`
	Suite     string `parquet:"suite,dict"`
	TaskID    string `parquet:"task_id,dict"`
	Candidate string `parquet:"candidate,dict"`
	Agent     string `parquet:"agent,dict"`
	Provider  string `parquet:"provider,dict"`
	Model     string `parquet:"model,dict"`
	// OutputMode and PromptProfile are settings of the candidate.
	OutputMode    string `parquet:"output_mode,dict"`
	PromptProfile string `parquet:"prompt_profile,dict"`
	// Trial counts from 1.
	Trial int32 `parquet:"trial"`
	// Seed is the seed of the episode, derived from run seed, task, candidate and trial.
	Seed int64 `parquet:"seed"`
	// Replayed means that every reply came from a cassette.
	Replayed bool `parquet:"replayed"`
}

// Tokens are disjoint token classes; nil if the provider did not report one.
type Tokens struct {
	In         *int64 `parquet:"tokens_in,optional"`
	Out        *int64 `parquet:"tokens_out,optional"`
	CacheRead  *int64 `parquet:"tokens_cache_read,optional"`
	CacheWrite *int64 `parquet:"tokens_cache_write,optional"`
	Reasoning  *int64 `parquet:"tokens_reasoning,optional"`
}

// Turn is one model call, which is one decision of an episode.
type Turn struct {
	Key
	// Turn counts from 1 within the episode.
	Turn int32  `parquet:"turn"`
	Role string `parquet:"role,dict"`
	Kind string `parquet:"kind,dict"`
	// SubAgent is the conversation that asked, ParentAgent the one that started it; both are
	// empty for the main one.
	SubAgent    string `parquet:"sub_agent,dict"`
	ParentAgent string `parquet:"parent_agent,dict"`
	// PlanStep is the step of the plan that the turn works on, with [n] for its n-th item; empty
	// without a plan.
	PlanStep string `parquet:"plan_step,dict"`
	// PlanRev counts changes of the plan, from 0.
	PlanRev        int32  `parquet:"plan_rev"`
	ActionID       string `parquet:"action_id"`
	ParentActionID string `parquet:"parent_action_id"`
	TsStart        int64  `parquet:"ts_start,timestamp(microsecond)"`
	TsEnd          int64  `parquet:"ts_end,timestamp(microsecond)"`
	// DurationUs is the time of the requests of the turn, in µs; null in a batched turn.
	DurationUs *int64 `parquet:"duration_us,optional"`
	// TTFTUs is the time to the first token of a streamed reply, in µs. It is null if
	// the reply was not streamed or no token arrived.
	TTFTUs   *int64 `parquet:"ttft_us,optional"`
	Attempts int32  `parquet:"attempts"`
	// RetryIndex counts the earlier turns of an external agent with the same request that
	// failed since it was last answered; it is 0 for other agents, whose turns have all attempts.
	RetryIndex   int32  `parquet:"retry_index"`
	HTTPStatus   *int32 `parquet:"http_status,optional"`
	ErrorKind    string `parquet:"error_kind,dict"`
	FinishReason string `parquet:"finish_reason,dict"`
	ModelServed  string `parquet:"model_served,dict"`
	// ValidJSON, Actionable and ContractValid judge the raw first output.
	ValidJSON      bool     `parquet:"valid_json"`
	Repaired       bool     `parquet:"repaired"`
	Actionable     bool     `parquet:"actionable"`
	ContractValid  bool     `parquet:"contract_valid"`
	Violations     []string `parquet:"violations,list"`
	Warnings       []string `parquet:"warnings,list"`
	NextActionType string   `parquet:"next_action_type,dict"`
	NextActionName string   `parquet:"next_action_name,dict"`
	Confidence     *float64 `parquet:"confidence,optional"`
	Done           bool     `parquet:"done"`
	Reason         string   `parquet:"reason,dict"`
	Tokens
	CostNanoUSD *int64 `parquet:"cost_nanousd,optional"`
	// CostReportedNanoUSD is the cost that the provider reported; null if it reported none.
	CostReportedNanoUSD *int64 `parquet:"cost_reported_nanousd,optional"`
	PriceDigest         string `parquet:"price_digest,dict"`
	// Batched means that the requests of the turn were sent in batches, whose wait is no time of
	// the episode's. SavedNanoUSD is what it would have cost more without; null if it was not
	// batched, or that is unknown.
	Batched      bool   `parquet:"batched"`
	SavedNanoUSD *int64 `parquet:"saved_nanousd,optional"`
	// ServiceTier is the provider's name of the tier that served the request.
	ServiceTier string `parquet:"service_tier,dict"`
	// InProcessed and OutProcessed are the tokens that the model read and wrote if the provider
	// bills another number; null if it bills all of them.
	InProcessed  *int64 `parquet:"tokens_in_processed,optional"`
	OutProcessed *int64 `parquet:"tokens_out_processed,optional"`
	// ServerTools are the uses of the provider's own tools, each as "NAME=COUNT".
	ServerTools []string `parquet:"server_tools,list"`
	// NotUnderstood names the parts of the provider's usage that the token counts do not include,
	// each as "FIELD: REASON". If there is any, CostNanoUSD is null.
	NotUnderstood []string `parquet:"usage_not_understood,list"`
	Thrash        bool     `parquet:"thrash"`
	Stall         bool     `parquet:"stall"`
	// StepsUsed, ToolCallsUsed and TokensUsed are the counters after the turn.
	StepsUsed     int32  `parquet:"steps_used"`
	ToolCallsUsed int32  `parquet:"tool_calls_used"`
	TokensUsed    int64  `parquet:"tokens_used"`
	RequestDigest string `parquet:"request_digest"`
	// Cassette is the path of the cassette below the suite's cassettes folder, Interaction the
	// index of the exchange in it, or -1 if there is none.
	Cassette    string `parquet:"cassette,dict"`
	Interaction int32  `parquet:"interaction"`
	// TraceID and SpanID are empty until a tracer is attached.
	TraceID string `parquet:"trace_id,dict"`
	SpanID  string `parquet:"span_id,dict"`
}

// ToolCall is one tool call that a turn requested, executed or not.
type ToolCall struct {
	Key
	// Seq counts from 1 within the episode. Turn is the turn that requested the call.
	Seq            int32  `parquet:"tool_call_seq"`
	Turn           int32  `parquet:"turn"`
	ActionID       string `parquet:"action_id"`
	ParentActionID string `parquet:"parent_action_id"`
	SubAgent       string `parquet:"sub_agent,dict"`
	ParentAgent    string `parquet:"parent_agent,dict"`
	ToolName       string `parquet:"tool_name,dict"`
	ArgsHash       string `parquet:"tool_args_hash,dict"`
	IdempotencyKey string `parquet:"idempotency_key,dict"`
	RetryIndex     int32  `parquet:"retry_index"`
	TsStart        int64  `parquet:"ts_start,timestamp(microsecond)"`
	TsEnd          int64  `parquet:"ts_end,timestamp(microsecond)"`
	DurationUs     int64  `parquet:"duration_us"`
	Outcome        string `parquet:"outcome,dict"`
	ErrorCode      string `parquet:"error_code,dict"`
	Deduped        bool   `parquet:"deduped"`
	CircuitOpen    bool   `parquet:"circuit_open"`
	// Proposed means that a model asked for the call, Executed that cupel ran the tool. A call
	// that an external agent was proposed and did not make here is not executed.
	Proposed bool `parquet:"proposed"`
	Executed bool `parquet:"executed"`
	// DurationSpike means that the call took unusually long for its tool.
	DurationSpike bool  `parquet:"duration_spike"`
	StepsUsed     int32 `parquet:"steps_used"`
	ToolCallsUsed int32 `parquet:"tool_calls_used"`
	TokensUsed    int64 `parquet:"tokens_used"`
	// Changes is the number of values of the world's state that the call changed; null if the
	// world's state cannot change. ChangedPaths are the paths of the first few.
	Changes      *int32   `parquet:"changes,optional"`
	ChangedPaths []string `parquet:"changed_paths,list"`
}

// Check is one scored expectation of a task.
type Check struct {
	Name   string `parquet:"name"`
	Passed bool   `parquet:"passed"`
	// Detail has the expected and the actual value; empty if the check passed.
	Detail string `parquet:"detail"`
}

// Score is what a scorer or judge found of an episode.
type Score struct {
	// Name is that of its check, such as judge.tone.
	Name string `parquet:"name"`
	// Score is null if the scorer gave none.
	Score *float64 `parquet:"score,optional"`
	// AtLeast is the least score that passes; null if the check has no such bound.
	AtLeast *float64 `parquet:"at_least,optional"`
	// Pass reports whether the check passed.
	Pass bool `parquet:"pass"`
	// Digest is the SHA-256 hex of the program, or of the judge's rubric, model and prompt; empty
	// for a Go function.
	Digest string `parquet:"digest"`
	// Reason is for people: untrusted text of at most 400 bytes.
	Reason string `parquet:"reason"`
}

// Episode is one candidate × task × trial, from request to final status.
type Episode struct {
	Key
	Status     string `parquet:"status,dict"`
	StopReason string `parquet:"stop_reason,dict"`
	// ExpectedStatus is the task's first expected status. It identifies tasks whose expected
	// outcome is a clarifying question.
	ExpectedStatus string `parquet:"expected_status,dict"`
	// Solved means that the episode met an accepted outcome of its task, which includes an
	// expected stop. It is computed when the episode is scored and is the only definition of
	// success. It is false in an episode without a result, which is not scored; see Excluded.
	Solved bool    `parquet:"solved"`
	Checks []Check `parquet:"checks,list"`
	// Answer is the final message to the user, which is untrusted text.
	Answer       string `parquet:"answer"`
	Steps        int32  `parquet:"steps"`
	ToolCalls    int32  `parquet:"tool_calls"`
	Clarifies    int32  `parquet:"clarifies"`
	Violations   int32  `parquet:"violations"`
	ThrashEvents int32  `parquet:"thrash_events"`
	StallEvents  int32  `parquet:"stall_events"`
	Tokens
	// CostNanoUSD is null if the price of any turn is unknown. Turns that the provider refused
	// cost nothing if the episode has a result anyway.
	CostNanoUSD *int64 `parquet:"cost_nanousd,optional"`
	TsStart     int64  `parquet:"ts_start,timestamp(microsecond)"`
	// ElapsedUs is the time from the request to the end; null if a turn was batched.
	ElapsedUs *int64 `parquet:"elapsed_us,optional"`
	// InfraError means that a provider, the network or the harness failed, so that the episode
	// says nothing about the model. ErrorKind and ErrorText describe the failure.
	InfraError     bool   `parquet:"infra_error"`
	ErrorKind      string `parquet:"error_kind,dict"`
	ErrorText      string `parquet:"error_text"`
	CassetteDigest string `parquet:"cassette_digest"`
	SuiteDigest    string `parquet:"suite_digest,dict"`
	ConfigDigest   string `parquet:"config_digest,dict"`
	// StateBefore and StateAfter are the SHA-256 hex of the world's state at the start and
	// the end; empty if the world has no state that can change.
	StateBefore string `parquet:"state_before,dict"`
	StateAfter  string `parquet:"state_after,dict"`
	// Harm means that a change did harm; HarmReason names the change and the reason. Harm is null
	// if the world's state cannot change or the episode has no result.
	Harm       *bool  `parquet:"harm,optional"`
	HarmReason string `parquet:"harm_reason,dict"`
	// Injection is the id of the injection whose text is in what the episode's tools return;
	// empty without attack. AttackSucceeded means that the episode came to what the attacker
	// wants; it is null without attack, and in an episode without a result.
	Injection       string `parquet:"injection,dict"`
	AttackSucceeded *bool  `parquet:"attack_succeeded,optional"`
	// UserFaults are what the simulated user did wrong, each once, with "; " between them; empty
	// without one.
	UserFaults string `parquet:"user_faults,dict"`
	// Hosts are those that an external agent tried to reach besides cupel, as far as it asked
	// the proxy that refuses them.
	Hosts []string `parquet:"hosts,list"`
	// Requests are what the agent asked people for, in the order in which it asked.
	Requests []work.Request `parquet:"requests,list"`
	// Tasks are those of the agent's plans, and what it handed to sub-agents outside of plans, in
	// the order in which they were planned or handed over.
	Tasks []work.Task `parquet:"tasks,list"`
	// Scores are what scorers and judges found, in the order of the task's checks; empty in an
	// episode without a result.
	Scores []Score `parquet:"scores,list"`
	// Judges and simulated users ask models, too. Their calls are no turns; their tokens, of all
	// input and all output classes, and cost are not in Tokens and CostNanoUSD. Null means
	// unknown; an episode without such calls has 0.
	JudgeCalls       int32  `parquet:"judge_calls"`
	JudgeTokensIn    *int64 `parquet:"judge_tokens_in,optional"`
	JudgeTokensOut   *int64 `parquet:"judge_tokens_out,optional"`
	JudgeCostNanoUSD *int64 `parquet:"judge_cost_nanousd,optional"`
	UserCalls        int32  `parquet:"user_calls"`
	UserTokensIn     *int64 `parquet:"user_tokens_in,optional"`
	UserTokensOut    *int64 `parquet:"user_tokens_out,optional"`
	UserCostNanoUSD  *int64 `parquet:"user_cost_nanousd,optional"`
	// Labels are the verdicts of people, sorted by check and labeller. They change no other column.
	Labels []work.Label `parquet:"labels,list"`
}

// Rows are the three tables of a run, each sorted by task, candidate and trial, then by turn or
// tool call.
type Rows struct {
	Episodes  []Episode
	Turns     []Turn
	ToolCalls []ToolCall
}
