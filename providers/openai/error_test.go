package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/openai"
)

func TestErrorsAsServersTellThem(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   providers.Error
	}{
		{"quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, providers.Error{Kind: providers.Quota, Code: "insufficient_quota", Message: "You exceeded your current quota"}},
		{"rate", 429, `{"error":{"message":"Rate limit reached on tokens per min","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, providers.Error{Kind: providers.RateLimit, Code: "rate_limit_exceeded", Message: "Rate limit reached on tokens per min"}},
		{"busy under 429", 429, `{"error":{"code":"1305","message":"The service may be temporarily overloaded"}}`, providers.Error{Kind: providers.Overloaded, Code: "1305", Message: "The service may be temporarily overloaded"}},
		{"no envelope", 429, `{"code":"request_quota_exceeded","message":"Requests per second limit exceeded","param":"quota","type":"too_many_requests_error"}`, providers.Error{Kind: providers.RateLimit, Code: "request_quota_exceeded", Message: "Requests per second limit exceeded"}},
		{"context by code", 400, `{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}`, providers.Error{Kind: providers.ContextLength, Code: "context_length_exceeded", Message: "too long"}},
		{"context by message", 400, `{"error":{"message":"This model's maximum context length is 8 tokens","type":"invalid_request_error","code":"invalid_request_error"}}`, providers.Error{Kind: providers.ContextLength, Code: "invalid_request_error", Message: "This model's maximum context length is 8 tokens"}},
		{"content filter", 400, `{"error":{"message":"filtered","type":null,"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, providers.Error{Kind: providers.Refused, Code: "content_filter", Message: "filtered"}},
		{"key", 401, `{"error":{"message":"Invalid API Key","type":"invalid_request_error","code":"invalid_api_key"}}`, providers.Error{Kind: providers.Auth, Code: "invalid_api_key", Message: "Invalid API Key"}},
		{"model under 400", 400, `{"code":"1500","message":"Invalid model: x","object":"error","type":"invalid_model"}`, providers.Error{Kind: providers.NotFound, Code: "1500", Message: "Invalid model: x"}},
		{"model", 404, `{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}`, providers.Error{Kind: providers.NotFound, Code: "model_not_found", Message: "no such model"}},
		{"status beats a vague type", 401, `{"error":{"message":"Unauthorized","type":"api_error","code":null}}`, providers.Error{Kind: providers.Auth, Code: "api_error", Message: "Unauthorized"}},
		{"detail", 401, `{"detail":"Invalid API Key"}`, providers.Error{Kind: providers.Auth, Message: "Invalid API Key"}},
		{"list of details", 422, `{"detail":[{"loc":["body"],"msg":"Field required","type":"missing"}]}`, providers.Error{Kind: providers.InvalidRequest, Code: "missing", Message: "Field required"}},
		{"error is text", 400, `{"error":"model is required"}`, providers.Error{Kind: providers.InvalidRequest, Message: "model is required"}},
		{"list around it", 400, `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`, providers.Error{Kind: providers.InvalidRequest, Code: "400", Message: "bad"}},
		{"text", 413, "Failed to buffer the request body:\nlength limit exceeded\n", providers.Error{Kind: providers.ContextLength, Message: "Failed to buffer the request body: length limit exceeded"}},
		{"terminal escapes", 500, "\x1b[31mred\x1b[0m \u202eevil", providers.Error{Kind: providers.Overloaded, Message: "[31mred [0m evil"}},

		{"in a 200", 200, `{"error":{"message":"Rate limited upstream","code":429},"id":"gen-1"}`, providers.Error{Kind: providers.RateLimit, Code: "429", Message: "Rate limited upstream"}},
		{"in a 200, with choices", 200, `{"choices":[],"error":{"message":"boom","type":"server_error"}}`, providers.Error{Kind: providers.Overloaded, Code: "server_error", Message: "boom"}},
		{"in the choice of a 200", 200, `{"choices":[{"error":{"code":502,"message":"upstream died"},"finish_reason":"error","message":{"content":""}}]}`, providers.Error{Kind: providers.Overloaded, Code: "502", Message: "upstream died"}},
		{"a 200 without an envelope", 200, `{"object":"error","message":"bad","type":"invalid_request_error","code":40001}`, providers.Error{Kind: providers.InvalidRequest, Code: "40001", Message: "bad"}},
		{"a list in a 200", 200, `[{"error":{"message":"who are you","type":"authentication_error"}}]`, providers.Error{Kind: providers.Auth, Code: "authentication_error", Message: "who are you"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := failWith(t, c.status, nil, c.body)
			c.want.Provider, c.want.Model, c.want.Status = "acme", "m", c.status
			e.RequestID = ""
			require.Equal(t, &c.want, e)
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name   string
		header map[string]string
		want   time.Duration
	}{
		{"none", nil, 0},
		{"seconds", map[string]string{"Retry-After": "20"}, 20 * time.Second},
		{"fraction", map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{"milliseconds come first", map[string]string{"Retry-After-Ms": "660", "Retry-After": "1"}, 660 * time.Millisecond},
		{"zero milliseconds say nothing", map[string]string{"Retry-After-Ms": "0", "Retry-After": "1"}, time.Second},
		{"date, from the reply's own", map[string]string{"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:27:30 GMT"}, 30 * time.Second},
		{"date that has passed", map[string]string{"Retry-After": "Wed, 21 Oct 2026 07:27:00 GMT", "Date": "Wed, 21 Oct 2026 07:27:30 GMT"}, 0},
		{"date without a reference", map[string]string{"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "today"}, 0},
		{"negative", map[string]string{"Retry-After": "-5"}, 0},
		{"words", map[string]string{"Retry-After": "soon"}, 0},
		{"not a number", map[string]string{"Retry-After": "NaN"}, 0},
		{"for ever", map[string]string{"Retry-After": "1e300"}, 7 * 24 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, failWith(t, 429, c.header, `{}`).RetryAfter)
		})
	}
}

// failWith makes one call to a server that answers so, and returns its error.
func failWith(t *testing.T, status int, header map[string]string, body string) *providers.Error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	m, err := openai.New(providers.Options{Provider: "acme", BaseURL: server.URL})
	require.NoError(t, err)
	_, err = m.Call(context.Background(), providers.Call{Model: "m"})
	var e *providers.Error
	require.ErrorAs(t, err, &e)
	return e
}

func TestPartialReplyOfAFault(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":"gen-1","model":"served","error":{"message":"cut off"},"usage":{"prompt_tokens":9,"completion_tokens":1}}`)
	}))
	defer server.Close()
	m, err := openai.New(providers.Options{BaseURL: server.URL})
	require.NoError(t, err)
	reply, err := m.Call(context.Background(), providers.Call{Model: "m"})
	require.ErrorContains(t, err, "openai: model m: overloaded (HTTP 200): cut off")
	require.Equal(t, providers.Usage{Reported: true, Input: 9, Output: 1}, reply.Usage, "what was paid for is kept")
	require.Equal(t, "gen-1", reply.RequestID)
	require.Equal(t, "served", reply.Model)
}

type refusing struct{ err error }

func (r refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

type missError struct{ key string }

func (e *missError) Error() string { return "no recording; the request had " + e.key }

func TestTransportCauseIsFound(t *testing.T) {
	miss := &missError{key: "sk-canary-42"}
	// A transport of its own may replay: no key is demanded at the public address.
	for _, key := range []string{"", miss.key} {
		m, err := openai.New(providers.Options{Key: key, HTTP: &http.Client{Transport: refusing{miss}}})
		require.NoError(t, err)
		_, err = m.Call(context.Background(), providers.Call{Model: "m"})
		var got *missError
		require.ErrorAs(t, err, &got)
		require.Same(t, miss, got)
		var e *providers.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, providers.Transport, e.Kind)
		if key != "" {
			require.NotContains(t, err.Error(), key)
			require.Contains(t, err.Error(), "no recording; the request had [key]")
		}
	}
	_, err := openai.New(providers.Options{HTTP: &http.Client{Timeout: time.Second}})
	require.ErrorContains(t, err, "OPENAI_API_KEY", "a client that only sets a timeout brings no credential")
}

func TestAddressAndHeaders(t *testing.T) {
	for _, suffix := range []string{"/v1", "/v1/", "/v1/chat/completions"} {
		var got *http.Request
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"ok"}}]}`)
		}))
		m, err := openai.New(providers.Options{BaseURL: server.URL + suffix, Key: "k-1"})
		require.NoError(t, err)
		_, err = m.Call(context.Background(), providers.Call{Model: "m"})
		server.Close()
		require.NoError(t, err)
		require.Equal(t, "/v1/chat/completions", got.URL.Path)
		require.Equal(t, http.MethodPost, got.Method)
		require.Equal(t, "Bearer k-1", got.Header.Get("Authorization"))
		require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	}
}
