package suiteimport

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/testkit"
)

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine")
	}
}

// imported imports a domain and loads the suite.
func imported(t *testing.T, dir string) (*goldens.Suite, string) {
	t.Helper()
	needPython(t)
	out := filepath.Join(t.TempDir(), "suite")
	require.NoError(t, write(Host{Stdout: new(strings.Builder)}, "tau-bench", formats["tau-bench"], dir, out))
	suite, err := load.Suite(os.DirFS(out), out, nil)
	require.NoError(t, err)
	require.NoError(t, suite.Lint())
	return suite, out
}

// hashAfter makes the calls of a reference solution in the world of a task.
func hashAfter(t *testing.T, task goldens.Task, out string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, "playbook.yaml"))
	require.NoError(t, err)
	var book struct {
		Playbook map[string][]struct {
			Call string
			Args map[string]any
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &book))
	require.NotEmpty(t, book.Playbook[task.ID])
	w, err := task.World.Maker.Open(t.Context(), world.Start{Now: task.World.Now, Zone: task.World.Zone})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	for _, step := range book.Playbook[task.ID] {
		if step.Call == "" {
			continue
		}
		args, err := json.Marshal(step.Args)
		require.NoError(t, err)
		e, err := w.Call(t.Context(), tool.Call{Name: step.Call, Args: args}, task.World.Now)
		require.NoError(t, err)
		require.Equal(t, tool.OK, e.Outcome)
	}
	state, err := w.State(t.Context())
	require.NoError(t, err)
	var is struct{ Hash string }
	require.NoError(t, json.Unmarshal(state, &is))
	return is.Hash
}

func wantedHash(task goldens.Task) any { return task.Expect[0].State[0].Wants["is"] }

// A checkout of the benchmark is imported without its packages.
func TestTauBench(t *testing.T) {
	suite, out := imported(t, filepath.Join("testdata", "tau", "bakery"))
	require.Len(t, suite.Tasks, 3)
	byID := map[string]goldens.Task{}
	for _, task := range suite.Tasks {
		byID[task.ID] = task
		require.Equal(t, wantedHash(task), hashAfter(t, task, out), task.ID)
		require.Contains(t, task.Constraints, "# Bakery policy\n\nCancel pending orders only")
		require.Equal(t, 30, task.User.Turns)
		require.Len(t, task.Expect, 3)
	}
	require.Equal(t, "You are Ann. You want to cancel your order #B1.", byID["t0"].User.Goal)
	require.Equal(t, "Hello, I need your help. My user id is ann_1.", byID["t0"].Request)
	require.NotEqual(t, byID["t1"].Request, byID["t2"].Request, "a simulated model tells the tasks of a user apart")
	require.Equal(t, wantedHash(byID["t1"]), wantedHash(byID["t2"]), "neither changes anything")
	require.NotEqual(t, wantedHash(byID["t0"]), wantedHash(byID["t1"]))
	require.Equal(t, []string{"(?i)9,*0,*0", "(?i)1,*2,*5,*0"}, byID["t1"].Expect[0].Matches)
	for name, want := range map[string]bool{"bakery/tools/get_order.py": true, "bakery/data/orders.json": true, "bakery/tasks_test.py": true, "bakery/__init__.py": false, "cupel_world.py": true} {
		_, err := os.Stat(filepath.Join(out, name))
		require.Equal(t, want, err == nil, name)
	}

	// The world refuses files that are not those of the import.
	require.NoError(t, os.WriteFile(filepath.Join(out, "bakery", "data", "orders.json"), []byte("{}"), 0o600))
	_, err := byID["t0"].World.Maker.Open(t.Context(), world.Start{Zone: byID["t0"].World.Zone})
	require.ErrorContains(t, err, "bakery/data/orders.json is not the file that")
}

