package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// limited is a server with limits and a clock that the test sets.
type limited struct {
	t       *testing.T
	now     time.Time
	handler http.Handler
}

func newLimited(t *testing.T, limit string) *limited {
	s := &limited{t: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	s.handler = Handler(Config{Limit: limit, Now: func() time.Time { return s.now }})
	return s
}

// post sends a request and returns the status, the named headers and the body.
func (s *limited) post(path, body string, names ...string) (int, []string, string) {
	s.t.Helper()
	w, req := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("Anthropic-Version", "2023-06-01")
	s.handler.ServeHTTP(w, req)
	resp := w.Result()
	text, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	var values []string
	for _, name := range names {
		values = append(values, resp.Header.Get(name))
	}
	return resp.StatusCode, values, string(text)
}

const chatBody = `{"model":"sim-strong","messages":[{"role":"user","content":"hello"}],"max_tokens":100}`

func TestLimitAsOpenAI(t *testing.T) {
	s := newLimited(t, "rpm=60,burst=3,tpm=6000")
	names := []string{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests", "X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens", "Retry-After", "Retry-After-Ms"}
	for _, want := range [][]string{
		{"3", "2", "1s", "6000", "5878", "1.22s", "", ""},
		{"3", "1", "2s", "6000", "5756", "2.44s", "", ""},
		{"3", "0", "3s", "6000", "5634", "3.66s", "", ""},
	} {
		status, got, text := s.post("/v1/chat/completions", chatBody, names...)
		require.Equal(t, http.StatusOK, status, text)
		require.Equal(t, want, got)
	}
	s.now = s.now.Add(400 * time.Millisecond)
	status, got, text := s.post("/v1/responses", `{}`, names...)
	require.Equal(t, http.StatusTooManyRequests, status, "both APIs are one account")
	require.Equal(t, []string{"3", "0", "2.6s"}, got[:3])
	require.Equal(t, []string{"1", "600"}, got[6:])
	require.JSONEq(t, `{"error":{"message":"Rate limit reached on requests per min (RPM): Limit 3. Please try again in 600ms.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, text)
	s.now = s.now.Add(600 * time.Millisecond)
	status, _, text = s.post("/v1/chat/completions", chatBody)
	require.Equal(t, http.StatusOK, status, text)
	status, _, _ = s.post("/v1/messages", `{}`)
	require.Equal(t, http.StatusBadRequest, status, "another vendor counts by itself")

	s = newLimited(t, "tpm=6000")
	status, got, text = s.post("/v1/chat/completions", strings.Replace(chatBody, `100`, `9000`, 1), names...)
	require.Equal(t, http.StatusOK, status, "more than a minute's worth goes when all is there: "+text)
	require.Equal(t, []string{"", "", "", "6000", "0"}, got[:5])
	status, got, text = s.post("/v1/chat/completions", chatBody, names...)
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Contains(t, text, `"type":"tokens"`)
	require.NotEmpty(t, got[6])
}

func TestLimitAsAnthropic(t *testing.T) {
	s := newLimited(t, "rpm=30,burst=1,tpm=600")
	body := `{"model":"sim-strong","max_tokens":100,"messages":[{"role":"user","content":"hello"}]}`
	names := []string{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset",
		"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset", "Retry-After"}
	status, got, text := s.post("/v1/messages", body, names...)
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, []string{"1", "0", "2026-11-01T12:00:02Z", "578", "600", "600", "2026-11-01T12:00:00Z", ""}, got)
	s.now = s.now.Add(500 * time.Millisecond)
	status, got, text = s.post("/v1/messages", body, names...)
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Equal(t, []string{"1", "0", "2026-11-01T12:00:02Z", "583", "600", "600", "2026-11-01T12:00:01Z", "2"}, got)
	require.Contains(t, text, `"type":"rate_limit_error"`)
}

func TestLimitAsGemini(t *testing.T) {
	s := newLimited(t, "rpm=60,burst=1")
	const path, body = "/v1beta/models/sim-strong:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
	status, _, text := s.post(path, body)
	require.Equal(t, http.StatusOK, status, text)
	s.now = s.now.Add(250 * time.Millisecond)
	status, got, text := s.post(path, body, "Retry-After")
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Equal(t, []string{""}, got)
	var refused struct {
		Error struct {
			Status  string
			Details []map[string]any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &refused))
	require.Equal(t, "RESOURCE_EXHAUSTED", refused.Error.Status)
	require.Equal(t, "0.75s", refused.Error.Details[1]["retryDelay"])
}

func TestLimitRefusesNonsense(t *testing.T) {
	for spec, want := range map[string]string{
		"rps=1":         `limit "rps": unknown or repeated name; rpm, tpm or burst`,
		"rpm=1,rpm=2":   `limit "rpm": unknown or repeated name`,
		"rpm":           `limit rpm: "": must be a whole number from 1 to 1000000000`,
		"rpm=0":         `limit rpm: "0": must be`,
		"tpm=1e3":       `limit tpm: "1e3": must be`,
		"tpm=5,burst=2": "burst is of requests; add rpm",
	} {
		_, err := Start(t.Context(), "", Config{Limit: spec})
		require.ErrorContains(t, err, want, spec)
	}
}

func FuzzLimit(f *testing.F) {
	f.Add("rpm=60,tpm=100000,burst=3", chatBody)
	f.Fuzz(func(t *testing.T, spec, body string) {
		r, err := parseLimit(spec)
		if err == nil && r.rpm > 0 {
			require.Positive(t, r.burst)
		}
		require.GreaterOrEqual(t, outputAsked([]byte(body)), 0.0)
	})
}
