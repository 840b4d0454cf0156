package anthropic_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/anthropic"
)

func TestErrorsByType(t *testing.T) {
	for _, c := range []struct {
		status           int
		errType, message string
		kind             providers.Kind
	}{
		{400, "invalid_request_error", "messages.0: all messages must have non-empty content", providers.InvalidRequest},
		{400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", providers.ContextLength},
		{400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2", providers.ContextLength},
		{400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", providers.Quota},
		{400, "invalid_request_error", "Output blocked by content filtering policy", providers.Refused},
		{401, "authentication_error", "invalid x-api-key", providers.Auth},
		{402, "billing_error", "pay first", providers.Quota},
		{403, "permission_error", "not yours", providers.Auth},
		{404, "not_found_error", "model: claude-none", providers.NotFound},
		{413, "request_too_large", "Request exceeds the maximum size", providers.ContextLength},
		{429, "rate_limit_error", "Number of requests has exceeded your rate limit", providers.RateLimit},
		{500, "api_error", "Internal server error", providers.Overloaded},
		{504, "timeout_error", "took too long", providers.TimedOut},
		{529, "overloaded_error", "Overloaded", providers.Overloaded},
		{400, "a_new_error", "what is this", providers.InvalidRequest},
		{200, "overloaded_error", "Overloaded", providers.Overloaded},
		{200, "rate_limit_error", "slow down", providers.RateLimit},
		{200, "a_new_error", "what is this", providers.Overloaded},
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
			var e *providers.Error
			require.ErrorAs(t, err, &e)
			want := &providers.Error{
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
