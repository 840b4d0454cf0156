package imports

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Bounds of texts in rows, in bytes.
const (
	maxAnswer = 64 << 10
	maxError  = 1 << 10
	maxColumn = 200
)

const (
	// kindFailed is the error kind of a turn that has no answer.
	kindFailed = "failed"
	// kindCrashed is that of an episode that broke down.
	kindCrashed = "crashed"
)

// rowsOf returns the rows of an episode. Columns that judge a turn are false if the source gave no
// verdict, because nothing judged it; an episode that is not scored counts in no rate.
func rowsOf(m *manifest.Manifest, e *Episode) ledger.EpisodeRows {
	key := ledger.Key{
		RunID: m.RunID, Suite: m.Suite, TaskID: e.Task, Candidate: e.Candidate, Agent: cmp.Or(e.Agent, strategy.External), Provider: e.Provider, Model: e.Model, Trial: int32(e.Trial),
	}
	key.EpisodeID = idOf(e.Start, m.RunID, e.Task, e.Candidate, strconv.Itoa(e.Trial))
	rows := ledger.EpisodeRows{Episode: ledger.Episode{
		Key: key, Status: manifest.StatusImported, Steps: int32(len(e.Turns)), ToolCalls: int32(len(e.Calls)),
		Clarifies: int32(e.Clarifies), TsStart: e.Start, ElapsedUs: new(e.End - e.Start), Injection: clip.Bytes(e.Injection, maxColumn),
	}}
	row := &rows.Episode
	if e.Answer != nil {
		row.Answer = clip.Bytes(*e.Answer, maxAnswer)
	}
	if e.Failed != "" {
		row.StopReason, row.ErrorText = "agent_failed", clip.Bytes(e.Failed, maxError)
	}
	for i := range e.Turns {
		rows.Turns = append(rows.Turns, turnRow(key, &e.Turns[i], int32(i+1)))
	}
	for i := range e.Calls {
		c := callRow(key, &e.Calls[i], int32(i+1))
		if c.Turn > 0 {
			c.ParentActionID = rows.Turns[c.Turn-1].ActionID
		}
		rows.ToolCalls = append(rows.ToolCalls, c)
	}
	row.Tokens, row.CostNanoUSD = sum(rows.Turns)
	if e.Tokens != (ledger.Tokens{}) {
		row.Tokens = e.Tokens
	}
	if e.CostNanoUSD != nil {
		row.CostNanoUSD = e.CostNanoUSD
	}
	count(&rows)
	conclude(&rows, e, m.Imported.AsPublished)
	return rows
}

// conclude fills in how an episode ended. One that broke down has no result, whatever its source
// stored, except in a run as published.
func conclude(rows *ledger.EpisodeRows, e *Episode, asPublished bool) {
	row := &rows.Episode
	if e.Verdict != nil {
		for _, c := range e.Verdict.Checks {
			row.Checks = append(row.Checks, ledger.Check{Name: clip.Bytes(c.Name, maxColumn), Passed: c.Passed, Detail: clip.Bytes(c.Detail, maxError)})
		}
	}
	if e.Crashed != "" {
		row.ErrorKind, row.ErrorText = kindCrashed, clip.Bytes(e.Crashed, maxError)
	}
	switch {
	case e.Crashed != "" && (!asPublished || e.Verdict == nil):
		row.Status, row.InfraError = ledger.StatusInfraError, true
	case e.Verdict != nil:
		row.Status, row.Solved, row.Harm, row.HarmReason = string(agent.Answered), e.Verdict.Solved, e.Verdict.Harm, clip.Bytes(e.Verdict.HarmReason, maxError)
		if e.Injection != "" {
			row.AttackSucceeded = e.Verdict.AttackSucceeded
		}
		if e.Failed != "" || e.Crashed != "" {
			row.Status = ledger.StatusStopped
		}
		for i := range rows.Turns {
			t := &rows.Turns[i]
			well := wellFormed(&e.Turns[i].Said)
			t.ValidJSON, t.Actionable, t.ContractValid = well, well, well
		}
	}
}

// wellFormed reports whether a turn has output that an agent can act on: a text, or calls whose
// arguments are JSON objects.
func wellFormed(s *Said) bool {
	for _, c := range s.Calls {
		if args := strings.TrimSpace(c.Args); args != "" && (args[0] != '{' || !jsontext.Value(args).IsValid()) {
			return false
		}
	}
	return s.Output != nil || len(s.Calls) > 0
}

