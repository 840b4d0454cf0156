package draft

import (
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	builtin "github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
)

func builtIn(t testing.TB) *goldens.Suite {
	t.Helper()
	s, err := load.Suite(builtin.FS, "builtin:counts", builtin.Worlds())
	require.NoError(t, err)
	return s
}

// Every task, with all outcomes it accepts, written into a folder that does not
// exist is read back as it was: AddTo refuses anything else, and the tools are those
// of the suite it comes from.
func TestDraftKeepsEveryTask(t *testing.T) {
	from := builtIn(t)
	for _, task := range from.Tasks {
		if task.Scripted {
			continue
		}
		t.Run(task.ID, func(t *testing.T) {
			a, err := Draft{Task: task, From: from}.AddTo(os.DirFS(t.TempDir()+"/none"), "suites/Neue Suite")
			require.NoError(t, err)
			require.Equal(t, []string{"tasks/" + task.ID + ".yaml", load.SuiteFile}, []string{a.Files[0].Path, a.Files[1].Path})
			require.Equal(t, "neue-suite", a.Suite.Name)
			got := a.Suite.Tasks[0]
			require.True(t, sameTasks([]goldens.Task{task}, []goldens.Task{got}))
			require.Equal(t, task.Expect, got.Expect)
			require.Equal(t, task.Tier, got.Tier)
			require.Equal(t, task.Budgets, got.Budgets)
			require.Len(t, a.Suite.Tools, len(task.Tools))
			for _, name := range task.Tools {
				require.True(t, sameTool(from, a.Suite, name), name)
			}
			require.Empty(t, a.Differ)
		})
	}
}

// awkward is a task that uses what the built-in ones do not.
func awkward() goldens.Task {
	one, none := 1, 0
	zone, _ := time.LoadLocation("Asia/Kolkata")
	number := json.Number("12345678901234567890")
	return goldens.Task{
		ID: "null", Title: "# not: a \"comment\"\n- item", Tier: "yes", Tags: []string{"2026-05-13", "~", "a: b"}, Probes: []string{"&a *b"},
		Request: " \tHi \u2028 \u0001 \x7f 😀 #x\n\n", Constraints: "", Tools: []string{"get_counts", "today_range"},
		World: world.Spec{
			Now: time.Date(2026, 5, 13, 12, 0, 0, 1000, zone), Zone: zone, Kind: "counts", State: []byte(`{"counts":{"2026-05-13":{"1":0,"no":9007199254740991}},"job_status":["on"]}`),
			Env: map[string]string{"A": "0x1"}, ClockStep: 1500 * time.Microsecond, Latency: map[string]time.Duration{"get_counts": time.Hour},
			Faults: []world.Fault{
				{Tool: "get_counts", OnCalls: []int{2}, Kind: world.FaultReplace},
				{Tool: "get_counts", Kind: world.FaultAppend, Value: "yes"},
				{Tool: "get_counts", Kind: world.FaultAugment, Fields: map[string]any{"a b": []any{nil, true, number, map[string]any{"": "2026-05-13"}}}},
			},
		},
		Budgets: guard.Budgets{MaxSteps: 3, MaxCostNanoUSD: 123456789, MaxTokens: 5}, Replies: []string{},
		Expect: []goldens.Expect{
			{
				Status: "answered", Numbers: []string{"25.0", "-3"}, ContainsAny: []string{"null"}, NotContains: []string{"'"},
				NotNumbers: []string{"7"}, OnlyNumbers: []string{"25", "-3"}, Near: map[string]string{"a: b": "25", "2026-05-13": "-3"},
				Matches: []string{`^\d "x"`, "2026-05-13"}, NotMatches: []string{"#"},
				Trajectory: goldens.Trajectory{Order: goldens.Subset, Required: []goldens.CallMatch{{Tool: "get_counts"}, {Tool: "today_range"}, {Tool: "get_counts", Args: map[string]any{"start_date": map[string]any{"$regex": `^\d+$`}, "end_date": "1", "label": "true"}}}, Forbidden: []goldens.CallMatch{
					{Tool: "get_counts", Args: map[string]any{}}, {Tool: "get_counts", Args: map[string]any{"a": "1"}, Executed: true}, {Tool: "yes", Executed: true},
					{Tool: "tool", Args: map[string]any{"x": nil}}, {Tool: "tool"}, {Tool: "executed", Args: map[string]any{}},
				}},
				MaxSteps: new(2), MaxClarifies: &none, Signals: map[string]string{"thrash": "false", "violations": "<=2"}, TableLabel: "no", Note: "n",
			},
			{Status: "answered", OnlyNumbers: []string{}, NotNumbers: []string{"7"}},
			{Status: "stopped", StopReason: "stall", Near: map[string]string{"a: b": "26"}, ContainsAll: []string{"2026-05-13"}, Signals: map[string]string{"thrash": "false"}, MaxClarifies: &one},
			{Status: "answered", Numbers: []string{"25.0", "-3"}, Signals: map[string]string{"thrash": "true", "violations": "<=2"}},
		},
	}
}

