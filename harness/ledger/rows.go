// Package ledger holds the rows of a run (episodes, turns, tool calls) and reads
// and writes them as Parquet. It is a leaf: reports read a ledger without
// linking a provider.
//
// Conventions: times are UTC microseconds since the Unix epoch, durations
// integer microseconds, money integer nano-USD. Token classes are disjoint.
// A nil pointer is null: unknown, never zero.
package ledger

// Key is the part every table begins with: what was under test, and where.
type Key struct {
	RunID     string `parquet:"run_id,dict"`
	EpisodeID string `parquet:"episode_id,dict"`
	Suite     string `parquet:"suite,dict"`
	TaskID    string `parquet:"task_id,dict"`
	Candidate string `parquet:"candidate,dict"`
	Agent     string `parquet:"agent,dict"`
	Provider  string `parquet:"provider,dict"`
	Model     string `parquet:"model,dict"`
	// OutputMode and PromptProfile are run dimensions of the candidate.
	OutputMode    string `parquet:"output_mode,dict"`
	PromptProfile string `parquet:"prompt_profile,dict"`
	// Trial counts from 1.
	Trial int32 `parquet:"trial"`
	// Seed is the episode's own seed, derived from run seed, task, candidate and trial.
	Seed int64 `parquet:"seed"`
	// Replayed says that every reply came from a cassette.
	Replayed bool `parquet:"replayed"`
}

// Tokens are disjoint token classes; nil where the provider reported nothing.
type Tokens struct {
	In         *int64 `parquet:"tokens_in,optional"`
	Out        *int64 `parquet:"tokens_out,optional"`
	CacheRead  *int64 `parquet:"tokens_cache_read,optional"`
	CacheWrite *int64 `parquet:"tokens_cache_write,optional"`
	Reasoning  *int64 `parquet:"tokens_reasoning,optional"`
}

// Turn is one model call: one decision of an episode.
type Turn struct {
	Key
	// Turn counts from 1 within the episode.
	Turn int32  `parquet:"turn"`
	Role string `parquet:"role,dict"`
	Kind string `parquet:"kind,dict"`
	// PlanStep is the step of the plan that the turn works on, with [n] the n-th item
	// of it; empty outside of plans.
	PlanStep string `parquet:"plan_step,dict"`
	// PlanRev counts changes of the plan, from 0.
	PlanRev        int32  `parquet:"plan_rev"`
	ActionID       string `parquet:"action_id"`
	ParentActionID string `parquet:"parent_action_id"`
	TsStart        int64  `parquet:"ts_start,timestamp(microsecond)"`
	TsEnd          int64  `parquet:"ts_end,timestamp(microsecond)"`
	DurationUs     int64  `parquet:"duration_us"`
	// TTFTUs is the time to the first token of a streamed reply, in µs. It is null if
	// the reply was not streamed or no token arrived.
	TTFTUs       *int64 `parquet:"ttft_us,optional"`
	Attempts     int32  `parquet:"attempts"`
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
	// CostReportedNanoUSD is what the provider says it cost, where it says so.
	CostReportedNanoUSD *int64 `parquet:"cost_reported_nanousd,optional"`
	PriceDigest         string `parquet:"price_digest,dict"`
	// ServiceTier is the tier that served, in the provider's word.
	ServiceTier string `parquet:"service_tier,dict"`
	// InProcessed and OutProcessed are the tokens that the model read and wrote, where
	// the provider bills another number; null where it bills them all.
	InProcessed  *int64 `parquet:"tokens_in_processed,optional"`
	OutProcessed *int64 `parquet:"tokens_out_processed,optional"`
	// ServerTools are the uses of the provider's own tools, each as "NAME=COUNT".
	ServerTools []string `parquet:"server_tools,list"`
	// NotUnderstood names what of the provider's usage the token counts do not account
	// for, each as "FIELD: REASON". Where there is any, CostNanoUSD is null.
	NotUnderstood []string `parquet:"usage_not_understood,list"`
	Thrash        bool     `parquet:"thrash"`
	Stall         bool     `parquet:"stall"`
	// StepsUsed, ToolCallsUsed and TokensUsed are the counters after the turn.
	StepsUsed     int32  `parquet:"steps_used"`
	ToolCallsUsed int32  `parquet:"tool_calls_used"`
	TokensUsed    int64  `parquet:"tokens_used"`
	RequestDigest string `parquet:"request_digest"`
	// Cassette is the path of the cassette below the suite's cassettes folder,
	// Interaction the index of the exchange in it; -1 where there is none.
	Cassette    string `parquet:"cassette,dict"`
	Interaction int32  `parquet:"interaction"`
	// TraceID and SpanID are empty until a tracer is attached.
	TraceID string `parquet:"trace_id,dict"`
	SpanID  string `parquet:"span_id,dict"`
}

