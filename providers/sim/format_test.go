package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	looseSchema  = `{"type":"object","properties":{"control":{"type":"object"}}}`
	closedSchema = `{"type":"object","properties":{"control":{"type":"object","properties":{},"additionalProperties":false}},"required":["control"],"additionalProperties":false}`

	asJSONObject = `,"response_format":{"type":"json_object"}`
	asJSONSchema = `,"response_format":{"type":"json_schema","json_schema":{"name":"turn","schema":` + looseSchema + `,"strict":false}}`
	asForcedTool = `,"tools":[{"type":"function","function":{"name":"turn","parameters":` + looseSchema + `}}],"tool_choice":{"type":"function","function":{"name":"turn"}}`
)

// saidIn returns the reply of a model to a prompt in a mode of OpenAI's API, and why it
// stopped.
func saidIn(t testing.TB, h http.Handler, model, user, mode, id string) reply {
	t.Helper()
	w := post(t, h, "/v1/chat/completions", openAIBody(t, model, user, `,"max_tokens":400`+mode), "X-Client-Request-Id", id)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var r openAIReply
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r))
	m := r.Choices[0].Message
	if mode != asForcedTool {
		require.Empty(t, m.ToolCalls)
		return reply{*m.Content, r.Choices[0].FinishReason}
	}
	require.Nil(t, m.Content)
	require.Len(t, m.ToolCalls, 1)
	require.Equal(t, "function", m.ToolCalls[0].Type)
	require.Equal(t, "turn", m.ToolCalls[0].Function.Name)
	require.Regexp(t, `^call_sim[0-9a-f]{24}$`, m.ToolCalls[0].ID)
	return reply{m.ToolCalls[0].Function.Arguments, r.Choices[0].FinishReason}
}

func TestForcedToolThatIsCut(t *testing.T) {
	h := counting(t, Config{Seed: 1})
	user := countPrompt(oneCount)
	var r openAIReply
	require.NoError(t, json.Unmarshal(post(t, h, "/v1/chat/completions", openAIBody(t, "sim-strong", user, `,"max_tokens":12`+asForcedTool)).Body.Bytes(), &r))
	require.Equal(t, "length", r.Choices[0].FinishReason)
	require.Len(t, r.Choices[0].Message.ToolCalls[0].Function.Arguments, 48)

	for limit, want := range map[string]string{"12": "max_tokens", "400": "tool_use"} {
		body := strings.TrimSuffix(anthropicBody(t, "sim-strong", user, limit), "}") + `,"tools":[{"name":"turn","input_schema":` + looseSchema + `}],"tool_choice":{"type":"tool","name":"turn"}}`
		w := post(t, h, "/v1/messages", body)
		var a anthropicReply
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a), w.Body)
		require.Equal(t, want, a.StopReason)
		require.Len(t, a.Content, 1)
		block := a.Content[0]
		require.Equal(t, "tool_use", block.Type)
		require.Equal(t, "turn", block.Name)
		require.Nil(t, block.Text)
		require.Regexp(t, `^toolu_sim[0-9a-f]{24}$`, block.ID)
		if want == "max_tokens" {
			require.Equal(t, `{}`, string(block.Input), "the wire cannot carry half an object")
			require.Equal(t, 12, a.Usage.OutputTokens)
			continue
		}
		require.Contains(t, string(block.Input), `"name":"get_counts"`)
	}
}

func TestAnthropicSchemaMode(t *testing.T) {
	h := counting(t, Config{Seed: 11})
	with := strings.TrimSuffix(anthropicBody(t, "sim-weak", countPrompt(oneCount), "400"), "}") + `,"output_config":{"format":{"type":"json_schema","schema":` + closedSchema + `}}}`
	for i := range 200 {
		var a anthropicReply
		w := post(t, h, "/v1/messages", with, "X-Client-Request-Id", fmt.Sprint(i))
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a), w.Body)
		require.Equal(t, "text", a.Content[0].Type)
		if a.StopReason != "max_tokens" {
			require.True(t, json.Valid([]byte(*a.Content[0].Text)))
		}
	}
}

func TestOtherPromptsStayJSON(t *testing.T) {
	h := Handler(Config{})
	for _, mode := range []string{asJSONObject, asJSONSchema, asForcedTool} {
		r := saidIn(t, h, "sim-weak", "What is 2+2? Answer in JSON.", mode, "")
		require.JSONEq(t, `{"message":"`+unknown+`"}`, r.text)
	}
}

