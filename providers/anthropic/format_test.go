package anthropic

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestFormatsAreSent(t *testing.T) {
	const (
		fits  = `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`
		loose = `{"type":"object","properties":{"a":{"type":"number","minimum":0}}}`
		begin = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]`
	)
	for _, c := range []struct {
		name    string
		format  providers.Format
		want    string
		warning string
	}{
		{"schema, optional properties allowed", providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(fits)}, `,"output_config":{"format":{"type":"json_schema","schema":` + fits + `}}}`, ""},
		{
			"schema outside of the subset", providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(loose)}, `,"output_config":{"format":{"type":"json_schema","schema":` + loose + `}}}`,
			"json_schema: the provider may refuse the schema: /properties/a: keyword minimum; /: additionalProperties is not false",
		},
		{"tool", providers.Format{Mode: providers.ForcedTool, Name: "n", Schema: []byte(loose)}, `,"tools":[{"name":"n","input_schema":` + loose + `}],"tool_choice":{"type":"tool","name":"n"}}`, ""},
		{"tool with a choice at the top", providers.Format{Mode: providers.ForcedTool, Name: "n", Schema: []byte(`{"type":"object","oneOf":[]}`)}, `,"tools":[{"name":"n","input_schema":{"type":"object","oneOf":[]}}],"tool_choice":{"type":"tool","name":"n"}}`, `forced_tool: the provider may refuse the schema: /: keyword oneOf`},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, warnings := newRequest(providers.Call{Model: "m", Messages: []providers.Message{{Role: "user", Text: "hi"}}, MaxTokens: 9, Format: &c.format})
			text, err := json.Marshal(body)
			require.NoError(t, err)
			require.Equal(t, begin+c.want, string(text))
			if c.warning == "" {
				require.Empty(t, warnings)
				return
			}
			require.Equal(t, []string{c.warning}, warnings)
		})
	}
}

func TestForcedToolUse(t *testing.T) {
	for _, c := range []struct {
		name, content, stop string
		text                string
		want                providers.Finish
		warnings            int
	}{
		{"input as it came", `[{"type":"tool_use","id":"t","name":"n","input":{ "a" : 1.0 }}]`, "tool_use", `{ "a" : 1.0 }`, providers.FinishTools, 0},
		{"after thinking and text", `[{"type":"thinking","thinking":"hm"},{"type":"text","text":"so"},{"type":"tool_use","name":"n","input":{}}]`, "tool_use", `{}`, providers.FinishTools, 0},
		{"cut", `[{"type":"tool_use","name":"n","input":{}}]`, "max_tokens", `{}`, providers.FinishLength, 0},
		{"a server's tool is not ours", `[{"type":"server_tool_use","name":"n","input":{}},{"type":"text","text":"so"}]`, "end_turn", `so`, providers.FinishStop, 1},
		{"a name that is no text", `[{"type":"tool_use","name":{},"input":{}}]`, "tool_use", ``, providers.FinishTools, 1},
		{"refusal", `[]`, "refusal", ``, providers.FinishRefusal, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(`{"content":`+c.content+`,"stop_reason":"`+c.stop+`"}`), "n")
			require.NoError(t, err)
			require.Nil(t, fault)
			require.Equal(t, c.text, got.Text)
			require.Equal(t, c.want, got.Finish)
			require.Len(t, got.Warnings, c.warnings)
		})
	}
}
