package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	aDocument = `{"id":"x","choices":[{"message":{"content":"Grüße 日本"}}],"usage":{"prompt_tokens":3}}`
	anEnd     = "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n"
)

// aStream has a frame for everything that the faults act on.
var aStream = []string{
	"data: {\"choices\":[{\"delta\":{\"content\":\"Grüße 日本\"}}]}\n\n",
	"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{\\\"a\\\"\"}}]}}]}\n\n",
	"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\":1}\"}}]}}]}\n\n",
	anEnd,
	"data: [DONE]\n\n",
}

// speaking answers with a document, or with a stream if the body requests one.
func speaking(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Request-Id", "req-1")
	if !strings.Contains(string(body), `"stream":true`) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, aDocument)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, strings.Join(aStream, ""))
}

// got is what a client receives.
type got struct {
	status int
	header http.Header
	body   string
	err    error // of connecting, or of reading the body
}

// suffer makes a request with a named fault.
func suffer(t *testing.T, next http.HandlerFunc, name, path string, stream bool) got {
	t.Helper()
	server := httptest.NewUnstartedServer(chaos(1, nil, next))
	server.Config.ErrorLog = nil
	server.Start()
	defer server.Close()
	client := server.Client()
	client.Timeout = time.Minute
	if name == "hang" || name == "stall" {
		client.Timeout = 200 * time.Millisecond // these replies never end
	}
	r, err := http.NewRequest(http.MethodPost, server.URL+path, strings.NewReader(fmt.Sprintf(`{"stream":%v}`, stream)))
	require.NoError(t, err)
	r.Header.Set(ChaosHeader, name)
	resp, err := client.Do(r)
	if err != nil {
		return got{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, resp.Header, string(body), err}
}

func TestChaosesAreDocumented(t *testing.T) {
	list := Chaoses()
	require.Greater(t, len(list), 30)
	for i, c := range list {
		require.Regexp(t, `^[a-z0-9-]{2,20}$`, c.Name)
		require.NotEmpty(t, c.Does, c.Name)
		require.NotNil(t, c.act, c.Name)
		if i > 0 {
			require.Less(t, list[i-1].Name, c.Name, "sorted, and no name twice")
		}
	}
	list[0].Name = "changed"
	require.NotEqual(t, "changed", Chaoses()[0].Name)
}

func TestChaosOfStreams(t *testing.T) {
	all := strings.Join(aStream, "")
	cases := []struct {
		name, body string
		broken     bool
	}{
		{"cut-body", aStream[0] + aStream[1], true},
		{"cut-frame", aStream[0] + aStream[1] + aStream[2][:len(aStream[2])/2], true},
		{"end-early", aStream[0] + aStream[1], false},
		{"half-arguments", strings.Join(aStream[:3], ""), false},
		{"no-finish", strings.Join(aStream[:3], ""), false},
		{"no-done", strings.Join(aStream[:4], ""), false},
		{"duplicate-finish", strings.Join(aStream[:4], "") + anEnd + aStream[4], false},
		{"keepalive", strings.Join(aStream, ": keep-alive\n\n"), false},
		{"bad-frame", aStream[0] + aStream[1] + "data: {\"a\": frame}\n\n" + strings.Join(aStream[2:], ""), false},
		{"crlf", strings.ReplaceAll(all, "\n", "\r\n"), false},
		{"cr", strings.ReplaceAll(all, "\n", "\r"), false},
		{"rechunk", all, false},
		{"slow-drip", all, false},
		{"slow-start", all, false},
		{"wrong-type", all, false},
		{"gzip", all, false},
		{"no-choices", all, false},
		{"empty", "", false},
		{"stall", aStream[0] + aStream[1], true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := suffer(t, speaking, c.name, "/v1/chat/completions", true)
			require.Equal(t, http.StatusOK, g.status)
			require.Equal(t, c.name, g.header.Get(ChaosHeader))
			require.Equal(t, c.body, g.body)
			require.Equal(t, c.broken, g.err != nil, "%v", g.err)
		})
	}
}

func TestChaosOfDocuments(t *testing.T) {
	const hollow = `{"id":"x","usage":{"prompt_tokens":3}}`
	cases := []struct {
		name, body string
		broken     bool
	}{
		{"cut-body", aDocument[:len(aDocument)/2], true},
		{"cut-frame", aDocument[:len(aDocument)-1], true},
		{"end-early", aDocument[:len(aDocument)/2], false},
		{"no-choices", hollow, false},
		{"half-arguments", aDocument, false},
		{"keepalive", aDocument, false},
		{"crlf", aDocument, false},
		{"rechunk", aDocument, false},
		{"gzip", aDocument, false},
		{"empty", "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := suffer(t, speaking, c.name, "/v1/chat/completions", false)
			require.Equal(t, http.StatusOK, g.status)
			require.Equal(t, c.body, g.body)
			require.Equal(t, c.broken, g.err != nil, "%v", g.err)
		})
	}
	require.Equal(t, "text/html", suffer(t, speaking, "wrong-type", "/", false).header.Get("Content-Type"))
	require.Len(t, suffer(t, speaking, "oversized", "/", false).body, oversize+len(aDocument))
	require.Len(t, suffer(t, speaking, "oversized", "/", true).body, oversize+3+len(strings.Join(aStream, "")))
}

