package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
)

// In every strategy, the inputs and the results of calls decide about respond_error, and not the
// words of the answer.
func TestRespondErrorRestsOnEvidence(t *testing.T) {
	ok := tool.Result{Outcome: tool.OK, Value: json.RawMessage("1")}
	bad := tool.Result{Outcome: tool.Error, Code: "E_BAD_RANGE"}
	late := tool.Result{Outcome: tool.Timeout, Code: "E_TIMEOUT"}
	wrong := tool.Result{Outcome: tool.Rejected, Code: "E_ARGS"}
	denied := tool.Result{Outcome: tool.Rejected, Code: "E_DENIED"}
	for _, test := range []struct {
		name, request, answer string
		inputs                []strategy.Input
		results               []tool.Result // of calls before the answer
		want                  Status
	}{
		{"a greeting that names an argument", "hello", "Hi! I can count messages by label.", nil, nil, Answered},
		{"a valid request", "Angry on 2026-05-13?", "The start date is 2026-05-13, the label is angry.", nil, nil, Answered},
		{"an impossible date", "Angry on 2026-02-30?", "No.", nil, nil, respondError},
		{"in Chinese", "2026年2月30日有多少条愤怒的消息？", "没有这一天。", nil, nil, respondError},
		{"in German", "Wie viele wütende Nachrichten am 30.02.2026?", "Diesen Tag gibt es nicht.", nil, nil, respondError},
		{"in Arabic", "كم عدد الرسائل في ٢٠٢٦-٠٢-٣٠؟", "هذا اليوم غير موجود.", nil, nil, respondError},
		{"in full-width digits", "２０２６－０２－３０は？", "存在しない日です。", nil, nil, respondError},
		{"a valid request in Chinese", "2026年2月28日有多少条愤怒的消息？", "label 和 start_date 无效", nil, nil, Answered},
		{"a named value", "Count with label=furious", "Nein.", nil, nil, respondError},
		{"a named input", "Count it.", "No.", []strategy.Input{{Name: "label", Value: json.RawMessage(`"furious"`)}}, nil, respondError},
		{"a date as an input", "Count it.", "No.", []strategy.Input{{Name: "day", Value: json.RawMessage(`"2026-02-30"`)}}, nil, respondError},
		{"inputs that fit", "Count it.", "No.", []strategy.Input{{Name: "label", Value: json.RawMessage(`"angry"`)}, {Name: "id", Value: json.RawMessage(`[1,2]`)}}, nil, Answered},
		{"a call that failed", "Angry?", "No.", nil, []tool.Result{bad}, respondError},
		{"a call that timed out", "Angry?", "No.", nil, []tool.Result{late}, respondError},
		{"rejected arguments", "Angry?", "No.", nil, []tool.Result{wrong}, respondError},
		{"a declined call says nothing about the input", "Angry?", "No.", nil, []tool.Result{denied}, Answered},
		{"a call that succeeded", "Angry on 2026-02-30?", "No.", nil, []tool.Result{ok}, Answered},
		{"one that failed and one that succeeded", "Angry?", "1", nil, []tool.Result{bad, ok}, Answered},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Params{Request: test.request, Inputs: test.inputs, Tools: testTools(t), Memory: []strategy.Exchange{{Request: "Angry on 2026-02-30?", Answer: "No."}}}
			for _, strategy := range []string{"contract", "tools", "plan"} {
				require.Equal(t, test.want, endOf(t, strategy, p, test.results, test.answer), strategy)
			}
		})
	}
}

// endOf plays an episode in which the model makes a call for each result and then
// answers, and returns its status.
func endOf(t *testing.T, strategy string, p Params, results []tool.Result, answer string) Status {
	t.Helper()
	m, err := New(strategy, p, nil)
	require.NoError(t, err)
	ready, calls := m.Step(Started{At: testStart}), 0
	for {
		switch c := ready.Commands[0].(type) {
		case CallModel:
			query := json.RawMessage(`{"query":"` + string(rune('a'+calls)) + `"}`)
			r := saying(answer)
			switch {
			case c.Role == turn.RolePlanner:
				r = reply("", planCall(stepA))
			case strategy == "contract" && calls < len(results):
				r = saying(`{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":"search","args":` + string(query) + `},"state_update":{"plan":"p","observation":"o","confidence":0.5}}`)
			case strategy == "contract":
				text, _ := json.Marshal(answer)
				r = saying(`{"control":{"done":true,"reason":"ok"},"next_action":{"type":"respond","message":` + string(text) + `},"state_update":{"plan":"p","observation":"o","confidence":0.5}}`)
			case calls < len(results):
				r = calling("search", string(query))
			}
			ready = m.Step(ModelReplied{At: testStart, ID: c.ID, Reply: r})
		case CallTool:
			calls++
			ready = m.Step(ToolReturned{At: testStart, ID: c.ID, Result: results[calls-1]})
		case Finish:
			return c.Status
		}
	}
}

// The user's replies are inputs, too.
func TestRespondErrorAfterAQuestion(t *testing.T) {
	for text, want := range map[string]Status{"on 2026-02-30": respondError, "on 2026-02-28": answeredAfterClarify} {
		m, err := New("tools", Params{Request: "Angry?", Tools: testTools(t)}, nil)
		require.NoError(t, err)
		m.Step(Started{At: testStart})
		asked := m.Step(ModelReplied{At: testStart, ID: 1, Reply: calling("ask_user", `{"question":"Which day?"}`)}).Commands[0].(AskUser)
		next := m.Step(UserReplied{At: testStart, ID: asked.ID, Text: text}).Commands[0].(CallModel)
		f := m.Step(ModelReplied{At: testStart, ID: next.ID, Reply: saying("No.")}).Commands[0].(Finish)
		require.Equal(t, want, f.Status, text)
	}
}
