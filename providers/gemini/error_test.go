package gemini

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// exhausted returns a 429 with details.
func exhausted(details string) string {
	return `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[` + details + `]}}`
}

const retryInfo = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"36.5s"}`

func quotaFailure(violations string) string {
	return `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[` + violations + `]}`
}

func errorBody(code, status, message string) string {
	return `{"error":{"code":` + code + `,"message":"` + message + `","status":"` + status + `"}}`
}

func TestErrors(t *testing.T) {
	invalidKey := `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   fault.Kind
		code   string
		wait   time.Duration
	}{
		{"a wrong key", 400, invalidKey, fault.Auth, "400", 0},
		{"a wrong key, by its reason alone", 400, strings.Replace(invalidKey, "API key not valid. Please pass a valid API key.", "no", 1), fault.Auth, "400", 0},
		{"in a list", 400, "[" + invalidKey + "]", fault.Auth, "400", 0},
		{"as an event", 400, "data: " + invalidKey + "\n\n", fault.Auth, "400", 0},
		{"a bad request", 400, errorBody("400", "INVALID_ARGUMENT", "Cannot fetch content"), fault.InvalidRequest, "400", 0},
		{"too many tokens", 400, errorBody("400", "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), fault.ContextLength, "400", 0},
		{"too many bytes", 400, errorBody("400", "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."), fault.ContextLength, "400", 0},
		{"a refused prompt", 400, errorBody("400", "INVALID_ARGUMENT", "This prompt violates Google's Responsible AI practices."), fault.Refused, "400", 0},
		{"no permission", 403, errorBody("403", "PERMISSION_DENIED", "no"), fault.Auth, "403", 0},
		{"no billing", 403, `{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}}`, fault.Quota, "403", 0},
		{"no such model", 404, errorBody("404", "NOT_FOUND", "models/x is not found"), fault.NotFound, "404", 0},
		{"a rate limit", 429, exhausted(quotaFailure(`{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"5"}`) + "," + retryInfo), fault.RateLimit, "429", 36500 * time.Millisecond},
		{"a daily quota", 429, exhausted(retryInfo + "," + quotaFailure(`{"quotaId":"GenerateRequestsPerMinute"},{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"20"}`)), fault.Quota, "429", 36500 * time.Millisecond},
		{"a daily quota, and its reason", 429, exhausted(`{"reason":"RATE_LIMIT_EXCEEDED","metadata":{"quota_limit":"RequestsPerDay"}},{"reason":"RATE_LIMIT_EXCEEDED"}`), fault.Quota, "429", 0},
		{"a quota of nothing", 429, exhausted(quotaFailure(`{"quotaId":"InputTokensPerMinute","quotaValue":"0"}`)), fault.Quota, "429", 0},
		{"no details that can be read", 429, exhausted(`7,{"retryDelay":13},{"retryDelay":"-1s"},{"retryDelay":"13s"}`), fault.RateLimit, "429", 13 * time.Second},
		{"credits are gone", 429, errorBody("429", "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."), fault.Quota, "429", 0},
		{"cancelled over there", 499, errorBody("499", "CANCELLED", "The operation was cancelled."), fault.Overloaded, "499", 0},
		{"internal", 500, errorBody("500", "INTERNAL", "oops"), fault.Overloaded, "500", 0},
		{"overloaded", 503, errorBody("503", "UNAVAILABLE", "The model is overloaded."), fault.Overloaded, "503", 0},
		{"a deadline", 504, errorBody("504", "DEADLINE_EXCEEDED", "late"), fault.TimedOut, "504", 0},
		{"in a 200", 200, exhausted(retryInfo), fault.RateLimit, "429", 36500 * time.Millisecond},
		{"in a 200, as a list", 200, "[" + errorBody("503", "UNAVAILABLE", "no") + "]", fault.Overloaded, "503", 0},
		{"in a stream", 200, "data: " + candidateOf(`{"text":"a"}`, "") + "\n\ndata: " + exhausted(retryInfo) + "\n\n", fault.RateLimit, "429", 36500 * time.Millisecond},
		{"in an array", 200, "[" + candidateOf(`{"text":"a"}`, "") + "," + errorBody("500", "INTERNAL", "oops") + "]", fault.Overloaded, "500", 0},
		{"in a 200, without a code", 200, `{"error":{"message":"no","status":"UNAUTHENTICATED"}}`, fault.Auth, "UNAUTHENTICATED", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := failure(t, c.status, c.body)
			require.Equal(t, c.kind, e.Kind, "%v", e)
			require.Equal(t, c.code, e.Code)
			require.Equal(t, c.wait, e.RetryAfter)
			require.NotEmpty(t, e.Message)
		})
	}
}

// failure asks for a stream and gets body with the content type of an event stream, as
// from Google.
func failure(t *testing.T, status int, body string) *fault.Error {
	t.Helper()
	var asked *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	m, err := New(providers.Options{BaseURL: server.URL + "/v1beta", Key: "k-1"})
	require.NoError(t, err)
	_, err = m.Call(context.Background(), providers.Call{Model: "gemini-x", Stream: true})
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", asked.URL.RequestURI())
	require.Equal(t, "k-1", asked.Header.Get("X-Goog-Api-Key"))
	return e
}

func TestKindsOfStatusWords(t *testing.T) {
	for status, want := range map[string]fault.Kind{
		"INVALID_ARGUMENT": fault.InvalidRequest, "FAILED_PRECONDITION": fault.InvalidRequest, "PERMISSION_DENIED": fault.Auth,
		"NOT_FOUND": fault.NotFound, "RESOURCE_EXHAUSTED": fault.RateLimit, "DEADLINE_EXCEEDED": fault.TimedOut, "UNAVAILABLE": fault.Overloaded,
	} {
		f := readFault([]byte(`{"error":{"message":"no","status":"` + status + `"}}`))
		require.Equal(t, want, kindOf(f), status)
	}
}
