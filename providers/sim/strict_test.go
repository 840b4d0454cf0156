package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// These are parts of requests.
const (
	chatPath, responsesPath, messagesPath        = "/v1/chat/completions", "/v1/responses", "/v1/messages"
	geminiPath                                   = "/v1beta/models/sim-probe:generateContent"
	bedrockPath, ollamaPath, tgiPath, coherePath = "/model/sim-probe/converse", "/api/chat", "/generate", "/v2/chat"
	probeModel                                   = `"model":"sim-probe",`
	hiTurn                                       = `{"role":"user","content":"hi"}`
	chatCall                                     = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	chatTool                                     = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],`
	claudeModel                                  = `"model":"sim-probe","max_tokens":9,`
	claudeCall                                   = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}`
	geminiHi                                     = `"contents":[{"role":"user","parts":[{"text":"hi"}]}]`
	bedrockHi                                    = `{"role":"user","content":[{"text":"hi"}]}`
	bedrockTool                                  = `"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},`
	bedrockCall                                  = `{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]}`
	noPicture                                    = `"data:image/png;base64,AAAA"`
)

// wrongRequests are requests that a service refuses, and the error.
var wrongRequests = []struct {
	name, path, body string
	status           int
	contains         string
}{
	{"result without a call", chatPath, `{` + probeModel + chatTool + `"messages":[` + hiTurn + `,{"role":"tool","tool_call_id":"c1","content":"x"}]}`, 400, "must be a response to"},
	{"result without an id", chatPath, `{` + probeModel + chatTool + `"messages":[` + hiTurn + `,` + chatCall + `,{"role":"tool","content":"x"}]}`, 400, "tool_call_id"},
	{"call without a result", chatPath, `{` + probeModel + chatTool + `"messages":[` + hiTurn + `,` + chatCall + `,` + hiTurn + `]}`, 400, "did not have response messages: c1"},
	{"call at the end", chatPath, `{` + probeModel + chatTool + `"messages":[` + hiTurn + `,` + chatCall + `]}`, 400, "did not have response messages: c1"},
	{"call without a type", chatPath, `{` + probeModel + `"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}}]}]}`, 400, "tool_calls[0]"},
	{"picture of nothing", chatPath, `{` + probeModel + `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":` + noPicture + `}}]}]}`, 400, "unsupported image"},
	{"picture of the model", chatPath, `{` + probeModel + `"messages":[{"role":"assistant","content":[{"type":"image_url","image_url":{"url":` + noPicture + `}}]}]}`, 400, "'text'"},
	{"choice without tools", chatPath, `{` + probeModel + `"tool_choice":"auto","messages":[` + hiTurn + `]}`, 400, "only allowed when 'tools'"},
	{"another wire's member", chatPath, `{` + probeModel + `"max_output_tokens":9,"messages":[` + hiTurn + `]}`, 400, "Unrecognized request argument"},

	{"no model", responsesPath, `{"input":"hi"}`, 400, "'model'"},
	{"no input", responsesPath, `{"model":"sim-probe"}`, 400, "'input'"},
	{"seed", responsesPath, `{` + probeModel + `"input":"hi","seed":1}`, 400, "Unknown parameter: 'seed'"},
	{"stop", responsesPath, `{` + probeModel + `"input":"hi","stop":["a"]}`, 400, "Unknown parameter: 'stop'"},
	{"few tokens", responsesPath, `{` + probeModel + `"input":"hi","max_output_tokens":1}`, 400, "below minimum value"},
	{"hot", responsesPath, `{` + probeModel + `"input":"hi","temperature":3}`, 400, "temperature"},
	{"previous response", responsesPath, `{` + probeModel + `"input":"hi","previous_response_id":"resp_1"}`, 400, "previous_response_not_found"},
	{"conversation", responsesPath, `{` + probeModel + `"input":"hi","conversation":"conv_1"}`, 404, "holds no conversations"},
	{"role", responsesPath, `{` + probeModel + `"input":[{"role":"tool","content":"hi"}]}`, 400, "Supported values are: 'assistant'"},
	{"kind of item", responsesPath, `{` + probeModel + `"input":[{"type":"strange"}]}`, 400, "'strange'"},
	{"kind of part", responsesPath, `{` + probeModel + `"input":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`, 400, "'input_text'"},
	{"no content", responsesPath, `{` + probeModel + `"input":[{"role":"user"}]}`, 400, "input[0].content"},
	{"output without a call", responsesPath, `{` + probeModel + `"input":[{"type":"function_call_output","call_id":"c1","output":"x"}]}`, 400, "No tool call found for function call output with call_id c1"},
	{"call without an output", responsesPath, `{` + probeModel + `"input":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"role":"user","content":"hi"}]}`, 400, "No tool output found for function call c1"},
	{"foreign reasoning", responsesPath, `{` + probeModel + `"input":[{"type":"reasoning","id":"x","summary":[]}]}`, 400, "begins with 'rs'"},
	{"a nested tool", responsesPath, `{` + probeModel + `"input":"hi","tools":[{"type":"function","function":{"name":"f"}}]}`, 400, "tools[0].name"},
	{"open schema", responsesPath, `{` + probeModel + `"input":"hi","text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}}}`, 400, "additionalProperties"},
	{"no word json", responsesPath, `{` + probeModel + `"input":"hi","text":{"format":{"type":"json_object"}}}`, 400, "'json'"},
	{"unknown model", responsesPath, `{"model":"gpt-none","input":"hi"}`, 404, "model_not_found"},

	{"result without a call", messagesPath, `{` + claudeModel + `"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"}]}]}`, 400, "unexpected `tool_use_id`"},
	{"call without a result", messagesPath, `{` + claudeModel + `"messages":[` + hiTurn + `,` + claudeCall + `,` + hiTurn + `]}`, 400, "without `tool_result` blocks immediately after: c1"},
	{"empty text", messagesPath, `{` + claudeModel + `"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`, 400, "non-empty"},
	{"input of text", messagesPath, `{` + claudeModel + `"messages":[` + hiTurn + `,{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":"{}"}]}]}`, 400, "valid dictionary"},
	{"call of the user", messagesPath, `{` + claudeModel + `"messages":[{"role":"user","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}]}`, 400, "tool_use"},
	{"thinking with another signature", messagesPath, `{` + claudeModel + `"messages":[` + hiTurn + `,{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"b"}]}]}`, 400, "Invalid `signature`"},
	{"picture without a type", messagesPath, `{` + claudeModel + `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AAAA"}}]}]}`, 400, "media_type"},
	{"picture of nothing", messagesPath, `{` + claudeModel + `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`, 400, "Could not process image"},
	{"tool without a schema", messagesPath, `{` + claudeModel + `"tools":[{"name":"f"}],"messages":[` + hiTurn + `]}`, 400, "input_schema: Field required"},

	{"no contents", geminiPath, `{}`, 400, "contents is not specified"},
	{"unknown member", geminiPath, `{"stop":["a"],` + geminiHi + `}`, 400, `Unknown name \"stop\"`},
	{"unknown setting", geminiPath, `{"generationConfig":{"max_tokens":1},` + geminiHi + `}`, 400, `Unknown name \"max_tokens\" at 'generation_config'`},
	{"role", geminiPath, `{"contents":[{"role":"assistant","parts":[{"text":"hi"}]}]}`, 400, "valid role"},
	{"no parts", geminiPath, `{"contents":[{"role":"user","parts":[]}]}`, 400, "must not be empty"},
	{"empty part", geminiPath, `{"contents":[{"role":"user","parts":[{}]}]}`, 400, "required oneof field 'data'"},
	{"too hot", geminiPath, `{"generationConfig":{"temperature":2.5},` + geminiHi + `}`, 400, "temperature"},
	{"no tokens", geminiPath, `{"generationConfig":{"maxOutputTokens":0},` + geminiHi + `}`, 400, "max_output_tokens"},
	{"two candidates", geminiPath, `{"generationConfig":{"candidateCount":2},` + geminiHi + `}`, 400, "candidate"},
	{"schema of text", geminiPath, `{"generationConfig":{"responseSchema":{"type":"OBJECT"}},` + geminiHi + `}`, 400, "response_mime_type"},
	{"response without a call", geminiPath, `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`, 400, "number of function response parts"},
	{"call without a response", geminiPath, `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"text":"hi"}]}]}`, 400, "number of function response parts"},
	{"unknown choice", geminiPath, `{"toolConfig":{"functionCallingConfig":{"mode":"SOME"}},` + geminiHi + `}`, 400, "SOME"},
	{"choice of another tool", geminiPath, `{"tools":[{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}},` + geminiHi + `}`, 400, "function name g"},
	{"picture of nothing", geminiPath, `{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}]}`, 400, "input image"},
	{"unknown model", "/v1beta/models/none:generateContent", `{` + geminiHi + `}`, 404, "models/none is not found"},
	{"unknown method", "/v1beta/models/sim-probe:tuneModel", `{` + geminiHi + `}`, 404, `"status":"NOT_FOUND"`},

	{"no messages", bedrockPath, `{}`, 400, "at least one message"},
	{"the model's first", bedrockPath, `{"messages":[{"role":"assistant","content":[{"text":"hi"}]}]}`, 400, "must start with a user message"},
	{"two of the user", bedrockPath, `{"messages":[` + bedrockHi + `,` + bedrockHi + `]}`, 400, "must alternate"},
	{"role", bedrockPath, `{"messages":[{"role":"system","content":[{"text":"hi"}]}]}`, 400, "enum value set: [user, assistant]"},
	{"blank text", bedrockPath, `{"messages":[{"role":"user","content":[{"text":" "}]}]}`, 400, "blank"},
	{"no content", bedrockPath, `{"messages":[{"role":"user","content":[]}]}`, 400, "is empty"},
	{"too hot", bedrockPath, `{"inferenceConfig":{"temperature":1.5},"messages":[` + bedrockHi + `]}`, 400, "temperature"},
	{"no tokens", bedrockPath, `{"inferenceConfig":{"maxTokens":0},"messages":[` + bedrockHi + `]}`, 400, "maxTokens"},
	{"calls without tools", bedrockPath, `{"messages":[` + bedrockHi + `,` + bedrockCall + `]}`, 400, "toolConfig field must be defined"},
	{"call without a result", bedrockPath, `{` + bedrockTool + `"messages":[` + bedrockHi + `,` + bedrockCall + `,` + bedrockHi + `]}`, 400, "Expected toolResult blocks at messages.2.content for the following Ids: c1"},
	{"result without a call", bedrockPath, `{` + bedrockTool + `"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[]}}]}]}`, 400, "exceeds the number of toolUse"},
	{"status of a result", bedrockPath, `{` + bedrockTool + `"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[],"status":"bad"}}]}]}`, 400, "[success, error]"},
	{"no tools", bedrockPath, `{"toolConfig":{"tools":[]},"messages":[` + bedrockHi + `]}`, 400, "toolConfig.tools"},
	{"choice of none", bedrockPath, `{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}],"toolChoice":{"none":{}}},"messages":[` + bedrockHi + `]}`, 400, "no member none"},
	{"picture of nothing", bedrockPath, `{"messages":[{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"AAAA"}}}]}]}`, 400, "Could not process image"},
	{"unknown model", "/model/none/converse-stream", `{"messages":[` + bedrockHi + `]}`, 400, "model identifier is invalid"},

	{"no model", ollamaPath, `{"messages":[` + hiTurn + `]}`, 400, "model is required"},
	{"role", ollamaPath, `{` + probeModel + `"messages":[{"role":"robot","content":"hi"}]}`, 400, "invalid role: robot"},
	{"parts", ollamaPath, `{` + probeModel + `"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`, 400, "content"},
	{"arguments of text", ollamaPath, `{` + probeModel + `"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]}`, 400, "arguments"},
	{"format", ollamaPath, `{` + probeModel + `"format":"yaml","messages":[` + hiTurn + `]}`, 400, "invalid format"},
	{"picture of nothing", ollamaPath, `{` + probeModel + `"messages":[{"role":"user","content":"hi","images":["AAAA"]}]}`, 400, "image"},
	{"unknown model", ollamaPath, `{"model":"none","messages":[` + hiTurn + `]}`, 404, "model 'none' not found"},

	{"not JSON", tgiPath, `{`, 422, "deserialize"},
	{"no inputs", tgiPath, `{}`, 422, "missing field `inputs`"},
	{"empty inputs", tgiPath, `{"inputs":""}`, 422, "cannot be empty"},
	{"cold", tgiPath, `{"inputs":"hi","parameters":{"temperature":0}}`, 422, "strictly positive"},
	{"no tokens", tgiPath, `{"inputs":"hi","parameters":{"max_new_tokens":0}}`, 422, "strictly positive"},
	{"five stops", tgiPath, `{"inputs":"hi","parameters":{"stop":["a","b","c","d","e"]}}`, 422, "up to 4"},
	{"too long", tgiPath, `{"inputs":"` + strings.Repeat("x", 4*tgiWindow+1) + `"}`, 422, "must have less than 32768 tokens"},
	{"prompt's tokens of a stream", "/generate_stream", `{"inputs":"hi","parameters":{"decoder_input_details":true}}`, 422, "not supported when streaming"},
	{"unknown model", "/models/none/generate", `{"inputs":"hi"}`, 404, "none"},

	{"no model", coherePath, `{"messages":[` + hiTurn + `]}`, 400, "model is required"},
	{"no messages", coherePath, `{"model":"sim-probe","messages":[]}`, 400, "at least 1 item"},
	{"role", coherePath, `{` + probeModel + `"messages":[{"role":"robot","content":"hi"}]}`, 400, "role must be one of"},
	{"unknown member", coherePath, `{` + probeModel + `"stop":["a"],"messages":[` + hiTurn + `]}`, 422, "unknown field"},
	{"result without a call", coherePath, `{` + probeModel + chatTool + `"messages":[` + hiTurn + `,{"role":"tool","tool_call_id":"c1","content":"x"}]}`, 400, "tool call id c1"},
	{"call without a result", coherePath, `{` + probeModel + chatTool + `"messages":[` + hiTurn + `,` + chatCall + `,` + hiTurn + `]}`, 400, "missing: c1"},
	{"choice in other words", coherePath, `{` + probeModel + chatTool + `"tool_choice":"required","messages":[` + hiTurn + `]}`, 400, "'REQUIRED'"},
	{"format and tools", coherePath, `{` + probeModel + chatTool + `"response_format":{"type":"json_object"},"messages":[` + hiTurn + `]}`, 400, "response_format and tools"},
	{"too hot", coherePath, `{` + probeModel + `"temperature":1.5,"messages":[` + hiTurn + `]}`, 400, "temperature"},
	{"unknown model", coherePath, `{"model":"none","messages":[` + hiTurn + `]}`, 404, "model 'none' not found"},
}

