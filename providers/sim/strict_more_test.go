package sim

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// These are more parts of requests.
const (
	claudeTool = `{"name":"f","input_schema":{"type":"object"}}`
	claudeHi   = `"messages":[` + hiTurn + `]`
	cohereHi   = `"messages":[` + hiTurn + `]`
	cohereTool = `{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}`
	geminiTool = `{"functionDeclarations":[{"name":"f"}]}`
)

// refusedToo are further requests that a service refuses, each with a request that it
// accepts. The two differ only in what is wrong.
var refusedToo = []struct {
	name, path, wrong, right string
	status                   int
	contains                 string
}{
	{
		"a system of pictures", messagesPath, `{` + claudeModel + `"system":[{"type":"image"}],` + claudeHi + `}`,
		`{` + claudeModel + `"system":[{"type":"text","text":"s"}],` + claudeHi + `}`, 400, "list of text blocks",
	},
	{
		"a message without content", messagesPath, `{` + claudeModel + `"messages":[{"role":"user"}]}`,
		`{` + claudeModel + `"messages":[{"role":"user","content":"hi"}]}`, 400, "messages.0.content: Field required",
	},
	{
		"no tokens", messagesPath, `{"model":"sim-probe","max_tokens":0,` + claudeHi + `}`,
		`{"model":"sim-probe","max_tokens":1,` + claudeHi + `}`, 400, "greater than or equal to 1",
	},
	{"no messages", messagesPath, `{` + claudeModel + `"messages":[]}`, `{` + claudeModel + claudeHi + `}`, 400, "at least one message"},
	{
		"too hot", messagesPath, `{` + claudeModel + `"temperature":1.5,` + claudeHi + `}`,
		`{` + claudeModel + `"temperature":1,` + claudeHi + `}`, 400, "range: 0..1",
	},
	{
		"a result of thinking", messagesPath, `{` + claudeModel + `"messages":[` + hiTurn + `,` + claudeCall + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"thinking","thinking":"x"}]}]}]}`,
		`{` + claudeModel + `"messages":[` + hiTurn + `,` + claudeCall + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"x"}]}]}]}`, 400, "'text' or 'image'",
	},
	{
		"a picture without a source", messagesPath, `{` + claudeModel + `"messages":[{"role":"user","content":[{"type":"image"}]}]}`,
		`{` + claudeModel + `"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, 400, "image.source: Field required",
	},
	{
		"a tool with a blank in its name", messagesPath, `{` + claudeModel + `"tools":[{"name":"a b","input_schema":{"type":"object"}}],` + claudeHi + `}`,
		`{` + claudeModel + `"tools":[` + claudeTool + `],` + claudeHi + `}`, 400, "should match pattern",
	},
	{
		"a tool that takes a list", messagesPath, `{` + claudeModel + `"tools":[{"name":"f","input_schema":{"type":"array"}}],` + claudeHi + `}`,
		`{` + claudeModel + `"tools":[` + claudeTool + `],` + claudeHi + `}`, 400, "Input should be 'object'",
	},

	{
		"an empty block of the system", bedrockPath, `{"system":[{}],"messages":[` + bedrockHi + `]}`,
		`{"system":[{"text":"s"}],"messages":[` + bedrockHi + `]}`, 400, "system.0 is empty",
	},
	{
		"a format without a schema", bedrockPath, `{"outputConfig":{"textFormat":{"type":"json_schema"}},"messages":[` + bedrockHi + `]}`,
		`{"messages":[` + bedrockHi + `]}`, 400, "outputConfig.textFormat",
	},
	{
		"an image of an unknown kind", bedrockPath, `{"messages":[{"role":"user","content":[{"image":{"format":"bmp","source":{"bytes":"AAAA"}}}]}]}`,
		`{"messages":[` + bedrockHi + `]}`, 400, "image.source",
	},
	{
		"a call with a list for input", bedrockPath, `{` + bedrockTool + `"messages":[` + bedrockHi + `,{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":[]}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"x"}]}}]}]}`,
		`{` + bedrockTool + `"messages":[` + bedrockHi + `,` + bedrockCall + `,{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"x"}]}}]}]}`, 400, "toolUse.input is invalid",
	},
	{
		"a call by the user", bedrockPath, `{` + bedrockTool + `"messages":[{"role":"user","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]}]}`,
		`{` + bedrockTool + `"messages":[` + bedrockHi + `]}`, 400, "a message of this role cannot have",
	},
	{
		"a result of nothing known", bedrockPath, `{` + bedrockTool + `"messages":[` + bedrockHi + `,` + bedrockCall + `,{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"video":{}}]}}]}]}`,
		`{` + bedrockTool + `"messages":[` + bedrockHi + `,` + bedrockCall + `,{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[]}}]}]}`, 400, "a tool result cannot have",
	},
	{
		"a tool without a specification", bedrockPath, `{"toolConfig":{"tools":[{}]},"messages":[` + bedrockHi + `]}`,
		`{` + bedrockTool + `"messages":[` + bedrockHi + `]}`, 400, "toolSpec.name",
	},
	{
		"a tool that takes a list", bedrockPath, `{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"array"}}}}]},"messages":[` + bedrockHi + `]}`,
		`{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default"}}]},"messages":[` + bedrockHi + `]}`, 400, "inputSchema.json.type",
	},
	{
		"a tool twice", bedrockPath, `{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}},{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},"messages":[` + bedrockHi + `]}`,
		`{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}},{"toolSpec":{"name":"g","inputSchema":{"json":{"type":"object"}}}}]},"messages":[` + bedrockHi + `]}`, 400, "more than once",
	},
	{
		"a choice of two kinds", bedrockPath, `{"toolConfig":{"toolChoice":{"any":{},"auto":{}},"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},"messages":[` + bedrockHi + `]}`,
		`{"toolConfig":{"toolChoice":{"any":{}},"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},"messages":[` + bedrockHi + `]}`, 400, "union",
	},
	{
		"a choice of no tool of theirs", bedrockPath, `{"toolConfig":{"toolChoice":{"tool":{"name":"g"}},"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},"messages":[` + bedrockHi + `]}`,
		`{"toolConfig":{"toolChoice":{"tool":{"name":"f"}},"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},"messages":[` + bedrockHi + `]}`, 400, "not defined in toolConfig.tools",
	},

	{"a number for a model", coherePath, `{"model":7,` + cohereHi + `}`, `{` + probeModel + cohereHi + `}`, 400, "Invalid type for 'model'"},
	{"no tokens", coherePath, `{` + probeModel + `"max_tokens":0,` + cohereHi + `}`, `{` + probeModel + `"max_tokens":1,` + cohereHi + `}`, 400, "greater than 0"},
	{"six stops", coherePath, `{` + probeModel + `"stop_sequences":["a","b","c","d","e","f"],` + cohereHi + `}`, `{` + probeModel + `"stop_sequences":["a","b","c","d","e"],` + cohereHi + `}`, 400, "at most 5"},
	{"a message without content", coherePath, `{` + probeModel + `"messages":[{"role":"user"}]}`, `{` + probeModel + cohereHi + `}`, 400, "messages[0].content is required"},
	{
		"thinking by the user", coherePath, `{` + probeModel + `"messages":[{"role":"user","content":[{"type":"thinking","thinking":"x"}]}]}`,
		`{` + probeModel + `"messages":[` + hiTurn + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]},` + hiTurn + `]}`, 400, "invalid type 'thinking' for role 'user'",
	},
	{
		"a call without an id", coherePath, `{` + probeModel + `"tools":[` + cohereTool + `],"messages":[` + hiTurn + `,{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}`,
		`{` + probeModel + `"tools":[` + cohereTool + `],"messages":[` + hiTurn + `,{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}`, 400, "tool_calls: an id",
	},
	{
		"a result without an id", coherePath, `{` + probeModel + `"tools":[` + cohereTool + `],"messages":[` + hiTurn + `,{"role":"tool","content":"x"}]}`,
		`{` + probeModel + `"tools":[` + cohereTool + `],` + cohereHi + `}`, 400, "tool_call_id is required",
	},
	{
		"a tool with a blank in its name", coherePath, `{` + probeModel + `"tools":[{"type":"function","function":{"name":"a b","parameters":{"type":"object"}}}],` + cohereHi + `}`,
		`{` + probeModel + `"tools":[` + cohereTool + `],` + cohereHi + `}`, 400, "tools[0]: a function with a name",
	},
	{"a tool twice", coherePath, `{` + probeModel + `"tools":[` + cohereTool + `,` + cohereTool + `],` + cohereHi + `}`, `{` + probeModel + `"tools":[` + cohereTool + `],` + cohereHi + `}`, 400, "duplicate tool name"},
	{"a choice of no tools", coherePath, `{` + probeModel + `"tool_choice":"REQUIRED",` + cohereHi + `}`, `{` + probeModel + `"tools":[` + cohereTool + `],"tool_choice":"REQUIRED",` + cohereHi + `}`, 400, "only be specified with tools"},
	{"a format of another wire", coherePath, `{` + probeModel + `"response_format":{"type":"json_schema"},` + cohereHi + `}`, `{` + probeModel + `"response_format":{"type":"json_object"},` + cohereHi + `}`, 400, "response_format.type"},
	{
		"a schema of a list", coherePath, `{` + probeModel + `"response_format":{"type":"json_object","json_schema":{"type":"array"}},` + cohereHi + `}`,
		`{` + probeModel + `"response_format":{"type":"json_object","json_schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},` + cohereHi + `}`, 400, "top level must be of type",
	},

	{"contents of text", geminiPath, `{"contents":"hi"}`, `{` + geminiHi + `}`, 400, "Invalid type for 'contents'"},
	{
		"six stops", geminiPath, `{"generationConfig":{"stopSequences":["a","b","c","d","e","f"]},` + geminiHi + `}`,
		`{"generationConfig":{"stopSequences":["a","b","c","d","e"]},` + geminiHi + `}`, 400, "at most 5",
	},
	{
		"a page for a reply", geminiPath, `{"generationConfig":{"responseMimeType":"text/html"},` + geminiHi + `}`,
		`{"generationConfig":{"responseMimeType":"text/plain"},` + geminiHi + `}`, 400, "allowed mimetypes",
	},
	{"a tool with a blank in its name", geminiPath, `{"tools":[{"functionDeclarations":[{"name":"a b"}]}],` + geminiHi + `}`, `{"tools":[` + geminiTool + `],` + geminiHi + `}`, 400, "Invalid function name"},
	{"a tool twice", geminiPath, `{"tools":[` + geminiTool + `,` + geminiTool + `],` + geminiHi + `}`, `{"tools":[` + geminiTool + `],` + geminiHi + `}`, 400, "Duplicate function declaration"},
	{
		"two schemas of a tool", geminiPath, `{"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"},"parametersJsonSchema":{"type":"object"}}]}],` + geminiHi + `}`,
		`{"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"}}]}],` + geminiHi + `}`, 400, "only one of parameters",
	},
	{
		"a choice of no tools", geminiPath, `{"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},` + geminiHi + `}`,
		`{"tools":[` + geminiTool + `],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},` + geminiHi + `}`, 400, "without function_declarations",
	},

	{
		"an invalid tool", ollamaPath, `{` + probeModel + `"stream":false,"tools":[{"type":"search"}],"messages":[` + hiTurn + `]}`,
		`{` + probeModel + `"stream":false,` + chatTool + `"messages":[` + hiTurn + `]}`, 400, "invalid tool",
	},

	{"a number for a model", responsesPath, `{"model":7,"input":"hi"}`, `{"model":"sim-probe","input":"hi"}`, 400, "Invalid type for 'model'"},
	{
		"a call without a name", responsesPath, `{` + probeModel + `"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"}]}`,
		`{` + probeModel + `"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"}]}`, 400, "call_id' or",
	},
	{
		"an answer without output", responsesPath, `{` + probeModel + `"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1"}]}`,
		`{` + probeModel + `"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"x"}]}]}`, 400, ".output'",
	},
	{
		"a schema without a name", responsesPath, `{` + probeModel + `"input":"hi","text":{"format":{"type":"json_schema","schema":{"type":"object","properties":{},"additionalProperties":false}}}}`,
		`{` + probeModel + `"input":"hi","text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object","properties":{},"additionalProperties":false}}}}`, 400, "text.format.name",
	},
	{
		"a schema of a list", responsesPath, `{` + probeModel + `"input":"hi","text":{"format":{"type":"json_schema","name":"n","schema":{"type":"array"}}}}`,
		`{` + probeModel + `"input":"hi","text":{"format":{"type":"text"}}}`, 400, "Invalid schema for response_format 'n'",
	},
	{
		"a format of another wire", responsesPath, `{` + probeModel + `"input":"hi","text":{"format":{"type":"regex"}}}`,
		`{` + probeModel + `"input":"json: hi","text":{"format":{"type":"json_object"}}}`, 400, "Supported values are: 'json_object'",
	},

	{
		"an unknown grammar", tgiPath, `{"inputs":"hi","parameters":{"grammar":{"type":"xml","value":"x"}}}`,
		`{"inputs":"hi","parameters":{"grammar":{"type":"json","value":{}}}}`, 422, "unknown type xml",
	},
}

// TestRequestsThatAreRefusedToo checks that a wrong request is refused with the
// service's words, and that its counterpart is accepted.
func TestRequestsThatAreRefusedToo(t *testing.T) {
	h := Handler(Config{Seed: 1})
	ask := func(path, body string) *httptest.ResponseRecorder {
		return post(t, h, path, body)
	}
	for _, c := range refusedToo {
		name := wireOf(httptest.NewRequest(http.MethodPost, c.path, nil)).name
		t.Run(name+"/"+c.name, func(t *testing.T) {
			w := ask(c.path, c.wrong)
			require.Equal(t, c.status, w.Code, "%s", w.Body)
			require.Contains(t, w.Body.String(), c.contains)
			requireFault(t, w, name)
			require.Equal(t, http.StatusOK, ask(c.path, c.right).Code, "%s", ask(c.path, c.right).Body)
		})
	}
}

// TestAStreamThatIsWrong checks that a wrong request is refused with its status, before
// the first frame.
func TestAStreamThatIsWrong(t *testing.T) {
	h := Handler(Config{Seed: 1})
	for path, body := range map[string]string{
		chatPath:      `{` + probeModel + `"stream":true,"messages":[{"role":"tool","content":"x"}]}`,
		responsesPath: `{` + probeModel + `"stream":true,"input":[{"type":"strange"}]}`,
		messagesPath:  `{` + claudeModel + `"stream":true,"messages":[]}`,
		coherePath:    `{` + probeModel + `"stream":true,"messages":[]}`,
		ollamaPath:    `{` + probeModel + `"stream":true,"tools":[{"type":"search"}],"messages":[` + hiTurn + `]}`,
		"/v1beta/models/sim-probe:streamGenerateContent?alt=sse": `{"contents":[]}`,
		"/model/sim-probe/converse-stream":                       `{"messages":[]}`,
		"/generate_stream":                                       `{"inputs":""}`,
	} {
		w := post(t, h, path, body)
		require.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, w.Code, "%s: %s", path, w.Body)
		requireFault(t, w, wireOf(httptest.NewRequest(http.MethodPost, path, nil)).name)
	}
}