func TestChaosWithoutAnAnswer(t *testing.T) {
	never := func(http.ResponseWriter, *http.Request) { t.Error("the model was asked") }
	for _, name := range []string{"disconnect", "hang"} {
		require.Error(t, suffer(t, never, name, "/v1/messages", false).err, name)
	}
	for _, c := range refusals() {
		for _, path := range []string{"/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/m:generateContent", "/model/m/converse", "/api/chat", "/v2/chat", "/generate"} {
			g := suffer(t, never, c.Name, path, true)
			require.NoError(t, g.err)
			require.GreaterOrEqual(t, g.status, 400, "%s %s", c.Name, path)
			if g.header.Get("Content-Type") == "application/json" {
				require.True(t, json.Valid([]byte(g.body)), g.body)
			}
		}
	}
}

func TestVendorsPutErrorsTheirWay(t *testing.T) {
	cases := []struct{ chaos, path, status, header, value, body string }{
		{"rate-limit", "/v1/chat/completions", "429", "Retry-After", "2", `{"error":{"message":"Rate limit reached, please slow down.","type":"rate_limit_exceeded","param":null,"code":"rate_limit_exceeded"}}`},
		{"rate-limit-date", "/v1/messages", "429", "Retry-After", "Sun, 01 Nov 2026 00:00:07 GMT", `{"type":"error","error":{"type":"rate_limit_error","message":"Rate limit reached, please slow down."},"request_id":"req_simchaos"}`},
		{"rate-limit-ms", "/api/chat", "429", "Retry-After-Ms", "1500", `{"error":"Rate limit reached, please slow down."}`},
		{"rate-limit-vendor", "/v1/chat/completions", "429", "X-Ratelimit-Reset-Requests", "1s", ""},
		{"rate-limit-vendor", "/v1/messages", "429", "Anthropic-Ratelimit-Requests-Remaining", "0", ""},
		{"rate-limit-vendor", "/v1beta/models/m:streamGenerateContent", "429", "", "", `{"error":{"code":429,"message":"Rate limit reached, please slow down.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}`},
		{"rate-limit-vendor", "/model/m/converse-stream", "429", "X-Amzn-Errortype", "ThrottlingException", `{"message":"Rate limit reached, please slow down."}`},
		{"quota", "/v1/responses", "429", "", "", `{"error":{"message":"You have exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
		{"quota", "/generate", "402", "", "", `{"error":"You have exceeded your current quota, please check your plan and billing details."}`},
		{"context-length", "/v2/chat", "400", "", "", ""},
		{"server-error", "/v1/chat/completions", "500", "", "", `{"error":{"message":"The server had an error.","type":"server_error","param":null,"code":"server_error"}}`},
		{"overloaded", "/v1/messages", "529", "", "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_simchaos"}`},
		{"bad-gateway", "/v1/messages", "502", "Content-Type", "text/html", ""},
		{"error-in-200", "/v1/messages", "200", "", "", `{"type":"error","error":{"type":"overloaded_error","message":"The model is overloaded. Please try again later."},"request_id":"req_simchaos"}`},
	}
	for _, c := range cases {
		t.Run(c.chaos+c.path, func(t *testing.T) {
			g := suffer(t, speaking, c.chaos, c.path, false)
			require.Equal(t, c.status, fmt.Sprint(g.status))
			if c.header != "" {
				require.Equal(t, c.value, g.header.Get(c.header))
			}
			if c.body != "" {
				require.JSONEq(t, c.body, g.body)
			}
		})
	}
}

