package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

// TestUntestableWorkflow: a workflow that cannot be run by hand is done when it is saved.
func TestUntestableWorkflow(t *testing.T) {
	r := (&instanceRun{
		t: t, replies: map[string][]any{"": {calling("build-workflow", `{"code":"{}"}`), saying("Built.")}},
		results: func(tool.Call) tool.Result {
			return tool.Result{Outcome: tool.OK, Value: json.RawMessage(`{"workflowId":"wf_2","nodes":["a"],"testable":false}`)}
		},
	}).run()
	require.Contains(t, r.said("", 1), `"guidance":"The work item is done."`)
	require.Equal(t, Answered, r.finish.Status)
}

// TestPersonIsNeeded: the verdict that a person is needed blocks a work item while it is built,
// which ends its builder, and while it is repaired.
func TestPersonIsNeeded(t *testing.T) {
	needs := calling("report-verification-verdict", `{"workItemId":"wi_1","verdict":"needs_user_input","diagnosis":"which channel"}`)
	r := (&instanceRun{
		t: t, results: saves,
		replies: map[string][]any{
			"":     {building("Build."), needs, saying("It waits for you.")},
			"bg_1": {calling("build-workflow", `{"code":"broken"}`), calling("build-workflow", `{"code":"{}"}`)},
		},
	}).run()
	require.Contains(t, r.result("report-verification-verdict", 0), "blocked: needs_user_input: which channel")
	require.Len(t, r.of("bg_1"), 1, "no further turn")
	require.Contains(t, r.said("", 2), "SETTLED bg_1 failed")

	patch := calling("report-verification-verdict", `{"workItemId":"wi_1","verdict":"needs_patch","failedNodeName":"Set"}`)
	r = (&instanceRun{t: t, results: saves, replies: map[string][]any{"": {
		calling("build-workflow", `{"code":"1"}`), patch, needs, calling("build-workflow", `{"code":"2"}`), saying("It waits for you."),
	}}}).run()
	require.Contains(t, r.result("report-verification-verdict", 1), "blocked: needs_user_input: which channel")
	require.Contains(t, r.said("", 3), `"phase":"blocked"`)
}

// TestCheckpointReusesAVerification: what was verified is not run again for a checkpoint, which
// gets the record of the run.
func TestCheckpointReusesAVerification(t *testing.T) {
	verify := calling("verify-built-workflow", `{"workItemId":"wi_1"}`)
	r := (&instanceRun{t: t, results: saves, replies: map[string][]any{
		"":     {planning("build-workflow a", "checkpoint k<a"), saying("Begun."), verify, verify, saying("It works.")},
		"bg_1": {calling("build-workflow", `{"code":"{}"}`), saying("Built.")},
	}}).run()
	runs := r.calls("verify-built-workflow")
	require.Len(t, runs, 2)
	require.Nil(t, runs[0].Given)
	require.JSONEq(t, `{"attempted":true,"success":true,"executionId":"ex_1","status":"success","verifiedAt":"2026-05-13T16:00:04Z"}`, string(runs[1].Given.Value))
	require.Contains(t, r.updates[len(r.updates)-1].Content, `"status":"done"}]`)
}

// TestUnknownVerdict: a verdict or a work item that there is none of is answered with those that
// there are.
func TestUnknownVerdict(t *testing.T) {
	for _, args := range []string{`{"workItemId":"wi_1","verdict":"fine"}`, `{"workItemId":"wi_2","verdict":"verified"}`} {
		r := (&instanceRun{t: t, results: saves, replies: map[string][]any{"": {calling("build-workflow", `{"code":"{}"}`), calling("report-verification-verdict", args)}}}).run()
		require.JSONEq(t, `{"guidance":"There is no such work item or verdict.","verdicts":["verified","needs_patch","needs_rebuild","trigger_only","needs_user_input","failed_terminal"],"workItems":["wi_1"]}`,
			strings.TrimSpace(r.result("report-verification-verdict", 0)))
		require.Contains(t, r.judged[1].Violations, "orch.verdict")
	}
}

// TestDelegationWithinDelegation: a sub-agent hands nothing over; the call is refused, and no other
// sub-agent begins.
func TestDelegationWithinDelegation(t *testing.T) {
	r := (&instanceRun{t: t, results: saves, replies: map[string][]any{
		"":     {delegating("list-workflows"), building("Build."), saying("Done.")},
		"dg_1": {delegating("list-workflows"), saying("I did it myself.")},
		"bg_1": {building("Build it for me."), calling("build-workflow", `{"code":"{}"}`), saying("Built.")},
	}}).run()
	require.Equal(t, Answered, r.finish.Status)
	for _, agent := range []string{"dg_2", "bg_2"} {
		require.Empty(t, r.of(agent))
	}
	for _, name := range []string{"delegate", "build-workflow-with-agent"} {
		for _, c := range r.calls(name) {
			require.Equal(t, c.Agent != "", c.Given.Code == "E_NOT_FOR_ROLE", "%s of %q", name, c.Agent)
		}
	}
}

// TestCancelledRun: the end of a run ends what is in the background without a word, like the tool
// and a new plan do.
func TestCancelledRun(t *testing.T) {
	r := &instanceRun{
		t: t, replies: map[string][]any{"": {building("Build."), saying("Begun.")}},
		takes: func(c CallModel) time.Duration { return time.Second + time.Duration(len(c.Agent))*time.Minute },
	}
	r.queue = []queued{{testStart.Add(10 * time.Second), 0, func(at time.Time) Event { return Cancelled{At: at} }}}
	r.run()
	require.Equal(t, Finish{Status: Interrupted}, r.finish)
	require.Len(t, r.of("bg_1"), 1)
	require.Empty(t, r.calls("build-workflow"))
	require.Len(t, r.of(""), 2, "nothing is reported")
}
