package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// cupelIn runs the program and returns its exit code and output.
func cupelIn(args ...string) (int, string) {
	var out bytes.Buffer
	p := &process{args: args, stdout: &out, stderr: &out, env: func(string) (string, bool) { return "", false }, now: time.Now}
	return execute(p), out.String()
}

// builtin is the built-in suite, loaded once. No test may change it.
var builtin = sync.OnceValues(func() (*goldens.Suite, error) { return load.Suite(counts.FS, "builtin:counts", counts.Worlds()) })

// judged returns the tasks of the built-in suite for models.
func judged(t testing.TB) (tasks []goldens.Task) {
	t.Helper()
	s, err := builtin()
	require.NoError(t, err)
	for _, task := range s.Tasks {
		if !task.Scripted {
			tasks = append(tasks, task)
		}
	}
	return tasks
}

// Every task of the built-in suite, one in 13 of them as a sample, is added to one folder, which is
// empty at first. The tasks do not change, pass lint, and replay from their cassettes like their
// source episodes. Solved ones are solved by their drafted checks.
func TestSuiteAddRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	t.Parallel()
	dir := t.TempDir()
	runs, mine := filepath.Join(dir, "runs"), filepath.Join(dir, "mine")
	code, out := cupelIn("run", "--runs", runs, "--candidate", "strong", "--quiet")
	require.Zero(t, code, out)
	_, _, before, err := rundir.Load(runs, "latest")
	require.NoError(t, err)
	source, err := builtin()
	require.NoError(t, err)

	solved := map[string]bool{}
	require.Len(t, before, len(judged(t)))
	all := before
	before = nil
	for i := 0; i < len(all); i += testkit.Long(testkit.SlowN(13, 4), 1) {
		before = append(before, all[i])
	}
	for _, e := range before {
		code, out := cupelIn("suite", "add", "--runs", runs, "--from", "latest/"+e.EpisodeID, "--suite", mine)
		require.Zero(t, code, "%s: %s", e.TaskID, out)
		require.Contains(t, out, "run     cupel run --suite", e.TaskID)
		data, err := cassette.Load(cassette.File{Dir: filepath.Join(mine, "cassettes"), Path: cassettes.Path(e.TaskID+"-strong", "strong", 1)})
		require.NoError(t, err)
		require.Equal(t, []any{"mine", e.TaskID + "-strong", "strong", 1}, []any{data.Header.Suite, data.Header.Task, data.Header.Candidate, data.Header.Trial})
		solved[e.TaskID+"-strong"] = e.Solved
	}

	made, _, err := (&process{}).loadSuite(mine)
	require.NoError(t, err)
	require.Len(t, made.Tasks, len(before))
	for _, is := range made.Tasks {
		was := source.Tasks[taskIndex(source, strings.TrimSuffix(is.ID, "-strong"))]
		require.Equal(t, given(t, was), given(t, is), is.ID)
		if !solved[is.ID] {
			require.Equal(t, was.Expect, is.Expect, is.ID)
		}
	}
	require.ElementsMatch(t, source.Tools, made.Tools)

	code, out = cupelIn("cassette", "status", "--suite", mine)
	require.Zero(t, code, out)
	require.Contains(t, out, fmt.Sprintf("%d fresh, 0 stale", len(before)), "the same task, tools and budgets as recorded")

	code, out = cupelIn("run", "--runs", filepath.Join(dir, "again"), "--suite", mine, "--quiet")
	require.Zero(t, code, out)
	_, m, after, err := rundir.Load(filepath.Join(dir, "again"), "latest")
	require.NoError(t, err)
	require.Equal(t, "complete", m.Status)
	require.Len(t, after, len(before))
	for _, e := range after {
		require.Equal(t, solved[e.TaskID], e.Solved, e.TaskID)
	}
}

// given returns the parts of a task that an agent receives, as text.
func given(t *testing.T, task goldens.Task) string {
	t.Helper()
	text, err := json.MarshalIndent(struct {
		Request, Constraints, Zone string
		Tools                      []string
		World                      any
		Budgets                    any
		Replies                    []string
		Approvals                  []bool
	}{task.Request, task.Constraints, task.World.Zone.String(), task.Tools, struct {
		world.Spec
		Now, Zone string
	}{task.World, task.World.Now.UTC().Format(time.RFC3339Nano), ""}, task.Budgets, task.Replies, task.Approvals}, "", " ")
	require.NoError(t, err)
	return string(text)
}

// Either all files are written or none, and no file is overwritten.
func TestWriteAll(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("old"), []byte("1"), 0o644))

	err := writeAll([]output{{path: at("sub/new"), text: []byte("n")}, {path: at("old"), text: []byte("2")}})
	require.ErrorContains(t, err, "is there already")
	require.NoFileExists(t, at("sub/new"))

	require.NoError(t, os.Mkdir(at("taken"), 0o755))
	require.NoError(t, os.WriteFile(at("taken/x"), nil, 0o644))
	err = writeAll([]output{{path: at("new"), text: []byte("n")}, {path: at("taken"), text: []byte("2"), replaces: true}})
	require.Error(t, err)
	require.NoFileExists(t, at("new"), "what was in place already is taken away")

	require.NoError(t, writeAll([]output{{path: at("sub/new"), text: []byte("n")}, {path: at("old"), text: []byte("2"), replaces: true}}))
	text, err := os.ReadFile(at("old"))
	require.NoError(t, err)
	require.Equal(t, "2", string(text))
	left, err := filepath.Glob(at("*/.*.tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
	left, err = filepath.Glob(at(".*.tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestFreshID(t *testing.T) {
	require.Equal(t, "G41-weak", freshID("G41", "weak"))
	require.Len(t, freshID(strings.Repeat("x", 95), "weak"), 90)
	require.Equal(t, strings.Repeat("x", 89), freshID(strings.Repeat("x", 89), "weak"))
}
