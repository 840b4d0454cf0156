package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// withJobs is a model that is also offered get_job_status.
func withJobs(ask talker) talker {
	return func(prompt string) string {
		return ask(strings.Replace(prompt, "\nRULES:", "3) get_job_status: Returns the status of an export job.\nschema = {}\n\nRULES:", 1))
	}
}

// TestJobs: a job is asked about until it has ended or the budget has, and what is
// said of it is its latest status.
func TestJobs(t *testing.T) {
	for name, c := range map[string]struct {
		request        string
		jobs           []string
		faults         []loopFault
		status, answer string
		calls          []string
	}{
		"polled": {
			"Wait for export job 12 and say how it ended.", []string{"queued", "running", "done"}, nil,
			"answered", "Export job 12 has the status done.", []string{`{"id":"12"}`, `{"id":"12"}`, `{"id":"12"}`},
		},
		"failed": {
			"What became of job XY-9?", []string{"failed"}, nil,
			"answered", "Export job XY-9 has the status failed.", []string{`{"id":"XY-9"}`},
		},
		"never ends": {
			"Is export no. 3 ready?", []string{"running"}, nil,
			"answered", "Export job 3 has not ended yet: its status is running.", []string{`{"id":"3"}`, `{"id":"3"}`, `{"id":"3"}`, `{"id":"3"}`},
		},
		"unavailable": {
			"Is export job #3 ready?", []string{"running"}, []loopFault{{Tool: getJobStatus, Kind: "error", Code: "E_DOWN", Message: "down"}},
			"cannot_proceed", "I cannot tell the status of export job 3: get_job_status keeps failing.", []string{`{"id":"3"}`, `{"id":"3"}`, `{"id":"3"}`},
		},
		"no job": {
			"How many angry on 2026-05-01?", nil, nil,
			"answered", "angry messages on 2026-05-01: 310.", []string{`{"end_date":"2026-05-01","label":"angry","start_date":"2026-05-01"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.jobs, w.faults = c.jobs, c.faults
			out := episode(t, withJobs(flawless("sim-strong")), w, c.request)
			require.Equal(t, []any{c.status, c.answer, c.calls}, []any{out.status, out.answer, out.args})
		})
	}
	out := episode(t, flawless("sim-strong"), newWorld(), "Is export job 3 ready?")
	require.Empty(t, out.args, "the tool is not on offer")
}

// TestRepeatedJobCall: the slip of repeating the last call repeats its job.
func TestRepeatedJobCall(t *testing.T) {
	p, _ := profileFor("sim-weak")
	m := newMind(p, prompt{request: "Is job 7 done?", entries: []string{`tool result: turn 1 get_job_status {"id":"7"} -> ok <data>{"id":"7","status":"done"}</data>`}})
	again, fits := m.misjudge(repeatCall, answer("done"), 0)
	require.True(t, fits)
	require.Equal(t, jobArgs{ID: "7"}, again.arguments())
}
