package goldens

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/human"
)

// failing lists the failed checks of an outcome.
func failing(e Expect, o Outcome) (out []string) {
	o.Status = "answered"
	e.Status = "answered"
	_, checks := Score(Task{Expect: []Expect{e}}, o)
	for _, c := range checks {
		if !c.Passed {
			out = append(out, c.Name+": "+c.Detail)
		}
	}
	return out
}

func TestScoreApprovals(t *testing.T) {
	o := Outcome{Requests: []human.Requested{{Tool: "delete-workflow", Kind: "approval", Say: "deny"}, {Tool: "plan", Kind: "plan_review", Say: "approve"}, {Tool: "", Kind: "question", Say: "answer"}, {Tool: "publish-workflow", Kind: "approval", Say: ""}}}
	for _, c := range []struct {
		want human.Approvals
		fail []string
	}{
		{human.Approvals{Asked: []string{"plan", "delete-workflow"}, Denied: []string{"delete-workflow"}, AtMost: new(3)}, nil},
		{human.Approvals{Asked: []string{"stop-execution"}}, []string{`approvals.asked: want requests for "stop-execution", got delete-workflow (deny), plan (approve),  (answer), publish-workflow (none)`}},
		{human.Approvals{Denied: []string{"plan"}}, []string{`approvals.denied: want denied requests for "plan", got delete-workflow (deny), plan (approve),  (answer), publish-workflow (none)`}},
		{human.Approvals{AtMost: new(2)}, []string{"approvals.at_most: want at most 2 requests, got delete-workflow (deny), plan (approve), publish-workflow (none)"}},
	} {
		require.Equal(t, c.fail, failing(Expect{Approvals: c.want}, o))
	}
}

func TestScoreBefore(t *testing.T) {
	call := func(name string, outcome tool.Outcome) Called {
		return Called{Call: tool.Call{Name: name, Args: []byte("{}")}, Outcome: outcome}
	}
	e := Expect{Before: []string{"verify", "publish"}}
	require.Empty(t, failing(e, Outcome{Calls: []Called{call("verify", tool.OK), call("publish", tool.OK)}}))
	require.Empty(t, failing(e, Outcome{Calls: []Called{call("other", tool.OK)}}), "it requires no call")
	require.Empty(t, failing(e, Outcome{Calls: []Called{call("publish", tool.Rejected)}}), "a refused call was not made")
	for _, calls := range [][]Called{
		{call("publish", tool.OK), call("verify", tool.OK)},
		{call("verify", tool.Error), call("publish", tool.OK)},
	} {
		require.Len(t, failing(e, Outcome{Calls: calls}), 1)
	}
}

func TestScoreRole(t *testing.T) {
	o := Outcome{Calls: []Called{{Call: tool.Call{Name: "build-workflow", Args: []byte("{}")}, Role: "builder", Outcome: tool.OK}}}
	required := func(role string) Expect {
		return Expect{Trajectory: Trajectory{Required: []CallMatch{{Tool: "build-workflow", Role: role}}}}
	}
	require.Empty(t, failing(required("builder"), o))
	require.Len(t, failing(required("delegate"), o), 1)
	forbidden := Expect{Trajectory: Trajectory{Forbidden: []CallMatch{{Tool: "build-workflow", Role: "delegate"}}}}
	require.Empty(t, failing(forbidden, o))
	forbidden.Trajectory.Forbidden[0].Role = "builder"
	require.Len(t, failing(forbidden, o), 1)
}
