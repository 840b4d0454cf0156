// Package background keeps the background tasks of an orchestrator's thread: how many run,
// what they wait for, and when they have taken too long.
package background

import (
	"fmt"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/orchestrator/transition"
	"github.com/cupel-eval/cupel/internal/clip"
)

// State is where a task is.
type State string

// The states.
const (
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Why a task failed; each but Broken is the event that ends it.
const (
	IdleTimeout = "idle_timeout"
	MaxLifetime = "max_lifetime"
	MaxTurns    = "max_turns"
	Broken      = "error"
)

// The events that are not failures.
const (
	spawn    = "spawn"
	complete = "complete"
	cancel   = "cancel"
)

// Tasks is the state machine of a task.
var Tasks = transition.Table{
	{From: "", Event: spawn, To: "running"},
	{From: "running", Event: complete, To: "completed"},
	{From: "running", Event: IdleTimeout, To: "failed"},
	{From: "running", Event: MaxLifetime, To: "failed"},
	{From: "running", Event: MaxTurns, To: "failed"},
	{From: "running", Event: Broken, To: "failed"},
	{From: "running", Event: cancel, To: "cancelled"},
}

// The outcomes of Spawn.
const (
	Started      = "started"
	Duplicate    = "duplicate"
	LimitReached = "limit-reached"
)

// The outcomes of Correct, and its bounds.
const (
	Queued        = "queued"
	TaskCompleted = "task-completed"
	TaskNotFound  = "task-not-found"
	QueueFull     = "queue-full"

	maxCorrection  = 2_000 // characters
	maxCorrections = 10    // queued for one task
)

// Task is one background task.
type Task struct {
	ID, Key, Role, Title string
	State                State
	Reason               string // of a failure
	Began                time.Time

	touched     time.Time
	waiting     bool // for a person
	corrections []string
}

// Set are the tasks of a thread. It is not safe for concurrent use.
type Set struct {
	limit          int
	idle, lifetime time.Duration
	last           int
	running        []*Task // in the order of their ids
	byID           map[string]*Task
	moved          func(transition.Edge) // for tests; may be nil
}

// New returns an empty set: limit tasks run at the same time, each for at most lifetime,
// and for at most idle without a sign of life.
func New(limit int, idle, lifetime time.Duration) *Set {
	return &Set{limit: limit, idle: idle, lifetime: lifetime, byID: map[string]*Task{}}
}

func (s *Set) move(t *Task, event string) bool {
	e, ok := Tasks.Find(string(t.State), event)
	if !ok {
		return false
	}
	t.State = State(e.To)
	if t.State != Running {
		s.running = slices.DeleteFunc(s.running, func(other *Task) bool { return other == t })
	}
	if t.State == Failed {
		t.Reason = event
	}
	if s.moved != nil {
		s.moved(e)
	}
	return true
}

// Free is how many more tasks may run.
func (s *Set) Free() int { return max(0, s.limit-len(s.running)) }

// Limit is how many tasks may run at the same time.
func (s *Set) Limit() int { return s.limit }

// Running are the tasks that run, in the order in which they began. The caller must not
// change the slice.
func (s *Set) Running() []*Task { return s.running }

// Find returns the task of that id; nil if there is none.
func (s *Set) Find(id string) *Task { return s.byID[id] }

// Spawn begins a task, unless one of the same key runs, which it then returns, or too many
// run. Only with outcome Started is there work to begin.
func (s *Set) Spawn(key, role, title string, at time.Time) (string, *Task) {
	if i := slices.IndexFunc(s.running, func(t *Task) bool { return t.Key == key }); i >= 0 {
		return Duplicate, s.running[i]
	}
	if s.Free() == 0 {
		return LimitReached, nil
	}
	s.last++
	t := &Task{ID: fmt.Sprintf("bg_%d", s.last), Key: key, Role: role, Title: title, Began: at, touched: at}
	s.running, s.byID[t.ID] = append(s.running, t), t
	s.move(t, spawn)
	return Started, t
}

// Touch is a sign of life: a reply or a result.
func (s *Set) Touch(id string, at time.Time) {
	if t := s.byID[id]; t != nil {
		t.touched = at
	}
}

// Waits says whether a task waits for a person, which has no timeout; an answer is a sign of
// life.
func (s *Set) Waits(id string, waiting bool, at time.Time) {
	if t := s.byID[id]; t != nil && t.waiting != waiting {
		t.waiting, t.touched = waiting, at
	}
}

// Complete ends a running task, as do Fail, for the reason given, and Cancel. They report
// whether it was running.
func (s *Set) Complete(id string) bool { return s.settle(id, complete) }

// Fail ends a running task: see Complete.
func (s *Set) Fail(id, reason string) bool { return s.settle(id, reason) }

// Cancel ends a running task: see Complete.
func (s *Set) Cancel(id string) bool { return s.settle(id, cancel) }

func (s *Set) settle(id, event string) bool {
	t := s.byID[id]
	return t != nil && s.move(t, event)
}

// Correct queues what the user wants changed for a running task. The text is cut to its
// bound.
func (s *Set) Correct(id, text string) string {
	t := s.byID[id]
	switch {
	case t == nil:
		return TaskNotFound
	case t.State != Running:
		return TaskCompleted
	case len(t.corrections) >= maxCorrections:
		return QueueFull
	}
	t.corrections = append(t.corrections, clip.Fit(text, maxCorrection))
	return Queued
}

// Corrections takes what is queued for a task.
func (s *Set) Corrections(id string) []string {
	t := s.byID[id]
	if t == nil {
		return nil
	}
	out := t.corrections
	t.corrections = nil
	return out
}

// due is when a task times out, and of what.
func (s *Set) due(t *Task) (time.Time, string) {
	idle, lifetime := t.touched.Add(s.idle), t.Began.Add(s.lifetime)
	if idle.Before(lifetime) {
		return idle, IdleTimeout
	}
	return lifetime, MaxLifetime
}

// Due is when the next task times out; false if none can.
func (s *Set) Due() (first time.Time, ok bool) {
	for _, t := range s.running {
		if at, _ := s.due(t); !t.waiting && (!ok || at.Before(first)) {
			first, ok = at, true
		}
	}
	return first, ok
}

// Sweep fails the tasks that have timed out and returns them.
func (s *Set) Sweep(now time.Time) []*Task {
	var out []*Task
	for _, t := range slices.Clone(s.running) {
		if at, why := s.due(t); !t.waiting && !now.Before(at) {
			s.move(t, why)
			out = append(out, t)
		}
	}
	return out
}
