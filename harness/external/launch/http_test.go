package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/external"
)

// serve serves h on this machine.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func serviceOf(t testing.TB, s external.Settings) Agent {
	t.Helper()
	s.Faults(true, func(field, detail string) { t.Fatalf("%s: %s", field, detail) })
	a, err := New(s, Options{Lookup: func(string) (string, bool) { return "from the environment", true }})
	require.NoError(t, err)
	return a
}

// TestServiceGetsWhatItIsGiven checks that placeholders become whole values of their
// types.
func TestServiceGetsWhatItIsGiven(t *testing.T) {
	var got, path string
	var header http.Header
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, header, path = string(text), r.Header, r.Method+" "+r.URL.String()
		_, _ = fmt.Fprintf(w, `{"out": [{"text": "%s at %s"}]}`, r.Header.Get("X-Key"), r.Host)
	})
	a := serviceOf(t, external.Settings{HTTP: external.HTTP{
		URL: address + "/{{session_id}}/run?a=b", Method: "PUT", Headers: map[string]string{"Authorization": "Basic {{env.A}}", "x-key": "{{api_key}}"},
		Body: map[string]any{"q": "{{request}}", "list": []any{"{{inputs}}", "{{ history }}", 1, nil, true}, "url": "{{base_url}}", "schema": "{{answer_schema}}"}, Answer: "/out/0/text",
	}})
	require.NoError(t, a.Ready(t.Context()))
	s := start()
	s.SessionID = "a/b"
	end, err := a.Run(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, End{Answer: "cupel-token at " + strings.TrimPrefix(address, "http://")}, end)
	require.JSONEq(t, `{"q":"How many?","list":[{"n":[1]},[{"request":"q","answer":"a"}],1,null,true],"url":"`+s.Base+`","schema":null}`, got)
	require.Equal(t, "PUT /a%2Fb/run?a=b", path)
	require.Equal(t, s.TraceParent, header.Get("Traceparent"))
	require.Equal(t, "Basic from the environment", header.Get("Authorization"))
	require.Equal(t, "application/json", header.Get("Content-Type"))
}

