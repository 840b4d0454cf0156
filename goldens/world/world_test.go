package world_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/world"
)

var noon = time.Date(2026, 5, 13, 16, 0, 0, 0, time.UTC)

func newYork(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	return zone
}

// env is an environment whose world never fails.
type env struct{ *world.Environment }

func opened(spec world.Spec, replies ...string) env {
	w, err := world.Open(context.Background(), spec, 1, replies, nil)
	if err != nil {
		panic(err)
	}
	return env{w}
}

func (e env) Call(c tool.Call, at time.Time) tool.Result {
	r, err := e.Environment.Call(context.Background(), c, at)
	if err != nil {
		panic(err)
	}
	return r.Result
}

func testWorld(t *testing.T, edit func(*world.Spec)) env {
	t.Helper()
	spec := world.Spec{Now: noon, Zone: newYork(t), Kind: "counts", Maker: counts.Worlds()["counts"], State: json.RawMessage(`{"counts":{"2026-05-08":{"angry":8,"praise":80}}}`)}
	if edit != nil {
		edit(&spec)
	}
	return opened(spec, "angry", "praise")
}

func counted(start, end, label string) tool.Call {
	return tool.Call{Name: "get_counts", Args: fmt.Appendf(nil, `{"start_date":%q,"end_date":%q,"label":%q}`, start, end, label)}
}

func ok(value string) tool.Result {
	return tool.Result{Outcome: tool.OK, Value: json.RawMessage(value)}
}

func failed(code, message string) tool.Result {
	return tool.Result{Outcome: tool.Error, Code: code, Message: message}
}

func TestFaults(t *testing.T) {
	day := counted("2026-05-08", "2026-05-08", "angry")
	plain := `{"end":"2026-05-08","label":"angry","start":"2026-05-08","value":8}`
	tests := []struct {
		name   string
		faults []world.Fault
		want   []tool.Result // one for each call
	}{
		{"error on the first call", []world.Fault{{OnCalls: []int{1}, Kind: world.FaultError, Status: 500, Code: "E_UPSTREAM", Message: "internal error"}}, []tool.Result{failed("E_UPSTREAM", "HTTP 500: internal error"), ok(plain)}},
		{"error without status", []world.Fault{{Kind: world.FaultError, Code: "E_X", Message: "m"}}, []tool.Result{failed("E_X", "m"), failed("E_X", "m")}},
		{"error without message", []world.Fault{{Kind: world.FaultError, Code: "E_X", Status: 503}}, []tool.Result{failed("E_X", "HTTP 503")}},
		{"timeout", []world.Fault{{OnCalls: []int{2}, Kind: world.FaultTimeout, After: 5 * time.Second}}, []tool.Result{ok(plain), {Outcome: tool.Timeout, Code: "E_TIMEOUT", Message: "no answer within 5s", Duration: 5 * time.Second}, ok(plain)}},
		{"latencies add up", []world.Fault{{Kind: world.FaultLatency, After: time.Second}, {OnCalls: []int{2}, Kind: world.FaultLatency, After: 2 * time.Second}}, []tool.Result{
			{Outcome: tool.OK, Value: json.RawMessage(plain), Duration: time.Second}, {Outcome: tool.OK, Value: json.RawMessage(plain), Duration: 3 * time.Second},
		}},
		{"latency then error", []world.Fault{{Kind: world.FaultLatency, After: time.Second}, {Kind: world.FaultError, Code: "E_X"}}, []tool.Result{{Outcome: tool.Error, Code: "E_X", Duration: time.Second}}},
		{"replaced", []world.Fault{{Kind: world.FaultReplace, Value: map[string]any{"z": json.Number("9007199254740993"), "a": "<b>"}}}, []tool.Result{ok(`{"a":"<b>","z":9007199254740993}`)}},
		{"replaced by null", []world.Fault{{Kind: world.FaultReplace}}, []tool.Result{ok(`null`)}},
		{"augmented", []world.Fault{{Kind: world.FaultAugment, Fields: map[string]any{"note": "x", "value": 1}}}, []tool.Result{ok(`{"end":"2026-05-08","label":"angry","note":"x","start":"2026-05-08","value":1}`)}},
		{"replaced and augmented", []world.Fault{{Kind: world.FaultAugment, Fields: map[string]any{"b": 1}}, {Kind: world.FaultReplace, Value: map[string]any{"a": 1}}}, []tool.Result{ok(`{"a":1,"b":1}`)}},
		{"nothing to augment", []world.Fault{{Kind: world.FaultReplace, Value: []any{"x"}}, {Kind: world.FaultAugment, Fields: map[string]any{"b": 1}}}, []tool.Result{ok(`["x"]`)}},
		{"appended", []world.Fault{{Kind: world.FaultReplace, Value: "<x>"}, {Kind: world.FaultAppend, Value: "y"}, {Kind: world.FaultAugment, Fields: map[string]any{"b": 1}}, {Kind: world.FaultAppend, Value: "z"}}, []tool.Result{ok(`"<x>\n\ny\n\nz"`)}},
		{"appended to an empty text", []world.Fault{{Kind: world.FaultReplace, Value: ""}, {Kind: world.FaultAppend, Value: "y"}}, []tool.Result{ok(`"y"`)}},
		{"appended to an object", []world.Fault{{Kind: world.FaultAppend, Value: "y"}}, []tool.Result{ok(plain)}},
		{"no JSON", []world.Fault{{Kind: world.FaultReplace, Value: math.NaN()}}, []tool.Result{failed("E_UNENCODABLE", "the result is not JSON: json: unsupported value: NaN")}},
		{"of another tool", []world.Fault{{Tool: "today_range", Kind: world.FaultError, Code: "E_X"}}, []tool.Result{ok(plain)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.faults {
				if tt.faults[i].Tool == "" {
					tt.faults[i].Tool = "get_counts"
				}
			}
			w := testWorld(t, func(s *world.Spec) { s.Faults = tt.faults })
			w.Call(tool.Call{Name: "today_range"}, noon) // counts only for this tool
			for i, want := range tt.want {
				require.Equal(t, want, w.Call(day, noon), "call %d", i+1)
			}
		})
	}
}

