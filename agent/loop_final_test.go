package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

func TestFinalAnswer(t *testing.T) {
	object := `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
	outputs := `{"type":"object","properties":{"output":{"type":"integer"}},"required":["output"]}`
	list := `{"type":"array","items":{"type":"integer"}}`
	referring := `{"type":"array","items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"integer"}}}`
	for _, test := range []struct {
		name, schema, text string
		called             bool
		want, faults       string
	}{
		{"arguments", object, ` {"n":1} `, true, `{"n":1}`, ""},
		{"arguments in output", object, `{"output":{"n":1}}`, true, `{"n":1}`, ""},
		{"output that does not fit", object, `{"output":{"n":"1"}}`, true, "", "final.schema: answer.n:required, answer.output:additional"},
		{"output and more", object, `{"output":{"n":1},"x":2}`, true, "", "final.schema: answer.n:required, answer.output:additional, answer.x:additional"},
		{"output is the schema's own", outputs, `{"output":7}`, true, `{"output":7}`, ""},
		{"broken arguments", object, "```json\n{\"n\":1}\n```", true, "", "final.not_json: the answer must be JSON"},
		{"text", object, `{"n":1}`, false, `{"n":1}`, ""},
		{"text in a fence", object, "Here:\n```json\n{\"n\":1}\n```", false, `{"n":1}`, ""},
		{"prose", object, "It is 1.", false, "", "final.not_json: the answer must be JSON"},
		{"another kind", object, `[1]`, false, "", "final.schema: answer:not_object"},
		{"arguments of a list", list, `{"output":[1]}`, true, `[1]`, ""},
		{"arguments of a list without output", list, `{"n":[1]}`, true, "", "final.schema: answer.output:type"},
		{"text of a list", list, `[1]`, false, `[1]`, ""},
		{"text of a list in output", list, `{"output":[1]}`, false, `[1]`, ""},
		{"a list with definitions", referring, `{"output":[1]}`, true, `[1]`, ""},
		{"a list that breaks them", referring, `["1"]`, false, "", "final.schema: answer.output.0:type"},
		{"a wrong list", list, `[1,"2"]`, false, "", "final.schema: answer.output.1:type"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := newFinalAnswer(json.RawMessage(test.schema), 1)
			require.NoError(t, err)
			value, faults := f.check(test.text, test.called)
			require.Equal(t, test.want, string(value))
			got := ""
			for _, f := range faults {
				got += f.String()
			}
			require.Equal(t, test.faults, got)
		})
	}
}

// FuzzFinalAnswer checks that every output is either a matching answer or has a fault.
func FuzzFinalAnswer(f *testing.F) {
	for _, s := range append(hostileReplies, `{"n":1}`, `{"output":{"n":1}}`, `[1]`, `{"output":[1,"2"]}`, "```\n[1]\n```") {
		f.Add(s, true)
		f.Add(s, false)
	}
	schemas := []string{`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, `{"type":"array","items":{"type":"integer"}}`}
	var finishers []*finisher
	var sets []*tool.Set
	for _, schema := range schemas {
		finisher, err := newFinalAnswer(json.RawMessage(schema), 1)
		require.NoError(f, err)
		finishers = append(finishers, finisher)
		set, err := tool.NewSet([]tool.Spec{{Name: "t", Schema: json.RawMessage(`{"type":"object","properties":{"v":` + schema + `},"required":["v"]}`)}})
		require.NoError(f, err)
		sets = append(sets, set)
	}
	f.Fuzz(func(t *testing.T, text string, called bool) {
		for i, finisher := range finishers {
			value, faults := finisher.check(text, called)
			require.Equal(t, value == nil, len(faults) > 0)
			if value != nil {
				require.Empty(t, sets[i].Validate(tool.Call{Name: "t", Args: json.RawMessage(`{"v":` + string(value) + `}`)}))
			}
		}
	})
}
