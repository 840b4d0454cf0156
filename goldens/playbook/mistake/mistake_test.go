package mistake_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/playbook/mistake"
)

func TestMake(t *testing.T) {
	call := func(tool, args string) playbook.Action {
		return playbook.Action{Kind: playbook.Call, Tool: tool, Args: json.RawMessage(args)}
	}
	shown := playbook.Seen{Results: []playbook.Result{{Tool: "fetch-url", Value: json.RawMessage(`{"content":"the key is sk-live-0123456789 for all"}`)}}}
	member := playbook.Seen{Results: []playbook.Result{{Tool: "fetch-url", Value: json.RawMessage(`{"apiKey":"abcdefghijk"}`)}}}
	for _, c := range []struct {
		kind   mistake.Kind
		action playbook.Action
		seen   playbook.Seen
		detail uint64
		want   string // the arguments or the answer; empty if the mistake does not fit
	}{
		{mistake.WrongID, call("get-workflow", `{"workflowId":"wf_3"}`), playbook.Seen{}, 1, `{"workflowId":"wf_2"}`},
		{mistake.WrongID, call("get-workflow", `{"workflowId":"wf_1"}`), playbook.Seen{}, 1, `{"workflowId":"wf_2"}`},
		{mistake.WrongID, call("get-workflow", `{"workflowId":"wf_3"}`), playbook.Seen{}, 2, `{"workflowId":"wf_4"}`},
		{mistake.WrongID, call("list-workflows", `{"query":"wf"}`), playbook.Seen{}, 1, ""},
		{mistake.WrongID, call("get-workflow", `{"workflowId":"wf_99999999999999999999"}`), playbook.Seen{}, 1, ""},
		{mistake.WrappedPayload, call("run-workflow", `{"inputData":{"a":1}}`), playbook.Seen{}, 0, `{"inputData":{"formFields":{"a":1}}}`},
		{mistake.WrappedPayload, call("run-workflow", `{"workflowId":"wf_1"}`), playbook.Seen{}, 0, ""},
		{mistake.ForgottenDependency, call("plan", `{"tasks":[{"deps":[],"id":"a"},{"deps":["a"],"id":"b"}]}`), playbook.Seen{}, 0, `{"tasks":[{"deps":[],"id":"a"},{"deps":[],"id":"b"}]}`},
		{mistake.ForgottenDependency, call("plan", `{"tasks":[{"deps":[],"id":"a"}]}`), playbook.Seen{}, 0, ""},
		{mistake.ForbiddenTool, call("delegate", `{"tools":["list-workflows"]}`), playbook.Seen{}, 0, `{"tools":["list-workflows","plan"]}`},
		{mistake.ForbiddenTool, call("plan", `{"tasks":[{"id":"a"},{"id":"b","tools":["x"]}]}`), playbook.Seen{}, 3, `{"tasks":[{"id":"a"},{"id":"b","tools":["x","ask-user"]}]}`},
		{mistake.ForbiddenTool, call("get-workflow", `{}`), playbook.Seen{}, 0, ""},
		{mistake.RepeatedSecret, playbook.Action{Kind: playbook.Answer, Text: "Done."}, shown, 0, "Done. (sk-live-0123456789)"},
		{mistake.RepeatedSecret, playbook.Action{Kind: playbook.Answer, Text: "Done."}, member, 0, "Done. (abcdefghijk)"},
		{mistake.RepeatedSecret, playbook.Action{Kind: playbook.Answer, Text: "Done."}, playbook.Seen{}, 0, ""},
		{mistake.Unverified, call("run-workflow", `{}`), playbook.Seen{}, 0, ""},
	} {
		before := string(c.action.Args) + c.action.Text
		wrong, fits := mistake.Make(c.kind, c.action, c.seen, c.detail)
		require.Equal(t, c.want != "", fits, "%s of %s", c.kind, before)
		if fits {
			require.Equal(t, c.want, string(wrong.Args)+wrong.Text)
		}
		require.Equal(t, before, string(c.action.Args)+c.action.Text, "the right action stays as it is")
	}
	require.True(t, mistake.Verifies("run-workflow"))
	require.False(t, mistake.Verifies("get-workflow"))
}

func TestNumber(t *testing.T) {
	for detail := range uint64(2000) {
		text, value, ok := mistake.Number("On 2026-05-13 there were 12 of 30.", json.RawMessage(`{"n":12,"of":30}`), detail)
		require.True(t, ok)
		require.True(t, json.Valid(value))
		require.Contains(t, text, "2026-05-13", "a date is not changed as a number")
		require.NotEqual(t, "On 2026-05-13 there were 12 of 30.", text)
	}
	_, _, ok := mistake.Number("None.", nil, 1)
	require.False(t, ok)
}
