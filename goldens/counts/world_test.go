package counts

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

var noon = time.Date(2026, 5, 13, 16, 0, 0, 0, time.UTC)

// env is an environment whose world never fails.
type env struct{ *world.Environment }

func opened(spec world.Spec, state string) env {
	spec.Kind, spec.Maker, spec.State = "counts", kind{}, json.RawMessage(state)
	w, err := world.Open(context.Background(), spec, 1, nil, nil)
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

const mayState = `{"job_status":["running","done"],"counts":{"2026-05-08":{"angry":8,"praise":80},"2026-05-09":{"angry":0,"praise":90},"2026-05-10":{"angry":10},"2026-05-12":{"angry":12,"praise":120}}}`

func testWorld(t *testing.T, state string) env {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	return opened(world.Spec{Now: noon, Zone: zone}, state)
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

func TestGetCounts(t *testing.T) {
	tests := []struct {
		name string
		call tool.Call
		want tool.Result
	}{
		{"one day", counted("2026-05-08", "2026-05-08", "angry"), ok(`{"end":"2026-05-08","label":"angry","start":"2026-05-08","value":8}`)},
		{"zero is a value", counted("2026-05-09", "2026-05-09", "angry"), ok(`{"end":"2026-05-09","label":"angry","start":"2026-05-09","value":0}`)},
		{"inclusive range", counted("2026-05-08", "2026-05-10", "angry"), ok(`{"end":"2026-05-10","label":"angry","start":"2026-05-08","value":18}`)},
		{"no data", counted("2026-12-25", "2026-12-25", "angry"), ok(`{"end":"2026-12-25","label":"angry","missing":["2026-12-25"],"note":"no data for 2026-12-25","start":"2026-12-25","value":null}`)},
		{"a hole in the range", counted("2026-05-10", "2026-05-12", "angry"), ok(`{"end":"2026-05-12","label":"angry","missing":["2026-05-11"],"note":"no data for 2026-05-11 (1 of 3 days)","start":"2026-05-10","value":null}`)},
		{"a label missing on a day", counted("2026-05-09", "2026-05-10", "praise"), ok(`{"end":"2026-05-10","label":"praise","missing":["2026-05-10"],"note":"no data for 2026-05-10 (1 of 2 days)","start":"2026-05-09","value":null}`)},
		{"many missing days", counted("2026-05-12", "2026-05-31", "angry"), ok(`{"end":"2026-05-31","label":"angry","missing":["2026-05-13","2026-05-14","2026-05-15","2026-05-16","2026-05-17","2026-05-18","2026-05-19","2026-05-20","2026-05-21","2026-05-22"],"note":"no data for 2026-05-13, 2026-05-14, 2026-05-15, 2026-05-16, 2026-05-17, 2026-05-18, 2026-05-19, 2026-05-20, 2026-05-21, 2026-05-22 and 9 more (19 of 20 days)","start":"2026-05-12","value":null}`)},
		{"no such day", counted("2026-02-30", "2026-03-01", "angry"), failed("E_BAD_DATE", `start_date "2026-02-30" is not a date of the calendar`)},
		{"no leap year", counted("2026-05-08", "2027-02-29", "angry"), failed("E_BAD_DATE", `end_date "2027-02-29" is not a date of the calendar`)},
		{"other digits", counted("٢٠٢٦-05-08", "2026-05-08", "angry"), failed("E_BAD_DATE", `start_date "٢٠٢٦-05-08" is not written YYYY-MM-DD`)},
		{"newline", counted("2026-05-08\n", "2026-05-08", "angry"), failed("E_BAD_DATE", `start_date "2026-05-08\n" is not written YYYY-MM-DD`)},
		{"reversed", counted("2026-05-10", "2026-05-08", "angry"), failed("E_BAD_RANGE", "start_date 2026-05-10 is after end_date 2026-05-08")},
		{"label", counted("2026-05-08", "2026-05-08", "Angry"), failed("E_BAD_LABEL", `label "Angry" is not counted; labels are: angry, praise`)},
		{"missing argument", tool.Call{Name: "get_counts", Args: json.RawMessage(`{"start_date":"2026-05-08"}`)}, failed("E_BAD_DATE", `end_date "" is not written YYYY-MM-DD`)},
		{"unknown argument", tool.Call{Name: "get_counts", Args: json.RawMessage(`{"x":1}`)}, failed("E_BAD_ARGS", `arguments: json: unknown field "x"`)},
		{"not an object", tool.Call{Name: "get_counts", Args: json.RawMessage(`[1]`)}, failed("E_BAD_ARGS", "arguments: json: cannot unmarshal array into Go value of type struct { Start string \"json:\\\"start_date\\\"\"; End string \"json:\\\"end_date\\\"\"; Label string \"json:\\\"label\\\"\" }")},
		{"nothing", tool.Call{Name: "get_counts"}, failed("E_BAD_ARGS", "arguments: EOF")},
		{"unknown tool", tool.Call{Name: "rm", Args: json.RawMessage(`{}`)}, failed("E_NO_TOOL", `this world has no tool "rm"`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, testWorld(t, mayState).Call(tt.call, noon))
		})
	}
}

func TestGetCountsExactAndBounded(t *testing.T) {
	w := testWorld(t, `{"counts":{"2026-05-08":{"angry":9007199254740991},"2026-05-09":{"angry":9007199254740991}}}`)
	require.Equal(t, ok(`{"end":"2026-05-09","label":"angry","start":"2026-05-08","value":18014398509481982}`), w.Call(counted("2026-05-08", "2026-05-09", "angry"), noon))

	r := w.Call(counted("0001-01-01", "9999-12-31", "angry"), noon)
	require.Contains(t, string(r.Value), "(3652057 of 3652059 days)")

	empty := testWorld(t, "")
	require.Contains(t, string(empty.Call(counted("2026-05-08", "2026-05-08", "any"), noon).Value), `"note":"no data for 2026-05-08"`)
}

// TestGetCountsAgainstWalk compares sums with an addition of the single days.
func TestGetCountsAgainstWalk(t *testing.T) {
	w := testWorld(t, mayState)
	s, err := readState([]byte(mayState))
	require.NoError(t, err)
	first := time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC)
	for i := range 10 {
		for j := i; j < 10; j++ {
			sum, whole := int64(0), true
			for d := i; d <= j; d++ {
				n, has := s.counts[first.AddDate(0, 0, d).Format(time.DateOnly)]["angry"]
				sum, whole = sum+n, whole && has
			}
			start, end := first.AddDate(0, 0, i).Format(time.DateOnly), first.AddDate(0, 0, j).Format(time.DateOnly)
			var got struct{ Value *int64 }
			require.NoError(t, json.Unmarshal(w.Call(counted(start, end, "angry"), noon).Value, &got))
			if whole {
				require.Equal(t, &sum, got.Value, "%s %s", start, end)
			} else {
				require.Nil(t, got.Value, "%s %s", start, end)
			}
		}
	}
}