// ToolCall is one tool call a turn asked for, executed or not.
type ToolCall struct {
	Key
	// Seq counts from 1 within the episode, Turn is the turn that asked.
	Seq            int32  `parquet:"tool_call_seq"`
	Turn           int32  `parquet:"turn"`
	ActionID       string `parquet:"action_id"`
	ParentActionID string `parquet:"parent_action_id"`
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
	// DurationSpike says that the call took unusually long for its tool.
	DurationSpike bool  `parquet:"duration_spike"`
	StepsUsed     int32 `parquet:"steps_used"`
	ToolCallsUsed int32 `parquet:"tool_calls_used"`
	TokensUsed    int64 `parquet:"tokens_used"`
	// Changes is how many values of the world's state the call changed; null if the world
	// has no state that can change. ChangedPaths are where, the first few.
	Changes      *int32   `parquet:"changes,optional"`
	ChangedPaths []string `parquet:"changed_paths,list"`
}

// Check is one scored expectation of a task.
type Check struct {
	Name   string `parquet:"name"`
	Passed bool   `parquet:"passed"`
	// Detail says what was expected and what was found; empty when passed.
	Detail string `parquet:"detail"`
}

// Episode is one candidate × task × trial, from request to final status.
type Episode struct {
	Key
	Status     string `parquet:"status,dict"`
	StopReason string `parquet:"stop_reason,dict"`
	// ExpectedStatus is the task's first expected status: it tells tasks whose
	// right outcome is a question from the others.
	ExpectedStatus string `parquet:"expected_status,dict"`
	// Solved says that the episode met an accepted outcome of its task. It is computed
	// when the episode is scored and is the only definition of success: an expected
	// stop that met its outcome is solved. An episode without a result is not scored,
	// so it is false there; see Excluded.
	Solved bool    `parquet:"solved"`
	Checks []Check `parquet:"checks,list"`
	// Answer is the final message to the user. Untrusted text.
	Answer       string `parquet:"answer"`
	Steps        int32  `parquet:"steps"`
	ToolCalls    int32  `parquet:"tool_calls"`
	Clarifies    int32  `parquet:"clarifies"`
	Violations   int32  `parquet:"violations"`
	ThrashEvents int32  `parquet:"thrash_events"`
	StallEvents  int32  `parquet:"stall_events"`
	Tokens
	// CostNanoUSD is null when any turn's price is unknown. Turns that the provider
	// refused cost nothing where the episode has a result anyway.
	CostNanoUSD *int64 `parquet:"cost_nanousd,optional"`
	TsStart     int64  `parquet:"ts_start,timestamp(microsecond)"`
	ElapsedUs   int64  `parquet:"elapsed_us"`
	// InfraError says that a provider, the network or the harness failed: the
	// episode says nothing about the model. ErrorKind and ErrorText say how.
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
	// Harm says that a change did harm, HarmReason which one and why. It is null where
	// nothing can change, and where the episode has no result.
	Harm       *bool  `parquet:"harm,optional"`
	HarmReason string `parquet:"harm_reason,dict"`
}

// Rows are the three tables of a run, each sorted by plan order: task,
// candidate, trial, then turn or tool call.
type Rows struct {
	Episodes  []Episode
	Turns     []Turn
	ToolCalls []ToolCall
}
