package drive

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// loggedCall is the input of a conformance row for the event logger of the seed.
type loggedCall struct {
	RunID      string          `json:"run_id"`
	Turn       *int            `json:"turn"`
	ToolName   string          `json:"tool_name"`
	Key        string          `json:"idempotency_key"`
	RetryIndex int             `json:"retry_index"`
	Seq        int32           `json:"tool_call_seq"`
	Start      time.Time       `json:"ts_start"`
	End        time.Time       `json:"ts_end"`
	DurationMS int64           `json:"duration_ms"`
	Outcome    string          `json:"outcome"`
	ErrorCode  *string         `json:"error_code"`
	Result     json.RawMessage `json:"tool_result"`
}

type gated struct {
	Decision string          `json:"decision"`
	Deduped  bool            `json:"deduped"`
	Key      string          `json:"idempotency_key"`
	Hash     string          `json:"tool_args_hash"`
	Cached   json.RawMessage `json:"cached_result"`
}

// TestLedgerSequenceConformance runs the ledger_seq rows of the conformance data. It
// checks gates with the key and the dedupe cache, and logs with the rows of the ledger.
func TestLedgerSequenceConformance(t *testing.T) {
	type testCase struct {
		ID    string
		Steps []struct {
			Op    string `json:"op"`
			NowMS int64  `json:"now_ms"`
			RunID string `json:"run_id"`
			Text  string `json:"json_text"`
		}
		Expect []struct {
			OK    bool
			Error string
			Out   json.RawMessage
		}
	}
	rows := testkit.Conformance[testCase](t, "contract-cases.jsonl", "fn", "ledger_seq")
	require.Len(t, rows, 28)
	for _, row := range rows {
		t.Run(row.ID, func(t *testing.T) {
			runs := map[string]*sequence{}
			for i, s := range row.Steps {
				if s.Op == "gate" {
					require.Equal(t, row.Expect[i].Error, gate(t, runs, s.RunID, s.Text, time.UnixMilli(s.NowMS), row.Expect[i].Out))
					continue
				}
				require.Equal(t, row.Expect[i].Error, logCall(t, runs, s.Text, row.Expect[i].Out))
			}
		})
	}
}

// sequence is the cache and the rows of one run.
type sequence struct {
	cache guard.Dedupe[json.RawMessage]
	rows  rowBuilder
}

func sequenceOf(runs map[string]*sequence, id string) *sequence {
	if runs[id] == nil {
		p := Planned{Suite: &goldens.Suite{}}
		runs[id] = &sequence{rows: rowBuilder{Planned: &p, key: p.rowKey(id, "E", false), actions: map[int]string{}}}
	}
	return runs[id]
}

// gate asks the dedupe cache. It returns the error code of an invalid call.
func gate(t *testing.T, runs map[string]*sequence, run, text string, now time.Time, want json.RawMessage) string {
	var in struct {
		Tool string          `json:"tool_name"`
		Args json.RawMessage `json:"tool_args"`
		TTL  json.RawMessage `json:"ttlSeconds"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &in))
	s := sequenceOf(runs, run)
	s.cache.TTL = guard.DedupeTTL
	if in.TTL != nil {
		var seconds float64 // a TTL must be a JSON number, because values are not converted
		if json.Unmarshal(in.TTL, &seconds) != nil {
			return "ttl_invalid"
		}
		s.cache.TTL = time.Duration(seconds * float64(time.Second))
	}
	key, hash, err := tool.Key(tool.Call{Name: in.Tool, Args: in.Args})
	require.NoError(t, err)
	value, decision := s.cache.Gate(key, now)
	got := gated{Decision: [...]string{"execute", "cached", "in_flight"}[decision], Key: key, Hash: hash}
	if decision == guard.Cached {
		got.Deduped, got.Cached = true, value
	}
	var expected gated
	require.NoError(t, json.Unmarshal(want, &expected))
	if expected.Decision == "in_flight" {
		expected.Deduped = false
	}
	if len(expected.Cached) > 0 {
		require.JSONEq(t, string(expected.Cached), string(got.Cached))
	}
	expected.Cached, got.Cached = nil, nil
	require.Equal(t, expected, got)
	return ""
}

// logCall writes the row of a call and updates the cache.
func logCall(t *testing.T, runs map[string]*sequence, text string, want json.RawMessage) string {
	var in, expected loggedCall
	require.NoError(t, json.Unmarshal([]byte(text), &in))
	if in.RunID == "" {
		// The harness makes run ids itself and never writes a row without one.
		require.Len(t, NewRunID(time.UnixMilli(0)), 26)
		return "run_id_required"
	}
	require.NoError(t, json.Unmarshal(want, &expected))
	s := sequenceOf(runs, in.RunID)
	code := ""
	if in.ErrorCode != nil {
		code = *in.ErrorCode
	}
	i := s.rows.tool(
		agent.CallTool{Call: tool.Call{Name: in.ToolName}, Key: in.Key, RetryIndex: in.RetryIndex},
		world.Effect{Result: tool.Result{Outcome: tool.Outcome(in.Outcome), Code: code, Value: in.Result}}, "A", in.Start, in.End)
	s.cache.Settle(in.Key, in.Result, in.Outcome == "ok" && in.Result != nil)
	row := s.rows.tools[i]
	require.Equal(t, in.RunID, row.RunID)
	require.Equal(t, expected.Seq, row.Seq)
	require.Equal(t, expected.DurationMS*1000, row.DurationUs)
	require.Equal(t, expected.Start.UnixMicro(), row.TsStart)
	require.Equal(t, expected.End.UnixMicro(), row.TsEnd)
	require.Equal(t, []string{expected.ToolName, expected.Key, expected.Outcome, code}, []string{row.ToolName, row.IdempotencyKey, row.Outcome, row.ErrorCode})
	require.Equal(t, int32(expected.RetryIndex), row.RetryIndex)
	return ""
}