// TestWiresRefuse checks that the simulator refuses what the services refuse, in the
// API's own format.
func TestWiresRefuse(t *testing.T) {
	h := Handler(Config{})
	for _, c := range wrongRequests {
		t.Run(c.path+"/"+c.name, func(t *testing.T) {
			w := post(t, h, c.path, c.body)
			require.Equal(t, c.status, w.Code, w.Body)
			require.Contains(t, w.Body.String(), c.contains)
			requireFault(t, w, wireOf(httptest.NewRequest(http.MethodPost, c.path, nil)).name)
		})
	}
}

// requireFault checks the format of an error.
func requireFault(t testing.TB, w *httptest.ResponseRecorder, wire string) {
	t.Helper()
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	v := parsed(t, w.Body.Bytes())
	id := ""
	switch wire {
	case "openai", "responses":
		require.NotEmpty(t, text(v, "error", "message"))
		require.NotEmpty(t, text(v, "error", "type"))
		id = w.Header().Get("X-Request-Id")
	case "anthropic":
		require.Equal(t, "error", v["type"])
		require.NotEmpty(t, text(v, "error", "type"))
		id = w.Header().Get("Request-Id")
		require.Equal(t, id, v["request_id"])
	case "gemini":
		require.Equal(t, w.Code, figure(v, "error", "code"))
		require.NotEmpty(t, text(v, "error", "message"))
		require.NotEmpty(t, text(v, "error", "status"))
		return
	case "bedrock":
		require.NotEmpty(t, v["message"])
		require.Contains(t, w.Header().Get("X-Amzn-Errortype"), "Exception:")
		id = w.Header().Get("X-Amzn-Requestid")
	case "ollama":
		require.NotEmpty(t, text(v, "error"))
		return
	case "tgi":
		require.NotEmpty(t, text(v, "error"))
		require.NotEmpty(t, text(v, "error_type"))
		return
	case "cohere":
		require.NotEmpty(t, text(v, "message"))
		id = w.Header().Get("X-Debug-Trace-Id")
		require.Equal(t, id, v["id"])
	default:
		require.Fail(t, "no such wire", wire)
	}
	require.Regexp(t, `^req_sim[0-9a-f]{24}$`, id)
}

