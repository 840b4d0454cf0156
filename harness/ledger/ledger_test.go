package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/harness/ledger/work"
)

// sampleRows sets every column of n episodes to values that vary as in real runs: a few models
// and tasks, unique ids and digests, nulls, lists.
func sampleRows(n int) Rows {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var rows Rows
	for i := range n {
		rec := sampleEpisode(r, i)
		rows.Episodes = append(rows.Episodes, rec.Episode)
		rows.Turns = append(rows.Turns, rec.Turns...)
		rows.ToolCalls = append(rows.ToolCalls, rec.ToolCalls...)
	}
	return rows
}

func sampleEpisode(r *rand.Rand, i int) EpisodeRows {
	start := int64(1_780_000_000_000_000) + int64(i)*60_000_000
	models := []string{"gpt-5-mini", "claude-sonnet-4-5", "gemini-3-flash", "qwen3-32b"}
	key := Key{
		RunID: "20260601T080000-6f1c2a", EpisodeID: fmt.Sprintf("01J%020d", i), Suite: "counts",
		TaskID: fmt.Sprintf("task-%06d", i/20), Candidate: fmt.Sprint("candidate-", i/5%4), Agent: "contract",
		Provider: "openai", Model: models[i/5%4], OutputMode: "json_schema", PromptProfile: "plain",
		Trial: int32(i%5 + 1), Seed: r.Int64(), Replayed: i%2 == 0,
	}
	rec := EpisodeRows{Episode: Episode{
		Key: key, Status: "done", StopReason: "finished", ExpectedStatus: "done", Solved: i%3 > 0,
		Answer: fmt.Sprintf("Der Zähler №%d steht bei %d 件.", i, r.IntN(1000)), Steps: 5, ToolCalls: 4, Clarifies: int32(i % 2),
		Violations: int32(i % 3), ThrashEvents: int32(i % 2), StallEvents: int32(i % 2), Tokens: sampleTokens(r, i), CostNanoUSD: some(r, i, 1e6),
		TsStart: start, ElapsedUs: new(r.Int64N(1e8)), InfraError: i%7 == 0, ErrorKind: []string{"", "rate_limit"}[i%2],
		ErrorText: []string{"", "429 too many requests"}[i%2], CassetteDigest: hexID(r), SuiteDigest: "5f0c", ConfigDigest: "77ab",
		StateBefore: []string{"", "0a"}[i%2], StateAfter: []string{"", "0a", "", "1b"}[i%4], HarmReason: []string{"", "", "", "stock changed"}[i%4],
	}}
	if i%2 > 0 {
		rec.Episode.Harm = new(i%4 == 3)
		rec.Episode.UserFaults = []string{"", "left the persona"}[i/2%2]
		rec.Episode.Injection, rec.Episode.AttackSucceeded = "exfiltrate", []*bool{nil, new(true), new(false)}[i%3]
	}
	for c := range i % 4 {
		rec.Episode.Checks = append(rec.Episode.Checks, Check{Name: fmt.Sprint("answer_", c), Passed: c%2 == 0, Detail: []string{"", "want 3, got 4"}[c%2]})
	}
	for q := range i % 3 {
		rec.Episode.Requests = append(rec.Episode.Requests, work.Request{SubAgent: []string{"", "bg_1"}[q], Tool: "delete-workflow", Kind: "approval", Severity: "warning",
			Message: "Allow it?", Say: []string{"approve", ""}[q], TsAsked: start + int64(q), WaitUs: int64(q) * 90_000_000})
	}
	for q := range i % 4 {
		task := work.Task{ID: []string{"build", "", "check"}[q], Plan: []int32{1, 0, 2}[q], Kind: "build-workflow", Title: "Bau №7", SubAgent: []string{"bg_1", "dg_1", ""}[q],
			State: []string{"succeeded", "failed", "planned"}[q], Reason: []string{"", "max_turns", ""}[q], TsStart: []*int64{new(start), new(start + 1), nil}[q]}
		if q == 0 {
			task.TsEnd = new(start + 9)
		}
		rec.Episode.Tasks = append(rec.Episode.Tasks, task)
	}
	for t := range 5 {
		at := start + int64(t)*2_000_000 + r.Int64N(1e6)
		turn := Turn{
			Key: key, Turn: int32(t + 1), Role: "main", Kind: []string{"act", "reflect"}[t%2], PlanStep: []string{"", "collect[2]"}[t%2], PlanRev: int32(t / 2),
			ActionID: hexID(r)[:26], ParentActionID: hexID(r)[:26], TsStart: at, TsEnd: at + 900_000, DurationUs: new(900_000 + int64(t)),
			TTFTUs: some(r, t, 1e6), Attempts: int32(1 + t%2), ErrorKind: []string{"", "timeout"}[t%2], FinishReason: "stop",
			ModelServed: key.Model + "-2026-01-01", ValidJSON: t != 2, Repaired: t == 2, Actionable: t != 3, ContractValid: t%2 == 0,
			NextActionType: "tool", NextActionName: "query_rows", Done: t == 4, Reason: "need rows", Tokens: sampleTokens(r, i+t),
			CostNanoUSD: some(r, t+1, 1e6), PriceDigest: "9a", Thrash: t == 3, Stall: t == 4, StepsUsed: int32(t + 1), ToolCallsUsed: int32(t),
			TokensUsed: int64(t) * 900, RequestDigest: hexID(r), Cassette: key.Candidate + "/" + key.TaskID + "/1.yaml", Interaction: int32(t),
			TraceID: hexID(r)[:32], SpanID: hexID(r)[:16],
		}
		if t%3 > 0 {
			status, confidence := int32(200+t), r.Float64()
			turn.HTTPStatus, turn.Confidence = &status, &confidence
			turn.Violations = []string{"/next_action/name: unknown tool", "/done: missing"}[:t%3]
			turn.Warnings = []string{"extra text"}
		}
		rec.Turns = append(rec.Turns, turn)
		rec.ToolCalls = append(rec.ToolCalls, ToolCall{
			Key: key, Seq: int32(t + 1), Turn: int32(t + 1), ActionID: turn.ActionID, ParentActionID: turn.ParentActionID, ToolName: "query_rows",
			ArgsHash: hexID(r), IdempotencyKey: hexID(r)[:20], RetryIndex: int32(t % 2), TsStart: at, TsEnd: at + 5, DurationUs: 5 + int64(t),
			Outcome: []string{"ok", "error"}[t%2], ErrorCode: []string{"", "not_found"}[t%2], Deduped: t == 2, CircuitOpen: t == 3, DurationSpike: t == 1,
			StepsUsed: int32(t + 1), ToolCallsUsed: int32(t + 1), TokensUsed: int64(t) * 900,
		})
		if i%2 > 0 {
			call := &rec.ToolCalls[t]
			call.Changes, call.ChangedPaths = new(int32(t%2)), [][]string{nil, {"orders.O7.status"}}[t%2]
		}
	}
	return rec
}

