package flowsim

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
)

const suiteHead = `name: demo
worlds:
  shop:
    kind: flowsim
    now: 2026-05-13T12:00:00Z
    state:
      credentials: {cr_1: {name: A, type: smtp}}
      workflows: {wf_1: {name: A, draft: {nodes: [{name: Start, type: manual}], connections: {}}}}
defaults: {world: shop}
tools: [{name: list-workflows}, {name: build-workflow}, {name: list-folders}]
tasks:
`

func loaded(text string) (*goldens.Suite, error) {
	return load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(suiteHead + text)}}, "s", Worlds())
}

// A suite's tasks demand what workflows do, and are told at load what they cannot demand.
func TestSuite(t *testing.T) {
	s, err := loaded(`- {id: A, request: Build, expect: {status: answered, workflow: {name: Made, runs: [{outputs: [{a: 1}]}]}, effects: [], state: [{path: 'workflows[name="Made"].archived', is: false}], unchanged: [credentials]}}`)
	require.NoError(t, err)
	require.ErrorContains(t, s.Lint(), "no task offers tool list-folders")
	task := s.Tasks[0]
	require.Equal(t, []string{"list-workflows", "build-workflow"}, task.Tools, "the world has no folders")
	w, err := goldens.OpenWorld(t.Context(), task, 1)
	require.NoError(t, err)
	play := &session{t, w, task.World.Now}
	score := func() (failed []string) {
		o := goldens.Outcome{Status: "answered", Answer: "done"}
		o.StateBefore, o.StateAfter = w.States()
		_, checks := goldens.Score(task, o)
		for _, c := range checks {
			if !c.Passed {
				failed = append(failed, c.Name+": "+c.Detail)
			}
		}
		return failed
	}
	require.Equal(t, []string{
		`state: workflows[name="Made"].archived: want false, got nothing: there is no workflows[name="Made"]`, `workflow: there is no workflow "Made"`,
	}, score())
	play.ok("build-workflow", "code: '%s'", `{"name": "Made", "nodes": [{"name": "Go", "type": "manual"}, {"name": "Set", "type": "set", "parameters": {"fields": [{"name": "a", "value": 2}]}}], "connections": {"Go": [[{"node": "Set", "input": 0}]]}}`)
	require.Equal(t, []string{`workflow: wf_2, run 1: outputs: want {"a":1}, which is not among 1; wf_2, run 1: outputs: got {"a":2}, which is not wanted`}, score())
	play.ok("build-workflow", `patches: [{old: '"value": 2', new: '"value": 1'}]`)
	require.Empty(t, score())

	_, err = loaded(`- id: A
  request: Build
  expect: {status: answered, workflow: {runs: []}, state: [{path: workflow.wf_1, exists: true}], unchanged: [workflows.wf_1.active]}`)
	require.EqualError(t, err, `s/suite.yaml:14: tasks[0].expect.workflow: must have either the name or the id of a workflow
s/suite.yaml:14: tasks[0].expect.workflow: must have 1 to 50 runs, or published
s/suite.yaml:14: tasks[0].expect.state[0].path: no state has this: the state has no "workflow"; it has: credentials, effects, executions, files, folders, projects, tables, tags, workItems, workflows
s/suite.yaml:14: tasks[0].expect.unchanged[0]: no state has this: an entry of workflows has no "active"; it has: activeVersion, archived, draft, draftVersion, folder, id, name, project, tags, versions`)
}

// All faults of a file are reported together, each with its line: a key that is there twice hides none.
func TestFaultsOfAFile(t *testing.T) {
	_, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(`name: bad
worlds:
  w:
    kind: flowsim
    now: 2026-05-13T09:00:00Z
    state:
      credentials: {cr_1: {name: Slack}}
      tables:
        dt_1: {name: orders, columns: [{name: a, type: string}], rows: [{b: 1}]}
      workflows:
        wf_1:
          name: A
          draft:
            nodes: [{name: Go, type: manual}]
            connections: {Gone: [[{node: Go}]]}
        wf_1: {name: B, draft: {nodes: [{name: Go, type: manual}]}}
defaults: {world: w}
tools: [{name: list-workflows}, {name: publish-workflow}]
tasks:
  - id: A
    request: x
    scripted: true
    agent: tools
    script: [{text: hi}]
    human: [{when: {tool: publish-workflow, kind: question}, say: answer, text: x}]
    messages: [{text: hi}]
    expect: {status: answered, state: [{path: workflos.wf_1, exists: true}, {path: workflows.wf_1.nam, is: A}]}
`)}}, "s", Worlds())
	require.EqualError(t, err, `s/suite.yaml:7: worlds.w.state.credentials.cr_1.type: is missing
s/suite.yaml:9: worlds.w.state.tables.dt_1.rows[0].b: data table dt_1 has no column "b"; its columns are: [a]
s/suite.yaml:15: worlds.w.state.workflows.wf_1.draft.connections.Gone: connection.unknown_node: there is no node of this name
s/suite.yaml:16: worlds.w.state.workflows.wf_1: the key is here already, on line 11
s/suite.yaml:25: tasks[0].human[0]: this rule can never match: requests of publish-workflow are of kind approval; write that kind, or leave kind out
s/suite.yaml:26: tasks[0].messages: agent tools takes no further messages of the user; write agent: orchestrator, or remove them
s/suite.yaml:27: tasks[0].expect.state[0].path: no state has this: the state has no "workflos"; it has: credentials, effects, executions, files, folders, projects, tables, tags, workItems, workflows
s/suite.yaml:27: tasks[0].expect.state[1].path: no state has this: an entry of workflows has no "nam"; it has: activeVersion, archived, draft, draftVersion, folder, id, name, project, tags, versions`)
}
