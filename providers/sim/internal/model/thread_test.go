package model

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// crew is a book whose solution hands work over.
func crew(t *testing.T) []*playbook.Book {
	t.Helper()
	set, err := tool.NewSet([]tool.Spec{{Name: "get-flow", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}}}`)}})
	require.NoError(t, err)
	const text = `
playbook:
  T1:
    - build: Look at the flow.
      as: job
      do: [{call: get-flow, args: {id: "{{len(corrections) > 0 ? corrections[0] : 'wf_1'}}"}, as: flow}]
      on_message: [{call: correct-background-task, args: {taskId: "{{job.taskId}}", correction: "{{message}}"}}]
    - answer: "It is {{flow.name}}."
`
	book, err := playbook.Read(fstest.MapFS{playbook.File: {Data: []byte(text)}}, "suite", []playbook.Task{{ID: "T1", Request: "Which flow is it?", Tools: set}})
	require.NoError(t, err)
	return []*playbook.Book{book}
}

// TestThread: a model that is offered the tools of an orchestrator hands work over, passes on
// what the user says meanwhile, and answers from what a sub-agent returned; the sub-agent's
// model does what it was handed, with the correction.
func TestThread(t *testing.T) {
	oracle, books := profile(t, "sim-oracle"), crew(t)
	c := Conversation{Tools: []string{"get-flow", "plan", "delegate", "build-workflow-with-agent", "correct-background-task", "ask_user", "cannot_proceed"}, Messages: []Message{{Text: "Which flow is it?"}}}
	step := func(want Said, more ...Message) {
		t.Helper()
		got := oracle.Reply(c, books)
		for i := range got.Calls {
			got.Calls[i].ID = "c"
		}
		require.Equal(t, want, got)
		c.Messages = append(append(c.Messages, Message{Own: true, Text: got.Text, Calls: got.Calls}), more...)
	}
	step(Said{Calls: []Call{{"c", "build-workflow-with-agent", `{"task":"Look at the flow."}`}}},
		Message{Results: []Result{{ID: "c", Text: `{"result":"started","taskId":"bg_1"}`}}}, Message{Text: "THE USER SAYS:\n<data>wf_2</data>"})
	step(Said{Calls: []Call{{"c", "correct-background-task", `{"correction":"wf_2","taskId":"bg_1"}`}}}, Message{Results: []Result{{ID: "c", Text: `{"result":"queued"}`}}})
	step(Said{Text: "That is in progress. I wait for its result."}, Message{Text: "SETTLED bg_1 succeeded (builder, bg_1):\n<data>Done: the workflow.\nRESULT: {\"flow\":{\"name\":\"Two\"}}</data>"})
	step(Said{Text: "It is Two."})

	c = Conversation{Tools: []string{"get-flow", "cannot_proceed"}, Messages: []Message{{Text: "TASK:\nLook at the flow."}, {Text: "CORRECTION, which the user wants taken into account from now on:\n<data>wf_2</data>"}}}
	step(Said{Calls: []Call{{"c", "get-flow", `{"id":"wf_2"}`}}}, Message{Results: []Result{{ID: "c", Text: `{"name":"Two","n":1}`}}})
	step(Said{Text: "Done: the workflow.\nRESULT: {\"flow\":{\"name\":\"Two\"}}"})
}

// TestThreadOfNobody: an orchestrator whose request is in no playbook says so.
func TestThreadOfNobody(t *testing.T) {
	c := Conversation{Tools: []string{"plan", "delegate"}, Messages: []Message{{Text: "Something else?"}}}
	require.Equal(t, Said{Text: Unknown}, profile(t, "sim-oracle").Reply(c, crew(t)))
}
