// Package worklog keeps what became of an orchestrator's tasks: those of its plans, and what it
// handed to sub-agents outside of plans.
package worklog

import (
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/orchestrator/graph"
)

// Blocked is the state of a task whose workflow may not be changed any more. The other states
// are those of a task of a plan.
const Blocked graph.Status = "blocked"

// Task is one piece of work.
type Task struct {
	// ID is the name of the task in its plan, Plan the number of that plan, from 1; empty and 0
	// if the task is outside of plans.
	ID   string
	Plan int
	// Kind is the kind of work, and Title what the agent calls it.
	Kind, Title string
	// Agent is the conversation that works on the task; empty if it is the main one, or none.
	Agent string
	State graph.Status
	// Reason is why a task failed, else empty.
	Reason string
	// Start is zero if the task was not started, End if it has not ended.
	Start, End time.Time
}

// Log has the tasks in the order in which they were planned or handed over. The zero Log is
// empty; it is not safe for concurrent use.
type Log struct {
	tasks   []Task
	changed bool
}

// Tasks returns a copy of the tasks if any has changed since the last call, else nil.
func (l *Log) Tasks() []Task {
	if !l.changed {
		return nil
	}
	l.changed = false
	return slices.Clone(l.tasks)
}

// find returns the index of the task, or −1.
func (l *Log) find(fits func(*Task) bool) int {
	for i := len(l.tasks) - 1; i >= 0; i-- { // the latest first
		if fits(&l.tasks[i]) {
			return i
		}
	}
	return -1
}

// planned returns the task of a plan; it adds one that is not known.
func (l *Log) planned(plan int, t graph.Task) *Task {
	i := l.find(func(x *Task) bool { return x.Plan == plan && x.ID == t.ID })
	if i < 0 {
		i = len(l.tasks)
		l.tasks = append(l.tasks, Task{ID: t.ID, Plan: plan, Kind: string(t.Kind), Title: t.Title})
	}
	return &l.tasks[i]
}

// Follow takes the present states of the tasks of a plan. What has ended stays as it is.
func (l *Log) Follow(plan int, tasks []graph.Task) {
	for _, t := range tasks {
		if x := l.planned(plan, t); x.End.IsZero() && x.State != t.Status {
			x.State, x.End, l.changed = t.Status, t.Finished, true
		}
	}
}

// Drop forgets a plan that another version replaces before a person approved of it.
func (l *Log) Drop(plan int) {
	l.tasks = slices.DeleteFunc(l.tasks, func(t Task) bool { return t.Plan == plan })
}

// Check starts a task of a plan that the main conversation works on.
func (l *Log) Check(plan int, t graph.Task, at time.Time) { l.planned(plan, t).Start = at }

// Begin starts a task: the plan's task of that name, or else one outside of plans.
func (l *Log) Begin(agent string, plan int, t graph.Task, at time.Time) {
	var x *Task
	if t.ID == "" {
		l.tasks = append(l.tasks, Task{Kind: string(t.Kind), Title: t.Title})
		x = &l.tasks[len(l.tasks)-1]
	} else {
		x = l.planned(plan, t)
	}
	x.Agent, x.State, x.Start, l.changed = agent, graph.Running, at, true
}

// End ends the task of a conversation, if it has not ended.
func (l *Log) End(agent string, state graph.Status, reason string, at time.Time) {
	if i := l.find(func(x *Task) bool { return x.Agent == agent }); i >= 0 && l.tasks[i].End.IsZero() {
		x := &l.tasks[i]
		x.State, x.Reason, x.End, l.changed = state, reason, at, true
	}
}
