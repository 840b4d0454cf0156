package expr

import (
	"context"
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

const benchQuery = `count(), p95(duration_us), mean(cost_nanousd) where role == "main" group by candidate, provider`

// benchTurns returns how many turns the benchmarks read: CUPEL_BENCH_TURNS, or few.
func benchTurns() int {
	if n, err := strconv.Atoi(os.Getenv("CUPEL_BENCH_TURNS")); err == nil {
		return n
	}
	return 100_000
}

// Floor: the same query by DuckDB, which BenchmarkDuckDB reports as ratio.
func BenchmarkQuery(b *testing.B) {
	dir := sampleRun(b, benchTurns()/5)
	q, err := ParseQuery(benchQuery)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		r, err := q.Run(context.Background(), dir)
		require.NoError(b, err)
		require.Len(b, r.Rows, 4)
	}
	b.ReportMetric(float64(benchTurns())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// duckdb runs a query several times and returns the rows of the last run and the
// shortest time.
func duckdb(t testing.TB, dir, sql string, times int) (rows []map[string]any, least time.Duration) {
	modules := testkit.Modules(t, "CUPEL_DUCKDB_DIR", "@duckdb/node-api: run make duckdb")
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "duckdb.mjs"), modules, strconv.Itoa(times), sql)
	cmd.Dir, _ = os.Getwd()
	cmd.Env = append(os.Environ(), "RUN="+dir)
	cmd.Stderr = os.Stderr
	data, err := cmd.Output()
	require.NoError(t, err)
	var out struct {
		Rows []map[string]any
		Ms   float64
	}
	require.NoError(t, json.Unmarshal(data, &out))
	return out.Rows, time.Duration(out.Ms * float64(time.Millisecond))
}

const benchSQL = `SELECT candidate, provider, count(*)::DOUBLE AS n, quantile_cont(duration_us, 0.95)::DOUBLE AS p95, avg(cost_nanousd)::DOUBLE AS cost
	FROM read_parquet(getenv('RUN') || '/turns.parquet') WHERE role = 'main' GROUP BY candidate, provider ORDER BY candidate, provider`

// DuckDB's result equals cupel's, and takes at least a third of the time. `make duckdb`
// installs it; CUPEL_BENCH_TURNS=10000000 makes the file of docs/performance.md.
func TestDuckDBAgrees(t *testing.T) {
	testkit.Modules(t, "CUPEL_DUCKDB_DIR", "@duckdb/node-api: run make duckdb")
	dir := sampleRun(t, benchTurns()/5)
	q, err := ParseQuery(benchQuery)
	require.NoError(t, err)
	ours := time.Hour
	var got Result
	for range 3 {
		start := time.Now()
		got, err = q.Run(context.Background(), dir)
		require.NoError(t, err)
		ours = min(ours, time.Since(start))
	}
	want, theirs := duckdb(t, dir, benchSQL, 3)
	require.Len(t, got.Rows, len(want))
	for i, w := range want {
		row := got.Rows[i]
		require.Equal(t, w["candidate"], row[0].Text)
		require.Equal(t, w["provider"], row[1].Text)
		for j, name := range []string{"n", "p95", "cost"} {
			require.InEpsilon(t, w[name], row[2+j].Number, 1e-9, name)
		}
	}
	t.Logf("%d turns: cupel %v, DuckDB %v, ratio %.2f", benchTurns(), ours, theirs, float64(ours)/float64(theirs))
	if benchTurns() >= 1_000_000 { // with fewer turns, the start takes most of the time
		require.Less(t, ours, 3*theirs)
	}
}
