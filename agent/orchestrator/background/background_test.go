package background

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/orchestrator/transition"
	"github.com/cupel-eval/cupel/agent/orchestrator/transition/tracetest"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func after(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func newSet(limit int) *Set { return New(limit, 10*time.Minute, 30*time.Minute) }

func start(t *testing.T, s *Set, key string, at time.Time) *Task {
	t.Helper()
	outcome, task := s.Spawn(key, "builder", key, at)
	require.Equal(t, Started, outcome)
	return task
}

func TestEveryEdgeHasATrace(t *testing.T) {
	tracetest.Run(t, "tasks", Tasks, func(t *testing.T, commands []string) (taken []transition.Edge) {
		s, now := newSet(5), noon
		s.moved = func(e transition.Edge) { taken = append(taken, e) }
		for _, c := range commands {
			verb, arg, _ := strings.Cut(c, " ")
			switch verb {
			case "spawn":
				s.Spawn(arg, "builder", arg, now)
			case "complete":
				s.Complete(arg)
			case "fail":
				s.Fail(arg, Broken)
			case "max_turns":
				s.Fail(arg, MaxTurns)
			case "cancel":
				s.Cancel(arg)
			case "touch":
				s.Touch(arg, now)
			case "sweep":
				d, err := time.ParseDuration(arg)
				require.NoError(t, err)
				now = noon.Add(d)
				s.Sweep(now)
			default:
				t.Fatalf("unknown command %q", c)
			}
		}
		return taken
	})
}

func TestB120Limit(t *testing.T) {
	s := newSet(3)
	for i := range 3 {
		start(t, s, fmt.Sprint(i), noon)
	}
	outcome, task := s.Spawn("3", "builder", "", noon)
	require.Equal(t, LimitReached, outcome)
	require.Nil(t, task)
	require.Equal(t, 3, s.Limit())
	require.Len(t, s.Running(), 3)
	for range 1_000 { // leave nothing behind
		s.Spawn("more", "builder", "", noon)
	}
	require.Len(t, s.byID, 3)
}

func TestB121SingleFlight(t *testing.T) {
	s := newSet(5)
	first := start(t, s, "planned-1", noon)
	outcome, task := s.Spawn("planned-1", "builder", "", noon)
	require.Equal(t, Duplicate, outcome)
	require.Same(t, first, task)
	require.Equal(t, 4, s.Free())
}

func TestB122KeysAreReleased(t *testing.T) {
	s := newSet(5)
	for i, end := range []func(string) bool{s.Complete, s.Cancel, func(id string) bool { return s.Fail(id, Broken) }} {
		task := start(t, s, "planned-1", noon)
		require.Equal(t, fmt.Sprintf("bg_%d", i+1), task.ID)
		require.True(t, end(task.ID))
	}
	start(t, s, "planned-1", noon)
}

func TestB123TwoPlannedTasksOfOneWorkflow(t *testing.T) {
	s := newSet(5)
	start(t, s, "planned-A", noon)
	start(t, s, "planned-B", noon)
	require.Len(t, s.Running(), 2)
}

func TestB124IdleTimeout(t *testing.T) {
	s := newSet(1)
	task := start(t, s, "k", noon)
	due, ok := s.Due()
	require.True(t, ok)
	require.Equal(t, after(10), due)
	require.Empty(t, s.Sweep(due.Add(-1)))
	require.Equal(t, []*Task{task}, s.Sweep(due))
	require.Equal(t, Failed, task.State)
	require.Equal(t, "idle_timeout", task.Reason)
	require.Equal(t, 1, s.Free())
	start(t, s, "k", due)
}

func TestB125TouchedOrWaitingTasksStay(t *testing.T) {
	s := newSet(2)
	touched, waiting := start(t, s, "a", noon), start(t, s, "b", noon)
	s.Touch(touched.ID, after(9))
	s.Waits(waiting.ID, true, after(5))
	require.Empty(t, s.Sweep(after(11)))
	due, _ := s.Due()
	require.Equal(t, after(19), due, "of the touched one")
	s.Touch(touched.ID, after(15))
	s.Touch(touched.ID, after(24))
	require.Equal(t, []*Task{touched}, s.Sweep(after(30)), "its lifetime")
	require.Equal(t, MaxLifetime, touched.Reason)
	_, ok := s.Due()
	require.False(t, ok, "nothing times out while a person is asked")
	s.Waits(waiting.ID, false, after(29))
	require.Equal(t, []*Task{waiting}, s.Sweep(after(30)))
}

func TestB126CancelledTasksStaySilent(t *testing.T) {
	s := newSet(2)
	task := start(t, s, "a", noon)
	require.True(t, s.Cancel(task.ID))
	require.False(t, s.Fail(task.ID, Broken), "its end is not reported")
	require.False(t, s.Complete(task.ID))
	require.Equal(t, Cancelled, task.State)
	require.Empty(t, task.Reason)
	require.Empty(t, s.Sweep(after(60)))
	require.False(t, s.Cancel("bg_9"))
}

func TestCorrections(t *testing.T) {
	s := newSet(2)
	task := start(t, s, "a", noon)
	require.Equal(t, TaskNotFound, s.Correct("bg_9", "x"))
	require.Equal(t, Queued, s.Correct(task.ID, strings.Repeat("long ", 1_000)))
	for range 9 {
		require.Equal(t, Queued, s.Correct(task.ID, "x"))
	}
	require.Equal(t, QueueFull, s.Correct(task.ID, "x"))
	got := s.Corrections(task.ID)
	require.Len(t, got, 10)
	require.Len(t, []rune(got[0]), maxCorrection)
	require.Empty(t, s.Corrections(task.ID))
	require.Empty(t, s.Corrections("bg_9"))
	s.Complete(task.ID)
	require.Equal(t, TaskCompleted, s.Correct(task.ID, "x"))
}
