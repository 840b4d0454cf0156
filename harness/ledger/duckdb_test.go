package ledger

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// duckdbOutput is the output of testdata/duckdb/query.mjs.
type duckdbOutput struct {
	Tables map[string]struct {
		Rows  int
		Types map[string]string
	}
	Checks []struct {
		EpisodeID string `json:"episode_id"`
		Name      string
		Passed    bool
		Detail    string
	}
	Violations []struct {
		EpisodeID string `json:"episode_id"`
		Turn      int32
		Violation string
	}
	Turns []duckdbTurn
	Sums  struct {
		Known    int
		TokensIn string `json:"tokens_in"`
		Ordered  int
	}
	Answers []struct {
		EpisodeID string `json:"episode_id"`
		Answer    string
	}
	Late     int
	Metadata []struct{ Key, Value string }
}

type duckdbTurn struct {
	EpisodeID   string `json:"episode_id"`
	Turn        int32
	TsStart     string `json:"ts_start"`
	Seed        string
	TokensIn    *string `json:"tokens_in"`
	CostNanoUSD *string `json:"cost_nanousd"`
	HTTPStatus  *int32  `json:"http_status"`
	Confidence  *float64
	Thrash      bool
	Reason      string
}

// DuckDB reads the files that cupel writes. `make duckdb` installs the module and runs this test.
func TestDuckDB(t *testing.T) {
	dir, rows := t.TempDir(), sampleRows(400)
	require.NoError(t, writeRows(dir, rows))
	var got duckdbOutput
	runDuckDB(t, &got, "query.mjs", dir)

	requireTypes(t, got)
	requireLists(t, rows, got)
	requireTurns(t, rows, got)
	require.Equal(t, len(rows.Episodes), got.Tables["episodes"].Rows)
	require.Equal(t, len(rows.Turns), got.Tables["turns"].Rows)
	require.Equal(t, len(rows.ToolCalls), got.Tables["tool_calls"].Rows)
	require.Len(t, got.Answers, len(rows.Episodes))
	for i, e := range rows.Episodes {
		require.Equal(t, e.Answer, got.Answers[i].Answer)
	}
	late := 0
	for _, c := range rows.ToolCalls {
		if c.Seq >= 3 {
			late++
		}
	}
	require.Equal(t, late, got.Late)
	meta := map[string]string{}
	for _, kv := range got.Metadata {
		meta[kv.Key] = kv.Value
	}
	require.Equal(t, "turns", meta[keyTable])
	require.Equal(t, tableDigest(rows.Turns), meta[keyRows])
}

// runDuckDB decodes the output of a script below testdata/duckdb into out.
func runDuckDB(t *testing.T, out any, script, dir string, more ...string) {
	modules := testkit.Modules(t, "CUPEL_DUCKDB_DIR", "@duckdb/node-api: run make duckdb")
	args := append([]string{filepath.Join("testdata", "duckdb", script), dir, modules}, more...)
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Stderr = os.Stderr
	data, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, out))
}

// The statistics let DuckDB read one row group for one task.
func TestDuckDBSkipsRowGroups(t *testing.T) {
	dir, run := t.TempDir(), newEndless()
	run.write(t, dir, 8000, func(int) {}) // 40,000 turns
	task := run.at(5555).Episode.TaskID
	var got struct {
		Groups []struct {
			Rows      int
			Low, High string
		}
		N int
	}
	runDuckDB(t, &got, "skip.mjs", dir, task)
	require.Equal(t, 100, got.N, "20 episodes of 5 turns")
	hits, rows := 0, 0
	for i, g := range got.Groups {
		require.LessOrEqual(t, g.Rows, rowGroupRows)
		require.True(t, i == 0 || got.Groups[i-1].High <= g.Low, "row groups in order")
		if g.Low <= task && task <= g.High {
			hits++
		}
		rows += g.Rows
	}
	require.Greater(t, len(got.Groups), 2)
	require.Equal(t, 1, hits)
	require.Equal(t, 40_000, rows)
}

func requireTypes(t *testing.T, got duckdbOutput) {
	for table, want := range map[string]map[string]string{
		"episodes": {
			"run_id": "VARCHAR", "trial": "INTEGER", "seed": "BIGINT", "replayed": "BOOLEAN", "tokens_in": "BIGINT",
			"checks": `STRUCT("name" VARCHAR, passed BOOLEAN, detail VARCHAR)[]`, "ts_start": "TIMESTAMP WITH TIME ZONE",
		},
		"turns": {
			"violations": "VARCHAR[]", "warnings": "VARCHAR[]", "confidence": "DOUBLE", "http_status": "INTEGER",
			"ts_start": "TIMESTAMP WITH TIME ZONE", "ts_end": "TIMESTAMP WITH TIME ZONE", "duration_us": "BIGINT",
		},
		"tool_calls": {"tool_call_seq": "INTEGER", "ts_end": "TIMESTAMP WITH TIME ZONE", "deduped": "BOOLEAN"},
	} {
		for column, typ := range want {
			require.Equal(t, typ, got.Tables[table].Types[column], "%s.%s", table, column)
		}
	}
	require.Len(t, got.Tables["episodes"].Types, len((&Episode{}).fields(nil)))
	require.Len(t, got.Tables["turns"].Types, len((&Turn{}).fields(nil)))
	require.Len(t, got.Tables["tool_calls"].Types, len((&ToolCall{}).fields(nil)))
}

func requireLists(t *testing.T, rows Rows, got duckdbOutput) {
	i := 0
	for _, e := range rows.Episodes {
		for _, c := range e.Checks {
			require.Equal(t, e.EpisodeID, got.Checks[i].EpisodeID)
			require.Equal(t, c, Check{got.Checks[i].Name, got.Checks[i].Passed, got.Checks[i].Detail})
			i++
		}
	}
	require.Len(t, got.Checks, i)
	i = 0
	for _, turn := range rows.Turns {
		for _, v := range turn.Violations {
			require.Equal(t, turn.EpisodeID, got.Violations[i].EpisodeID)
			require.Equal(t, turn.Turn, got.Violations[i].Turn)
			require.Equal(t, v, got.Violations[i].Violation)
			i++
		}
	}
	require.Len(t, got.Violations, i)
}

func requireTurns(t *testing.T, rows Rows, got duckdbOutput) {
	var known, ordered int
	var sum int64
	require.Len(t, got.Turns, len(rows.Turns))
	for i, turn := range rows.Turns {
		require.Equal(t, duckdbTurn{
			EpisodeID: turn.EpisodeID, Turn: turn.Turn,
			TsStart: time.UnixMicro(turn.TsStart).UTC().Format("2006-01-02T15:04:05.000000"),
			Seed:    strconv.FormatInt(turn.Seed, 10), TokensIn: decimal(turn.In), CostNanoUSD: decimal(turn.CostNanoUSD),
			HTTPStatus: turn.HTTPStatus, Confidence: turn.Confidence, Thrash: turn.Thrash, Reason: turn.Reason,
		}, got.Turns[i])
		if turn.In != nil {
			known++
			sum += *turn.In
		}
		if turn.TsStart < turn.TsEnd {
			ordered++
		}
	}
	require.Equal(t, known, got.Sums.Known)
	require.Equal(t, strconv.FormatInt(sum, 10), got.Sums.TokensIn)
	require.Equal(t, ordered, got.Sums.Ordered)
}

func decimal(n *int64) *string {
	if n == nil {
		return nil
	}
	s := strconv.FormatInt(*n, 10)
	return &s
}