func TestDraftKeepsAwkwardText(t *testing.T) {
	from, err := load.Suite(suitetest.Folder(suitetest.Head+"tasks: ["+suitetest.Task+"]\n"), "from", suitetest.Worlds())
	require.NoError(t, err)
	a, err := Draft{Task: awkward(), From: from}.AddTo(suitetest.Folder(suitetest.Head+"tasks: ["+suitetest.Task+"]\n"), "s")
	require.NoError(t, err)
	got := a.Suite.Tasks[0]
	require.Equal(t, awkward().Expect, got.Expect)
	require.Equal(t, awkward().Request, got.Request)
	require.Equal(t, awkward().World.Faults, got.World.Faults)
	require.Equal(t, awkward().Budgets, got.Budgets)
	require.True(t, awkward().World.Now.Equal(got.World.Now))
	require.Equal(t, awkward().Tags, got.Tags)
}

// What is not added, and what the person reads.
func TestDraftRefuses(t *testing.T) {
	from := builtIn(t)
	task := func(change func(*goldens.Task)) Draft {
		d := Draft{From: from, Task: from.Tasks[0]}
		d.Task.ID = "New"
		change(&d.Task)
		return d
	}
	good := suitetest.Head + "tasks: [" + suitetest.Task + "]\n"
	for name, tc := range map[string]struct {
		draft  Draft
		folder fs.FS
		want   string
		taken  bool
	}{
		"scripted":        {task(func(t *goldens.Task) { t.Scripted = true }), suitetest.Folder(good), "scripted", false},
		"no id":           {task(func(t *goldens.Task) { t.ID = "" }), suitetest.Folder(good), "task id: is empty", false},
		"path as id":      {task(func(t *goldens.Task) { t.ID = "../x" }), suitetest.Folder(good), "may hold only letters", false},
		"id in the suite": {task(func(t *goldens.Task) { t.ID = "a" }), suitetest.Folder(good), "task id a is taken: s/suite.yaml:19", true},
		"file is there":   {task(func(*goldens.Task) {}), suitetest.Folder(good, "tasks/New.yaml", "x"), "the file s/tasks/New.yaml is taken", true},
		"broken suite":    {task(func(*goldens.Task) {}), suitetest.Folder("nam: x"), "s/suite.yaml:1", false},
		"unused tool":     {task(func(*goldens.Task) {}), suitetest.Folder(strings.Replace(good, "world: may", "world: may, tools: [get_counts]", 1)), "", false},
		"unknown tool":    {task(func(t *goldens.Task) { t.Tools = []string{"nope"} }), suitetest.Folder(good), `no tool "nope"`, false},
		"others would change": {
			task(func(t *goldens.Task) { t.Tools = append(t.Tools, "get_job_status") }), suitetest.Folder(good), "the other tasks of s would change", false,
		},
		"would not load": {
			task(func(t *goldens.Task) {
				t.Expect = []goldens.Expect{{Status: "answered_after_clarify"}}
				t.Replies = nil
			}), suitetest.Folder(good), "nobody would answer", false,
		},
		"list under an anchor": {task(func(*goldens.Task) {}), suitetest.Folder(suitetest.Head + "tasks: &t [" + suitetest.Task + "]\n"), "cannot be added to", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tc.draft.AddTo(tc.folder, "s")
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
			if tc.taken {
				require.ErrorIs(t, err, ErrTaken)
			} else {
				require.NotErrorIs(t, err, ErrTaken)
			}
		})
	}
}

