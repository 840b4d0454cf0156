package ledger

// record gives digest, journal and reader the pointers to the columns of a row. It exists
// because parquet-go reads null in an embedded struct as a pointer to zero, and because a digest
// by reflection is several times slower.
type record[T any] interface {
	*T
	// fields appends a pointer to every column in schema order, of type *string, *bool, *int32,
	// *int64, **bool, **int32, **int64, **float64, *[]string or one that recordsOf knows.
	fields(dst []any) []any
	key() *Key
}

func (k *Key) key() *Key { return k }

// keyFields is the number of columns of Key.
const keyFields = 13

// strings returns the text columns in order.
func (k *Key) strings() [10]*string {
	return [...]*string{&k.RunID, &k.EpisodeID, &k.Suite, &k.TaskID, &k.Candidate, &k.Agent, &k.Provider, &k.Model,
		&k.OutputMode, &k.PromptProfile}
}

func (k *Key) fields(dst []any) []any {
	return append(dst, &k.RunID, &k.EpisodeID, &k.Suite, &k.TaskID, &k.Candidate, &k.Agent, &k.Provider, &k.Model,
		&k.OutputMode, &k.PromptProfile, &k.Trial, &k.Seed, &k.Replayed)
}

func (t *Tokens) fields(dst []any) []any {
	return append(dst, &t.In, &t.Out, &t.CacheRead, &t.CacheWrite, &t.Reasoning)
}

func (e *Episode) fields(dst []any) []any {
	dst = append(e.Key.fields(dst), &e.Status, &e.StopReason, &e.ExpectedStatus, &e.Solved, &e.Checks, &e.Answer,
		&e.Steps, &e.ToolCalls, &e.Clarifies, &e.Violations, &e.ThrashEvents, &e.StallEvents)
	return append(e.Tokens.fields(dst), &e.CostNanoUSD, &e.TsStart, &e.ElapsedUs, &e.InfraError, &e.ErrorKind, &e.ErrorText,
		&e.CassetteDigest, &e.SuiteDigest, &e.ConfigDigest,
		&e.StateBefore, &e.StateAfter, &e.Harm, &e.HarmReason, &e.Injection, &e.AttackSucceeded, &e.UserFaults, &e.Hosts, &e.Requests, &e.Tasks, &e.Scores,
		&e.JudgeCalls, &e.JudgeTokensIn, &e.JudgeTokensOut, &e.JudgeCostNanoUSD,
		&e.UserCalls, &e.UserTokensIn, &e.UserTokensOut, &e.UserCostNanoUSD, &e.Labels)
}

func (t *Turn) fields(dst []any) []any {
	dst = append(t.Key.fields(dst), &t.Turn, &t.Role, &t.Kind, &t.SubAgent, &t.ParentAgent, &t.PlanStep, &t.PlanRev, &t.ActionID, &t.ParentActionID,
		&t.TsStart, &t.TsEnd, &t.DurationUs, &t.TTFTUs, &t.Attempts, &t.RetryIndex, &t.HTTPStatus, &t.ErrorKind, &t.FinishReason, &t.ModelServed,
		&t.ValidJSON, &t.Repaired, &t.Actionable, &t.ContractValid, &t.Violations, &t.Warnings,
		&t.NextActionType, &t.NextActionName, &t.Confidence, &t.Done, &t.Reason)
	return append(t.Tokens.fields(dst), &t.CostNanoUSD, &t.CostReportedNanoUSD, &t.PriceDigest, &t.Batched, &t.SavedNanoUSD, &t.ServiceTier,
		&t.InProcessed, &t.OutProcessed, &t.ServerTools, &t.NotUnderstood, &t.Thrash, &t.Stall,
		&t.StepsUsed, &t.ToolCallsUsed, &t.TokensUsed, &t.RequestDigest, &t.Cassette, &t.Interaction, &t.TraceID, &t.SpanID)
}

func (c *ToolCall) fields(dst []any) []any {
	return append(c.Key.fields(dst), &c.Seq, &c.Turn, &c.ActionID, &c.ParentActionID, &c.SubAgent, &c.ParentAgent, &c.ToolName, &c.ArgsHash, &c.IdempotencyKey,
		&c.RetryIndex, &c.TsStart, &c.TsEnd, &c.DurationUs, &c.Outcome, &c.ErrorCode, &c.Deduped, &c.CircuitOpen, &c.Proposed, &c.Executed, &c.DurationSpike,
		&c.StepsUsed, &c.ToolCallsUsed, &c.TokensUsed, &c.Changes, &c.ChangedPaths)
}
