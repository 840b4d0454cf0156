package responses_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/responses"
)

func TestErrorsAsServersTellThem(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   fault.Error
	}{
		{"quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, fault.Error{Kind: fault.Quota, Code: "insufficient_quota", Message: "You exceeded your current quota"}},
		{"rate", 429, `{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM)","type":"tokens","code":"rate_limit_exceeded"}}`, fault.Error{Kind: fault.RateLimit, Code: "rate_limit_exceeded", Message: "Rate limit reached for gpt-4o on tokens per min (TPM)"}},
		{"larger than its limit", 429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000","type":"tokens","code":"rate_limit_exceeded"}}`, fault.Error{Kind: fault.Quota, Code: "rate_limit_exceeded", Message: "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000"}},
		{"a day's limit", 429, `{"error":{"message":"Rate limit reached on requests per day (RPD)","type":"requests","code":"rate_limit_exceeded"}}`, fault.Error{Kind: fault.Quota, Code: "rate_limit_exceeded", Message: "Rate limit reached on requests per day (RPD)"}},
		{"context", 400, `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`, fault.Error{Kind: fault.ContextLength, Code: "context_length_exceeded", Message: "Your input exceeds the context window of this model."}},
		{"context of llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, fault.Error{Kind: fault.ContextLength, Code: "400", Message: "the request exceeds the available context size"}},
		{"model", 400, `{"error":{"message":"The requested model 'x' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}`, fault.Error{Kind: fault.NotFound, Code: "model_not_found", Message: "The requested model 'x' does not exist."}},
		{"model, the error is text", 400, `{"code":"invalid-argument","error":"Model not found: grok-x"}`, fault.Error{Kind: fault.NotFound, Code: "invalid-argument", Message: "Model not found: grok-x"}},
		{"a former response", 400, `{"error":{"code":"previous_response_not_found","message":"Previous response not found.","param":"previous_response_id","type":"invalid_request_error"}}`, fault.Error{Kind: fault.InvalidRequest, Code: "previous_response_not_found", Message: "Previous response not found."}},
		{"value", 400, `{"error":{"code":"decimal_below_min_value","message":"Invalid 'temperature'","type":"invalid_request_error"}}`, fault.Error{Kind: fault.InvalidRequest, Code: "decimal_below_min_value", Message: "Invalid 'temperature'"}},
		{"policy", 400, `{"error":{"code":"invalid_prompt","message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","type":"invalid_request_error"}}`, fault.Error{Kind: fault.Refused, Code: "invalid_prompt", Message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy."}},
		{"no policy", 400, `{"error":{"code":"invalid_prompt","message":"Missing required parameter: 'model'."},"metadata":null}`, fault.Error{Kind: fault.InvalidRequest, Code: "invalid_prompt", Message: "Missing required parameter: 'model'."}},
		{"filter", 400, `{"error":{"message":"filtered","type":null,"code":"content_filter"}}`, fault.Error{Kind: fault.Refused, Code: "content_filter", Message: "filtered"}},
		{"key", 401, `{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}`, fault.Error{Kind: fault.Auth, Code: "invalid_api_key", Message: "Incorrect API key"}},
		{"server", 500, `{"error":{"message":"An error occurred","type":"server_error","param":null,"code":"server_error"}}`, fault.Error{Kind: fault.Overloaded, Code: "server_error", Message: "An error occurred"}},
		{"busy under 429", 429, `{"error":{"code":"1305","message":"The service may be temporarily overloaded"}}`, fault.Error{Kind: fault.Overloaded, Code: "1305", Message: "The service may be temporarily overloaded"}},
		{"text", 503, "no healthy upstream\n", fault.Error{Kind: fault.Overloaded, Message: "no healthy upstream"}},

		{"failed in a 200", 200, `{"id":"r","status":"failed","error":{"code":"server_error","message":"boom"}}`, fault.Error{Kind: fault.Overloaded, Code: "server_error", Message: "boom"}},
		{"a filter in a 200", 200, `{"id":"r","status":"failed","error":{"code":"server_error","message":"The response was blocked by a content filter"}}`, fault.Error{Kind: fault.Refused, Code: "server_error", Message: "The response was blocked by a content filter"}},
		{"too fast in a 200", 200, `{"id":"r","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}`, fault.Error{Kind: fault.RateLimit, Code: "rate_limit_exceeded", Message: "slow"}},
		{"a bad image in a 200", 200, `{"id":"r","status":"failed","error":{"code":"image_too_small","message":"small"}}`, fault.Error{Kind: fault.InvalidRequest, Code: "image_too_small", Message: "small"}},
		{"a status in a 200", 200, `{"error":{"code":402,"message":"no credits"}}`, fault.Error{Kind: fault.Quota, Code: "402", Message: "no credits"}},
		{"in a stream", 200, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\",\"message\":\"pay\"}}\n\n", fault.Error{Kind: fault.Quota, Code: "insufficient_quota", Message: "pay"}},
		{"an empty body", 200, " \n", fault.Error{Kind: fault.Transport, Message: "the stream ended before its first event", Err: io.ErrUnexpectedEOF}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &testkit.Server{Status: c.status, Body: c.body}
			_, err := ask(t, responses.New, providers.Options{Provider: "acme"}, providers.Call{Model: "m", Stream: true}, a)
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			c.want.Provider, c.want.Model, c.want.Status = "acme", "m", c.status
			e.RequestID = ""
			require.Equal(t, &c.want, e)
		})
	}
}

// TestFailedStreamIsPaidFor checks that an error within a stream keeps the text before
// it, and its usage.
func TestFailedStreamIsPaidFor(t *testing.T) {
	a := &testkit.Server{Status: 200, Header: http.Header{"Retry-After": {"3"}}, Body: strings.Join([]string{
		`data: {"type":"response.output_text.delta","delta":"Hel"}`,
		`data: {"type":"response.failed","response":{"id":"resp_1","model":"served","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"},"usage":{"input_tokens":9,"output_tokens":1}}}`,
	}, "\n\n")}
	var pieces []providers.Delta
	call := providers.Call{Model: "m", Stream: true, OnDelta: func(d providers.Delta) { pieces = append(pieces, d) }}
	reply, err := ask(t, responses.New, providers.Options{}, call, a)
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.True(t, e.Partial)
	require.Equal(t, fault.RateLimit, e.Kind)
	require.Equal(t, 3*time.Second, e.RetryAfter)
	require.Equal(t, "resp_1", e.RequestID)
	require.Equal(t, "Hel", reply.Text)
	require.Equal(t, "served", reply.Model)
	require.Equal(t, providers.Usage{Reported: true, Input: 9, Output: 1}, reply.Usage)
	require.Equal(t, []providers.Delta{{Kind: providers.DeltaText, Text: "Hel"}}, pieces)
	require.Equal(t, "text/event-stream", a.Got.Header.Get("Accept"))
	require.Contains(t, a.Sent, `"stream":true`)
}

func TestTransportCauseIsFound(t *testing.T) {
	cause := errors.New("no recording")
	m, err := responses.New(providers.Options{HTTP: &http.Client{Transport: testkit.Refuse(cause)}})
	require.NoError(t, err, "a custom transport can replay")
	_, err = m.Call(t.Context(), providers.Call{Model: "m"})
	require.ErrorIs(t, err, cause)
}