// A tool that the folder lacks is added, one over HTTP is not, and one that differs
// is named.
func TestDraftBringsItsTools(t *testing.T) {
	from := builtIn(t)
	d := Draft{From: from, Task: from.Tasks[0]}
	d.Task.ID, d.Task.Tools = "New", []string{"today_range", "get_counts", "get_job_status"}
	into := strings.Replace(suitetest.Head, "world: may", "world: may, tools: [today_range, get_counts]", 1) + "tasks: [" + suitetest.Task + "]\n"
	a, err := d.AddTo(suitetest.Folder(into), "s")
	require.NoError(t, err)
	require.Equal(t, []string{"today_range", "get_counts"}, a.Differ)
	require.True(t, sameTool(from, a.Suite, "get_job_status"))
	require.True(t, a.Files[1].Replaces)
	require.Contains(t, string(a.Files[1].Text), "additionalProperties: false}\n  - {name: get_job_status,")

	over := *from
	over.HTTP = map[string]world.HTTPTool{"get_job_status": {Method: "GET"}}
	d.From = &over
	_, err = d.AddTo(suitetest.Folder(into), "s")
	require.ErrorContains(t, err, "tool get_job_status is run over HTTP")
}

// Where the task goes depends on what suite.yaml looks for; the rest of the file
// stays as it is, byte for byte.
func TestDraftFindsItsPlace(t *testing.T) {
	from, err := load.Suite(suitetest.Folder(suitetest.Head+"tasks: ["+suitetest.Task+"]\n"), "from", suitetest.Worlds())
	require.NoError(t, err)
	one := "tasks: [" + suitetest.Task + "]\n"
	for name, tc := range map[string]struct{ before, file, after string }{
		"a pattern takes it in": {"tasks: [tasks/*.yaml]\n", "tasks/New.yaml", ""},
		"another folder":        {"tasks:\n  - golden/a*.yaml\n  - golden/*.yaml\n", "golden/New.yaml", ""},
		"in brackets":           {"tasks: [" + suitetest.Task + "]\n", "tasks/New.yaml", "tasks: [tasks/New.yaml, " + suitetest.Task + "]\n"},
		"in lines":              {"tasks:\n  - tasks/a.yaml # first\n", "tasks/New.yaml", "tasks:\n  - tasks/a.yaml # first\n  - tasks/New.yaml\n"},
		"without a last line end": {
			"tasks:\n- tasks/a.yaml", "tasks/New.yaml", "tasks:\n- tasks/a.yaml\n- tasks/New.yaml\n",
		},
		"before what follows": {
			"tasks:\n  - id: A\n    request: |\n      Hi\n\n    expect: {status: answered}\n\n# the end\ntitle: x\n", "tasks/New.yaml",
			"tasks:\n  - id: A\n    request: |\n      Hi\n\n    expect: {status: answered}\n  - tasks/New.yaml\n\n# the end\ntitle: x\n",
		},
		"line ends of Windows": {"tasks:\r\n  - tasks/a.yaml\r\n", "tasks/New.yaml", "tasks:\r\n  - tasks/a.yaml\r\n  - tasks/New.yaml\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			task := from.Tasks[0]
			task.ID = "New"
			a, err := Draft{Task: task, From: from}.AddTo(suitetest.Folder(suitetest.Head+tc.before, "tasks/a.yaml", one, "golden/a.yaml", one), "s")
			require.NoError(t, err)
			require.Equal(t, tc.file, a.Files[0].Path)
			require.Len(t, a.Suite.Tasks, 2)
			if tc.after == "" {
				require.Len(t, a.Files, 1)
				return
			}
			require.Equal(t, suitetest.Head+tc.after, string(a.Files[1].Text))
		})
	}
}