// TestErrorsAmidAStream checks that each API reports an error in its own kind of frame.
func TestErrorsAmidAStream(t *testing.T) {
	for path, want := range map[string][2]string{
		"/v1/chat/completions": {"data: {\"error\":"},
		"/v1/messages":         {"event: error\ndata: {\"error\":", `"type":"error"`},
		"/v1/responses":        {"event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\""},
		"/v2/chat":             {"data: {\"type\":\"message-end\""},
	} {
		g := suffer(t, speaking, "error-midstream", path, true)
		rest, ok := strings.CutPrefix(g.body, aStream[0]+aStream[1])
		require.True(t, ok)
		require.True(t, strings.HasPrefix(rest, want[0]), rest)
		require.Contains(t, rest, want[1])
	}
	last := "data: {\"candidates\":[{\"content\":{},\"finishReason\":\"STOP\"}]}\n\n"
	google := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, last)
	}
	require.Equal(t, last+"data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n", suffer(t, google, "duplicate-finish", "/v1beta/models/m:streamGenerateContent", true).body)
	last = strings.ReplaceAll(last, "\n", "\r\n") // as Google sends it
	require.Equal(t, last+"data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n", suffer(t, google, "duplicate-finish", "/v1beta/models/m:streamGenerateContent", true).body)
	require.Equal(t, strings.ReplaceAll(last, "\r\n", "\r"), suffer(t, google, "cr", "/v1beta/models/m:streamGenerateContent", true).body)
	lines := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, "{\"message\":{}}\n{\"message\":{}}\n{\"done\":true}\n")
	}
	require.Equal(t, "{\"message\":{}}\n{\"error\":\"The model is overloaded. Please try again later.\"}\n", suffer(t, lines, "error-midstream", "/api/chat", true).body)
	require.Equal(t, "{\"message\":{}}\n\n{\"message\":{}}\n\n{\"done\":true}\n", suffer(t, lines, "keepalive", "/api/chat", true).body)

	one := awsFrame([]byte(`{"delta":{}}`), [2]string{":message-type", "event"})
	final := awsFrame([]byte(`{"stopReason":"end_turn"}`), [2]string{":message-type", "event"})
	binary := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = w.Write(slices.Concat(one, one, final))
	}
	g := suffer(t, binary, "error-midstream", "/model/m/converse-stream", true)
	require.True(t, strings.HasPrefix(g.body, string(one)))
	require.Contains(t, g.body, "serviceUnavailableException")
	require.Equal(t, string(slices.Concat(one, one)), suffer(t, binary, "no-finish", "/model/m/converse-stream", true).body)
}

// TestAFailedReplyStaysAsItIs checks that a fault does not change a refusal of the
// server.
func TestAFailedReplyStaysAsItIs(t *testing.T) {
	for _, name := range []string{"cut-body", "gzip", "slow-drip", "no-choices"} {
		w := post(t, Handler(Config{}), "/v1/chat/completions", `{"model":"nobody","messages":[{"role":"user","content":"x"}]}`, ChaosHeader, name)
		require.Equal(t, http.StatusNotFound, w.Code)
		require.Contains(t, w.Body.String(), "model_not_found")
	}
}

func TestUnknownChaosIsRefused(t *testing.T) {
	w := post(t, Handler(Config{}), "/v1/chat/completions", "{}", ChaosHeader, "earthquake")
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), "rate-limit-date")
}

func TestParseChaos(t *testing.T) {
	n := float64(len(Chaoses()))
	sum := func(list []faultRate, name string) float64 {
		var s float64
		for _, o := range list {
			if o.chaos.Name == name {
				s += o.rate
			}
		}
		return s
	}
	for _, c := range []struct {
		spec string
		want map[string]float64
	}{
		{"", map[string]float64{"quota": 0}},
		{"quota", map[string]float64{"quota": 1, "gzip": 0}},
		{"quota, gzip", map[string]float64{"quota": 0.5, "gzip": 0.5}},
		{"quota=0.2,gzip", map[string]float64{"quota": 0.2, "gzip": 0.8}},
		{"quota=0.2,gzip=0.1", map[string]float64{"quota": 0.2, "gzip": 0.1}},
		{"all=0.1", map[string]float64{"quota": 0.1 / n, "gzip": 0.1 / n}},
		{"all=0.5,quota=0.5", map[string]float64{"quota": 0.5 + 0.5/n}},
	} {
		list, err := parseChaos(c.spec)
		require.NoError(t, err, c.spec)
		for name, want := range c.want {
			require.InDelta(t, want, sum(list, name), 1e-9, "%s %s", c.spec, name)
		}
	}
	for spec, want := range map[string]string{
		"earthquake": "unknown name", "quota=2": "from 0 to 1", "quota=-1": "from 0 to 1", "quota=NaN": "from 0 to 1", "quota=x": "from 0 to 1", "quota=": "from 0 to 1",
		"quota=0.6,gzip=0.6": "add up to 1.2", ",": "unknown name",
	} {
		_, err := parseChaos(spec)
		require.ErrorContains(t, err, want, spec)
	}
}

// TestChaosIsDrawn checks that faults occur at about the configured rate, and always
// the same for the same request and seed.
func TestChaosIsDrawn(t *testing.T) {
	hits := func(seed int64) string {
		h := Handler(Config{Seed: seed, Chaos: "unauthorized=0.25"})
		var b bytes.Buffer
		for i := range 400 {
			w := post(t, h, "/v1/chat/completions", "{}", "X-Client-Request-Id", fmt.Sprint(i))
			b.WriteByte("-x"[map[bool]int{true: 1}[w.Code == http.StatusUnauthorized]])
		}
		return b.String()
	}
	one := hits(1)
	require.InDelta(t, 100, strings.Count(one, "x"), 35)
	require.Equal(t, one, hits(1))
	require.NotEqual(t, one, hits(2))
	w := httptest.NewRecorder()
	Handler(Config{Chaos: "unauthorized"}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	require.Equal(t, http.StatusOK, w.Code, "only requests to models suffer")
}

func TestStartRefusesUnknownChaos(t *testing.T) {
	_, err := Start(t.Context(), "", Config{Chaos: "earthquake"})
	require.ErrorContains(t, err, "unknown name")
}