// TestPublishedTauBench imports the published airline: all 50 goal states have the hashes of the
// published rewards.
func TestPublishedTauBench(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	var expected struct {
		PerTrajectory []struct {
			TaskID   int    `json:"task_id"`
			GoalHash string `json:"goal_hash"`
		} `json:"per_trajectory"`
	}
	require.NoError(t, json.Unmarshal(testkit.Shared(t, "published", "tau-airline", "expected.json"), &expected))
	goals := map[string]string{}
	for _, one := range expected.PerTrajectory {
		goals[fmt.Sprint("t", one.TaskID)] = one.GoalHash
	}
	suite, out := imported(t, filepath.Join(testkit.Root(t), "..", "shared", "published", "tau-airline"))
	require.Len(t, suite.Tasks, 50)
	require.Len(t, suite.Tools, 14)
	says := 0
	for i, task := range suite.Tasks {
		require.Equal(t, goals[task.ID], wantedHash(task), task.ID)
		if len(task.Expect[0].Matches) > 0 {
			says++
		}
		if i < testkit.Long(5, 50) {
			require.Equal(t, goals[task.ID], hashAfter(t, task, out), task.ID)
		}
	}
	require.Equal(t, 4, says)
}

// The domain must have what the suite needs; what its code says when it fails is in the error.
func TestTauBenchRefuses(t *testing.T) {
	needPython(t)
	files := func(changed fstest.MapFS) fstest.MapFS {
		all := fstest.MapFS{
			"wiki.md": {Data: []byte("Be kind.")}, "tools.json": {Data: []byte("[]")}, "tasks.jsonl": {Data: []byte("")},
			"score.py": {Data: []byte("class World:\n  pass\ndef load_base():\n  return ()\n")},
		}
		for name, f := range changed {
			all[name] = f
		}
		return all
	}
	for name, tt := range map[string]struct {
		changed fstest.MapFS
		want    string
	}{
		"no tasks":     {nil, "the domain has no tools or no tasks"},
		"broken world": {fstest.MapFS{"score.py": {Data: []byte("raise ValueError('no flights')")}}, "ValueError: no flights"},
		"broken tasks": {fstest.MapFS{"tasks.jsonl": {Data: []byte("{")}}, "JSONDecodeError"},
		"prints more":  {fstest.MapFS{"score.py": {Data: []byte("print('hello')\nclass World:\n  pass\ndef load_base():\n  return ()\n")}}, "its output is not the JSON object that is expected"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readTauBench(source{"d", files(tt.changed)})
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := readTauBench(source{"d", fstest.MapFS{"tasks_test.py": {}}})
	require.ErrorContains(t, err, "no policy; name the folder of a domain, such as tau_bench/envs/airline")
}

// What the agent must say is found whatever its case, and with commas between digits.
func TestSaid(t *testing.T) {
	require.Equal(t, `(?i)1,*6,*2,*8,*\.,*5`, said("1628.5"))
}

// The adapter is the one that the documentation shows.
func TestAdapterIsThatOfTheDocs(t *testing.T) {
	text, err := tauPrograms.ReadFile("taubench/cupel_world.py")
	require.NoError(t, err)
	require.Contains(t, testkit.Doc(t, "worlds.md"), "```python\n"+string(text)+"```")
}

// FuzzTauTasks checks that what a domain prints becomes YAML that can be read, or an error.
func FuzzTauTasks(f *testing.F) {
	f.Add(`{"tools":[{"name":"a","description":"b","schema":{}}],"tasks":[{"id":0,"user_id":"u","instruction":"x","actions":[{"name":"a","kwargs":{"q":"\u00e9 {{1}}"}}],"outputs":["1,5"],"hash":"h"}]}`)
	f.Add(`{"tasks":[{"id":"a\"b","actions":[{"name":"respond"}]},{"id":"a\"b"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var d tauDomain
		if decode([]byte(text), &d) != nil {
			return
		}
		s := newSuite()
		if s.writeTauTasks(d) != nil {
			return
		}
		var v any
		require.NoError(t, yaml.Unmarshal(s.files["playbook.yaml"], &v), string(s.files["playbook.yaml"]))
	})
}