func TestFormatsRefused(t *testing.T) {
	h := Handler(Config{})
	const (
		ok       = `"messages":[{"role":"user","content":"json"}]`
		function = `{"type":"function","function":{"name":"a","parameters":{"type":"object"}}}`
		choice   = `{"type":"function","function":{"name":"a"}}`
		tool     = `{"name":"a","input_schema":{"type":"object"}}`
	)
	chat := map[string][2]string{
		"unknown type":            {`"response_format":{"type":"yaml"}`, "yaml"},
		"not an object":           {`"response_format":"json"`, "response_format"},
		"schema missing":          {`"response_format":{"type":"json_schema"}`, "json_schema"},
		"name missing":            {`"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}}`, "name"},
		"schema of no object":     {`"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"array"}}}`, "object"},
		"strict, open":            {`"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object"}}}`, "context=()"},
		"strict, optional":        {`"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object","additionalProperties":false,"properties":{"b":{"type":"string"}}}}}`, "required"},
		"strict, open inside":     {`"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object","additionalProperties":false,"required":["b"],"properties":{"b":{"anyOf":[{"type":"array","items":{"type":"object"}}]}}}}}`, "context=(b)"},
		"choice without a tool":   {`"tool_choice":` + choice, "tool_choice"},
		"choice of another tool":  {`"tools":[` + function + `],"tool_choice":{"type":"function","function":{"name":"b"}}`, "tool_choice"},
		"parameters of no object": {`"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"array"}}}],"tool_choice":` + choice, "function 'a'"},
		"choice of another word":  {`"tools":[` + function + `],"tool_choice":"any"`, "tool_choice"},
		"serial without a tool":   {`"parallel_tool_calls":false`, "parallel_tool_calls"},
		"tool without a name":     {`"tools":[{"type":"function","function":{}}]`, "tools[0].function.name"},
		"tool with a space":       {`"tools":[{"type":"function","function":{"name":"a b"}}]`, "pattern"},
	}
	for name, c := range chat {
		t.Run(name, func(t *testing.T) {
			w := post(t, h, "/v1/chat/completions", `{"model":"sim-weak",`+c[0]+`,`+ok+`}`)
			require.Equal(t, http.StatusBadRequest, w.Code, w.Body)
			require.Contains(t, w.Body.String(), c[1])
			requireError(t, "/v1/chat/completions", w)
		})
	}
	messages := map[string][2]string{
		"json object":           {`"output_config":{"format":{"type":"json_object"}}`, "json_schema"},
		"no schema":             {`"output_config":{"format":{"type":"json_schema"}}`, "object"},
		"open":                  {`"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}`, "additionalProperties"},
		"a server's tool":       {`"tools":[{"type":"web_search_20250305","name":"a"}],"tool_choice":{"type":"tool","name":"a"}`, "not found"},
		"no input schema":       {`"tools":[{"name":"a"}],"tool_choice":{"type":"tool","name":"a"}`, "input_schema"},
		"tools of another form": {`"tools":{"a":1},"tool_choice":{"type":"tool","name":"a"}`, "'tools'"},
		"choice without a tool": {`"tool_choice":{"type":"any"}`, "while providing tools"},
		"choice of another":     {`"tools":[` + tool + `],"tool_choice":{"type":"tool","name":"b"}`, "'b' not found"},
		"unknown choice":        {`"tools":[` + tool + `],"tool_choice":{"type":"required"}`, "expected tags"},
		"tools of one name":     {`"tools":[` + tool + `,` + tool + `]`, "unique"},
	}
	for name, c := range messages {
		t.Run(name, func(t *testing.T) {
			w := post(t, h, "/v1/messages", `{"model":"sim-weak","max_tokens":9,`+c[0]+`,`+ok+`}`)
			require.Equal(t, http.StatusBadRequest, w.Code, w.Body)
			require.Contains(t, w.Body.String(), c[1])
			requireError(t, "/v1/messages", w)
		})
	}
	w := post(t, h, "/v1/chat/completions", `{"model":"sim-weak","response_format":{"type":"json_object"},"messages":[{"role":"user","content":"hi"}]}`)
	require.Contains(t, w.Body.String(), "must contain the word 'json'")
	w = post(t, h, "/v1/chat/completions", `{"model":"sim-weak","response_format":{"type":"text"},"messages":[{"role":"user","content":"hi"}]}`)
	require.Equal(t, http.StatusOK, w.Code)
}

func TestClosedSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		closedSchema:        "",
		looseSchema:         "()",
		`{"type":"string"}`: "",
		`{`:                 "()",
		`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}}}`:             "",
		`{"type":"object","additionalProperties":false,"properties":{"a":{"items":{"type":"object"}}}}`:   "(a)",
		`{"type":"object","additionalProperties":false,"properties":{"a":{"anyOf":[{"type":"object"}]}}}`: "(a)",
	} {
		require.Equal(t, want, unclosed(json.RawMessage(schema), false), schema)
	}
	require.Empty(t, unclosed(json.RawMessage(closedSchema), true))
}
