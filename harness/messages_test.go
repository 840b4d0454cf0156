package harness_test

import (
	"context"
	"net/http"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// A task with further messages is left out for strategies without threads: counted in the
// manifest, and no selection of the user's.
func TestMessagesNeedAThread(t *testing.T) {
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(`name: own
worlds: {w: {kind: counts, state: {job_status: [done]}}}
defaults: {world: w, budgets: {max_steps: 9, max_tool_calls: 9, max_seconds: 60}}
tools: [{name: get_job_status}]
tasks:
  - {id: A, request: "Hi", expect: {status: answered, matches: ['\S']}}
  - {id: B, request: "Hi", messages: [More.], expect: {status: answered, matches: ['\S']}}
`)}}, "own", counts.Worlds())
	require.NoError(t, err)
	done := say("respond", `"message":"Done."`)
	voice := &script{outputs: map[string][]string{"a": {done}, "b": {done, done}}}
	o := recordOver(t, func(string) http.RoundTripper { return voice })
	o.Suite, o.Select.Tasks, o.Strategies, o.Mode = suite, nil, patience, recorder.Live
	o.Candidates = nil
	for name, agent := range map[string]string{"a": "", "b": "patient"} {
		o.Candidates = append(o.Candidates, goldens.Candidate{Name: name, Agent: agent, Provider: "openai-compatible", Model: name, BaseURL: "http://models.test/v1"})
	}
	o.Select.Candidates = []string{"a", "b"}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	var ran []string
	for _, e := range rowsOf(t, res).Episodes {
		ran = append(ran, e.TaskID+"/"+e.Candidate)
	}
	require.Equal(t, []string{"A/a", "A/b", "B/b"}, ran)
	require.Zero(t, res.Manifest.NotSelected)
	for _, c := range res.Manifest.Candidates {
		require.Equal(t, map[string]int{"a": 1, "b": 0}[c.Name], c.Incapable, c.Name)
	}

	o.Select.Candidates, o.Select.Tasks = []string{"a"}, []string{"B"}
	_, err = harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "agent contract of candidate a cannot do task B, which has messages")
}