func TestTodayRange(t *testing.T) {
	call := tool.Call{Name: "today_range", Args: json.RawMessage(`{}`)}
	for at, date := range map[string]string{
		"2026-05-13T23:59:59-04:00": "2026-05-13",
		"2026-05-14T03:59:59Z":      "2026-05-13",
		"2026-05-14T04:00:00Z":      "2026-05-14",
		"2026-03-09T03:59:59Z":      "2026-03-08", // the day of 23 hours
		"2026-01-01T04:59:59Z":      "2025-12-31",
	} {
		when, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		require.Equal(t, ok(fmt.Sprintf(`{"end_date":%q,"start_date":%q}`, date, date)), testWorld(t, mayState).Call(call, when), at)
	}
	noZone := opened(world.Spec{}, "")
	require.Equal(t, ok(`{"end_date":"2026-05-13","start_date":"2026-05-13"}`), noZone.Call(call, noon))
}

func TestGetJobStatus(t *testing.T) {
	w := opened(world.Spec{Faults: []world.Fault{{Tool: "get_job_status", OnCalls: []int{2}, Kind: world.FaultError, Code: "E_X"}}}, mayState)
	call := tool.Call{Name: "get_job_status", Args: json.RawMessage(`{"id":"7"}`)}
	var got []string
	for range 5 {
		r := w.Call(call, noon)
		got = append(got, string(r.Outcome)+string(r.Value))
	}
	require.Equal(t, []string{`ok{"id":"7","status":"running"}`, `error`, `ok{"id":"7","status":"done"}`, `ok{"id":"7","status":"done"}`, `ok{"id":"7","status":"done"}`}, got)
	require.Equal(t, failed("E_NOT_FOUND", `there is no job ""`), w.Call(tool.Call{Name: "get_job_status", Args: json.RawMessage(`{}`)}, noon))
	idle := testWorld(t, `{"counts":{}}`)
	require.Equal(t, failed("E_NOT_FOUND", `there is no job "7"`), idle.Call(call, noon))
}

// FuzzWorldCall checks that any arguments give a result, the same one every time, whose
// value is JSON.
func FuzzWorldCall(f *testing.F) {
	f.Add("get_counts", `{"start_date":"2026-05-08","end_date":"2026-05-09","label":"angry"}`)
	f.Add("get_counts", `{"start_date":"9999-12-31","end_date":"0000-01-01","label":"\ud800"}`)
	f.Add("get_job_status", `{"id":{}}`)
	f.Add("today_range", ``)
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(f, err)
	const state = `{"job_status":["done"],"counts":{"2026-05-08":{"angry":1}}}`
	spec := world.Spec{Now: noon, Zone: zone}
	f.Fuzz(func(t *testing.T, name, args string) {
		call := tool.Call{Name: name, Args: json.RawMessage(args)}
		got := opened(spec, state).Call(call, noon)
		require.Equal(t, got, opened(spec, state).Call(call, noon))
		if got.Outcome == tool.OK {
			require.True(t, json.Valid(got.Value))
			return
		}
		require.Equal(t, tool.Error, got.Outcome)
		require.NotEmpty(t, got.Code)
		require.Nil(t, got.Value)
	})
}

// BenchmarkGetCounts sums 43 days. Floor: one map lookup a day, about 20 ns.
func BenchmarkGetCounts(b *testing.B) {
	counts := map[string]map[string]int64{}
	for i := range 43 {
		counts[noon.AddDate(0, 0, -i).Format(time.DateOnly)] = map[string]int64{"angry": int64(i), "praise": 1, "info": 2}
	}
	state, err := json.Marshal(map[string]any{"counts": counts})
	require.NoError(b, err)
	w := opened(world.Spec{Now: noon}, string(state))
	call := counted("2026-04-01", "2026-05-13", "info")
	b.ReportAllocs()
	for b.Loop() {
		if r := w.Call(call, noon); r.Outcome != tool.OK {
			b.Fatal(r.Message)
		}
	}
}

// The suite describes its tools like the kind, except for the available labels.
func TestToolsAreTheSuites(t *testing.T) {
	suite := loaded(t)
	require.Len(t, suite.Tools, len(tools))
	for i, spec := range (kind{}).Tools() {
		want := suite.Tools[i]
		if want.Schema = spec.Schema; spec.Name != "get_counts" {
			require.JSONEq(t, string(suite.Tools[i].Schema), string(spec.Schema), spec.Name)
		}
		require.Equal(t, want, spec)
	}
}
