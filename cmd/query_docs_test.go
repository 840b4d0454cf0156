package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/expr"
)

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```")

// recipes returns the blocks of docs/query.md in a language.
func recipes(t *testing.T, language string) (blocks []string) {
	text := testkit.Doc(t, "query.md")
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	require.NotEmpty(t, blocks)
	return blocks
}

// queryRun makes a run in a new working directory.
func queryRun(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := runCupel("run", "--task", "G0*", "--task", "G41", "--candidate", "strong", "--candidate", "weak")
	require.Zero(t, code, stderr)
}

func runCupel(args ...string) (code int, stdout, stderr string) {
	var out, problems strings.Builder
	none := func(string) (string, bool) { return "", false }
	code = execute(&process{args: args, stdout: &out, stderr: &problems, env: none, now: time.Now})
	return code, out.String(), problems.String()
}

// The documentation and the parser have the same functions.
func TestQueryLanguageTable(t *testing.T) {
	text := testkit.Doc(t, "query.md")
	for _, f := range []string{"count(", "share(", "mean(", "sum(", "min(", "max(", "rate("} {
		require.Contains(t, text, "`"+f)
		_, err := expr.ParseQuery(f + map[bool]string{true: "solved)", false: "steps)"}[f == "count(" || f == "share("])
		require.NoError(t, err)
	}
}

func TestQueryRecipesDuckDB(t *testing.T) {
	modules := testkit.Modules(t, "CUPEL_DUCKDB_DIR", "@duckdb/node-api: run make duckdb")
	blocks := recipes(t, "sql")
	script, err := filepath.Abs(filepath.Join("..", "reports", "expr", "testdata", "duckdb.mjs"))
	require.NoError(t, err)
	queryRun(t)
	first := ""
	for _, sql := range blocks {
		data := otherProgram(t, "node", script, modules, "1", sql)
		var got struct{ Rows []map[string]any }
		require.NoError(t, json.Unmarshal([]byte(data), &got))
		require.NotEmpty(t, got.Rows, sql)
		if first == "" {
			for _, row := range got.Rows {
				first += fmt.Sprintf("%v,%v,%.4f\n", row["candidate"], row["turns"], row["p95_s"])
			}
		}
	}
	// cupel query can also answer the first question.
	code, stdout, stderr := runCupel("query", "latest", `count(), p95(duration_us) where role == "main" group by candidate`, "-o", "-.csv")
	require.Zero(t, code, stderr)
	want := ""
	for line := range strings.Lines(stdout[strings.IndexByte(stdout, '\n')+1:]) {
		f := strings.Split(strings.TrimSpace(line), ",")
		var us float64
		_, err := fmt.Sscan(f[2], &us)
		require.NoError(t, err)
		want += fmt.Sprintf("%s,%s,%.4f\n", f[0], f[1], us/1e6)
	}
	require.Equal(t, want, first)
}

// CUPEL_PYTHON is a Python with the modules; the default is python3.
func TestQueryRecipesPython(t *testing.T) {
	python := os.Getenv("CUPEL_PYTHON")
	if python == "" {
		python = "python3"
	}
	blocks := recipes(t, "python")
	if err := exec.CommandContext(t.Context(), python, "-c", "import polars, pandas, pyarrow").Run(); err != nil {
		t.Skip(python + " has no polars, pandas or pyarrow")
	}
	queryRun(t)
	for _, block := range blocks {
		out := otherProgram(t, python, "-c", block)
		require.Contains(t, out, "strong", block)
		require.Contains(t, out, "p95_s", block)
	}
}

func TestQueryRecipesClickHouse(t *testing.T) {
	path, err := exec.LookPath("clickhouse")
	blocks := recipes(t, "clickhouse")
	if err != nil {
		t.Skip("no clickhouse on the PATH")
	}
	queryRun(t)
	for _, sql := range blocks {
		require.NotEmpty(t, otherProgram(t, path, "local", "--query", sql), sql)
	}
}

// otherProgram runs another program in the working directory.
func otherProgram(t *testing.T, name string, args ...string) string {
	cmd := exec.CommandContext(t.Context(), name, args...)
	var problems strings.Builder
	cmd.Stderr = &problems
	cmd.Env = append(os.Environ(), "RUN=")
	out, err := cmd.Output()
	require.NoError(t, err, problems.String())
	return string(out)
}
