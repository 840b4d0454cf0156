package anthropic_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/anthropic"
	"github.com/cupel-eval/cupel/providers/fault"
)

func TestErrorsByType(t *testing.T) {
	for _, c := range []struct {
		status           int
		errType, message string
		kind             fault.Kind
	}{
		{400, "invalid_request_error", "messages.0: all messages must have non-empty content", fault.InvalidRequest},
		{400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", fault.ContextLength},
		{400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2", fault.ContextLength},
		{400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", fault.Quota},
		{400, "invalid_request_error", "Output blocked by content filtering policy", fault.Refused},
		{401, "invalid_request_error", "invalid x-api-key", fault.Auth},
		{401, "authentication_error", "invalid x-api-key", fault.Auth},
		{402, "billing_error", "pay first", fault.Quota},
		{403, "permission_error", "not yours", fault.Auth},
		{404, "not_found_error", "model: claude-none", fault.NotFound},
		{413, "request_too_large", "Request exceeds the maximum size", fault.ContextLength},
		{429, "rate_limit_error", "Number of requests has exceeded your rate limit", fault.RateLimit},
		{500, "api_error", "Internal server error", fault.Overloaded},
		{504, "timeout_error", "took too long", fault.TimedOut},
		{529, "overloaded_error", "Overloaded", fault.Overloaded},
		{400, "a_new_error", "what is this", fault.InvalidRequest},
		{400, "invalid_request_error", "You have reached your specified API usage limits. You will regain access on 2026-01-01", fault.Quota},
		{400, "invalid_request_error", "Input is too long for requested model.", fault.ContextLength},
		{429, "rate_limit_error", "Extra usage is required for long context requests.", fault.Quota},
		{200, "overloaded_error", "Overloaded", fault.Overloaded},
		{200, "rate_limit_error", "slow down", fault.RateLimit},
		{200, "a_new_error", "what is this", fault.Overloaded},
	} {
		t.Run(c.errType, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, `{"type":"error","error":{"type":"`+c.errType+`","message":"`+c.message+`"},"request_id":"req_1"}`)
			}))
			defer server.Close()
			m, err := anthropic.New(providers.Options{BaseURL: server.URL + "/v1"})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: "m"})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			want := &fault.Error{
				Kind: c.kind, Provider: "anthropic", Model: "m", Status: c.status, Code: c.errType, Message: c.message,
				RequestID: "req_1", RetryAfter: 3e9,
			}
			require.Equal(t, want, e)
		})
	}
}

func TestAddressAndHeaders(t *testing.T) {
	for _, key := range []string{"", "k-1"} {
		var got *http.Request
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			w.Header().Set("Request-Id", "req_h")
			_, _ = io.WriteString(w, `{"id":"msg_1","content":[]}`)
		}))
		m, err := anthropic.New(providers.Options{BaseURL: server.URL + "/v1", Key: key})
		require.NoError(t, err)
		reply, err := m.Call(context.Background(), providers.Call{Model: "m"})
		server.Close()
		require.NoError(t, err)
		require.Equal(t, "req_h", reply.RequestID)
		require.Equal(t, "/v1/messages", got.URL.Path)
		require.Equal(t, "2023-06-01", got.Header.Get("anthropic-version"))
		require.Equal(t, key, got.Header.Get("x-api-key"))
		require.Empty(t, got.Header.Get("Authorization"))
	}
}

// TestAdviceOnComingBack: among the headers, only Retry-After advises when to retry; a
// reset header states when the whole limit is available again. X-Should-Retry overrides
// the status.
func TestAdviceOnComingBack(t *testing.T) {
	for _, c := range []struct {
		name      string
		header    http.Header
		wait      time.Duration
		permanent bool
	}{
		{"retry after", http.Header{"Retry-After": {"12"}, "X-Should-Retry": {"true"}}, 12 * time.Second, false},
		{"nothing but resets", http.Header{"Anthropic-Ratelimit-Requests-Reset": {"2026-06-08T18:46:39Z"}, "Date": {"Mon, 08 Jun 2026 18:45:39 GMT"}}, 0, false},
		{"larger than the limit", http.Header{"X-Should-Retry": {"false"}}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				maps.Copy(w.Header(), c.header)
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit"}}`)
			}))
			defer server.Close()
			m, err := anthropic.New(providers.Options{BaseURL: server.URL})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), providers.Call{Model: "m"})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, fault.RateLimit, e.Kind)
			require.Equal(t, c.wait, e.RetryAfter)
			require.Equal(t, c.permanent, e.Permanent)
			require.Equal(t, !c.permanent, e.Retryable())
		})
	}
}

// TestAnErrorAfterText checks that the text before an error in a stream is kept.
func TestAnErrorAfterText(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m-1\",\"content\":[],\"usage\":{\"input_tokens\":15,\"output_tokens\":1}}}\n\n"+
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"1, 2\"}}\n\n"+
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"details\":null,\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n")
	}))
	defer server.Close()
	m, err := anthropic.New(providers.Options{BaseURL: server.URL})
	require.NoError(t, err)
	reply, err := m.Call(context.Background(), providers.Call{Model: "m", Stream: true})
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, &fault.Error{Kind: fault.Overloaded, Provider: "anthropic", Model: "m", Status: 200, Code: "overloaded_error", Message: "Overloaded", RequestID: "msg_1", Partial: true}, e)
	require.Equal(t, "1, 2", reply.Text)
	require.Equal(t, providers.Usage{Reported: true, Input: 15, Output: 1}, reply.Usage)
	require.Len(t, reply.Frames, 1)
}

func TestVertex(t *testing.T) {
	var path, auth, version, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		path, auth, version, body = r.URL.EscapedPath(), r.Header.Get("Authorization"), r.Header.Get("Anthropic-Version"), string(text)
		_, _ = io.WriteString(w, `{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}`)
	}))
	defer server.Close()
	_, err := anthropic.NewVertex(providers.Options{Key: "token"})
	require.ErrorContains(t, err, "vertex-anthropic: model : invalid_request: no address: set base_url")
	m, err := anthropic.NewVertex(providers.Options{BaseURL: server.URL + "/v1/projects/p/locations/us-east5/publishers/anthropic/", Key: "token"})
	require.NoError(t, err)
	call := providers.Call{Model: "claude-x@20250219", Messages: []providers.Message{{Role: "user", Text: "hi"}}}
	for method, ending := range map[string]string{":rawPredict": `}`, ":streamRawPredict": `,"stream":true}`} {
		call.Stream = method == ":streamRawPredict"
		reply, err := m.Call(context.Background(), call)
		require.NoError(t, err)
		require.Equal(t, "a", reply.Text)
		require.Equal(t, "/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-x@20250219"+method, path)
		require.Equal(t, `{"anthropic_version":"vertex-2023-10-16","max_tokens":1024,"messages":[{"role":"user","content":"hi"}]`+ending, body)
		require.Equal(t, "Bearer token", auth)
		require.Empty(t, version)
	}
}
