package human

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// read parses text and returns the place of its value and what is found wrong with it.
func read(t testing.TB, text string) (yamlfile.Place, *yamlfile.Findings) {
	found := &yamlfile.Findings{}
	root, ok := (&yamlfile.Source{File: "s.yaml", Found: found}).Parse([]byte(text))
	require.True(t, ok, found.Join())
	return root, found
}

func problems(f *yamlfile.Findings) (out []string) {
	for _, p := range f.Sorted() {
		out = append(out, p.Error())
	}
	return out
}

func TestReadRules(t *testing.T) {
	root, found := read(t, `
- when: {tool: delete-workflow, args: {workflowId: wf_1}, nth: 2}
  say: deny
  text: not that one
  times: 1
- when: {kind: plan_review}
  say: feedback
  text: smaller
  after: 5m
- say: approve
- {when: {kind: question}, say: answer, choices: [a, b]}
`)
	rules := ReadRules(root).List
	require.Empty(t, problems(found))
	require.Equal(t, []Rule{
		{When: When{Tool: "delete-workflow", Args: map[string]any{"workflowId": "wf_1"}, Nth: 2}, Say: person.Deny, Text: "not that one", Times: 1},
		{When: When{Kind: person.PlanReview}, Say: person.Feedback, Text: "smaller", After: 5 * time.Minute},
		{Say: person.Approve},
		{When: When{Kind: person.Question}, Say: person.Reply, Choices: []string{"a", "b"}},
	}, rules)
}

// All faults of a list are reported together, each with its line and field.
func TestReadRulesProblems(t *testing.T) {
	root, found := read(t, `- say: maybe
- {when: {tool: x, kind: plan_review}, say: approve}
- {when: {tool: plan}, say: select, text: a}
- {when: {kind: approval}, say: feedback, text: a}
- {when: {kind: question}, say: answer}
- {when: {nth: 0}, say: approve}
- {when: {args: [1]}, say: approve}
- {when: {args: {a: {$regex: "("}}}, say: approve}
- {say: approve}
- {when: {tool: publish-workflow}, say: approve, after: 1m}
- {when: {tool: publish-workflow}, say: deny}
- {sya: deny}
`)
	ReadRules(root)
	require.Equal(t, []string{
		`s.yaml:1: [0].say: "maybe" is not known; allowed: approve, deny, feedback, answer, select, skip`,
		`s.yaml:2: [1]: this rule can never match: requests of x are of kind approval; write that kind, or leave kind out`,
		`s.yaml:3: [2]: this rule can never match: a request of plan takes approve, deny, feedback`,
		`s.yaml:4: [3]: this rule can never match: a request of kind approval takes approve, deny`,
		`s.yaml:5: [4].text: say: answer needs a text`,
		`s.yaml:6: [5].when.nth: must be from 1 to 10000, but is 0`,
		`s.yaml:7: [6].when.args: must be a mapping, but is a list`,
		"s.yaml:8: [7].when.args.a: $regex: error parsing regexp: missing closing ): `(`",
		`s.yaml:10: [9]: this rule can never match: the rule on line 9 answers all that it would; put this one before it`,
		`s.yaml:11: [10]: this rule can never match: the rule on line 9 answers all that it would; put this one before it`,
		`s.yaml:12: [11].sya: unknown field (did you mean say?); allowed: when, say, text, choices, times, after`,
		`s.yaml:12: [11].say: is missing`,
	}, problems(found))
}

func TestReadMessages(t *testing.T) {
	root, found := read(t, "- hello\n- {text: a, at: idle}\n- {text: b, after: 5m}\n- {text: c, on: background}\n")
	require.Equal(t, []Message{{"hello", Idle, 0}, {"a", Idle, 0}, {"b", After, 5 * time.Minute}, {"c", Background, 0}}, ReadMessages(root))
	require.Empty(t, problems(found))

	root, found = read(t, "- {text: a, at: idle, on: background}\n- {at: noon, text: b}\n- {after: 1m}\n- ' '\n")
	ReadMessages(root)
	require.Len(t, problems(found), 4)
	require.Equal(t, `s.yaml:1: [0].on: a message has one of at, after and on`, problems(found)[0])
}

func TestScriptAnswers(t *testing.T) {
	request := func(tool, args string) person.Request {
		return person.Request{Tool: tool, Kind: person.KindOf(tool), Payload: json.RawMessage(args)}
	}
	s := New([]Rule{
		{When: When{Tool: "delete", Args: map[string]any{"id": json.Number("1")}}, Say: person.Deny},
		{When: When{Tool: "delete", Nth: 2}, Say: person.Deny, Text: "second"},
		{When: When{Tool: "delete"}, Say: person.Approve, Times: 2, After: time.Minute},
		{When: When{Kind: person.Question}, Say: person.Reply, Text: "42"},
	})
	for i, c := range []struct {
		request person.Request
		want    person.Answer
		ok      bool
	}{
		{request("delete", `{"id": 2, "other": true}`), person.Answer{Say: person.Approve}, true},
		{request("delete", `{"id": 2}`), person.Answer{Say: person.Deny, Text: "second"}, true},
		{request("delete", `{"id": 1}`), person.Answer{Say: person.Deny}, true},
		{request("delete", `{"id": 3}`), person.Answer{Say: person.Approve}, true},
		{request("delete", `{"id": 3}`), person.Answer{}, false},
		{request("publish", `not json`), person.Answer{}, false},
		{request("plan", ``), person.Answer{}, false},
		{request("ask-user", ``), person.Answer{Say: person.Reply, Text: "42"}, true},
	} {
		got, after, ok := s.Answer(c.request)
		require.Equal(t, c.ok, ok, i)
		require.Equal(t, c.want, got, i)
		require.Equal(t, c.want.Say == person.Approve, after == time.Minute, i)
	}
}

// FuzzReadRules reads any YAML as rules without a panic, and a rule that is read can match.
func FuzzReadRules(f *testing.F) {
	f.Add("- {when: {tool: plan, args: {a: {$in: [1]}}}, say: approve, after: 1s}")
	f.Add("[{say: skip, times: 3}]")
	f.Fuzz(func(t *testing.T, text string) {
		found := &yamlfile.Findings{}
		root, ok := (&yamlfile.Source{File: "s.yaml", Found: found}).Parse([]byte(text))
		if !ok {
			return
		}
		rules := ReadRules(root).List
		ReadMessages(root)
		New(rules).Answer(person.Request{Tool: "plan", Kind: person.PlanReview, Payload: []byte(text)})
	})
}
