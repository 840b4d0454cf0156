package flowsim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/world"
)

// A run that is wanted to wait is looked at where it waits, with what it has done until then.
func TestDemandToWait(t *testing.T) {
	k := bind(t, shop)
	w, err := world.Open(t.Context(), world.Spec{Kind: Kind, Maker: k, Now: noon}, 1, nil, nil)
	require.NoError(t, err)
	s := &session{t, w, noon}
	s.ok("build-workflow", "code: %q", jsonOf(t, `
name: Later
nodes:
  - {name: Go, type: manual}
  - {name: Tell, type: slack, parameters: {channel: "#a", text: one}, credentials: {slackApi: cr_1}}
  - {name: Rest, type: wait, parameters: {amount: 2, unit: hours}}
  - {name: Again, type: slack, parameters: {channel: "#a", text: two}, credentials: {slackApi: cr_1}}
connections: {Go: [[{node: Tell, input: 0}]], Tell: [[{node: Rest, input: 0}]], Rest: [[{node: Again, input: 0}]]}
`))
	initial, final := s.States()
	for want, wrong := range map[string]string{
		`{name: Later, runs: [{status: waiting, effects: [{kind: message, text: one}]}]}`:                             "",
		`{name: Later, runs: [{status: success, effects: [{kind: message, text: one}, {kind: message, text: two}]}]}`: "",
		`{name: Later, runs: [{status: waiting, effects: [{kind: message, text: one}, {kind: message, text: two}]}]}`: "which is not among 1",
		`{name: Slow, runs: [{status: waiting}]}`:                                                                     "",
		`{name: Daily report, runs: [{status: waiting}]}`:                                                             "want status waiting, got success",
	} {
		met, err := k.Demand("workflow", jsonOf(t, want))
		require.NoError(t, err)
		if got := met(initial, final); wrong == "" {
			require.Empty(t, got, want)
		} else {
			require.Len(t, got, 1)
			require.Contains(t, got[0], wrong)
		}
	}
}

// Who looks at an execution on the way sees what its nodes have put out, but not what the one
// that is running will.
func TestNodesInProgress(t *testing.T) {
	w, err := world.Open(t.Context(), world.Spec{Kind: Kind, Maker: bind(t, shop), Now: noon}, 1, nil, nil)
	require.NoError(t, err)
	s := &session{t, w, noon}
	shown := s.ok("run-workflow", "workflowId: wf_3")
	require.Contains(t, shown, `"status":"waiting"`)
	require.Contains(t, shown, `"data":{"Start":[{}]}`)
	require.Contains(t, s.ok("debug-execution", "executionId: ex_1"), `{"items":0,"name":"Rest","status":"waiting","type":"wait"}`)
	require.Equal(t, "E_NOT_FOUND", s.code("get-node-output", "executionId: ex_1, nodeName: Rest"))
	s.at = s.at.Add(time.Hour)
	require.Contains(t, s.ok("get-node-output", "executionId: ex_1, nodeName: Rest"), `"totalItems":1`)
}

// The text that patches apply to has the characters of expressions as they are.
func TestCodeIsReadable(t *testing.T) {
	w, err := world.Open(t.Context(), world.Spec{Kind: Kind, Maker: bind(t, shop), Now: noon}, 1, nil, nil)
	require.NoError(t, err)
	s := &session{t, w, noon}
	s.ok("build-workflow", "code: %q", jsonOf(t, `
name: Large
nodes: [{name: Go, type: manual}, {name: Set, type: set, parameters: {fields: [{name: large, value: "{{ $json.a > 1 && $json.b }}"}]}}]
connections: {Go: [[{node: Set, input: 0}]]}
`))
	require.Contains(t, s.ok("get-workflow-as-code", "workflowId: wf_5"), "$json.a > 1 && $json.b")
	s.ok("build-workflow", `workflowId: wf_5, patches: [{old: "> 1 &&", new: "> 2 &&"}]`)
	require.Contains(t, s.ok("get-workflow-as-code", "workflowId: wf_5"), "$json.a > 2 && $json.b")
}