// sampleTokens mixes null, zero and numbers.
func sampleTokens(r *rand.Rand, i int) Tokens {
	return Tokens{In: some(r, i, 4000), Out: some(r, i, 300), CacheRead: some(r, i+1, 2000), CacheWrite: some(r, i+2, 100), Reasoning: some(r, i+1, 1)}
}

func some(r *rand.Rand, i int, most int64) *int64 {
	if i%3 == 0 {
		return nil
	}
	n := r.Int64N(most)
	return &n
}

func hexID(r *rand.Rand) string {
	return fmt.Sprintf("%016x%016x%016x%016x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
}

// memory is a file in memory.
type memory struct{ data []byte }

func (m *memory) Write(p []byte) (int, error) {
	m.data = append(m.data, p...)
	return len(p), nil
}

func (m *memory) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.data).ReadAt(p, at)
}

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	return copy(m.data[at:], p), nil
}

// encodeTable returns the file of a table, and decodeFile is its inverse.
func encodeTable[T any, P record[T]](table string, rows []T) ([]byte, error) {
	return encodeTableOf[T, P](table, "", rows)
}

// encodeTableOf returns the file of a table with the digest of a manifest in its footer.
func encodeTableOf[T any, P record[T]](table, manifest string, rows []T) ([]byte, error) {
	var to memory
	w := newTableWriter[T, P](table, &to)
	if err := w.add(rows...); err != nil {
		return nil, err
	}
	err := w.finish(manifest)
	return to.data, err
}

func decodeFile[T any, P record[T]](table string, file []byte) ([]T, error) {
	r, err := newTableReader[T, P](table, bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	defer r.close()
	var rows []T
	for {
		batch, err := r.next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, batch...)
	}
}

// leaves calls visit with the index path of every Go field below v that is a column.
func leaves(v reflect.Value, visit func(name string, v reflect.Value)) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Anonymous {
			leaves(v.Field(i), visit)
		} else {
			visit(f.Name, v.Field(i))
		}
	}
}

func TestFieldsAreTheColumnsInOrder(t *testing.T) {
	testFields[Episode](t)
	testFields[Turn](t)
	testFields[ToolCall](t)
}

func testFields[T any, P record[T]](t *testing.T) {
	var row T
	got := P(&row).fields(nil)
	i := 0
	leaves(reflect.ValueOf(&row).Elem(), func(name string, v reflect.Value) {
		if i >= len(got) || got[i] != v.Addr().Interface() {
			t.Fatalf("%T: field %d is not %s", row, i, name)
		}
		i++
	})
	if i != len(got) {
		t.Fatalf("%T: %d fields, %d listed", row, i, len(got))
	}
}

// The ledger names the roles of turns itself, so that it links no agent.
func TestRescueIsTheAgentsWord(t *testing.T) { require.Equal(t, turn.RoleRescue, roleRescue) }
