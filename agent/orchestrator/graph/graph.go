// Package graph has the task graph of an orchestrator's plan: what is wrong with one, where
// its tasks are, and what is to be done next.
package graph

import (
	"fmt"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/orchestrator/transition"
)

// Kind is what kind of work a task is.
type Kind string

// The kinds.
const (
	Delegate   Kind = "delegate"
	Build      Kind = "build-workflow"
	Tables     Kind = "manage-data-tables"
	Research   Kind = "research"
	Checkpoint Kind = "checkpoint"
)

// State is where a graph is.
type State string

// The states of a graph.
const (
	AwaitingApproval State = "awaiting_approval"
	Active           State = "active"
	AwaitingReplan   State = "awaiting_replan"
	Completed        State = "completed"
	StateCancelled   State = "cancelled"
)

// Status is where a task is.
type Status string

// The statuses of a task.
const (
	Planned   Status = "planned"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Graphs and Tasks are the state machines of a graph and of a task of one.
var (
	Graphs = transition.Table{
		{From: "", Event: "plan", To: "awaiting_approval"},
		{From: "awaiting_approval", Event: "approve", To: "active"},
		{From: "awaiting_approval", Event: "feedback", To: "awaiting_approval"},
		{From: "awaiting_approval", Event: "plan", To: "awaiting_approval"},
		{From: "awaiting_approval", Event: "deny", To: "cancelled"},
		{From: "active", Event: "task_failed", To: "awaiting_replan"},
		{From: "active", Event: "all_settled", To: "completed"},
		{From: "awaiting_replan", Event: "plan", To: "awaiting_approval"},
		{From: "awaiting_approval", Event: "cancel", To: "cancelled"},
		{From: "active", Event: "cancel", To: "cancelled"},
		{From: "awaiting_replan", Event: "cancel", To: "cancelled"},
	}
	Tasks = transition.Table{
		{From: "", Event: "plan", To: "planned"},
		{From: "planned", Event: "start", To: "running"},
		{From: "running", Event: "succeed", To: "succeeded"},
		{From: "running", Event: "fail", To: "failed"},
		{From: "running", Event: "cancel", To: "cancelled"},
		{From: "planned", Event: "cancel", To: "cancelled"},
		{From: "planned", Event: "dependency_lost", To: "cancelled"},
		{From: "running", Event: "dependency_lost", To: "cancelled"},
	}
)

// Task is one task of a plan; what begins with Status is filled in as it is worked on.
type Task struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Kind       Kind     `json:"kind"`
	Spec       string   `json:"spec"`
	Deps       []string `json:"deps,omitempty"`
	Tools      []string `json:"tools,omitempty"`
	WorkflowID string   `json:"workflowId,omitempty"`

	Status Status `json:"-"`
	// Result is what a task that succeeded found; Why is the reason of another end.
	Result, Why string    `json:"-"`
	Finished    time.Time `json:"-"`
}

// settled reports that nothing more happens to the task.
func (t Task) settled() bool { return t.Status != Planned && t.Status != Running }

// Graph is a plan from its first version on. The zero Graph has no plan; it is not safe for
// concurrent use.
type Graph struct {
	State State
	Tasks []Task
	moved func(transition.Edge) // for tests; may be nil
}

// move takes the edge of an event and reports whether there is one.
func (g *Graph) move(event string) bool {
	e, ok := Graphs.Find(string(g.State), event)
	if ok {
		g.State = State(e.To)
		g.record(e)
	}
	return ok
}

func (g *Graph) record(e transition.Edge) {
	if g.moved != nil {
		g.moved(e)
	}
}

// Plan puts a plan in the place of what there was; false if the state does not allow one:
// tasks of the present plan are running. Tasks that ended before are left out.
func (g *Graph) Plan(tasks []Task) bool {
	if g.State == Completed || g.State == StateCancelled {
		g.State = ""
	}
	if !g.move("plan") {
		return false
	}
	g.Tasks = slices.Clone(tasks)
	for i := range g.Tasks {
		g.Tasks[i].Status = ""
		g.step(&g.Tasks[i], "plan")
	}
	return true
}