func turnRow(key ledger.Key, t *Turn, n int32) ledger.Turn {
	row := ledger.Turn{
		Key: key, Turn: n, Role: cmp.Or(t.Role, turn.RoleMain), Kind: turn.KindAct, ActionID: idOf(t.Start, key.EpisodeID, "turn", strconv.Itoa(int(n))),
		TsStart: t.Start, TsEnd: t.End, DurationUs: new(t.End - t.Start), TTFTUs: t.TTFTUs, Attempts: int32(max(t.Attempts, 1)),
		FinishReason: finish(t.Finish), ModelServed: clip.Bytes(t.Served, maxColumn), Tokens: t.Tokens,
		CostNanoUSD: t.CostNanoUSD, CostReportedNanoUSD: t.CostReportedNanoUSD, Interaction: -1, TraceID: t.TraceID, SpanID: t.SpanID,
	}
	if t.Failed != "" {
		row.ErrorKind, row.Reason = kindFailed, clip.Bytes(t.Failed, maxError)
	}
	if len(t.Said.Calls) > 0 {
		row.NextActionName = clip.Bytes(t.Said.Calls[0].Name, maxColumn)
	}
	return row
}

func callRow(key ledger.Key, c *Call, n int32) ledger.ToolCall {
	row := ledger.ToolCall{
		Key: key, Seq: n, Turn: int32(c.Turn), ActionID: idOf(c.Start, key.EpisodeID, "call", strconv.Itoa(int(n))),
		ToolName: clip.Bytes(c.Name, maxColumn), TsStart: c.Start, TsEnd: c.End, DurationUs: c.End - c.Start, Outcome: string(tool.OK),
		Proposed: c.Proposed, Executed: true, // a source tells of executions
	}
	if c.Failed != "" {
		row.Outcome = string(tool.Error)
	}
	if c.Args != nil {
		if key, hash, err := tool.Key(tool.Call{Name: c.Name, Args: []byte(*c.Args)}); err == nil {
			row.IdempotencyKey, row.ArgsHash = key, hash
		}
	}
	return row
}

// finish returns the word of package providers for a finish reason, in any spelling.
func finish(raw string) string {
	switch strings.ToLower(strings.ReplaceAll(raw, "-", "_")) {
	case "":
		return ""
	case "stop", "end_turn", "stop_sequence", "completed":
		return string(providers.FinishStop)
	case "length", "max_tokens", "max_output_tokens":
		return string(providers.FinishLength)
	case "tool_calls", "tool_call", "tool_use", "function_call":
		return string(providers.FinishTools)
	case "content_filter", "refusal", "safety":
		return string(providers.FinishRefusal)
	}
	return string(providers.FinishOther)
}

// sum adds up tokens and cost; of each class, one unknown makes the sum unknown.
func sum(turns []ledger.Turn) (total ledger.Tokens, cost *int64) {
	add := func(to **int64, first bool, n *int64) {
		switch {
		case n == nil || !first && *to == nil:
			*to = nil
		case first:
			*to = new(*n)
		default:
			**to += *n
		}
	}
	for i, t := range turns {
		add(&total.In, i == 0, t.In)
		add(&total.Out, i == 0, t.Out)
		add(&total.CacheRead, i == 0, t.CacheRead)
		add(&total.CacheWrite, i == 0, t.CacheWrite)
		add(&total.Reasoning, i == 0, t.Reasoning)
		add(&cost, i == 0, t.CostNanoUSD)
	}
	return total, cost
}

// count fills in the counters after each turn and call.
func count(rows *ledger.EpisodeRows) {
	calls, tokens := int32(0), int64(0)
	for i := range rows.Turns {
		t := &rows.Turns[i]
		for _, n := range []*int64{t.In, t.Out, t.CacheRead, t.CacheWrite, t.Reasoning} {
			if n != nil {
				tokens += *n
			}
		}
		t.StepsUsed, t.ToolCallsUsed, t.TokensUsed = t.Turn, calls, tokens
		for j := range rows.ToolCalls {
			if c := &rows.ToolCalls[j]; c.Turn == t.Turn {
				calls++
				c.StepsUsed, c.ToolCallsUsed, c.TokensUsed = t.Turn, calls, tokens
			}
		}
	}
}

// redact replaces credentials in every text that v, a pointer, leads to.
func redact(s *secrets.Finder, v any) { redactValue(s, reflect.ValueOf(v)) }

func redactValue(s *secrets.Finder, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s.Redact("import", strings.ToValidUTF8(v.String(), "\uFFFD")))
	case reflect.Pointer:
		if !v.IsNil() {
			redactValue(s, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			redactValue(s, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			redactValue(s, v.Field(i))
		}
	}
}
