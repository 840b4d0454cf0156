package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/providers/sim/internal/model"
	"github.com/stretchr/testify/require"
)

// post sends a body to the handler and returns the reply.
func post(t testing.TB, h http.Handler, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// openAIBody is a request with one user message.
func openAIBody(t testing.TB, model, user string, extra string) string {
	t.Helper()
	text, err := json.Marshal(user)
	require.NoError(t, err)
	return `{"model":"` + model + `","messages":[{"role":"system","content":"You are a bounded agent controller."},{"role":"user","content":` + string(text) + `}]` + extra + `}`
}

func anthropicBody(t testing.TB, model, user string, maxTokens string) string {
	t.Helper()
	text, err := json.Marshal(user)
	require.NoError(t, err)
	return `{"model":"` + model + `","max_tokens":` + maxTokens + `,"system":"You are a bounded agent controller.","messages":[{"role":"user","content":[{"type":"text","text":` + string(text) + `}]}]}`
}

func TestOpenAIShape(t *testing.T) {
	user := countPrompt(oneCount)
	w := post(t, counting(t, Config{Seed: 1}), "/v1/chat/completions", openAIBody(t, "sim-strong", user, `,"temperature":0.1,"max_tokens":400`))
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.Regexp(t, `^req_sim[0-9a-f]{24}$`, w.Header().Get("X-Request-Id"))

	var r openAIReply
	dec := json.NewDecoder(w.Body)
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&r))
	require.Regexp(t, `^chatcmpl-sim[0-9a-f]{24}$`, r.ID)
	require.Equal(t, "chat.completion", r.Object)
	require.Equal(t, "sim-strong-2026-11", r.Model)
	require.Equal(t, "simulated", r.SystemFingerprint)
	require.Len(t, r.Choices, 1)
	require.Equal(t, "stop", r.Choices[0].FinishReason)
	require.Equal(t, "assistant", r.Choices[0].Message.Role)
	require.Contains(t, *r.Choices[0].Message.Content, `"get_counts"`)
	require.Equal(t, model.Tokens("You are a bounded agent controller."+user), r.Usage.PromptTokens)
	require.Equal(t, model.Tokens(*r.Choices[0].Message.Content), r.Usage.CompletionTokens)
	require.Equal(t, r.Usage.PromptTokens+r.Usage.CompletionTokens, r.Usage.TotalTokens)
	require.Zero(t, r.Usage.PromptTokensDetails.CachedTokens)
	require.GreaterOrEqual(t, r.Created, int64(1793491200))
}

func TestAnthropicShape(t *testing.T) {
	user := countPrompt(oneCount)
	w := post(t, counting(t, Config{Seed: 1}), "/v1/messages", anthropicBody(t, "sim-strong-2026-11", user, "400"))
	require.Equal(t, http.StatusOK, w.Code)
	require.Regexp(t, `^req_sim[0-9a-f]{24}$`, w.Header().Get("Request-Id"))

	var r anthropicReply
	dec := json.NewDecoder(w.Body)
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&r))
	require.Regexp(t, `^msg_sim[0-9a-f]{24}$`, r.ID)
	require.Equal(t, "message", r.Type)
	require.Equal(t, "assistant", r.Role)
	require.Equal(t, "sim-strong-2026-11", r.Model)
	require.Equal(t, "end_turn", r.StopReason)
	require.Nil(t, r.StopSequence)
	require.Len(t, r.Content, 1)
	require.Contains(t, *r.Content[0].Text, `"get_counts"`)
	require.Equal(t, model.Tokens("You are a bounded agent controller."+user), r.Usage.InputTokens)
	require.Equal(t, model.Tokens(*r.Content[0].Text), r.Usage.OutputTokens)
	require.Zero(t, r.Usage.CacheReadInputTokens)
}

func TestMaxTokensCutsTheReply(t *testing.T) {
	h := counting(t, Config{Seed: 1})
	user := countPrompt(oneCount)
	for _, param := range []string{"max_tokens", "max_completion_tokens"} {
		var r openAIReply
		w := post(t, h, "/v1/chat/completions", openAIBody(t, "sim-strong", user, `,"`+param+`":12`))
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r))
		require.Equal(t, "length", r.Choices[0].FinishReason)
		require.Equal(t, 12, r.Usage.CompletionTokens)
		require.Len(t, *r.Choices[0].Message.Content, 48)
	}
	var r anthropicReply
	require.NoError(t, json.Unmarshal(post(t, h, "/v1/messages", anthropicBody(t, "sim-weak", user, "1")).Body.Bytes(), &r))
	require.Equal(t, "max_tokens", r.StopReason)
	require.Equal(t, 1, r.Usage.OutputTokens)
}

func TestStopSequence(t *testing.T) {
	user := countPrompt(oneCount)
	h := counting(t, Config{Seed: 1})
	var r openAIReply
	require.NoError(t, json.Unmarshal(post(t, h, "/v1/chat/completions", openAIBody(t, "sim-strong", user, `,"stop":["nowhere",",\"state_update\""]`)).Body.Bytes(), &r))
	require.Equal(t, "stop", r.Choices[0].FinishReason)
	require.True(t, strings.HasSuffix(*r.Choices[0].Message.Content, "}}"), *r.Choices[0].Message.Content)

	body := strings.Replace(anthropicBody(t, "sim-strong", user, "400"), `"system"`, `"stop_sequences":["next_action"],"system"`, 1)
	var a anthropicReply
	require.NoError(t, json.Unmarshal(post(t, h, "/v1/messages", body).Body.Bytes(), &a))
	require.Equal(t, "stop_sequence", a.StopReason)
	require.Equal(t, "next_action", *a.StopSequence)
}

