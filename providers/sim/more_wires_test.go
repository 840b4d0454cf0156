package sim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dataOf returns the payloads of a stream of server-sent events.
func dataOf(t *testing.T, body string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(data), &m))
		out = append(out, m)
	}
	return out
}

func TestCompletions(t *testing.T) {
	h := Handler(Config{Seed: 1})
	type reply struct {
		Choices []struct {
			Text         string
			FinishReason *string `json:"finish_reason"`
		}
		Usage openAIUsage
	}
	for _, prompt := range []string{`"fill 30"`, `["fill 30"]`} {
		var whole reply
		w := post(t, h, "/v1/completions", `{`+probeModel+`"prompt":`+prompt+`}`)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &whole))
		require.True(t, strings.HasSuffix(whole.Choices[0].Text, " w30"))
		require.Equal(t, "stop", *whole.Choices[0].FinishReason)
		require.Positive(t, whole.Usage.PromptTokens)

		w = post(t, h, "/v1/completions", `{`+probeModel+`"stream":true,"stream_options":{"include_usage":true},"prompt":`+prompt+`}`)
		text := ""
		parts := dataOf(t, w.Body.String())
		for _, p := range parts[:len(parts)-1] {
			text += p["choices"].([]any)[0].(map[string]any)["text"].(string)
		}
		require.Equal(t, whole.Choices[0].Text, text)
		require.Empty(t, parts[len(parts)-1]["choices"])
		require.EqualValues(t, whole.Usage.TotalTokens, parts[len(parts)-1]["usage"].(map[string]any)["total_tokens"])
		require.True(t, strings.HasSuffix(w.Body.String(), "data: [DONE]\n\n"))
	}
	for body, want := range map[string]string{
		`{` + probeModel + `"prompt":""}`:                 "'prompt'",
		`{` + probeModel + `"prompt":["a","b"]}`:          "'prompt'",
		`{` + probeModel + `"prompt":[[1,2]]}`:            "'prompt'",
		`{` + probeModel + `"prompt":"a","tools":[]}`:     "tools",
		`{` + probeModel + `"prompt":"a","max_tokens":0}`: "max_tokens",
		`{"prompt":"a"}`:                                       "model",
		`{"model":"none","prompt":"a"}`:                        "model_not_found",
		`{` + probeModel + `"prompt":"a","stream_options":{}}`: "stream_options",
		`{` + probeModel + `"prompt":"a","temperature":9}`:     "temperature",
		`[`: "parse the JSON",
	} {
		w := post(t, h, "/v1/completions", body)
		require.GreaterOrEqual(t, w.Code, 400, body)
		require.Contains(t, w.Body.String(), want)
		requireError(t, "/v1/completions", w)
	}
}

// InvokeModel answers like Messages, and streams in binary frames.
func TestInvokeModel(t *testing.T) {
	h := Handler(Config{Seed: 1})
	rest := `"max_tokens":500,"system":"Be brief.",` + claudeGet + `"messages":[{"role":"user","content":"think Hm.\nsystem\ncall get {\"a\":1}"}]}`
	body := `{"anthropic_version":"bedrock-2023-05-31",` + rest
	w := post(t, h, "/model/sim-probe/invoke", body)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var r anthropicReply
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r))
	require.Equal(t, "Be brief.", *r.Content[1].Text)
	require.Equal(t, "get", r.Content[2].Name)
	require.NotEmpty(t, w.Header().Get("X-Amzn-Requestid"))

	w = post(t, h, "/model/sim-probe/invoke-with-response-stream", body)
	require.Equal(t, binaryStream, w.Header().Get("Content-Type"))
	c := captured{header: w.Header()}
	c.body.Write(w.Body.Bytes())
	var kinds []string
	for _, f := range c.frames() {
		at := strings.Index(string(f), `{"bytes"`)
		var chunk struct{ Bytes []byte }
		require.NoError(t, json.Unmarshal(f[at:len(f)-4], &chunk))
		require.Contains(t, string(f[:at]), "chunk")
		var event struct{ Type string }
		require.NoError(t, json.Unmarshal(chunk.Bytes, &event))
		kinds = append(kinds, event.Type)
	}
	require.Equal(t, "message_start", kinds[0])
	require.Equal(t, "message_stop", kinds[len(kinds)-1])

	for _, wrong := range []struct{ model, body, contains string }{
		{Probe, `{` + rest, "anthropic_version"},
		{Probe, strings.Replace(body, `{`, `{"model":"sim-probe",`, 1), "model: Extra inputs"},
		{Probe, strings.Replace(body, `"max_tokens":500,`, "", 1), "max_tokens"},
		{Probe, strings.Replace(body, `{`, `{"thread":{"type":"create"},`, 1), "thread: Extra inputs"},
		{Probe, `[]`, "parse the JSON"},
		{"none", body, "model identifier is invalid"},
	} {
		w := post(t, h, "/model/"+url.PathEscape(wrong.model)+"/invoke", wrong.body)
		require.Equal(t, http.StatusBadRequest, w.Code, w.Body)
		require.Contains(t, w.Header().Get("X-Amzn-Errortype"), "ValidationException")
		require.Contains(t, w.Body.String(), wrong.contains)
	}
}

// Bedrock names the exception of a status, from which the AWS SDK makes its error
// class.
func TestBedrockExceptionOfServerError(t *testing.T) {
	for name, want := range map[string]string{
		"server-error": "InternalServerException", "overloaded": "ServiceUnavailableException", "rate-limit": "ThrottlingException", "unauthorized": "AccessDeniedException",
	} {
		w := post(t, Handler(Config{}), bedrockPath, `{"messages":[`+bedrockHi+`]}`, ChaosHeader, name)
		require.Contains(t, w.Header().Get("X-Amzn-Errortype"), want, name)
	}
}

// Mistral's client does not accept a call in pieces, and reads the usage from the last
// chunk.
func TestMistralStream(t *testing.T) {
	h := Handler(Config{Seed: 1})
	ask := `{` + probeModel + chatTool + `"stream":true,"messages":[{"role":"user","content":"say Two.\ncall f {\"a\":1}\ncall f {\"b\":2}"}]}`
	parts := dataOf(t, post(t, h, "/mistral"+chatPath, ask).Body.String())
	require.Greater(t, len(parts), 2)
	for _, p := range parts[:len(parts)-1] {
		require.NotContains(t, p, "usage")
		require.NotContains(t, p["choices"].([]any)[0].(map[string]any)["delta"], "tool_calls")
	}
	last := parts[len(parts)-1]
	require.Positive(t, last["usage"].(map[string]any)["total_tokens"])
	choice := last["choices"].([]any)[0].(map[string]any)
	require.Equal(t, "tool_calls", choice["finish_reason"])
	var args []any
	for _, call := range choice["delta"].(map[string]any)["tool_calls"].([]any) {
		args = append(args, call.(map[string]any)["function"].(map[string]any)["arguments"])
	}
	require.Equal(t, []any{`{"a":1}`, `{"b":2}`}, args)
	require.Equal(t, post(t, h, chatPath, strings.Replace(ask, `"stream":true,`, "", 1)).Code, http.StatusOK)
}
