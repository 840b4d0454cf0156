package cohere_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/cohere"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Subject{
		New:    cohere.New,
		Encode: encode,
		Fault:  func(message string) string { return fmt.Sprintf(`{"id": "x", "message": %s}`, testkit.Quote(message)) },
		Skip: map[string]string{
			"usage": "neither cache writes nor thinking are counted",
			"text":  "replies do not name the model: see TestReplyOverHTTP",
		},
	})
}

func encode(a providertest.Answer) string {
	reason := map[providers.Finish]string{
		providers.FinishStop: "COMPLETE", providers.FinishLength: "MAX_TOKENS", providers.FinishTools: "TOOL_CALL",
		providers.FinishRefusal: "ERROR_TOXIC", providers.FinishOther: "USER_CANCEL",
	}[a.Finish]
	var calls []string
	for i, args := range a.Args {
		calls = append(calls, fmt.Sprintf(`{"id": "c%d", "type": "function", "function": {"name": %q, "arguments": %s}}`, i, a.Tool, testkit.Quote(args)))
	}
	return fmt.Sprintf(`{"id": "x", "message": {"role": "assistant", "content": [{"type": "text", "text": %s}], "tool_calls": [%s]}, "finish_reason": %q}`,
		testkit.Quote(a.Text), strings.Join(calls, ", "), reason)
}

func serve(t *testing.T, status int, header, body string) (providers.Model, *http.Request) {
	t.Helper()
	got := &http.Request{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*got = *r
		w.Header().Set(header, "from-the-header")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	m, err := cohere.New(providers.Options{BaseURL: server.URL + "/v2", Key: "k-1"})
	require.NoError(t, err)
	return m, got
}

func TestReplyOverHTTP(t *testing.T) {
	m, sent := serve(t, 200, "X-Debug-Trace-Id", `{"id":"b","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":12,"output_tokens":10},"tokens":{"input_tokens":614,"output_tokens":13},"cached_tokens":480}}`)
	got, err := m.Call(context.Background(), providers.Call{Model: "m"})
	require.NoError(t, err)
	require.Equal(t, "/v2/chat", sent.URL.Path)
	require.Equal(t, "Bearer k-1", sent.Header.Get("Authorization"))
	require.Equal(t, "hi", got.Text)
	require.Equal(t, "from-the-header", got.RequestID)
	require.Equal(t, "COMPLETE", got.FinishRaw)
	require.Equal(t, providers.Usage{Reported: true, Input: 12, Output: 10, Processed: &providers.Processed{Input: 614, Output: 13}}, got.Usage)
}

func TestErrors(t *testing.T) {
	const start = "event: message-start\ndata: {\"type\":\"message-start\",\"id\":\"x\"}\n\n" +
		"data: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\"a\"}}}}\n\n"
	said := func(s string) string { return `{"id":"x","message":"` + s + `"}` }
	for _, c := range []struct {
		name    string
		status  int
		body    string
		kind    fault.Kind
		message string
		partial bool
	}{
		{"prompt too long", 400, said("too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292."), fault.ContextLength, "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.", false},
		{"max_tokens too large", 400, said("too many tokens: max tokens must be less than or equal to 4096"), fault.InvalidRequest, "too many tokens: max tokens must be less than or equal to 4096", false},
		{"blocked", 400, said("blocked output: please try again with a different prompt"), fault.Refused, "blocked output: please try again with a different prompt", false},
		{"key", 401, said("invalid api token"), fault.Auth, "invalid api token", false},
		{"billing", 402, said("Please add or update your payment method"), fault.Quota, "Please add or update your payment method", false},
		{"model removed", 404, said("model 'x' was removed"), fault.NotFound, "model 'x' was removed", false},
		{"a minute's limit", 429, said("You are using a Trial key, which is limited to 40 API calls / minute."), fault.RateLimit, "You are using a Trial key, which is limited to 40 API calls / minute.", false},
		{"a month's limit", 429, said("You are using a Trial key, which is limited to 1000 API calls / month."), fault.Quota, "You are using a Trial key, which is limited to 1000 API calls / month.", false},
		{"invalid token", 498, said("invalid token"), fault.Auth, "invalid token", false},
		{"cancelled", 499, said("request cancelled"), fault.TimedOut, "request cancelled", false},
		{"not there", 501, said("not implemented"), fault.InvalidRequest, "not implemented", false},
		{"told in a 200", 200, said("internal server error"), fault.Overloaded, "internal server error", false},
		{"rate told in a 200", 200, said("rate limit exceeded"), fault.RateLimit, "rate limit exceeded", false},
		{"generation failed", 200, `{"id":"x","message":{"content":[]},"finish_reason":"ERROR"}`, fault.Overloaded, "the generation ended with ERROR", false},
		{"generation timed out", 200, `{"id":"x","message":{"content":[]},"finish_reason":"TIMEOUT"}`, fault.TimedOut, "the generation ended with TIMEOUT", false},
		{"message-end with an error", 200, start + `data: {"type":"message-end","delta":{"finish_reason":"ERROR","error":"it broke"}}` + "\n\n", fault.Overloaded, "it broke", true},
		{"error without a reason", 200, start + `data: {"type":"message-end","delta":{"error":"it timed out"}}` + "\n\n", fault.TimedOut, "it timed out", true},
		{"a bare message in a stream", 200, start + "data: " + said("invalid request: no") + "\n\n", fault.InvalidRequest, "invalid request: no", true},
		{"an error event", 200, start + `data: {"type":"error","message":"unauthorized"}` + "\n\n", fault.Auth, "unauthorized", true},
		{"cut off", 200, start, fault.Transport, "the stream ended before its last event", true},
		{"DONE is not the end", 200, start + "data: [DONE]\n\n", fault.Transport, "the stream ended before its last event", true},
		{"cut in an event", 200, start + `data: {"type":"content-`, fault.Transport, "the stream ended in the middle of an event", true},
		{"version 1, failed", 200, `{"is_finished":false,"event_type":"text-generation","text":"a"}` + "\n" + `{"is_finished":true,"event_type":"stream-end","finish_reason":"ERROR"}` + "\n", fault.Overloaded, "the generation ended with ERROR", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := serve(t, c.status, "X-Other", c.body)
			_, err := m.Call(context.Background(), providers.Call{Model: "m", Stream: true})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.kind, e.Kind)
			require.Equal(t, c.message, e.Message)
			require.Equal(t, c.partial, e.Partial)
			require.Equal(t, c.status, e.Status)
		})
	}
}
