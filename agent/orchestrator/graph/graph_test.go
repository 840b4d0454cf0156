package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/agent/orchestrator/transition"
	"github.com/cupel-eval/cupel/agent/orchestrator/transition/tracetest"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// tasksOf are build tasks from words such as "b<a" and "k!<a", a checkpoint.
func tasksOf(words ...string) []Task {
	var out []Task
	for _, word := range words {
		id, deps, _ := strings.Cut(word, "<")
		t := Task{ID: id, Title: id, Kind: Build, Spec: "s"}
		if t.ID = strings.TrimSuffix(id, "!"); t.ID != id {
			t.Kind = Checkpoint
		}
		if deps != "" {
			t.Deps = strings.Split(deps, ",")
		}
		out = append(out, t)
	}
	return out
}

// active is an approved graph.
func active(words ...string) *Graph {
	g := &Graph{}
	g.Plan(tasksOf(words...))
	g.Approve()
	return g
}

func execute(t *testing.T, g *Graph, command string) {
	words := strings.Fields(command)
	switch id := words[len(words)-1]; words[0] {
	case "plan":
		g.Plan(tasksOf(words[1:]...))
	case "approve":
		g.Approve()
	case "feedback":
		g.Feedback()
	case "deny":
		g.Deny(noon)
	case "cancel":
		g.Cancel(noon)
	case "tick":
		g.Tick(5, 0)
	case "start":
		g.Start(id)
	case "succeed":
		g.Succeed(id, "done", noon)
	case "fail":
		g.Fail(id, "broken", noon)
	case "abandon":
		g.Abandon(id, "not wanted", noon)
	default:
		t.Fatalf("unknown command %q", command)
	}
}

func TestEveryEdgeHasATrace(t *testing.T) {
	replay := func(t *testing.T, commands []string) (taken []transition.Edge) {
		g := &Graph{moved: func(e transition.Edge) { taken = append(taken, e) }}
		for _, c := range commands {
			execute(t, g, c)
		}
		return taken
	}
	tracetest.Run(t, "graphs", Graphs, replay)
	tracetest.Run(t, "tasks", Tasks, replay)
}

// known allows two tools and one workflow.
var known = Known{
	MaxTasks: 50,
	Group: func(tool string) (string, bool) {
		group, ok := map[string]string{"get-workflow": "workflow", "insert-data-table-rows": "table-write", "plan": "orchestration", "mcp_echo": "mcp"}[tool]
		return group, ok
	},
	Lacks: func(k Kind) string {
		if k == Research {
			return "no web search is configured"
		}
		return ""
	},
	Workflow: func(id string) bool { return id == "wf_1" },
}

func read(t *testing.T, tasks string) ([]Task, []string) {
	t.Helper()
	got, faults := Read(json.RawMessage(tasks), known)
	var codes []string
	for _, f := range faults {
		require.NotEmpty(t, f.Detail)
		codes = append(codes, f.Code)
	}
	return got, codes
}

func TestReadFaults(t *testing.T) {
	const ok = `{"id":"a","title":"A","kind":"build-workflow","spec":"s","deps":[]}`
	for _, test := range []struct {
		name, tasks string
		want        []string
	}{
		{"B091 createPlan valid", ok + `,{"id":"b","title":"B","kind":"delegate","spec":"s","deps":["a"],"tools":["get-workflow"]}`, nil},
		{"B092 duplicate ids", ok + `,` + ok, []string{"id.duplicate"}},
		{"B093 unknown dep", ok + `,{"id":"b","title":"B","kind":"build-workflow","spec":"s","deps":["x"]}`, []string{"dep.unknown"}},
		{"B094 cycle", `{"id":"a","title":"A","kind":"build-workflow","spec":"s","deps":["b"]},{"id":"b","title":"B","kind":"build-workflow","spec":"s","deps":["a"]}`, []string{"cycle"}},
		{"B095 checkpoint without deps", ok + `,{"id":"k","title":"K","kind":"checkpoint","spec":"s","deps":[]}`, []string{"checkpoint.no_build"}},
		{"B095 checkpoint of a checkpoint", ok + `,{"id":"k","title":"K","kind":"checkpoint","spec":"s","deps":["a"]},{"id":"l","title":"L","kind":"checkpoint","spec":"s","deps":["k"]}`, []string{"checkpoint.no_build"}},
		{"none", ``, []string{"empty"}},
		{"one", ok, []string{"too_few"}},
		{"itself", ok + `,{"id":"b","title":"B","kind":"build-workflow","spec":"s","deps":["b"]}`, []string{"dep.self"}},
		{"no object", ok + `,7`, []string{"id.pattern", "spec.blank", "kind.unknown"}},
		{"ids", ok + `,{"id":"../x","title":"B","kind":"build-workflow","spec":"s","deps":[]}`, []string{"id.pattern"}},
		{"delegate", ok + `,{"id":"b","title":"B","kind":"delegate","spec":"s","deps":[]},{"id":"c","title":"C","kind":"delegate","spec":"s","deps":[],"tools":["plan","insert-data-table-rows","mcp_echo","unheard"]}`,
			[]string{"tools.empty", "tools.forbidden", "tools.forbidden", "tools.forbidden", "tools.unknown"}},
		{"kinds", ok + `,{"id":"b","title":"B","kind":"dance","spec":"s"},{"id":"c","title":"C","kind":"research","spec":"s"}`, []string{"kind.unknown", "kind.unknown"}},
		{"fields", ok + `,{"id":"b","title":7,"kind":"manage-data-tables","spec":" ","deps":[],"tools":["get-workflow"],"workflowId":"wf_1","__proto__":{}}`,
			[]string{"field.unknown", "field.unknown", "spec.blank", "field.unknown", "field.unknown"}},
		{"workflows", ok + `,{"id":"b","title":"B","kind":"build-workflow","spec":"s","workflowId":"wf_2"}`, []string{"workflow.unknown"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tasks, codes := read(t, `{"tasks":[`+test.tasks+`]}`)
			require.Equal(t, test.want, codes)
			require.Equal(t, test.want == nil, tasks != nil)
		})
	}
	_, codes := read(t, `{"tasks":[`+strings.Repeat(ok+",", 9_999)+ok+`]}`)
	require.Equal(t, []string{"too_many"}, codes)
	_, codes = read(t, `{"tasks":[`+strings.Repeat(`{},`, 49)+`{}]}`)
	require.Len(t, codes, maxFaults)
}

