package process_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// python returns the path of a Python 3. Without one, it skips the test.
func python(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"/usr/bin/python3", "python3"} { // first, because a shim on PATH starts slowly
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-c", "").Run() == nil {
			return path
		}
	}
	t.Skip("the adapter for Python needs python3, which is not installed")
	return ""
}

// adapter writes the Python of docs/worlds.md to a new folder: cupel_world.py and
// library_world.py.
func adapter(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(testkit.Doc(t, "worlds.md"), -1)
	require.Len(t, blocks, 2)
	require.Less(t, strings.Count(blocks[0][1], "\n"), 80, "lines of the adapter")
	for i, name := range []string{"cupel_world.py", "library_world.py"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(blocks[i][1]), 0o644))
	}
	return dir
}

// pythonAirline returns the world of score.py behind the adapter.
func pythonAirline(t testing.TB) process.Kind {
	t.Helper()
	testkit.Shared(t, "published", "tau-airline", "score.py")
	dir := adapter(t)
	program, err := os.ReadFile(filepath.Join("testdata", "airline_world.py"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "airline_world.py"), program, 0o644))
	data := filepath.Join(testkit.Root(t), "..", "shared", "published", "tau-airline")
	return process.Kind{Command: []string{python(t), "airline_world.py", data}, Dir: dir, Timeout: time.Minute}
}

// TestAdapter runs the world of docs/worlds.md.
func TestAdapter(t *testing.T) {
	k := process.Kind{Command: []string{python(t), "library_world.py"}, Dir: adapter(t), Timeout: 30 * time.Second}
	tools, err := k.List(t.Context())
	require.NoError(t, err)
	require.Len(t, tools, 1)
	require.Equal(t, "lend", tools[0].Name)
	require.JSONEq(t, `{"type":"object","properties":{"book":{"type":"string"}},"required":["book"]}`, string(tools[0].Schema))

	w, err := k.Open(t.Context(), world.Start{State: json.RawMessage(`{"books":{"b1":{"title":"Dune","copies":1}},"loans":[]}`), Zone: time.UTC})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	lend := func(name, book string) world.Effect {
		e, err := w.Call(t.Context(), tool.Call{Name: name, Args: json.RawMessage(`{"book":"` + book + `"}`)}, time.Time{})
		require.NoError(t, err)
		return e
	}
	require.Equal(t, world.Effect{Result: tool.Result{Outcome: tool.OK, Value: json.RawMessage(`{"left":0,"lent":"b1"}`)}, Changed: true}, lend("lend", "b1"))
	for _, e := range []struct {
		got           world.Effect
		code, message string
	}{
		{lend("lend", "b1"), "E_LENT", "all copies are lent"},
		{lend("lend", "b2"), "E_NOT_FOUND", "there is no book b2"},
		{lend("burn", "b1"), "E_NO_TOOL", "there is no tool burn"},
	} {
		require.Equal(t, world.Refuse(e.code, "%s", e.message), e.got)
	}
	state, err := w.State(t.Context())
	require.NoError(t, err)
	require.JSONEq(t, `{"books":{"b1":{"title":"Dune","copies":0}},"loans":["b1"]}`, string(state))

	_, err = w.Call(t.Context(), tool.Call{Name: "lend", Args: json.RawMessage(`{"shelf":1}`)}, time.Time{})
	require.ErrorContains(t, err, "TypeError: ")
	require.ErrorContains(t, err, "ended (exit status 1) before it answered call")
}

// TestAirlineInPython checks that the world of score.py behind the adapter agrees with
// the Go world on results and states. It makes a few calls; TestAirlineRun makes all.
func TestAirlineInPython(t *testing.T) {
	if testing.Short() {
		t.Skip("long; not with -short")
	}
	k := pythonAirline(t)
	other := goAirline(t)
	for i, c := range conversations(t)[:testkit.SlowN(2, 4)] {
		results, state := execute(t, k, c.calls)
		want, wantState := execute(t, other, c.calls)
		require.Equal(t, want, results, "conversation %d", i)
		require.Equal(t, string(wantState), string(state), "conversation %d", i)
	}
}
