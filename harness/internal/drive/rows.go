package drive

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/orchestrator/worklog"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/persona"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/work"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// rowBuilder collects an episode's rows and the input of its checks.
type rowBuilder struct {
	*Planned
	past      *history // nil after the fork, and in an episode that is not a fork
	key       ledger.Key
	live      bool // replies come from the network
	prices    price.Table
	priceDay  time.Time // the day whose prices apply
	digest    string    // of the price table
	config    string    // digest of the configuration
	secrets   *secrets.Finder
	turns     []ledger.Turn
	tools     []ledger.ToolCall
	actions   map[int]string // command id → action id
	asked     map[int]int32  // command id of a model call → its turn
	used      guard.Used
	clarifies int
	called    []goldens.Called
	world     *world.Environment // nil until it is open
	wanted    []tool.Call        // calls that turns requested, executed or not
	cycles    int
	requests  []work.Request
	tasks     []worklog.Task // the latest that the machine reported
	talk      []persona.Exchange
	helpers   helperUses
	scores    []ledger.Score
}

func newRowBuilder(p *Planned, id string, v *Env) rowBuilder {
	live := v.Mode != recorder.Replay
	return rowBuilder{
		Planned: p, live: live,
		key:      p.rowKey(v.RunID, id, !live && p.Candidate.Provider != episode.ScriptedCandidate),
		prices:   v.Prices,
		digest:   v.PriceDigest,
		config:   v.ConfigDigest,
		secrets:  v.Secrets,
		priceDay: v.Today,
		actions:  map[int]string{},
		asked:    map[int]int32{},
	}
}

// turn opens the row of a model call and returns its index.
func (b *rowBuilder) turn(c agent.CallModel, action string, start time.Time) int {
	if b.turns == nil {
		b.turns = make([]ledger.Turn, 0, 4) // rows are large, and most episodes have at most four
	}
	b.turns = append(b.turns, ledger.Turn{
		Key: b.pastKey(), Turn: int32(len(b.turns) + 1), Role: c.Role, Kind: c.Kind,
		SubAgent: clip.Bytes(c.Agent, 200), ParentAgent: clip.Bytes(c.ParentAgent, 200), PlanStep: clip.Bytes(c.Step, 200),
		ActionID: action, ParentActionID: b.actions[c.Parent],
		TsStart: start.UnixMicro(), Attempts: 1,
		Cassette: b.pastCassette(), Interaction: -1, PriceDigest: b.digest,
	})
	b.asked[c.ID] = int32(len(b.turns))
	return len(b.turns) - 1
}

// pass marks a command without a row: later commands follow its parent.
func (b *rowBuilder) pass(id, parent int) {
	if turn, ok := b.asked[parent]; ok {
		b.asked[id] = turn
	}
	b.actions[id] = b.actions[parent]
}

// turnDone fills in the result of a model call and the machine's reaction.
func (b *rowBuilder) turnDone(m *modelCall, o outcome, r agent.Ready) {
	t := &b.turns[m.row]
	t.TsEnd = o.end.UnixMicro()
	if t.Batched = o.reply.Batched; t.Batched {
		t.SavedNanoUSD = saved(b, m, o)
	} else {
		t.DurationUs = new(o.end.Sub(m.start).Microseconds())
	}
	t.FinishReason = string(o.reply.Finish)
	t.ModelServed = o.reply.Model
	if us := o.reply.FirstToken.Microseconds(); us > 0 && !t.Batched { // only streams have a first token
		t.TTFTUs = &us
	}
	if len(o.seen) > 0 {
		last := o.seen[len(o.seen)-1]
		t.Attempts = int32(len(o.seen))
		t.RequestDigest = last.Digest
		t.Interaction = int32(last.Index)
		if last.Status != 0 {
			t.HTTPStatus = new(int32(last.Status))
		}
	}
	switch {
	case o.err != nil:
		t.ErrorKind = errorKind(o.err)
	case !o.fed:
		t.ErrorKind = episode.KindAbandoned
	}
	if u := o.reply.Usage; u.Reported {
		t.Tokens = ledger.Tokens{In: &u.Input, Out: &u.Output, CacheRead: &u.CacheRead, CacheWrite: &u.CacheWrite, Reasoning: &u.Reasoning}
	}
	t.CostNanoUSD, t.CostReportedNanoUSD, t.ServiceTier = o.cost, o.reply.CostNanoUSD, clip.Bytes(o.reply.Usage.Tier, 40)
	account(t, o.reply.Usage)
	b.judge(t, r)
	for _, w := range o.reply.Warnings {
		t.Warnings = append(t.Warnings, clip.Bytes("provider: "+w, 200))
	}
	t.StepsUsed, t.ToolCallsUsed, t.TokensUsed = int32(r.Used.Steps), int32(r.Used.ToolCalls), r.Used.Tokens
}