func TestN8NGetsItsNames(t *testing.T) {
	var got map[string]any
	probes := 0
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if probes++; probes == 1 {
				_, _ = io.WriteString(w, "n8n is starting up. Please wait")
				return
			}
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"code":404,"message":"This webhook is not registered for GET requests. Did you mean to make a POST request?"}`)
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&got)
		_, _ = io.WriteString(w, `[{"output":"42"}]`)
	})
	a := serviceOf(t, external.Settings{N8N: external.HTTP{URL: address + "/webhook/x"}})
	require.NoError(t, a.Ready(t.Context()))
	require.Equal(t, 2, probes, "n8n was not ready at first")
	end, err := a.Run(t.Context(), start())
	require.NoError(t, err)
	require.Equal(t, End{Answer: "42"}, end)
	require.Equal(t, "How many?", got["chatInput"])
	require.Equal(t, "s-1", got["sessionId"])
	require.Equal(t, start().Base+"/v1", got["openai_base_url"])
	require.Equal(t, start().MCP, got["mcp_url"])
	require.Equal(t, token, got["api_key"])
}

func TestAnswersOfServices(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	type reply struct {
		status     int
		kind, body string
	}
	for name, test := range map[string]struct {
		reply
		set     func(*external.HTTP)
		want    End
		problem string // the expected error, if there is no result
	}{
		"text":              {reply{body: "42\n"}, nil, End{Answer: "42"}, ""},
		"object":            {reply{body: `{"answer":"4","status":"clarify"}`}, nil, End{Answer: "4", Status: "clarify"}, ""},
		"pointer":           {reply{body: `{"a":[{"b~/c":12345678901234567890}]}`}, func(h *external.HTTP) { h.Answer = "/a/0/b~0~1c" }, End{Answer: "12345678901234567890"}, ""},
		"an object":         {reply{body: `{"a": {"n": [1, "<b>"]}}`}, func(h *external.HTTP) { h.Answer = "/a" }, End{Answer: `{"n":[1,"<b>"]}`}, ""},
		"nothing there":     {reply{body: `{"b":1}`}, func(h *external.HTTP) { h.Answer = "/a" }, End{Failure: `the service gave nothing at /a: "{\"b\":1}"`}, ""},
		"null there":        {reply{body: `{"a":null}`}, func(h *external.HTTP) { h.Answer = "/a" }, End{Failure: "the service gave no answer"}, ""},
		"nothing":           {reply{}, nil, End{Failure: "the service gave no answer"}, ""},
		"no JSON":           {reply{body: "ok"}, func(h *external.HTTP) { h.Answer = "/a" }, End{Failure: `the service gave something else than JSON: "ok"`}, ""},
		"no body":           {reply{}, func(h *external.HTTP) { h.Answer = "/a" }, End{Failure: "the service gave no answer"}, ""},
		"HTML":              {reply{kind: "text/html", body: "\n<html>"}, nil, End{Failure: "the service gave HTML in place of an answer"}, ""},
		"HTML with pointer": {reply{body: "<!doctype HTML>"}, func(h *external.HTTP) { h.Answer = "/a" }, End{Failure: "the service gave HTML in place of an answer"}, ""},
		"half JSON":         {reply{body: `{"a":`}, func(h *external.HTTP) { h.Answer = "/a" }, End{Failure: `the service gave JSON that ends too early: "{\"a\":"`}, ""},
		"half an answer":    {reply{body: `{"answer":"4`}, nil, End{Failure: `the service gave an answer that begins as JSON and is not: "{\"answer\":\"4"`}, ""},
		"two":               {reply{body: `{"a":1}{"a":2}`}, func(h *external.HTTP) { h.Answer = "/a" }, End{Failure: "the service gave 2 answers; one is expected"}, ""},
		"two answers":       {reply{body: `{"answer":"1"} {"answer":"2"}`}, nil, End{Failure: "the service gave 2 answers; one is expected"}, ""},
		"garbage":           {reply{body: "\xff\xfe\x00"}, func(h *external.HTTP) { h.Answer = "/a" }, End{Failure: `the service gave something else than JSON: "\xff\xfe\x00"`}, ""},
		"long":              {reply{body: big + "x"}, nil, End{Failure: "the service gave an answer of 1048577 bytes; 1048576 are allowed"}, ""},
		"very long":         {reply{body: strings.Repeat(big, 17)}, nil, End{Failure: "the service answered more than 16 MiB"}, ""},
		"500":               {reply{status: 500, body: "secret"}, nil, End{Failure: "the service answered 500 Internal Server Error"}, ""},
		"429":               {reply{status: 429}, nil, End{Failure: "the service answered 429 Too Many Requests"}, ""},
		"302":               {reply{status: 302}, nil, End{}, "answered 302 Found; redirects are not followed: set url to the address that it leads to"},
		"401":               {reply{status: 401}, nil, End{}, "answered 401 Unauthorized; correct its url, method or headers"},
		"404":               {reply{status: 404}, nil, End{}, "answered 404 Not Found; correct its url, method or headers"},
		"events": {reply{kind: "text/event-stream", body: ": hi\ndata: {\"d\":{\"t\":\"4\"}}\n\nevent: x\ndata: {\"other\":1}\n\ndata: {\"d\":{\"t\":\"2\"}}\n\ndata: [DONE]\n\n"},
			func(h *external.HTTP) { h.Stream.Delta = "/d/t" }, End{Answer: "42"}, ""},
		"lines":           {reply{body: "{\"c\":\"4\"}\n\n{\"c\":\"2\"}"}, func(h *external.HTTP) { h.Stream.Delta = "/c" }, End{Answer: "42"}, ""},
		"no delta":        {reply{body: "{\"c\":\"4\"}"}, func(h *external.HTTP) { h.Stream.Delta = "/d" }, End{Failure: "the service gave no answer"}, ""},
		"a broken event":  {reply{kind: "text/event-stream", body: "data: {\"d\":\n\n"}, func(h *external.HTTP) { h.Stream.Delta = "/d" }, End{Failure: `the service streamed an event that is not JSON: "{\"d\":"`}, ""},
		"a long stream":   {reply{kind: "text/event-stream", body: strings.Repeat("data: {\"d\":\""+big+"\"}\n\n", 17)}, func(h *external.HTTP) { h.Stream.Delta = "/d" }, End{Failure: "the service answered more than 16 MiB"}, ""},
		"poll of no JSON": {reply{body: "ok"}, func(h *external.HTTP) { h.Poll = external.Poll{URL: "http://h/{{/id}}", Until: "/done"} }, End{Failure: `the service answered with something else than JSON, so poll.url has no values: "ok"`}, ""},
		"poll without id": {reply{body: "{}"}, func(h *external.HTTP) { h.Poll = external.Poll{URL: "http://h/{{/id}}", Until: "/done"} }, End{Failure: "the service answered without /id, which poll.url needs"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := external.HTTP{URL: serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if test.kind != "" {
					w.Header().Set("Content-Type", test.kind)
				}
				w.Header().Set("Location", "http://elsewhere.invalid/?token="+token)
				w.WriteHeader(max(test.status, 200))
				_, _ = io.WriteString(w, test.body)
			})}
			if test.set != nil {
				test.set(&h)
			}
			end, err := serviceOf(t, external.Settings{HTTP: h}).Run(t.Context(), start())
			if test.problem != "" {
				require.ErrorContains(t, err, test.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, end)
		})
	}
}

func TestPolls(t *testing.T) {
	var asked atomic.Int32
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			_, _ = io.WriteString(w, `{"run": {"id": 7}}`)
		case r.URL.Path != "/runs/7/s-1":
			w.WriteHeader(http.StatusNotFound)
		case asked.Add(1) < 3:
			_, _ = io.WriteString(w, `{"status": "running"}`)
		default:
			_, _ = io.WriteString(w, `{"status": "completed", "answer": "42"}`)
		}
	})
	h := external.HTTP{URL: address, Poll: external.Poll{URL: address + "/runs/{{/run/id}}/{{session_id}}", Until: "/status=completed", Every: time.Millisecond}, Answer: "/answer"}
	end, err := serviceOf(t, external.Settings{HTTP: h}).Run(t.Context(), start())
	require.NoError(t, err)
	require.Equal(t, End{Answer: "42"}, end)

	h.Poll.Until, h.Poll.Timeout = "/answers", 50*time.Millisecond
	end, err = serviceOf(t, external.Settings{HTTP: h}).Run(t.Context(), start())
	require.NoError(t, err)
	require.Equal(t, End{Failure: "the service was not complete (/answers) within 50ms"}, end)

	h.Poll.Timeout = 0
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = serviceOf(t, external.Settings{HTTP: h}).Run(ctx, start())
	require.ErrorIs(t, err, context.DeadlineExceeded)

	h.Poll.URL = address + "/none"
	_, err = serviceOf(t, external.Settings{HTTP: h}).Run(t.Context(), start())
	require.ErrorContains(t, err, "/none answered 404 Not Found")
}

// TestServicesThatBreakOff has services that do not listen, close the connection, or
// never answer.
func TestServicesThatBreakOff(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	a := serviceOf(t, external.Settings{HTTP: external.HTTP{URL: dead.URL + "/run?key=secret"}})
	for _, err := range []error{a.Ready(t.Context()), func() error { _, err := a.Run(t.Context(), start()); return err }()} {
		require.ErrorContains(t, err, "the service at "+dead.URL+"/run cannot be reached: ")
		require.ErrorContains(t, err, "; start it, or correct its url")
		require.NotContains(t, err.Error(), "secret")
	}
	hijack := func(before string) string {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, before)
				_ = conn.Close()
			}
		})
	}
	end, err := serviceOf(t, external.Settings{HTTP: external.HTTP{URL: hijack("")}}).Run(t.Context(), start())
	require.NoError(t, err)
	require.Equal(t, "the service broke off before it answered: EOF", end.Failure)
	end, err = serviceOf(t, external.Settings{HTTP: external.HTTP{URL: hijack("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")}}).Run(t.Context(), start())
	require.NoError(t, err)
	require.Equal(t, "the service broke off within its answer: unexpected EOF", end.Failure)

	over := make(chan struct{})
	silent := serve(t, func(http.ResponseWriter, *http.Request) { <-over })
	defer close(over)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = serviceOf(t, external.Settings{HTTP: external.HTTP{URL: silent}}).Run(ctx, start())
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestReady(t *testing.T) {
	var asked atomic.Int32
	state := http.StatusOK
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(state)
	})
	for _, test := range []struct {
		name  string
		state int
		ready external.Ready
		n8n   bool
		want  string
	}{
		{"it answers", 200, external.Ready{}, false, ""},
		{"of another method", 405, external.Ready{}, false, ""},
		{"not there", 404, external.Ready{}, false, "was not ready within 400ms: it answered 404 Not Found; start it, or correct ready"},
		{"a webhook that is not there", 404, external.Ready{}, true, "was not ready within 400ms: it answered 404 Not Found"},
		{"its status", 204, external.Ready{Status: 204, Method: "OPTIONS"}, false, ""},
		{"another status", 200, external.Ready{Status: 204}, false, "was not ready within 400ms: it answered 200 OK"},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked.Store(0)
			state = test.state
			test.ready.URL, test.ready.Within = address+"/up?key=secret", 10*time.Second
			if test.want != "" {
				test.ready.Within = 400 * time.Millisecond
			}
			s := external.Settings{HTTP: external.HTTP{URL: address, Ready: test.ready}}
			if test.n8n {
				s = external.Settings{N8N: s.HTTP}
			}
			err := serviceOf(t, s).Ready(t.Context())
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "the service at "+address+"/up "+test.want)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := serviceOf(t, external.Settings{HTTP: external.HTTP{URL: address, Ready: external.Ready{URL: address}}}).Ready(ctx)
	require.ErrorIs(t, err, context.Canceled)
}
