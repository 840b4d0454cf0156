package goldens

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
)

// AnswersTask reports whether the answer of an episode that ended with status, or
// may have ended with any, is one to the request.
func AnswersTask(status string) bool {
	return status == "" || status == "answered" || status == "answered_after_clarify"
}

// answerSchema checks that the answer is JSON of the shape the task asks for, where
// an answer is expected.
func (s *scorer) answerSchema(e *Expect) {
	if s.task.AnswerSchema == nil || !AnswersTask(e.Status) {
		return
	}
	fault := schemaMismatch(s.task, s.o.Answer)
	s.check("answer_schema", fault == "", "%s, got %s", fault, s.quoted())
}

// AnswerName is the pseudo tool whose arguments an answer is checked as. Arguments
// are an object: any other answer is the member of that name of one.
const AnswerName = "answer"

// AnswerSet compiles the schema of an answer; wrapped reports that it is a member.
func AnswerSet(schema json.RawMessage) (set *tool.Set, wrapped bool, err error) {
	tree, _, _ := tool.ParseJSON(string(schema)) // NewSet says what is wrong with it
	if kind, ok := tree.Get("type"); ok && kind.Text() != "object" {
		wrapped = true
		schema = json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:%s},"required":[%q]}`, AnswerName, schema, AnswerName))
	}
	set, err = tool.NewSet([]tool.Spec{{Name: AnswerName, Schema: schema}})
	return set, wrapped, err
}

// schemaMismatch says in what an answer does not fit the schema of its task.
func schemaMismatch(t Task, answer string) string {
	set, wrapped, err := AnswerSet(t.AnswerSchema)
	if err != nil {
		return "the task is broken: its answer_schema does not compile"
	}
	fits := func(what, text string) string {
		text = strings.TrimSpace(text)
		prefix := "args"
		switch {
		case !wrapped && !strings.HasPrefix(text, "{"):
			return what + " must be a JSON object"
		case wrapped:
			if _, _, ok := tool.ParseJSON(text); !ok {
				return what + " must be JSON"
			}
			text, prefix = fmt.Sprintf(`{%q:%s}`, AnswerName, text), "args."+AnswerName
		}
		bad := set.Validate(tool.Call{Name: AnswerName, Args: json.RawMessage(text)})
		for i := range bad {
			bad[i] = what + strings.TrimPrefix(bad[i], prefix)
		}
		return strings.Join(bad, ", ")
	}
	if t.Each == "" {
		return fits("answer", answer)
	}
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(answer), &items); err != nil {
		return "the answer must be a JSON list, with an element for each item"
	}
	if want := len(t.Items()); len(items) != want {
		return fmt.Sprintf("the answer must have %d elements, and has %d", want, len(items))
	}
	for i, item := range items {
		if fault := fits(fmt.Sprintf("answer[%d]", i), string(item)); fault != "" {
			return fault
		}
	}
	return ""
}