func TestOtherPromptsGetAnHonestAnswer(t *testing.T) {
	var r openAIReply
	w := post(t, Handler(Config{}), "/v1/chat/completions", openAIBody(t, "sim-weak", "What is 2+2?", ""))
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r))
	require.Equal(t, unknown, *r.Choices[0].Message.Content)
}

func TestErrors(t *testing.T) {
	h := Handler(Config{})
	const chat, messages = "/v1/chat/completions", "/v1/messages"
	ok := `"messages":[{"role":"user","content":"x"}]`
	cases := []struct {
		name, path, body string
		status           int
		contains         string
	}{
		{"not JSON", chat, `{`, 400, "parse the JSON"},
		{"empty body", chat, ``, 400, "parse the JSON"},
		{"wrong type", chat, `{"model":"sim-weak","messages":"x"}`, 400, "messages"},
		{"no model", chat, `{` + ok + `}`, 400, "model"},
		{"no messages", chat, `{"model":"sim-weak","messages":[]}`, 400, "non-empty"},
		{"no content", chat, `{"model":"sim-weak","messages":[{"role":"user"}]}`, 400, "messages[0].content"},
		{"picture", chat, `{"model":"sim-weak","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "messages[0].content[0]"},
		{"bad role", chat, `{"model":"sim-weak","messages":[{"role":"robot","content":"x"}]}`, 400, "messages[0].role"},
		{"hot", chat, `{"model":"sim-weak","temperature":2.5,` + ok + `}`, 400, "temperature"},
		{"no tokens", chat, `{"model":"sim-weak","max_tokens":0,` + ok + `}`, 400, "max_tokens"},
		{"stream options", chat, `{"model":"sim-weak","stream_options":{},` + ok + `}`, 400, "stream_options"},
		{"tools", chat, `{"model":"sim-weak","tools":[{}],` + ok + `}`, 400, "tools"},
		{"two choices", chat, `{"model":"sim-weak","n":2,` + ok + `}`, 400, "one choice"},
		{"five stops", chat, `{"model":"sim-weak","stop":["a","b","c","d","e"],` + ok + `}`, 400, "stop"},
		{"unknown model", chat, `{"model":"gpt-none",` + ok + `}`, 404, "model_not_found"},
		{"unknown model, messages", messages, `{"model":"claude-none","max_tokens":1,` + ok + `}`, 404, "not_found_error"},
		{"no max_tokens", messages, `{"model":"sim-weak",` + ok + `}`, 400, "max_tokens: Field required"},
		{"bad role", messages, `{"model":"sim-weak","max_tokens":1,"messages":[{"role":"robot","content":"x"}]}`, 400, "messages.0.role"},
		{"not of this wire", messages, `{"model":"sim-weak","max_tokens":1,"seed":1,` + ok + `}`, 400, "seed: Extra inputs"},
		{"too large", chat, strings.Repeat(" ", maxBody+1), 413, "request_too_large"},
		{"too large, messages", messages, strings.Repeat(" ", maxBody+1), 413, "request_too_large"},
		{"no such path", "/v1/audio/speech", `{}`, 404, "Invalid URL"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := post(t, h, c.path, c.body)
			require.Equal(t, c.status, w.Code, w.Body)
			require.Contains(t, w.Body.String(), c.contains)
			requireError(t, c.path, w)
		})
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, chat, nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	requireError(t, chat, w)

	w = post(t, h, messages, `{}`, "Anthropic-Version", "")
	require.Equal(t, 400, w.Code)
	require.Contains(t, w.Body.String(), "anthropic-version")
}

// requireError checks the format of an error.
func requireError(t testing.TB, path string, w *httptest.ResponseRecorder) {
	t.Helper()
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	var e struct {
		Type      string
		RequestID string `json:"request_id"`
		Error     struct{ Type, Message string }
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e), w.Body)
	require.NotEmpty(t, e.Error.Type)
	require.NotEmpty(t, e.Error.Message)
	if strings.HasPrefix(path, "/v1/messages") {
		require.Equal(t, "error", e.Type)
		require.Equal(t, w.Header().Get("Request-Id"), e.RequestID)
		require.NotEmpty(t, e.RequestID)
	} else {
		require.NotEmpty(t, w.Header().Get("X-Request-Id"))
	}
}

func TestModelsAndHealth(t *testing.T) {
	h := Handler(Config{})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models", nil))
	require.Equal(t, http.StatusOK, w.Code)
	var list struct{ Data []struct{ ID string } }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &list))
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	require.Equal(t, append(Models(), Probe), ids)
	require.Equal(t, []string{"sim-strong", "sim-erratic", "sim-weak", "sim-oracle", "sim-nop", "sim-probe"}, ids)

	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "simulated")
}
