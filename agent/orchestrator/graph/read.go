package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/orchestrator/role"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// Fault is something wrong with a plan: a code, and for the model the place and the text.
type Fault struct{ Code, Detail string }

// Known is what a plan may use.
type Known struct {
	// MaxTasks is the largest plan.
	MaxTasks int
	// Group returns the group of a tool; false if there is no such tool.
	Group func(tool string) (string, bool)
	// Lacks says why a kind of task cannot be worked on; "" if it can.
	Lacks func(Kind) string
	// Workflow reports that there may be a workflow of that id.
	Workflow func(id string) bool
}

// maxFaults bounds how many faults of a plan are reported.
const maxFaults = 50

// reading collects the faults of a plan.
type reading struct {
	Known
	tasks  []Task
	faults []Fault
}

func (r *reading) add(code, task, format string, args ...any) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, Fault{code, clip.Fit(fmt.Sprintf("task %q: ", task)+fmt.Sprintf(format, args...), 300)})
	}
}

// Read reads the arguments of a plan, an object with tasks, and says everything that is
// wrong with it. If there are faults, the plan is nil.
func Read(args json.RawMessage, known Known) ([]Task, []Fault) {
	var object struct {
		Tasks []json.RawMessage `json:"tasks"`
	}
	if json.Unmarshal(args, &object) != nil || len(object.Tasks) == 0 {
		return nil, []Fault{{"empty", "the plan has no tasks"}}
	}
	switch n := len(object.Tasks); {
	case n > known.MaxTasks:
		return nil, []Fault{{"too_many", fmt.Sprintf("the plan has %d tasks; at most %d", n, known.MaxTasks)}}
	case n == 1:
		return nil, []Fault{{"too_few", "a plan has at least two tasks: do a single one directly"}}
	}
	r := &reading{Known: known}
	for i, raw := range object.Tasks {
		r.task(i, raw)
	}
	r.dependencies()
	if len(r.faults) > 0 {
		return nil, r.faults
	}
	return r.tasks, nil
}

var (
	idPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	fields    = []string{"id", "title", "kind", "spec", "deps", "tools", "workflowId"}
	kinds     = []Kind{Delegate, Build, Tables, Research, Checkpoint}
)

func (r *reading) task(i int, raw json.RawMessage) {
	var t Task
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // what is not an object has no id
	for _, name := range fields {
		into := map[string]any{"id": &t.ID, "title": &t.Title, "kind": &t.Kind, "spec": &t.Spec, "deps": &t.Deps, "tools": &t.Tools, "workflowId": &t.WorkflowID}[name]
		if value, ok := members[name]; ok && json.Unmarshal(value, into) != nil {
			r.add("field.unknown", cmp.Or(t.ID, fmt.Sprint(i+1)), "%s has the wrong type", name)
		}
	}
	name := cmp.Or(t.ID, fmt.Sprint(i+1))
	var unknown []string
	for member := range members {
		if !slices.Contains(fields, member) {
			unknown = append(unknown, fmt.Sprintf("%q", clip.Fit(member, 64)))
		}
	}
	if slices.Sort(unknown); len(unknown) > 0 {
		r.add("field.unknown", name, "unknown %s; known: %s", strings.Join(unknown, ", "), strings.Join(fields, ", "))
	}
	switch {
	case !idPattern.MatchString(t.ID):
		r.add("id.pattern", name, "an id is 1 to 64 letters, digits, _ and -, and begins with a letter or digit")
	case slices.ContainsFunc(r.tasks, func(other Task) bool { return other.ID == t.ID }):
		r.add("id.duplicate", name, "duplicate task id")
	}
	if strings.TrimSpace(t.Spec) == "" {
		r.add("spec.blank", name, "the spec says what to do, and is blank")
	}
	t.Title = cmp.Or(strings.TrimSpace(t.Title), t.ID)
	r.kind(t, name)
	r.tasks = append(r.tasks, t)
}

func (r *reading) kind(t Task, name string) {
	if !slices.Contains(kinds, t.Kind) {
		r.add("kind.unknown", name, "unknown kind %q; known: %v", t.Kind, kinds)
		return
	}
	if why := r.Lacks(t.Kind); why != "" {
		r.add("kind.unknown", name, "kind %s cannot be used here: %s", t.Kind, why)
	}
	if t.WorkflowID != "" {
		switch {
		case t.Kind != Build:
			r.add("field.unknown", name, "workflowId is of kind %s only", Build)
		case !r.Workflow(t.WorkflowID):
			r.add("workflow.unknown", name, "no workflow %q has been seen", t.WorkflowID)
		}
	}
	switch {
	case t.Kind == Delegate && len(t.Tools) == 0:
		r.add("tools.empty", name, "a delegate needs at least one tool")
	case t.Kind != Delegate && len(t.Tools) > 0:
		r.add("field.unknown", name, "tools is of kind %s only", Delegate)
	case t.Kind == Delegate:
		for _, tool := range t.Tools {
			switch group, ok := r.Group(tool); {
			case !ok:
				r.add("tools.unknown", name, "%q is not a registered domain tool", tool)
			case !role.May(role.Delegate, group, tool):
				r.add("tools.forbidden", name, "%q cannot be delegated", tool)
			}
		}
	}
}

// dependencies checks what joins the tasks.
func (r *reading) dependencies() {
	at := map[string]int{}
	for i, t := range r.tasks {
		if _, twice := at[t.ID]; !twice {
			at[t.ID] = i
		}
	}
	for _, t := range r.tasks {
		build := false
		for _, dep := range t.Deps {
			i, ok := at[dep]
			switch {
			case dep == t.ID:
				r.add("dep.self", t.ID, "depends on itself")
			case !ok:
				r.add("dep.unknown", t.ID, "depends on unknown task %q", dep)
			default:
				build = build || r.tasks[i].Kind == Build
			}
		}
		if t.Kind == Checkpoint && !build {
			r.add("checkpoint.no_build", t.ID, "a checkpoint must depend on a task of kind %s", Build)
		}
	}
	if cycle := shortestCycle(r.tasks, at); cycle != nil {
		r.faults = append(r.faults, Fault{"cycle", "dependency cycle: " + clip.Fit(strings.Join(cycle, " -> "), 300)})
	}
}

// shortestCycle is the shortest circle of dependencies, the one that begins first in the
// plan of several; nil if there is none. A task that depends on itself is another fault.
func shortestCycle(tasks []Task, at map[string]int) []string {
	var best []int
	for start := range tasks {
		from := map[int]int{}
		queue := []int{start}
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			for _, dep := range tasks[i].Deps {
				j, ok := at[dep]
				if !ok || j == i {
					continue
				}
				if j == start {
					path := []int{i}
					for path[len(path)-1] != start {
						path = append(path, from[path[len(path)-1]])
					}
					slices.Reverse(path)
					if best == nil || len(path) < len(best) {
						best = path
					}
					queue = nil
					break
				}
				if _, seen := from[j]; !seen {
					from[j] = i
					queue = append(queue, j)
				}
			}
		}
	}
	if best == nil {
		return nil
	}
	var out []string
	for _, i := range append(best, best[0]) {
		out = append(out, tasks[i].ID)
	}
	return out
}
