package playbook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

func did(r playbook.Result) playbook.Done {
	return playbook.Done{Action: playbook.Action{Kind: playbook.Call, Tool: r.Tool, Args: r.Args}, Result: r}
}

func end(kind playbook.Kind, text string) playbook.Done {
	return playbook.Done{Action: playbook.Action{Kind: kind, Text: text}}
}

func TestDraft(t *testing.T) {
	set := toolSet(t)
	shaped := end(playbook.Answer, "x")
	shaped.Action.Value = json.RawMessage(`{"best":{"n":41,"ok":true}}`)
	for _, c := range []struct {
		name, request string
		did           []playbook.Done
		want          string
	}{
		{"arguments and numbers", "How many angry messages today?", []playbook.Done{
			did(ok("today", "{}", `{"start":"2026-05-13","end":"2026-05-13","date":"2026-05-12"}`)),
			did(ok("count", `{"label":"angry","day":"2026-05-12"}`, `{"value":449,"label":"angry"}`)),
			end(playbook.Answer, "There were 449 on 2026-05-12, 51 fewer than 500."),
		}, `  T1:
    - call: today
      as: today
    - call: count
      args: {day: "{{today.date}}", label: "angry"}
      as: count
    # edit: 51 is in no result: compute it from those that are; 500 is in no result: compute it from those that are
    - answer: "There were {{count.value}} on 2026-05-12, 51 fewer than 500."
`},
		{"what the user gave is literal", "Job 17?", []playbook.Done{
			did(ok("job", `{"id":17}`, `{"id":17,"tries":3,"left":3,"size":128}`)), did(ok("job", `{"id":128}`, `{"status":"done"}`)),
			end(playbook.Answer, "Job 17 made 3 tries of 128."),
		}, `  T1:
    - call: job
      args: {id: 17}
      as: job
    - call: job
      args: {id: "{{job.size}}"}
    # edit: 3 is in 2 results, such as job.left and job.tries
    - answer: "Job 17 made 3 tries of {{job.size}}."
`},
		{"a question, retries and refusals", "How many?", []playbook.Done{
			{Action: playbook.Action{Kind: playbook.Ask, Text: "Which {{label}}?"}, Reply: "angry"},
			did(failed("count", `{"label":"cross","day":"d"}`, "E_ARGS")), did(failed("count", `{"label":"angry","day":"d"}`, "E_UPSTREAM")),
			did(ok("count", `{"day":"d","label":"angry"}`, `5`)), did(failed("search", `{"text":"x"}`, "E_GONE")),
			end(playbook.Answer, "5 messages."),
		}, `  T1:
    - ask: "Which {{\"{{\"}}label}}?"
      as: reply
    - call: count
      args: {day: "d", label: "{{reply}}"}
      as: count
    - call: search
      args: {text: "x"}
      on_error: []
    - answer: "{{count}} messages."
`},
		{"the end without an answer", "Delete all.", []playbook.Done{end(playbook.GiveUp, "I cannot.")}, "  T1:\n    - give_up: \"I cannot.\"\n"},
		{"an answer of a shape", "Which?", []playbook.Done{did(ok("search", `{"text":"of it"}`, `[{"height":41,"ok":true},{"height":7}]`)), shaped}, `  T1:
    - call: search
      args: {text: "of it"}
      as: search
    - answer: "Here is the answer."
      value: {best: {n: "{{search[0].height}}", ok: true}}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := playbook.Draft(playbook.Task{ID: "T1", Request: c.request, Tools: set}, nil, c.did)
			require.NoError(t, err)
			require.Equal(t, c.want, string(text))
		})
	}
}

func TestDraftOfInputs(t *testing.T) {
	task := playbook.Task{ID: "T1", Request: "Look for the names.", Inputs: []string{"names"}, Tools: toolSet(t)}
	given := map[string]json.RawMessage{"names": json.RawMessage(`["Ada","Bob"]`)}
	text, err := playbook.Draft(task, given, []playbook.Done{did(ok("search", `{"text":"Bob"}`, "0")), end(playbook.Answer, "None.")})
	require.NoError(t, err)
	require.Contains(t, string(text), `args: {text: "{{names[1]}}"}`)
	task.Each = "names"
	_, err = playbook.Draft(task, given, nil)
	require.EqualError(t, err, "task T1 works on items one by one; write its solution by hand, for one item")
}

func TestAdd(t *testing.T) {
	const entry = "  T1:\n    - answer: \"x\"\n"
	for text, want := range map[string]string{
		"": "playbook:\n" + entry,
		"# mine\nplaybook:\n  T0: # first\n    - answer: y\n  # the end\n": "# mine\nplaybook:\n  T0: # first\n    - answer: y\n  # the end\n" + entry,
		"playbook:\n    T0: [{answer: y}]":                                 "playbook:\n    T0: [{answer: y}]\n    T1:\n      - answer: \"x\"\n",
		"playbook:\r\n  T0: [{answer: y}]\r\n":                             "playbook:\r\n  T0: [{answer: y}]\r\n" + strings.ReplaceAll(entry, "\n", "\r\n"),
		"playbook:\n  T0: [{answer: y}]\n\n# why\nequivalent: {}\n":        "playbook:\n  T0: [{answer: y}]\n" + entry + "\n# why\nequivalent: {}\n",
		"equivalent: {}\nplaybook:\n  T0: [{answer: y}]\n":                 "equivalent: {}\nplaybook:\n  T0: [{answer: y}]\n" + entry,
	} {
		got, err := playbook.Add([]byte(text), []byte(entry))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	for _, text := range []string{"playbook: {T0: [{answer: y}]}\n", "playbook:\n", "x: 1\n", "{"} {
		_, err := playbook.Add([]byte(text), []byte(entry))
		require.Error(t, err, text)
	}
}
