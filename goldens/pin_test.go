package goldens

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

// A pinned outcome is met by what it was made from, and by nothing else.
func TestPin(t *testing.T) {
	task := Task{World: world.Spec{Now: time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)}, Expect: []Expect{{Status: "answered", Numbers: []string{"449"}, MaxClarifies: new(0)}}}
	call := func(args string, more func(*Called)) Called {
		c := Called{Call: tool.Call{Name: "get_counts", Args: json.RawMessage(args)}, Outcome: tool.OK}
		if more != nil {
			more(&c)
		}
		return c
	}
	o := Outcome{
		Status: "answered", Answer: "On 2026-05-13 it was 1,449 (of 449; 449).", Steps: 3,
		Calls: []Called{
			call(`{"label":"a"}`, func(c *Called) { c.Outcome = tool.Error }),
			call(`{"label":"a"}`, func(c *Called) { c.Outcome = tool.Rejected }),
			call(`{"label":"a","n":1.50}`, nil),
			call(`{"label":"a","n":1.50}`, func(c *Called) { c.Deduped = true }),
			call(`{"label":{"$any":true}}`, nil),
		},
	}
	task.Expect = []Expect{
		{Status: "clarify", NotContains: []string{"x"}},
		{Status: "answered", Numbers: []string{"1449"}, OnlyNumbers: []string{"449", "1449"}, NotNumbers: []string{"7"}, NotMatches: []string{"^x"}, NotContains: []string{"error"}, Signals: map[string]string{"stall": "false"}, Note: "n"},
	}
	e := Pin(task, o)
	three, zero := 3, 0
	require.Equal(t, Expect{
		Status: "answered", Numbers: []string{"1449", "449"}, OnlyNumbers: []string{"449", "1449"}, NotNumbers: []string{"7"}, NotMatches: []string{"^x"}, NotContains: []string{"error"}, Signals: map[string]string{"stall": "false"},
		MaxSteps: &three, MaxToolCalls: &three, MaxClarifies: &zero,
		Trajectory: Trajectory{Order: Strict, Required: []CallMatch{
			{Tool: "get_counts", Args: map[string]any{"label": "a"}},
			{Tool: "get_counts", Args: map[string]any{"label": "a", "n": json.Number("1.50")}},
			{Tool: "get_counts"},
		}},
	}, e)
	task.Expect = []Expect{e}
	solved, checks := Score(task, o)
	require.True(t, solved, checks)
	for name, change := range map[string]func(*Outcome){
		"another status": func(o *Outcome) { o.Status = "clarify" },
		"one step more":  func(o *Outcome) { o.Steps++ },
		"a number less":  func(o *Outcome) { o.Answer = "1449" },
		"a call less":    func(o *Outcome) { o.Calls = o.Calls[1:] },
		"a question":     func(o *Outcome) { o.Clarifies++ },
	} {
		other := o
		change(&other)
		solved, _ = Score(task, other)
		require.False(t, solved, name)
	}
}

func TestPinBounds(t *testing.T) {
	task := Task{World: world.Spec{Now: time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)}, Expect: []Expect{{Status: "answered", Numbers: []string{"449"}, MaxClarifies: new(0)}}}
	long := strings.Repeat("ä", maxPinnedText)
	o := Outcome{Status: "answered", Answer: long, Steps: 1}
	for range maxPinnedCalls + 1 {
		o.Calls = append(o.Calls, Called{Call: tool.Call{Name: "today_range"}, Outcome: tool.OK})
	}
	task.Expect = nil
	e := Pin(task, o)
	require.Len(t, e.Trajectory.Required, maxPinnedCalls)
	require.Equal(t, InOrder, e.Trajectory.Order)
	require.Equal(t, []string{long[:maxPinnedText]}, e.ContainsAll)
	task.Expect = []Expect{e}
	solved, checks := Score(task, o)
	require.True(t, solved, checks)

	require.Nil(t, Pin(task, Outcome{Status: "cannot_proceed", Answer: "Sorry."}).ContainsAll, "an apology may be worded otherwise")
	require.Equal(t, "stall", Pin(task, Outcome{Status: "stopped", StopReason: "stall"}).StopReason)
	for i := range 2 * maxPinnedNumbers {
		o.Answer += fmt.Sprintf(" %d", i)
	}
	require.Len(t, Pin(task, o).Numbers, maxPinnedNumbers)
}

// What an episode changed is pinned, and that it changed nothing.
func TestPinState(t *testing.T) {
	before := json.RawMessage(`{"a":1,"b":{"c":true},"gone":[],"x":0}`)
	o := Outcome{
		Status: "answered", Answer: "Done 1.", StateBefore: before,
		StateAfter: json.RawMessage(`{"a":1,"b":{"c":null,"d.e":"` + strings.Repeat("y", maxPinnedText) + `"},"new":{"$any":1},"x":2}`),
	}
	task := Task{Expect: []Expect{{Status: "answered", State: []StateCheck{{"x", map[string]any{"not": "0"}}}, Unchanged: []string{"a"}}}}
	e := Pin(task, o)
	require.Equal(t, []StateCheck{
		{"b.c", map[string]any{"is": nil}}, {`b.d\.e`, map[string]any{"exists": true}}, {"gone", map[string]any{"exists": false}},
		{"new", map[string]any{"exists": true}}, {"x", map[string]any{"is": json.Number("2")}},
	}, e.State)
	require.Equal(t, []string{"a"}, e.Unchanged)
	solved, checks := Score(Task{Expect: []Expect{e}}, o)
	require.True(t, solved, checks)

	o.StateAfter = before
	idle := Pin(Task{}, o)
	require.Equal(t, []string{"."}, idle.Unchanged)
	require.Empty(t, idle.State)
	require.Empty(t, Pin(Task{}, Outcome{Status: "answered"}).Unchanged, "there is no state")
}