// TestCycleIsTheShortest: of several circles, the shortest is named.
func TestCycleIsTheShortest(t *testing.T) {
	_, faults := Read(json.RawMessage(planOf("a<c", "b<a", "c<b", "d<e", "e<d")), known)
	require.Equal(t, []Fault{{"cycle", "dependency cycle: d -> e -> d"}}, faults)
}

func planOf(words ...string) string {
	text, _ := json.Marshal(map[string]any{"tasks": tasksOf(words...)})
	return string(text)
}

func TestB096CascadeOfAFailure(t *testing.T) {
	g := active("a", "b<a", "c<b", "d<b,c", "i")
	g.Start("a")
	require.True(t, g.Fail("a", "broken", noon))
	for _, id := range []string{"b", "c", "d"} {
		require.Equal(t, Cancelled, g.Find(id).Status)
		require.Equal(t, `Cancelled: dependency "a" failed`, g.Find(id).Why)
	}
}

func TestB097IndependentTasksStayPlanned(t *testing.T) {
	g := active("a", "b<a", "i")
	g.Start("a")
	g.Fail("a", "broken", noon)
	require.Equal(t, Planned, g.Find("i").Status)
	require.Empty(t, g.Find("i").Why)
}

func TestB098SettledTasksStay(t *testing.T) {
	g := active("a", "b<a", "c<a", "d<a")
	for _, id := range []string{"a", "b", "c"} {
		g.Start(id)
	}
	g.Succeed("b", "result", noon)
	g.Fail("c", "earlier", noon)
	g.Abandon("d", "not wanted", noon)
	before := slices.Clone(g.Tasks)
	g.Fail("a", "broken", noon.Add(time.Hour))
	require.Equal(t, before[1:], g.Tasks[1:])
}

func TestB099UnknownTaskIsNoOperation(t *testing.T) {
	g := active("a", "b<a")
	before := slices.Clone(g.Tasks)
	require.False(t, g.Fail("x", "broken", noon))
	require.Equal(t, before, g.Tasks)
	require.Equal(t, Active, g.State)
}

func TestB100SameFinishTime(t *testing.T) {
	g := active("a", "b<a")
	g.Start("a")
	g.Fail("a", "broken", noon)
	require.Equal(t, noon, g.Find("a").Finished)
	require.Equal(t, noon, g.Find("b").Finished)
}

func TestTick(t *testing.T) {
	for _, test := range []struct {
		name         string
		tasks        string
		before       string
		free, builds int
		want         Action
		state        State
	}{
		{"B101 dispatch after deps", "a b<a c<a", "approve;start a;succeed a", 5, 0, Action{Dispatch, []string{"b", "c"}}, Active},
		{"B101 one build at a time", "a b<a c<a", "approve;start a;succeed a", 5, 1, Action{Dispatch, []string{"b"}}, Active},
		{"B102 nothing ready", "a b<a", "approve;start a", 5, 0, Action{Do: Nothing}, Active},
		{"B103 checkpoint first", "a k!<a l!<a b<a", "approve;start a;succeed a", 5, 0, Action{Check, []string{"k"}}, Active},
		{"B103 one checkpoint at a time", "a k!<a l!<a b<a", "approve;start a;succeed a;start k", 5, 0, Action{Dispatch, []string{"b"}}, Active},
		{"B104 replan on failure", "a b<a i", "approve;start a;fail a", 5, 0, Action{Replan, []string{"a"}}, AwaitingReplan},
		{"B105 synthesize", "a b<a", "approve;start a;succeed a;start b;succeed b", 5, 0, Action{Do: Synthesize}, Completed},
		{"B105 nothing left", "a b<a", "approve;abandon a", 5, 0, Action{Do: Synthesize}, Completed},
		{"B106 no slots", "a b", "approve", 0, 0, Action{Do: Nothing}, Active},
		{"free slots in plan order", "a b c d", "approve;start a", 2, 0, Action{Dispatch, []string{"b", "c"}}, Active},
		{"B107 awaiting approval", "a b", "", 5, 0, Action{Do: Nothing}, AwaitingApproval},
		{"after a denial", "a b", "deny", 5, 0, Action{Do: Nothing}, StateCancelled},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := &Graph{}
			g.Plan(tasksOf(strings.Fields(test.tasks)...))
			for _, c := range strings.Split(test.before, ";") {
				if c != "" {
					execute(t, g, c)
				}
			}
			require.Equal(t, test.want, g.Tick(test.free, test.builds))
			require.Equal(t, test.state, g.State)
		})
	}
}