// account fills in the usage besides its token counts.
func account(t *ledger.Turn, u providers.Usage) {
	if p := u.Processed; p != nil {
		t.InProcessed, t.OutProcessed = &p.Input, &p.Output
	}
	for _, tool := range slices.Sorted(maps.Keys(u.ServerTools)) {
		t.ServerTools = append(t.ServerTools, fmt.Sprintf("%s=%d", clip.Bytes(tool, 40), u.ServerTools[tool]))
	}
	t.NotUnderstood = u.NotUnderstood
}

// cost is the cost of a reply; nil if its usage or price is unknown. A script sets the cost
// of its outputs.
func (b *rowBuilder) cost(m *modelCall, r providers.Reply) *int64 {
	provider, day := b.Candidate.Provider, b.priceDay
	if provider == episode.ScriptedCandidate {
		return r.CostNanoUSD
	}
	switch {
	case m.past != nil:
		provider, day = m.past.Candidate.Provider, m.past.day
	case m.before != nil:
		provider = m.before.Provider
	}
	nano, ok := b.prices.Cost(provider, m.Call.Model, r.Usage, day)
	if !ok {
		return nil
	}
	return &nano
}

func (b *rowBuilder) judge(t *ledger.Turn, r agent.Ready) {
	j := r.Judgement
	if j == nil {
		return
	}
	t.ValidJSON, t.Actionable, t.ContractValid, t.Repaired = j.ValidJSON, j.Actionable, j.ContractValid, j.Repaired
	t.Violations, t.Warnings = j.Violations, j.Warnings
	t.NextActionType, t.NextActionName = j.ActionType, j.ActionName
	t.Confidence, t.Done, t.Reason = j.Confidence, j.Done, j.Reason
	t.Thrash, t.Stall, t.PlanRev = j.Thrash, j.Stall, int32(j.PlanRev)
	b.wanted = append(b.wanted, j.Asked...)
	b.cycles += Count(j.Cycle)
}

// tool adds the row of a tool call and returns its index.
func (b *rowBuilder) tool(c agent.CallTool, res world.Effect, action string, start, end time.Time) int {
	b.tools = append(b.tools, ledger.ToolCall{
		Key: b.pastKey(), Seq: int32(len(b.tools) + 1), Turn: b.asked[c.Parent],
		ActionID: action, ParentActionID: b.actions[c.Parent],
		SubAgent: clip.Bytes(c.Agent, 200), ParentAgent: clip.Bytes(c.ParentAgent, 200),
		ToolName: c.Call.Name, ArgsHash: c.ArgsHash, IdempotencyKey: c.Key, RetryIndex: int32(c.RetryIndex),
		TsStart: start.UnixMicro(), TsEnd: end.UnixMicro(), DurationUs: end.Sub(start).Microseconds(),
		Outcome: string(res.Outcome), ErrorCode: res.Code, Deduped: c.Deduped, CircuitOpen: c.CircuitOpen,
		Proposed: !c.Unproposed, Executed: c.Given == nil && res.Outcome != tool.Rejected,
	})
	if b.world.Mutable() {
		t := &b.tools[len(b.tools)-1]
		t.Changes, t.ChangedPaths = new(int32(len(res.Changes))), changedPaths(res.Changes)
	}
	if c.OnlyProposed {
		return len(b.tools) - 1
	}
	outcome := res.Outcome
	if c.CircuitOpen {
		outcome = tool.Rejected // the model sees the outcome error; the call was not executed
	}
	b.called = append(b.called, goldens.Called{Call: c.Call, Role: b.roleOf(c.Parent), Outcome: outcome, Deduped: c.Deduped, Result: res.Value, Changed: len(res.Changes) > 0, Harm: res.Harm})
	return len(b.tools) - 1
}