// Approve says that a person approves of the plan. Like Feedback, Deny and Cancel it reports
// whether that changed something: a cancelled plan does not come back.
func (g *Graph) Approve() bool { return g.move("approve") }

// Feedback says that a person wants another plan.
func (g *Graph) Feedback() bool { return g.move("feedback") }

// Deny says that a person wants no plan.
func (g *Graph) Deny(at time.Time) bool { return g.end("deny", at) }

// Cancel ends the plan, whatever its state.
func (g *Graph) Cancel(at time.Time) bool { return g.end("cancel", at) }

func (g *Graph) end(event string, at time.Time) bool {
	if !g.move(event) {
		return false
	}
	for i := range g.Tasks {
		g.settle(&g.Tasks[i], "cancel", "Cancelled: the plan was cancelled", at)
	}
	return true
}

// step takes the edge of an event for a task and reports whether there is one.
func (g *Graph) step(t *Task, event string) bool {
	e, ok := Tasks.Find(string(t.Status), event)
	if ok {
		t.Status = Status(e.To)
		g.record(e)
	}
	return ok
}

func (g *Graph) settle(t *Task, event, text string, at time.Time) bool {
	if !g.step(t, event) {
		return false
	}
	if t.Finished = at; t.Status == Succeeded {
		t.Result = text
	} else {
		t.Why = text
	}
	return true
}

// Find returns the task of that id; nil if there is none.
func (g *Graph) Find(id string) *Task {
	for i := range g.Tasks {
		if g.Tasks[i].ID == id {
			return &g.Tasks[i]
		}
	}
	return nil
}

// Start marks a planned task as running. An unknown one changes nothing, here and in the
// methods below, which report whether something changed.
func (g *Graph) Start(id string) bool {
	t := g.Find(id)
	return t != nil && g.step(t, "start")
}

// Succeed ends a running task with its result.
func (g *Graph) Succeed(id, result string, at time.Time) bool {
	t := g.Find(id)
	return t != nil && g.settle(t, "succeed", result, at)
}

// Fail ends a running task, and cancels what depends on it, directly or not.
func (g *Graph) Fail(id, why string, at time.Time) bool {
	return g.lose(id, "fail", why, fmt.Sprintf("Cancelled: dependency %q failed", id), at)
}

// Abandon cancels a task, and what depends on it.
func (g *Graph) Abandon(id, why string, at time.Time) bool {
	return g.lose(id, "cancel", why, fmt.Sprintf("Cancelled: dependency %q was cancelled", id), at)
}

func (g *Graph) lose(id, event, why, lost string, at time.Time) bool {
	t := g.Find(id)
	if t == nil || !g.settle(t, event, why, at) {
		return false
	}
	gone := map[string]bool{id: true}
	for more := true; more; { // a dependent may precede its dependency
		more = false
		for i := range g.Tasks {
			t := &g.Tasks[i]
			if !gone[t.ID] && slices.ContainsFunc(t.Deps, func(dep string) bool { return gone[dep] }) {
				gone[t.ID], more = true, true
				g.settle(t, "dependency_lost", lost, at)
			}
		}
	}
	return true
}

// The refusals of Report.
const (
	NotFound    = "not_found"
	WrongKind   = "wrong_kind"
	WrongStatus = "wrong_status"
)

// Report settles a running checkpoint; the code of a refusal, "" if there is none. A
// refused report changes nothing.
func (g *Graph) Report(id string, succeeded bool, text string, at time.Time) string {
	t := g.Find(id)
	switch {
	case t == nil:
		return NotFound
	case t.Kind != Checkpoint:
		return WrongKind
	case t.Status != Running:
		return WrongStatus
	case succeeded:
		g.Succeed(id, text, at)
	default:
		g.Fail(id, text, at)
	}
	return ""
}