// Comments hold what models wrote: none of it leaves its line.
func TestDraftComments(t *testing.T) {
	from := builtIn(t)
	d := Draft{From: from, Task: from.Tasks[0], Pinned: true, Comments: []string{"a\n- evil: true\r\u2028\u0085x \"q\"", strings.Repeat("x", 10_000), ""}}
	a, err := d.AddTo(fstest.MapFS{}, "s")
	require.NoError(t, err)
	lines := strings.Split(string(a.Files[0].Text), "\n")
	require.Equal(t, `# a\n- evil: true\r\u2028\u0085x "q"`, lines[0])
	require.Less(t, len(lines[1]), maxComment+10)
	require.Equal(t, "#", lines[2])
	require.Equal(t, "tasks:", lines[3])
	require.Contains(t, string(a.Files[0].Text), "# edit: every number of the answer")
}

func TestNewSuiteNamesItsCandidate(t *testing.T) {
	from := builtIn(t)
	limit := 5
	c := goldens.Candidate{Name: "a", Provider: "sim-openai", Model: "m: x", Stream: true, MaxTokens: &limit, Body: map[string]any{"k": map[string]any{"n": 1.5}}}
	a, err := Draft{From: from, Task: from.Tasks[0], Candidates: []goldens.Candidate{c}}.AddTo(fstest.MapFS{}, "s")
	require.NoError(t, err)
	require.Equal(t, []goldens.Candidate{c}, a.Suite.Candidates)
	require.Contains(t, string(a.Files[1].Text), "- {name: a, provider: sim-openai, model: 'm: x', stream: true,")
}

// Whatever a model writes is read back as it was, or refused; and it never becomes a
// part of the file's structure.
func FuzzDraft(f *testing.F) {
	f.Add("On the 3rd: 449", `{"label":"angry","start_date":"2026-05-13"}`)
	f.Add("a\r\n\u0085# - {x: [", `{"$regex":1,"null":[1e400,-0.0,"~"]}`)
	f.Add(" \t\ufeff\u00a0", `{"a":{"b":[{},[],null,true,"2026-05-13","0x1f","<<"]},"<<":1}`)
	from := builtIn(f)
	f.Fuzz(func(t *testing.T, answer, args string) {
		if !json.Valid([]byte(args)) || !utf8.ValidString(answer+args) || len(answer)+len(args) > 10_000 {
			return
		}
		task := from.Tasks[0]
		o := goldens.Outcome{Status: "answered", Answer: answer, Calls: []goldens.Called{{Call: tool.Call{Name: "get_counts", Args: json.RawMessage(args)}, Outcome: tool.OK}}}
		task.Expect = []goldens.Expect{goldens.Pin(task, o)}
		d := Draft{Task: task, From: from, Pinned: true, Comments: []string{answer, args}}
		text, err := d.file()
		require.NoError(t, err)
		r := &yamlfile.Source{File: "f", Found: &yamlfile.Findings{}}
		root, ok := r.Parse(text)
		if !ok {
			return // such as nested too deep
		}
		tasks, _ := root.Object([]string{"tags", "tasks"}).Get("tasks")
		require.Len(t, tasks.Items(), 1)
		require.Empty(t, r.Found.List)
		require.Equal(t, []string{"id", "title", "tier"}, func() (keys []string) {
			for _, e := range tasks.Items()[0].Entries()[:3] {
				keys = append(keys, e.Key)
			}
			return keys
		}())
		a, err := d.AddTo(fstest.MapFS{}, "s")
		if err == nil {
			solved, checks := goldens.Score(a.Suite.Tasks[0], o)
			require.True(t, solved, checks)
			require.True(t, sameTasks([]goldens.Task{task}, a.Suite.Tasks))
		}
	})
}