func TestDurationAndReplies(t *testing.T) {
	w := testWorld(t, func(s *world.Spec) {
		s.Latency = map[string]time.Duration{"get_counts": time.Second}
	})
	require.Zero(t, w.Call(tool.Call{Name: "today_range"}, noon).Duration)
	require.Equal(t, time.Second, w.Call(counted("2026-05-08", "2026-05-08", "angry"), noon).Duration)
	require.Equal(t, time.Second, w.Call(counted("bad", "bad", "angry"), noon).Duration)

	for _, want := range []string{"angry", "praise"} {
		got, answered := w.Reply("Which?")
		require.True(t, answered)
		require.Equal(t, want, got)
	}
	_, answered := w.Reply("Which?")
	require.False(t, answered)
}

// A clock step changes the date that tools see. It does not use time of the episode.
func TestClockStepMovesTheDateOnly(t *testing.T) {
	w := testWorld(t, func(s *world.Spec) { s.ClockStep = 15 * time.Second })
	late := time.Date(2026, 5, 13, 23, 59, 50, 0, newYork(t))
	for _, want := range []string{"2026-05-13", "2026-05-14"} {
		r := w.Call(tool.Call{Name: "today_range"}, late)
		require.Zero(t, r.Duration)
		require.Equal(t, `{"end_date":"`+want+`","start_date":"`+want+`"}`, string(r.Value))
	}
}

// TestMessagesAreBounded checks that texts that a model wrote are returned shortened.
func TestMessagesAreBounded(t *testing.T) {
	r := testWorld(t, nil).Call(counted(strings.Repeat("9", 5000), "2026-05-08", "angry"), noon)
	require.Equal(t, "E_BAD_DATE", r.Code)
	require.Equal(t, `start_date "`+strings.Repeat("9", 64)+`…" is not written YYYY-MM-DD`, r.Message)

	huge := testWorld(t, func(s *world.Spec) {
		s.Faults = []world.Fault{{Tool: "today_range", Kind: world.FaultReplace, Value: strings.Repeat("x", 70<<10)}}
	})
	require.Equal(t, "E_UNENCODABLE", huge.Call(tool.Call{Name: "today_range"}, noon).Code)
}

// The world's faults, latency and clock also apply to tools that are not the world's
// own.
func TestWorldAround(t *testing.T) {
	w := opened(world.Spec{
		ClockStep: time.Minute, Latency: map[string]time.Duration{"find": time.Second},
		Faults: []world.Fault{
			{Tool: "find", OnCalls: []int{2}, Kind: world.FaultError, Code: "E_X", Status: 503},
			{Tool: "find", OnCalls: []int{3}, Kind: world.FaultAugment, Fields: map[string]any{"b": 2}},
			{Tool: "find", OnCalls: []int{4}, Kind: world.FaultReplace, Value: "x"},
		},
	})
	start := time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)
	var at []time.Time
	call := func() string {
		r, err := w.Around(tool.Call{Name: "find"}, start, func(t time.Time) (world.Effect, error) {
			at = append(at, t)
			return world.Effect{Result: tool.Result{Outcome: "ok", Value: []byte(`{"a":1}`), Duration: 2 * time.Second}, Changed: true}, nil
		})
		require.NoError(t, err)
		return string(r.Outcome) + " " + r.Code + string(r.Value) + " " + r.Duration.String()
	}
	require.Equal(t, `ok {"a":1} 3s`, call())
	require.Equal(t, `error E_X 1s`, call())
	require.Equal(t, `ok {"a":1,"b":2} 3s`, call())
	require.Equal(t, `ok "x" 1s`, call())
	require.Equal(t, []time.Time{start, start.Add(2 * time.Minute)}, at, "a fault takes the tool's place")
}