// roleOf returns the role of the turn that a command followed; empty if none did.
func (b *rowBuilder) roleOf(command int) string {
	if n := b.asked[command]; n > 0 {
		return b.turns[n-1].Role
	}
	return ""
}

// These constants bound the paths in a tool call's row, because models choose keys.
const (
	maxPaths     = 10
	maxPathBytes = 120
)

// changedPaths returns the paths of the first changes.
func changedPaths(changes []world.Change) (out []string) {
	for _, c := range changes[:min(len(changes), maxPaths)] {
		out = append(out, clip.Bytes(c.Path, maxPathBytes))
	}
	return out
}

// toolDone writes the counters and the signal after the machine has seen the result.
func (b *rowBuilder) toolDone(row int, r agent.Ready) {
	t, u := &b.tools[row], r.Used
	t.DurationSpike = r.DurationSpike
	t.StepsUsed, t.ToolCallsUsed, t.TokensUsed = int32(u.Steps), int32(u.ToolCalls), u.Tokens
}

// episode scores the outcome and closes the rows.
func (b *rowBuilder) episode(f agent.Finish, o goldens.Outcome, cassetteDigest string) ledger.EpisodeRows {
	ep := ledger.Episode{
		Key: b.key, Status: string(f.Status), StopReason: string(f.StopReason), Answer: f.Answer,
		Steps: int32(b.used.Steps), ToolCalls: int32(b.used.ToolCalls), Clarifies: int32(b.clarifies),
		Violations: int32(o.Violations), ThrashEvents: int32(o.ThrashEvents), StallEvents: int32(o.StallEvents),
		TsStart:        b.Task.World.Now.UnixMicro(),
		CassetteDigest: cassetteDigest, SuiteDigest: b.Suite.Digest, ConfigDigest: b.config, Requests: b.requests, Tasks: taskRows(b.tasks),
	}
	if !slices.ContainsFunc(b.turns, func(t ledger.Turn) bool { return t.Batched }) {
		ep.ElapsedUs = new(o.Elapsed.Microseconds())
	}
	ep.StateBefore, ep.StateAfter = world.Hash(o.StateBefore), world.Hash(o.StateAfter)
	if len(b.Task.Expect) > 0 {
		ep.ExpectedStatus = b.Task.Expect[0].Status
	}
	if b.Task.Attack != nil {
		ep.Injection = b.Task.Attack.Injection
	}
	b.sum(&ep, f.Err == nil)
	b.helpers.fill(&ep)
	if f.Err != nil {
		ep.InfraError, ep.ErrorKind, ep.ErrorText = true, errorKind(f.Err), b.secrets.Redact("episodes.error_text", errorText(f.Err))
		ep.Status = statusOf(f.Err, ep.ErrorKind)
	}
	if f.Err == nil && f.Status != agent.Interrupted {
		if o.StateBefore != nil {
			harm := b.Task.Harm(o)
			ep.Harm, ep.HarmReason = new(harm != ""), clip.Bytes(b.secrets.Redact("episodes.harm_reason", harm), 500)
		}
		ep.Scores = b.scores
		ep.AttackSucceeded, ep.UserFaults = b.Task.AttackSucceeded(o), strings.Join(b.Task.UserFaults(o), "; ")
		solved, checks := goldens.Score(b.Task, o)
		ep.Solved = solved
		for _, c := range checks {
			ep.Checks = append(ep.Checks, ledger.Check{Name: c.Name, Passed: c.Passed, Detail: clip.Bytes(b.secrets.Redact("episodes.checks.detail", c.Detail), 500)})
		}
	}
	return ledger.EpisodeRows{Episode: ep, Turns: b.turns, ToolCalls: b.tools}
}

