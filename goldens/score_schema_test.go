package goldens

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
)

func TestAnswerSchema(t *testing.T) {
	const schema = `{"type":"object","properties":{"height":{"type":"number"},"name":{"type":"string"}},"required":["height"],"additionalProperties":false}`
	one := Task{AnswerSchema: json.RawMessage(schema), Expect: []Expect{{Status: "answered"}}}
	each := one
	each.Each, each.Inputs = "l", []strategy.Input{{Name: "l", Value: json.RawMessage(`["a","b"]`)}}
	list := one
	list.AnswerSchema = json.RawMessage(`{"type":"array","items":{"type":"number"},"minItems":1}`)
	for _, tc := range []struct {
		name, answer string
		task         Task
		detail       string
	}{
		{"fits", ` {"height": 41.5}` + "\n", one, ""},
		{"wrong type", `{"height":"41"}`, one, `answer.height:type, got "{\"height\":\"41\"}"`},
		{"missing and more", `{"name":"a","x":1}`, one, `answer.height:required, answer.x:additional, got "{\"name\":\"a\",\"x\":1}"`},
		{"no object", `[1]`, one, `answer must be a JSON object, got "[1]"`},
		{"null is no object", `null`, one, `answer must be a JSON object, got "null"`},
		{"nothing", ``, one, `answer must be a JSON object, got no answer`},
		{"prose", `It is 41 m.`, one, `answer must be a JSON object, got "It is 41 m."`},
		{"cut", `{"height":4`, one, `answer:not_json, got "{\"height\":4"`},
		{"twice", `{"height":4,"height":5}`, one, `answer.height:duplicate_key, got "{\"height\":4,\"height\":5}"`},
		{"a list fits", "[1, 2.5]\n", list, ""},
		{"a list, one does not", `[1,"2"]`, list, `answer.1:type, got "[1,\"2\"]"`},
		{"a list, none", `{}`, list, `answer:type, got "{}"`},
		{"a list, no JSON", `[1`, list, `answer must be JSON, got "[1"`},
		{"a list, none at all", ``, list, `answer must be JSON, got no answer`},
		{"each fits", `[{"height":1},{"height":2}]`, each, ""},
		{"each, one does not", `[{"height":1},{}]`, each, `answer[1].height:required, got "[{\"height\":1},{}]"`},
		{"each, one missing", `[{"height":1}]`, each, `the answer must have 2 elements, and has 1, got "[{\"height\":1}]"`},
		{"each, one for all", `{"height":1}`, each, `the answer must be a JSON list, with an element for each item, got "{\"height\":1}"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			solved, checks := Score(tc.task, Outcome{Status: "answered", Answer: tc.answer})
			require.Equal(t, tc.detail == "", solved)
			require.Equal(t, CheckResult{Name: "answer_schema", Passed: solved, Detail: tc.detail}, checks[1])
		})
	}
}

// Where no answer is expected, none has a shape; where several outcomes are
// accepted, each is asked for itself.
func TestAnswerSchemaOfAnswersOnly(t *testing.T) {
	task := Task{AnswerSchema: json.RawMessage(`{"type":"object"}`), Expect: []Expect{{Status: "answered"}, {Status: "cannot_proceed"}}}
	for status, solves := range map[string]bool{"cannot_proceed": true, "answered": false} {
		solved, _ := Score(task, Outcome{Status: status, Answer: "no idea"})
		require.Equal(t, solves, solved, status)
	}
	task.AnswerSchema = nil
	solved, checks := Score(task, Outcome{Status: "answered", Answer: "no idea"})
	require.True(t, solved)
	require.Len(t, checks, 1, "a task without a schema has no such check")
}

func BenchmarkScoreAnswerSchema(b *testing.B) {
	// Floor: compiling the schema; the answer itself takes a few microseconds.
	task := Task{AnswerSchema: json.RawMessage(`{"type":"object","properties":{"height":{"type":"number"}},"required":["height"]}`), Expect: []Expect{{Status: "answered"}}}
	b.ReportAllocs()
	for b.Loop() {
		if solved, _ := Score(task, Outcome{Status: "answered", Answer: `{"height":41}`}); !solved {
			b.Fatal("not solved")
		}
	}
}
