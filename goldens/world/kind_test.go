package world

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

var noon = time.Date(2026, 5, 13, 16, 0, 0, 0, time.UTC)

// counter is a world with one number. It is its own kind.
type counter struct {
	n      int
	start  Start
	breaks string // names the call that fails
}

var errBroken = errors.New("broken")

func (k *counter) Tools() []tool.Spec { return nil }

func (k *counter) Open(_ context.Context, s Start) (World, error) {
	switch k.breaks {
	case "open":
		return nil, errBroken
	case "panic":
		panic("boom")
	}
	return &counter{start: s, breaks: k.breaks}, nil
}

func (k *counter) Call(_ context.Context, c tool.Call, at time.Time) (Effect, error) {
	switch k.breaks {
	case "call":
		return Effect{}, errBroken
	case "panic in call":
		panic("boom")
	case "result":
		return Effect{}, nil
	case "value":
		return Effect{Result: tool.Result{Outcome: tool.OK, Value: json.RawMessage(`{"a":`)}}, nil
	}
	if c.Name != "add" {
		return Refuse("E_NO", "no %s", c.Name), nil
	}
	k.n++
	e := Return(at.Format(time.TimeOnly))
	e.Changed, e.Harm = true, "too many"
	return e, nil
}

func (k *counter) State(context.Context) (json.RawMessage, error) {
	switch {
	case k.breaks == "state":
		return nil, errBroken
	case k.breaks == "spaces":
		return json.RawMessage(`{ }`), nil
	case k.breaks == "state after a call" && k.n > 0:
		return json.RawMessage(`{`), nil
	}
	return json.Marshal(k.n)
}

func (k *counter) Close() error {
	if k.breaks == "close" {
		return errBroken
	}
	return nil
}

// An environment opens the world of its kind. Faults apply to its effects.
func TestEnvironmentOpensItsWorld(t *testing.T) {
	ctx := t.Context()
	spec := Spec{Now: noon, Kind: "counter", Maker: &counter{}, State: json.RawMessage(`{"a":1}`), ClockStep: time.Second, Faults: []Fault{
		{Tool: "add", OnCalls: []int{2}, Kind: FaultError, Code: "E_X"},
		{Tool: "add", OnCalls: []int{3}, Kind: FaultReplace, Value: 1},
		{Tool: "add", OnCalls: []int{4}, Kind: FaultAugment, Fields: map[string]any{"a": 1}},
	}}
	w, err := Open(ctx, spec, 7, nil, nil)
	require.NoError(t, err)
	require.Equal(t, Start{State: spec.State, Now: noon, Zone: time.UTC, Seed: 7}, w.world.(*counter).start)
	was := "0"
	for i, want := range []struct {
		name, value string
		changed     bool
		state       string
	}{{"add", `"16:00:00"`, true, "1"}, {"add", "", false, "1"}, {"add", "1", false, "1"}, {"add", `"16:00:03"`, true, "2"}, {"sub", "", false, "2"}} {
		e, err := w.Call(ctx, tool.Call{Name: want.name}, noon)
		require.NoError(t, err)
		require.Equal(t, want.value, string(e.Value), i)
		require.Equal(t, want.changed, e.Changed, i)
		require.Equal(t, want.changed, e.Harm != "", i)
		initial, now := w.States()
		require.Equal(t, "0", string(initial))
		require.Equal(t, want.state, string(now), "a fault in place of a call changes nothing")
		var changes []Change
		if want.changed {
			changes = []Change{{".", json.RawMessage(was), now}}
		}
		require.Equal(t, changes, e.Changes)
		was = want.state
	}
	require.NoError(t, w.Close())
}

// A world that breaks causes an error, not a result.
func TestBrokenWorlds(t *testing.T) {
	for breaks, want := range map[string]string{
		"open": "open the world of kind counter: broken", "panic": "open the world of kind counter: the world of kind counter panicked: boom",
		"call": "tool add: broken", "panic in call": "tool add: the world of kind counter panicked: boom", "result": `tool add: outcome "": must be ok, error, timeout or rejected`, "value": "tool add: its value is not JSON",
		"state": "state of the world of kind counter: broken", "state after a call": "tool add: state of the world of kind counter: it is not JSON",
		"spaces": "state of the world of kind counter: it is not canonical JSON: there are spaces between its values; write it with json.Marshal", "close": "broken",
	} {
		t.Run(breaks, func(t *testing.T) {
			w, err := Open(t.Context(), Spec{Kind: "counter", Maker: &counter{breaks: breaks}}, 1, nil, nil)
			if err == nil {
				_, err = w.Call(t.Context(), tool.Call{Name: "add"}, noon)
			}
			if err == nil {
				err = w.Close()
			}
			require.EqualError(t, err, want)
		})
	}
}

func TestStatesAreCompared(t *testing.T) {
	require.Equal(t, []Change{{`a\.b`, json.RawMessage("1"), nil}, {"c.0", nil, json.RawMessage(`"x"`)}}, Diff(json.RawMessage(`{"a.b":1,"c":[]}`), json.RawMessage(`{"c":["x"]}`)))
	require.Len(t, Hash(json.RawMessage("{}")), 64)
	require.Empty(t, Hash(nil))
}

func TestCanonical(t *testing.T) {
	_, err := canonical([]byte(strings.Repeat("[", 70) + strings.Repeat("]", 70)))
	require.ErrorContains(t, err, "canonical form of a value")
	out, err := canonical([]byte(` [1.50, {"b":1,"a":"}"}] `))
	require.NoError(t, err)
	require.Equal(t, `[1.5,{"a":"}","b":1}]`, string(out))
}
