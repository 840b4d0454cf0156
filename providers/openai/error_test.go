package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
	"github.com/cupel-eval/cupel/providers/openai"
)

func TestErrorsAsServersTellThem(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   fault.Error
	}{
		{"quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, fault.Error{Kind: fault.Quota, Code: "insufficient_quota", Message: "You exceeded your current quota"}},
		{"rate", 429, `{"error":{"message":"Rate limit reached on tokens per min","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, fault.Error{Kind: fault.RateLimit, Code: "rate_limit_exceeded", Message: "Rate limit reached on tokens per min"}},
		{"busy under 429", 429, `{"error":{"code":"1305","message":"The service may be temporarily overloaded"}}`, fault.Error{Kind: fault.Overloaded, Code: "1305", Message: "The service may be temporarily overloaded"}},
		{"no envelope", 429, `{"code":"request_quota_exceeded","message":"Requests per second limit exceeded","param":"quota","type":"too_many_requests_error"}`, fault.Error{Kind: fault.RateLimit, Code: "request_quota_exceeded", Message: "Requests per second limit exceeded"}},
		{"context by code", 400, `{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}`, fault.Error{Kind: fault.ContextLength, Code: "context_length_exceeded", Message: "too long"}},
		{"context by message", 400, `{"error":{"message":"This model's maximum context length is 8 tokens","type":"invalid_request_error","code":"invalid_request_error"}}`, fault.Error{Kind: fault.ContextLength, Code: "invalid_request_error", Message: "This model's maximum context length is 8 tokens"}},
		{"content filter", 400, `{"error":{"message":"filtered","type":null,"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, fault.Error{Kind: fault.Refused, Code: "content_filter", Message: "filtered"}},
		{"key", 401, `{"error":{"message":"Invalid API Key","type":"invalid_request_error","code":"invalid_api_key"}}`, fault.Error{Kind: fault.Auth, Code: "invalid_api_key", Message: "Invalid API Key"}},
		{"model under 400", 400, `{"code":"1500","message":"Invalid model: x","object":"error","type":"invalid_model"}`, fault.Error{Kind: fault.NotFound, Code: "1500", Message: "Invalid model: x"}},
		{"model", 404, `{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}`, fault.Error{Kind: fault.NotFound, Code: "model_not_found", Message: "no such model"}},
		{"status beats a vague type", 401, `{"error":{"message":"Unauthorized","type":"api_error","code":null}}`, fault.Error{Kind: fault.Auth, Code: "api_error", Message: "Unauthorized"}},
		{"detail", 401, `{"detail":"Invalid API Key"}`, fault.Error{Kind: fault.Auth, Message: "Invalid API Key"}},
		{"list of details", 422, `{"detail":[{"loc":["body"],"msg":"Field required","type":"missing"}]}`, fault.Error{Kind: fault.InvalidRequest, Code: "missing", Message: "Field required"}},
		{"error is text", 400, `{"error":"model is required"}`, fault.Error{Kind: fault.InvalidRequest, Message: "model is required"}},
		{"list around it", 400, `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`, fault.Error{Kind: fault.InvalidRequest, Code: "400", Message: "bad"}},
		{"text", 413, "Failed to buffer the request body:\nlength limit exceeded\n", fault.Error{Kind: fault.ContextLength, Message: "Failed to buffer the request body: length limit exceeded"}},
		{"terminal escapes", 500, "\x1b[31mred\x1b[0m \u202eevil", fault.Error{Kind: fault.Overloaded, Message: "[31mred [0m evil"}},

		{"in a 200", 200, `{"error":{"message":"Rate limited upstream","code":429},"id":"gen-1"}`, fault.Error{Kind: fault.RateLimit, Code: "429", Message: "Rate limited upstream"}},
		{"in a 200, with choices", 200, `{"choices":[],"error":{"message":"boom","type":"server_error"}}`, fault.Error{Kind: fault.Overloaded, Code: "server_error", Message: "boom"}},
		{"in the choice of a 200", 200, `{"choices":[{"error":{"code":502,"message":"upstream died"},"finish_reason":"error","message":{"content":""}}]}`, fault.Error{Kind: fault.Overloaded, Code: "502", Message: "upstream died"}},
		{"a filter, in the choice of a 200", 200, `{"choices":[{"error":{"code":502,"message":"The response was blocked by a content filter"},"finish_reason":"error","message":{"content":""}}]}`, fault.Error{Kind: fault.Refused, Code: "502", Message: "The response was blocked by a content filter"}},
		{"a filter by code, in the choice", 200, `{"choices":[{"error":{"code":"content_filter","message":"blocked"},"message":{"content":""}}]}`, fault.Error{Kind: fault.Refused, Code: "content_filter", Message: "blocked"}},
		{"a filter by the upstream's word", 200, `{"choices":[{"error":{"code":502,"message":"Provider returned error"},"finish_reason":"error","native_finish_reason":"PROHIBITED_CONTENT","message":{"content":""}}]}`, fault.Error{Kind: fault.Refused, Code: "502", Message: "Provider returned error"}},
		{"a filter by the upstream's text", 200, `{"choices":[{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"code\":\"content_filter\"}}"}},"finish_reason":"error","message":{"content":""}}]}`, fault.Error{Kind: fault.Refused, Code: "400", Message: "Provider returned error"}},
		{"a rate limit, in the choice", 200, `{"choices":[{"error":{"code":429,"message":"Provider returned error"},"finish_reason":"error","message":{"content":""}}]}`, fault.Error{Kind: fault.RateLimit, Code: "429", Message: "Provider returned error"}},
		{"a finish reason that is an error", 200, `{"choices":[{"finish_reason":"error","native_finish_reason":null,"message":{"content":"a"}}]}`, fault.Error{Kind: fault.Overloaded, Code: "error", Message: "the provider ended the reply with an error that it does not explain"}},
		{"a finish reason that is a filter's", 200, `{"choices":[{"finish_reason":"error","native_finish_reason":"SAFETY","message":{"content":"a"}}]}`, fault.Error{Kind: fault.Refused, Code: "SAFETY", Message: "the provider ended the reply with an error that it does not explain"}},
		{"a 200 without an envelope", 200, `{"object":"error","message":"bad","type":"invalid_request_error","code":40001}`, fault.Error{Kind: fault.InvalidRequest, Code: "40001", Message: "bad"}},
		{"a list in a 200", 200, `[{"error":{"message":"who are you","type":"authentication_error"}}]`, fault.Error{Kind: fault.Auth, Code: "authentication_error", Message: "who are you"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := failWith(t, c.status, nil, c.body)
			c.want.Provider, c.want.Model, c.want.Status = "acme", "m", c.status
			e.RequestID = ""
			require.Equal(t, &c.want, e)
		})
	}
}

// Each vendor has other words for the same failure.
func TestKindsInTheWordsOfVendors(t *testing.T) {
	body := func(code, message string) wire.Fault { return wire.Fault{Code: code, Message: message} }
	for _, c := range []struct {
		dialect string
		status  int
		fault   wire.Fault
		want    fault.Kind
	}{
		{"openai", 429, body("rate_limit_exceeded", "Request too large for gpt-x in organization o on tokens per min (TPM): Limit 400000, Requested 2500013."), fault.Quota},
		{"groq", 413, body("rate_limit_exceeded", "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size"), fault.Quota},
		{"groq", 429, body("rate_limit_exceeded", "Rate limit reached for model `m` on tokens per minute (TPM): Limit 6000, Used 5999, Requested 70. Please try again in 2s."), fault.RateLimit},
		{"groq", 400, body("model_decommissioned", "The model `m` has been decommissioned"), fault.NotFound},
		{"groq", 498, body("capacity_exceeded", "Flex tier capacity exceeded"), fault.Overloaded},
		{"openrouter", 429, body("429", "Rate limit exceeded: free-models-per-day"), fault.Quota},
		{"openrouter", 429, body("429", "Provider returned error"), fault.RateLimit},
		{"openrouter", 403, body("403", "openai/m requires moderation on Together. Your input was flagged"), fault.Refused},
		{"cerebras", 429, body("token_quota_exceeded", "Tokens per day limit exceeded - too many tokens processed."), fault.Quota},
		{"cerebras", 429, body("request_quota_exceeded", "Requests per second limit exceeded - too many requests sent."), ""},
		{"cerebras", 429, body("queue_exceeded", "We're experiencing high traffic right now!"), fault.Overloaded},
		{"cohere-compat", 429, body("", "You are using a Trial key, which is limited to 1000 API calls / month."), fault.Quota},
		{"huggingface", 402, body("", "You have exceeded your monthly included credits for Inference Providers."), fault.Quota},
		{"xai", 403, body("", "Your newly created team doesn't have any credits yet."), fault.Quota},
		{"xai", 400, body("", "This model's maximum prompt length is 131072 but the request contains 200000 tokens."), fault.ContextLength},
		{"deepseek", 402, body("invalid_request_error", "Insufficient Balance"), fault.Quota},
		{"deepseek", 400, body("invalid_request_error", "Content Exists Risk"), fault.Refused},
		{"deepseek", 400, body("invalid_request_error", "Model Not Exist"), fault.NotFound},
		{"zai", 429, body("1113", "Insufficient balance or no resource package"), fault.Quota},
		{"zai", 429, body("1305", "The service may be temporarily overloaded"), fault.Overloaded},
		{"zai", 429, body("1308", "Usage limit reached for 5 hour"), fault.Quota},
		{"zai", 400, body("1261", "Prompt exceeds max length"), fault.ContextLength},
		{"zai", 400, body("1301", "sensitive"), fault.Refused},
		{"mistral", 400, body("3051", "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"), fault.ContextLength},
		{"mistral", 429, body("3505", "Service tier capacity exceeded for this model."), fault.Overloaded},
		{"moonshot", 400, body("invalid_request_error", "Your request exceeded model token limit: 131072"), fault.ContextLength},
		{"moonshot", 429, body("exceeded_current_quota_error", "check your plan"), fault.Quota},
		{"llamacpp", 400, wire.Fault{Type: "exceed_context_size_error", Message: "the request exceeds the available context size"}, fault.ContextLength},
		{"vllm", 400, body("400", "The decoder prompt (length 9000) is longer than the maximum model length of 8192."), fault.ContextLength},
		{"tgi-compat", 422, body("", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."), fault.ContextLength},
		{"google-compat", 400, body("400", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), fault.ContextLength},
		{"fireworks", 400, body("", "The prompt is too long: 140000, model maximum context length: 131071"), fault.ContextLength},
		{"databricks", 400, body("BAD_REQUEST", "Input is too long for requested model."), fault.ContextLength},
		{"azure", 400, body("content_filter", "The response was filtered"), fault.Refused},
		{"openai", 400, body("invalid_prompt", "Your prompt was flagged as potentially violating our usage policy"), fault.Refused},
		{"openai", 500, body("", "boom"), ""},
		{"groq", 200, wire.Fault{Type: "invalid_request_error", Code: "tool_use_failed", Message: "Tool call validation failed"}, fault.InvalidRequest},
	} {
		t.Run(c.dialect+" "+c.fault.Message, func(t *testing.T) {
			d := openai.Dialect{Name: c.dialect}
			for _, known := range openai.Dialects() {
				if known.Name == c.dialect {
					d = known
				}
			}
			want := c.want
			if want == "" {
				want = wire.KindOfStatus(c.status)
			}
			require.Equal(t, want, failAs(t, d, c.status, nil, `{"error":{"type":`+testkit.Quote(c.fault.Type)+`,"code":`+testkit.Quote(c.fault.Code)+`,"message":`+testkit.Quote(c.fault.Message)+`}}`).Kind)
		})
	}
}

func TestARequestOverItsLimitIsNotTriedAgain(t *testing.T) {
	require.False(t, failWith(t, 429, nil, `{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 4, Requested 5.","type":"tokens","code":"rate_limit_exceeded"}}`).Retryable())
	require.True(t, failWith(t, 429, nil, `{"error":{"message":"Rate limit reached for m","type":"tokens","code":"rate_limit_exceeded"}}`).Retryable())
}

// TestBrokenStream checks that the text before the break is kept, and that the error
// says it is partial.
func TestBrokenStream(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kind fault.Kind
		text string
	}{
		"no end":         {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n", fault.Transport, "a"},
		"fault midway":   {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\nevent: error\ndata: {\"error\":{\"message\":\"rate\",\"code\":\"rate_limit_exceeded\"}}\n\n", fault.RateLimit, "a"},
		"fault at first": {"data: {\"error\":{\"message\":\"boom\",\"code\":503}}\n\n", fault.Overloaded, ""},
		"not JSON":       {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\ndata: oops\n\ndata: [DONE]\n\n", fault.Malformed, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) }))
			defer server.Close()
			m, err := openai.New(providers.Options{BaseURL: server.URL})
			require.NoError(t, err)
			var pieces []string
			reply, err := m.Call(context.Background(), providers.Call{Model: "m", Stream: true, OnDelta: func(d providers.Delta) { pieces = append(pieces, d.Text) }})
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.kind, e.Kind)
			require.Equal(t, c.text, reply.Text)
			require.Equal(t, c.text != "", e.Partial)
			require.Len(t, pieces, len(c.text))
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
		{"zero", map[string]string{"Retry-After": "0"}, 0},
		{"milliseconds alone", map[string]string{"Retry-After-Ms": "660"}, 660 * time.Millisecond},
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

// failWith makes one call to a server that answers in this way, and returns its error.
func failWith(t *testing.T, status int, header map[string]string, body string) *fault.Error {
	t.Helper()
	return failAs(t, openai.Dialect{Name: "openai"}, status, header, body)
}

func failAs(t *testing.T, d openai.Dialect, status int, header map[string]string, body string) *fault.Error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	m, err := openai.Factory(d)(providers.Options{Provider: "acme", BaseURL: server.URL})
	require.NoError(t, err)
	_, err = m.Call(context.Background(), providers.Call{Model: "m"})
	var e *fault.Error
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

type missError struct{ key string }

func (e *missError) Error() string { return "no recording; the request had " + e.key }

func TestTransportCauseIsFound(t *testing.T) {
	miss := &missError{key: "sk-canary-42"}
	// A custom transport can replay, so no key is required for the public address.
	for _, key := range []string{"", miss.key} {
		m, err := openai.New(providers.Options{Key: key, HTTP: &http.Client{Transport: testkit.Refuse(miss)}})
		require.NoError(t, err)
		_, err = m.Call(context.Background(), providers.Call{Model: "m"})
		var got *missError
		require.ErrorAs(t, err, &got)
		require.Same(t, miss, got)
		var e *fault.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, fault.Transport, e.Kind)
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