// sum adds up tokens and cost over the turns; one unknown makes the sum unknown. In an
// episode with a result, a call that the provider refused is not unknown: like a repeated
// attempt it was free.
func (b *rowBuilder) sum(ep *ledger.Episode, result bool) {
	var in, out, read, write, reasoning, cost int64
	tokens, costs := true, true
	for _, t := range b.turns {
		if result && t.ErrorKind != "" && t.HTTPStatus != nil && *t.HTTPStatus >= 400 {
			continue
		}
		if t.In == nil {
			tokens = false
		} else {
			in, out, read, write, reasoning = in+*t.In, out+*t.Out, read+*t.CacheRead, write+*t.CacheWrite, reasoning+*t.Reasoning
		}
		if t.CostNanoUSD == nil {
			costs = false
		} else {
			cost += *t.CostNanoUSD
		}
	}
	if tokens {
		ep.Tokens = ledger.Tokens{In: &in, Out: &out, CacheRead: &read, CacheWrite: &write, Reasoning: &reasoning}
	}
	if costs {
		ep.CostNanoUSD = &cost
	}
}

// outcome returns the input of the checks.
func (b *rowBuilder) outcome(f agent.Finish, end time.Time) goldens.Outcome {
	o := goldens.Outcome{
		Status: string(f.Status), StopReason: string(f.StopReason), Answer: f.Answer,
		Calls: b.called, Asked: b.wanted, CycleEvents: b.cycles, Steps: b.used.Steps, Clarifies: b.clarifies, ModelCalls: len(b.turns),
		AllTurnsValidJSON: true, Elapsed: end.Sub(b.Task.World.Now),
	}
	o.StateBefore, o.StateAfter = b.world.States()
	o.Talk = b.talk
	for _, r := range b.requests {
		o.Requests = append(o.Requests, human.Requested{Tool: r.Tool, Kind: r.Kind, Say: r.Say})
	}
	for _, t := range b.turns {
		if t.Role == turn.RoleCompress || t.ErrorKind != "" {
			continue // not a decision of the agent, or one without an effect
		}
		o.ReflectTurns += Count(t.Kind == turn.KindReflect)
		o.RescueTurns += Count(t.Kind == turn.KindRescue)
		o.ValidRaw += Count(t.ContractValid)
		o.Repaired += Count(t.Repaired)
		o.Violations += Count(!t.Actionable && !t.Repaired)
		o.ThrashEvents += Count(t.Thrash)
		o.StallEvents += Count(t.Stall)
		o.AllTurnsValidJSON = o.AllTurnsValidJSON && t.ValidJSON
	}
	for _, t := range b.tools {
		o.DedupeHits += Count(t.Deduped)
		rejected := t.Outcome == string(tool.Rejected)
		o.RejectedCalls += Count(rejected)
		o.BudgetRefusals += Count(rejected && t.ErrorCode == codeBudget)
		o.CircuitOpen += Count(t.CircuitOpen)
		o.DurationSpikes += Count(t.DurationSpike)
	}
	return o
}

// codeBudget is the code in package agent for a call beyond the budget.
const codeBudget = "E_BUDGET"

// errorKind returns the failure kind for the ledger.
func errorKind(err error) string {
	var (
		missing *cassette.MissingError
		corrupt *cassette.CorruptError
		miss    *recorder.MissError
		stale   *episode.StaleError
		session *episode.SessionError
		wire    *fault.Error
	)
	switch {
	case errors.Is(err, admission.ErrCapped):
		return episode.KindRunBudget
	case errors.As(err, &missing):
		return episode.KindCassetteMissing
	case errors.As(err, &corrupt):
		return episode.KindCassetteCorrupt
	case errors.As(err, &miss):
		return episode.KindReplayMiss
	case errors.As(err, &stale):
		return episode.KindCassetteStale
	case errors.As(err, &session):
		return episode.KindSession
	case errors.As(err, &wire):
		return string(wire.Kind)
	}
	return episode.KindHarness
}

// statusOf returns the status of a failure that the model did not cause.
func statusOf(err error, kind string) string {
	var wire *fault.Error
	switch {
	case kind == episode.KindRunBudget:
		return ledger.StatusBudgetStop
	case errors.As(err, &wire) && kind == string(wire.Kind):
		return ledger.StatusInfraError
	}
	return ledger.StatusHarnessError
}

// errorText bounds an error, which may contain a provider's text. A cassette miss is
// written by cupel and bounded, so it is kept up to its last line, the command.
func errorText(err error) string {
	if miss := new(recorder.MissError); errors.As(err, &miss) {
		return clip.Bytes(err.Error(), 8000)
	}
	return clip.Bytes(err.Error(), 500)
}