// TestEveryWireKnowsItsRoutes checks that the path alone decides the API, and that
// methods other than POST are refused in the API's format.
func TestEveryWireKnowsItsRoutes(t *testing.T) {
	h := Handler(Config{})
	names := map[string]bool{}
	for _, r := range routes {
		path := strings.NewReplacer("{model}", "m", "{call}", "m:generateContent", "{project}", "p", "{location}", "l").Replace(r.path)
		req := httptest.NewRequest(http.MethodGet, path, nil)
		require.Equal(t, r.wire.name, wireOf(req).name, path)
		names[r.wire.name] = true
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, path)
		requireFault(t, w, r.wire.name)
		w = post(t, h, path, strings.Repeat(" ", maxBody+1))
		require.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
		requireFault(t, w, r.wire.name)
	}
	require.Len(t, names, 8)
	require.Equal(t, "openai", wireOf(httptest.NewRequest(http.MethodGet, "/elsewhere", nil)).name)
}

// FuzzHandler checks that for any request, a reply other than a stream is JSON, and an
// error has the API's format.
func FuzzHandler(f *testing.F) {
	f.Add(uint8(0), openAIBody(f, "sim-strong", countPrompt("angry on 2026-05-03?"), ""), "1")
	f.Add(uint8(2), anthropicBody(f, "sim-weak", countPrompt("今天 praise"), "400"), "")
	f.Add(uint8(0), openAIBody(f, "sim-erratic", "USER_REQUEST:\n<data>x</data>\nOBS:\n- tool result: turn 1 get_counts {} -> ok <data>{\"value\":", ""), "")
	f.Add(uint8(2), `{"model":{},"messages":[[]]}`, "")
	f.Add(uint8(0), `{"model":"sim-weak","messages":[{"role":"user","content":null}],"stop":[null]}`, "")
	paths := map[string]bool{}
	var order []string
	for _, g := range wireClients() {
		for _, path := range []string{g.path, g.streamPath} {
			path = strings.ReplaceAll(path, "MODEL", Probe)
			if path != "" && !paths[path] {
				paths[path] = true
				order = append(order, path)
			}
		}
		for i := range order {
			a := asked{model: Probe, system: "s", tools: []string{"t"}, turns: []utterance{user("say a\nthink b\ncall t {}\ndescribe\ncached 1 1\nfill 3", testPNG(f, 1, 1))}}
			f.Add(uint8(i), string(encodeJSON(g.body(a))), "x")
		}
	}
	for _, more := range []struct{ path, body string }{
		{countPath, `{"model":"sim-probe","messages":[` + hiTurn + `]}`},
		{"/v1/completions", `{` + probeModel + `"prompt":["say a"],"stream":true}`},
		{"/mistral" + chatPath, `{` + probeModel + `"messages":[` + hiTurn + `],"stream":true}`},
		{"/model/sim-probe/invoke", `{"anthropic_version":"a","max_tokens":9,"messages":[` + hiTurn + `]}`},
		{"/api/show", `{"model":"sim-probe"}`},
		{"/v1/embeddings", `{"input":["a",[1,2]],"dimensions":3,"encoding_format":"base64"}`},
		{"/v1beta/models/sim-probe:countTokens", `{"generateContentRequest":{` + geminiHi + `}}`},
		{"/messages", `{` + claudeModel + `"messages":[{"role":"system","content":"a"},` + hiTurn + `],"tools":[{"type":"bash_20250124","name":"bash"}]}`},
		{responsesPath, `{` + probeModel + `"input":[{"type":"item_reference","id":"a"},{"id":1}],"previous_response_id":"b"}`},
		{messagesPath, `{` + claudeModel + `"thread":{"type":"continue","previous_message_id":"a"},"messages":[` + hiTurn + `]}`},
		{messagesPath, `{` + claudeModel + `"thread":{"type":"create"},"messages":[` + hiTurn + `]}`},
	} {
		if !paths[more.path] {
			paths[more.path] = true
			order = append(order, more.path)
		}
		f.Add(uint8(slices.Index(order, more.path)), more.body, "")
	}
	h := Handler(Config{Seed: 3})
	f.Fuzz(func(t *testing.T, which uint8, body, id string) {
		path := order[int(which)%len(order)]
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header["X-Client-Request-Id"] = []string{id}
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Set("Anthropic-Beta", threadsBeta)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			require.Contains(t, []int{400, 404, 413, 422}, w.Code)
			requireFault(t, w, wireOf(r).name)
		} else if w.Header().Get("Cache-Control") == "" {
			require.True(t, json.Valid(w.Body.Bytes()), "%d %s", w.Code, w.Body)
		}
	})
}