func TestB108Approve(t *testing.T) {
	g := &Graph{}
	g.Plan(tasksOf("a", "b"))
	require.True(t, g.Approve())
	require.False(t, g.Approve(), "an active plan stays")
	require.Equal(t, Active, g.State)
	g.Cancel(noon)
	require.False(t, g.Approve(), "a cancelled plan does not come back")
	require.Equal(t, StateCancelled, g.State)
	require.True(t, g.Plan(tasksOf("c", "d")), "another plan may")
	require.False(t, active("a", "b").Plan(tasksOf("c", "d")), "not while tasks are worked on")
}

func TestB109Checkpoint(t *testing.T) {
	g := active("a", "k!<a")
	before := slices.Clone(g.Tasks)
	require.Equal(t, NotFound, g.Report("x", true, "", noon))
	require.Equal(t, WrongKind, g.Report("a", true, "", noon))
	require.Equal(t, WrongStatus, g.Report("k", true, "", noon))
	require.Equal(t, before, g.Tasks)
	g.Start("k")
	require.Empty(t, g.Report("k", true, "seen", noon))
	require.Equal(t, Succeeded, g.Find("k").Status)
	require.Equal(t, "seen", g.Find("k").Result)
	require.Equal(t, WrongStatus, g.Report("k", false, "", noon))
}

func TestChecklist(t *testing.T) {
	g := active("a", "b<a", "c", "d", "e")
	g.Start("a")
	g.Fail("a", "broken", noon)
	g.Start("c")
	g.Start("d")
	g.Succeed("d", "", noon)
	var words []string
	for _, i := range g.Checklist() {
		words = append(words, i.ID+" "+i.Status)
	}
	require.Equal(t, []string{"a failed", "b cancelled", "c in_progress", "d done", "e todo"}, words)
	require.Len(t, g.Settled(), 3)
}

// TestGraphsEnd: whatever the dependencies and the outcomes, an approved plan ends, no task
// starts before its dependencies have succeeded, and no more tasks run than are free.
func TestGraphsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "tasks")
		var words []string
		for i := range n {
			word := fmt.Sprintf("t%d", i)
			var deps []string
			for j := range i {
				if rapid.IntRange(0, 3).Draw(t, "dep") == 0 {
					deps = append(deps, fmt.Sprintf("t%d", j))
				}
			}
			if len(deps) > 0 {
				word += "<" + strings.Join(deps, ",")
			}
			words = append(words, word)
		}
		g := active(words...)
		slots := rapid.IntRange(1, 5).Draw(t, "slots")
		var running []string
		for range 100 {
			a := g.Tick(slots-len(running), 0)
			for _, id := range a.Tasks {
				if a.Do == Dispatch {
					for _, dep := range g.Find(id).Deps {
						require.Equal(t, Succeeded, g.Find(dep).Status)
					}
					require.True(t, g.Start(id))
					running = append(running, id)
				}
			}
			require.LessOrEqual(t, len(running), slots)
			if len(running) == 0 {
				break
			}
			i := rapid.IntRange(0, len(running)-1).Draw(t, "next")
			id := running[i]
			running = slices.Delete(running, i, i+1)
			if rapid.IntRange(0, 5).Draw(t, "fails") == 0 {
				g.Fail(id, "broken", noon)
			} else {
				g.Succeed(id, "", noon)
			}
		}
		require.Contains(t, []State{Completed, AwaitingReplan}, g.State)
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(planOf("a", "b<a")))
	f.Add([]byte(`{"tasks":[{"id":"__proto__","deps":["__proto__"]},null]}`))
	f.Fuzz(func(t *testing.T, args []byte) {
		tasks, faults := Read(args, known)
		require.Equal(t, len(tasks) == 0, len(faults) > 0)
		require.LessOrEqual(t, len(faults), maxFaults+1)
	})
}

func BenchmarkTick(b *testing.B) {
	var words []string
	for i := range 50 {
		words = append(words, fmt.Sprintf("t%d", i))
	}
	g := active(words...)
	b.ReportAllocs()
	for b.Loop() {
		g.Tick(5, 0)
	}
}
