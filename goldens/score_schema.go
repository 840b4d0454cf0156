package goldens

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
)

// answersTask are the statuses whose answer is one to the request.
var answersTask = map[string]bool{"": true, "answered": true, "answered_after_clarify": true}

// answerSchema checks that the answer is JSON of the shape the task asks for, where
// an answer is expected.
func (s *scorer) answerSchema(e Expect) {
	if s.task.AnswerSchema == nil || !answersTask[e.Status] {
		return
	}
	fault := schemaMismatch(s.task, s.o.Answer)
	s.check("answer_schema", fault == "", "%s, got %s", fault, s.quoted())
}

// schemaMismatch says in what an answer does not fit the schema of its task.
func schemaMismatch(t Task, answer string) string {
	const name = "answer"
	set, err := tool.NewSet([]tool.Spec{{Name: name, Schema: t.AnswerSchema}})
	if err != nil {
		return "the task is broken: its answer_schema does not compile"
	}
	fits := func(what string, text []byte) string {
		if !strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
			return what + " must be a JSON object"
		}
		bad := set.Validate(tool.Call{Name: name, Args: text})
		for i := range bad {
			bad[i] = what + strings.TrimPrefix(bad[i], "args")
		}
		return strings.Join(bad, ", ")
	}
	if t.Each == "" {
		return fits("answer", []byte(answer))
	}
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(answer), &items); err != nil {
		return "the answer must be a JSON list, with an object for each item"
	}
	if want := len(eachItems(t)); len(items) != want {
		return fmt.Sprintf("the answer must have %d items, and has %d", want, len(items))
	}
	for i, item := range items {
		if fault := fits(fmt.Sprintf("answer[%d]", i), item); fault != "" {
			return fault
		}
	}
	return ""
}

// eachItems are the items of the input that the task names by Each.
func eachItems(t Task) (items []json.RawMessage) {
	for _, in := range t.Inputs {
		if in.Name == t.Each {
			_ = json.Unmarshal(in.Value, &items) // a list, or no items
		}
	}
	return items
}
