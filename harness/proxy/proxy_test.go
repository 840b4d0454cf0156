package proxy_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/proxy"
	"github.com/cupel-eval/cupel/providers/gateway"
)

// answers is a Model that answers every request with a text.
func answers(text string) func(context.Context, gateway.Request) (*http.Response, error) {
	return func(context.Context, gateway.Request) (*http.Response, error) {
		return response(http.StatusOK, text), nil
	}
}

func response(status int, text string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text))}
}

func start(t *testing.T, o proxy.Options) *proxy.Server {
	t.Helper()
	s, err := proxy.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func open(t *testing.T, s *proxy.Server, session proxy.Session) *proxy.Handle {
	t.Helper()
	h, err := s.Open(session)
	require.NoError(t, err)
	return h
}

// ask sends a request and returns its status and body. headers are name and value in turn.
func ask(t *testing.T, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

const chat = `{"model": "m", "messages": []}`

// TestSession: what a session answers, and what it refuses with which status.
func TestSession(t *testing.T) {
	s := start(t, proxy.Options{})
	mcp := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "tools") })
	asked := 0
	h := open(t, s, proxy.Session{MCP: mcp, Model: func(context.Context, gateway.Request) (*http.Response, error) {
		asked++
		return response(200, "hello"), nil
	}})
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"chat", "POST", "/v1/chat/completions", chat, nil, 200, "hello"},
		{"without a version", "POST", "/chat/completions", chat, nil, 200, "hello"},
		{"below a prefix", "POST", "/openai/v1/chat/completions", chat, nil, 200, "hello"},
		{"models", "GET", "/v1/models", "", nil, 200, "hello"},
		{"HEAD", "HEAD", "/", "", nil, 200, ""},
		{"tools", "POST", "/mcp", "{}", nil, 200, "tools"},
		{"traces without a receiver", "POST", "/v1/traces", "{}", nil, 404, "nothing is served here"},
		{"another path", "POST", "/v1/files", "{}", nil, 404, "not forwarded"},
		{"another method", "DELETE", "/v1/chat/completions", "", nil, 404, "not forwarded"},
		{"dots", "POST", "/v1/files/../chat/completions", chat, nil, 404, "not forwarded"},
		{"dots in disguise", "POST", "/v1/%2e%2e/chat/completions", chat, nil, 404, "not forwarded"},
		{"garbage", "POST", "/v1/messages", "<html>", nil, 400, `"type":"error"`},
		{"a name twice", "POST", "/v1/messages", `{"model": "a", "model": "b"}`, nil, 400, "distinct names"},
		{"compressed", "POST", "/v1/messages", "x", []string{"Content-Encoding", "zstd"}, 400, "uncompressed"},
		{"a web socket", "GET", "/v1/responses", "", []string{"Connection", "Upgrade", "Upgrade", "websocket"}, 400, "an upgrade"},
		{"another host", "POST", "/v1/chat/completions", chat, []string{"Host", "rebound.example:80"}, 403, "neither loopback"},
		{"this machine by name", "POST", "/v1/chat/completions", chat, []string{"Host", "localhost:80"}, 200, "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, text := ask(t, c.method, h.Base()+c.path, c.body, c.headers...)
			require.Equal(t, c.status, status, text)
			require.Contains(t, text, c.want)
		})
	}
	require.Equal(t, 5, asked)
	status, text := ask(t, "POST", s.URL()+"/e/"+strings.Repeat("0", 32)+"/v1/chat/completions", chat)
	require.Equal(t, 404, status, text)
	status, _ = ask(t, "POST", s.URL()+"/v1/chat/completions", chat)
	require.Equal(t, 404, status)
	require.Contains(t, h.Refused(), "POST /v1/files: not forwarded: only models, embeddings, token counts and lists of models are")
	require.Zero(t, h.Late())
	h.Close(t.Context())
	for _, late := range []string{"/v1/chat/completions", "/mcp"} {
		status, text = ask(t, "POST", h.Base()+late, chat)
		require.Equal(t, 410, status, text)
	}
	require.Equal(t, 2, h.Late())
	require.Equal(t, 5, asked)
	_, err := s.Open(proxy.Session{Token: h.Token()})
	require.EqualError(t, err, "open a session of the model proxy: its token is in use")
}

// TestStable: a request to a stable URL finds its session by key or trace, and nothing
// else does.
func TestStable(t *testing.T) {
	s := start(t, proxy.Options{})
	one := open(t, s, proxy.Session{Secret: "stable", TraceID: strings.Repeat("a", 32), Model: answers("one")})
	two := open(t, s, proxy.Session{Secret: "stable", TraceID: strings.Repeat("b", 32), Model: answers("two")})
	other := open(t, s, proxy.Session{Secret: "oth/ers", Any: true, Model: answers("other")})
	traceparent := "00-" + strings.Repeat("b", 32) + "-00f067aa0ba902b7-01"
	for _, c := range []struct {
		name, secret string
		headers      []string
		status       int
		want         string
	}{
		{"bearer", "stable", []string{"Authorization", "Bearer " + one.Token()}, 200, "one"},
		{"x-api-key", "stable", []string{"X-Api-Key", two.Token()}, 200, "two"},
		{"x-goog-api-key", "stable", []string{"X-Goog-Api-Key", two.Token()}, 200, "two"},
		{"api-key", "stable", []string{"Api-Key", two.Token()}, 200, "two"},
		{"trace", "stable", []string{"Traceparent", traceparent, "Authorization", "Bearer fixed"}, 200, "two"},
		{"neither", "stable", nil, 404, ""},
		{"another's key", "stable", []string{"Authorization", "Bearer " + other.Token()}, 404, ""},
		{"the only one", "oth%2Fers", []string{"Authorization", "Bearer fixed"}, 200, "other"},
		{"another secret", "guessed", []string{"Authorization", "Bearer " + one.Token()}, 404, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, text := ask(t, "POST", s.URL()+"/s/"+c.secret+"/v1/chat/completions", chat, c.headers...)
			require.Equal(t, c.status, status, text)
			require.Contains(t, text, c.want)
		})
	}
	other.Close(t.Context())
	status, _ := ask(t, "POST", s.URL()+"/s/oth%2Fers/v1/chat/completions", chat)
	require.Equal(t, 404, status, "no episode is open")
	one.Close(t.Context())
	status, _ = ask(t, "POST", s.URL()+"/s/stable/v1/chat/completions", chat, "X-Api-Key", one.Token())
	require.Equal(t, 410, status)
	require.Equal(t, 1, one.Late())
}

// TestRefusals: errors of the model and replies that do not pass.
func TestRefusals(t *testing.T) {
	s := start(t, proxy.Options{})
	for _, c := range []struct {
		name   string
		model  func(context.Context, gateway.Request) (*http.Response, error)
		status int
		want   string
	}{
		{"an error", func(context.Context, gateway.Request) (*http.Response, error) { return nil, errors.New("no recording") }, 400, "no recording"},
		{"a refusal", func(context.Context, gateway.Request) (*http.Response, error) {
			return nil, fmt.Errorf("cap: %w", &proxy.Refusal{Status: 402, Message: "spent"})
		}, 402, "cap: spent"},
		{"a redirect", func(context.Context, gateway.Request) (*http.Response, error) {
			resp := response(302, "elsewhere")
			resp.Header.Set("Location", "http://169.254.169.254/")
			return resp, nil
		}, 400, "a redirect (302)"},
		{"an error of the provider", func(context.Context, gateway.Request) (*http.Response, error) {
			return response(529, "overloaded"), nil
		}, 529, "overloaded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := open(t, s, proxy.Session{Model: c.model})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.Base()+"/v1/messages", strings.NewReader(chat))
			require.NoError(t, err)
			resp, err := http.DefaultTransport.RoundTrip(req)
			require.NoError(t, err)
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, c.status, resp.StatusCode)
			require.Contains(t, string(text), c.want)
			require.Empty(t, resp.Header.Get("Location"))
			if c.status != 529 {
				require.Equal(t, "false", resp.Header.Get("X-Should-Retry"))
			}
		})
	}
}

// TestHeaders: of a reply only known headers pass, and of a request no credential.
func TestHeaders(t *testing.T) {
	s := start(t, proxy.Options{})
	h := open(t, s, proxy.Session{Model: func(ctx context.Context, r gateway.Request) (*http.Response, error) {
		require.Empty(t, r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Query)
		require.Equal(t, "2023-06-01", r.Header.Get("Anthropic-Version"))
		name, key := proxy.Key(ctx)
		require.Equal(t, "Authorization its own", name+" "+key)
		resp := response(200, "{}")
		resp.Header = http.Header{"Set-Cookie": {"a=b"}, "Server": {"x"}, "X-Request-Id": {"r1"}, "Content-Type": {"application/json"}, "Access-Control-Allow-Origin": {"*"}}
		return resp, nil
	}})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.Base()+"/v1/messages?key=abc", strings.NewReader(chat))
	require.NoError(t, err)
	req.Header = http.Header{"Authorization": {"Bearer its own"}, "Cookie": {"a=b"}, "Anthropic-Version": {"2023-06-01"}}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	delete(resp.Header, "Date")
	require.Equal(t, http.Header{"X-Request-Id": {"r1"}, "Content-Type": {"application/json"}, "Content-Length": {"2"}}, resp.Header)
}

// TestStream: each piece of a reply comes before the next is there, the rest is read if
// the program has gone, and a reply that is cut is cut for the program, too.
func TestStream(t *testing.T) {
	s := start(t, proxy.Options{})
	source, sink := net.Pipe()
	h := open(t, s, proxy.Session{Model: func(context.Context, gateway.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1, Body: source}, nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.Base()+"/v1/messages", strings.NewReader(chat))
	require.NoError(t, err)
	go func() { _, _ = sink.Write([]byte("one")) }()
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	piece := make([]byte, 8)
	n, err := resp.Body.Read(piece)
	require.NoError(t, err)
	require.Equal(t, "one", string(piece[:n]))
	cancel()
	for range 100 { // net.Pipe has no buffer: each write was read
		_, err = sink.Write([]byte("more"))
		require.NoError(t, err)
	}
	closed := make(chan struct{})
	go func() { h.Close(context.Background()); close(closed) }()
	require.NoError(t, sink.Close())
	<-closed
	_ = resp.Body.Close() // it was cancelled

	cut := open(t, s, proxy.Session{Model: func(context.Context, gateway.Request) (*http.Response, error) {
		resp := response(200, "")
		resp.ContentLength, resp.Body = -1, io.NopCloser(io.MultiReader(strings.NewReader("half"), failing{}))
		return resp, nil
	}})
	resp, err = http.Post(cut.Base()+"/v1/messages", "", strings.NewReader(chat)) //nolint:noctx // a test
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, resp.Body.Close())
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// TestBounds: a body and a number of requests beyond the bounds are refused with the
// figure.
func TestBounds(t *testing.T) {
	s := start(t, proxy.Options{})
	tools := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.CopyN(io.Discard, r.Body, 1000)
		require.NoError(t, err)
		http.Error(w, "more than I read", http.StatusRequestEntityTooLarge)
	})
	h := open(t, s, proxy.Session{Model: answers("ok"), MCP: tools})
	for path, want := range map[string]string{"/v1/messages": "more than 64 MiB", "/mcp": "more than I read"} { // and not a broken pipe
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.Base()+path, io.LimitReader(zeros{}, proxy.MaxBody+1))
		require.NoError(t, err)
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 413, resp.StatusCode)
		require.Contains(t, string(text), want)
	}
	for range proxy.MaxRequests - 2 {
		status, _ := ask(t, "HEAD", h.Base()+"/", "")
		require.Equal(t, 200, status)
	}
	status, refusal := ask(t, "POST", h.Base()+"/v1/messages", chat)
	require.Equal(t, 400, status)
	require.Contains(t, refusal, "this is request 10001; a session takes at most 10000")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestClose: a session ends although its model and its program do not.
func TestClose(t *testing.T) {
	s := start(t, proxy.Options{})
	asked := make(chan struct{})
	h := open(t, s, proxy.Session{Model: func(ctx context.Context, _ gateway.Request) (*http.Response, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	go func() { _, _ = http.Post(h.Base()+"/v1/messages", "", strings.NewReader(chat)) }() //nolint:noctx,bodyclose // it is cut
	<-asked
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	h.Close(ctx)
	h.Close(ctx)

	// Nor does a program that stops in the middle of a request keep it open.
	h = open(t, s, proxy.Session{Model: answers("never")})
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = fmt.Fprintf(c, "POST /e/%s/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", h.Token())
	require.NoError(t, err)
	_, err = c.Read(make([]byte, 1)) // the body is being read
	require.NoError(t, err)
	closed := make(chan struct{})
	go func() { h.Close(ctx); close(closed) }()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Fatal("the session is still open")
	}
}

// TestRefuse: the forward proxy refuses every host and lists it for the session.
func TestRefuse(t *testing.T) {
	s := start(t, proxy.Options{})
	h := open(t, s, proxy.Session{})
	at, token := strings.TrimPrefix(s.URL(), "http://"), h.Token()
	raw := func(request string) string {
		c, err := net.Dial("tcp", at)
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		_, err = io.WriteString(c, request)
		require.NoError(t, err)
		reply := make([]byte, 200)
		n, err := c.Read(reply)
		require.NoError(t, err)
		return string(reply[:n])
	}
	require.Equal(t, "http://cupel:"+token+"@"+at, h.Refuse())
	auth := "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("cupel:"+token)) + "\r\n\r\n"
	require.Contains(t, raw("CONNECT Telemetry.example:443 HTTP/1.1\r\nHost: telemetry.example:443\r\n"+auth), "403")
	require.Contains(t, raw("GET http://metrics.example/x HTTP/1.1\r\nHost: metrics.example\r\n"+auth), "403")
	require.Contains(t, raw("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"), "407")
	require.Equal(t, []string{"metrics.example", "telemetry.example"}, h.Hosts())
	for i := range 100 {
		raw(fmt.Sprintf("CONNECT h%d.example:443 HTTP/1.1\r\nHost: h%d.example:443\r\n%s", i, i, auth))
	}
	require.Len(t, h.Hosts(), 64)
}

// TestAdvertise: the URL of agents in containers, whose host is served.
func TestAdvertise(t *testing.T) {
	s := start(t, proxy.Options{Advertise: "http://host.docker.internal:8123/"})
	h := open(t, s, proxy.Session{Token: "t", Model: answers("ok")})
	require.Equal(t, "http://host.docker.internal:8123/e/t", h.Base())
	for _, bad := range []string{"host:1", "ftp://h", "http://h/path", "http://u:p@h"} {
		_, err := proxy.Start(t.Context(), proxy.Options{Advertise: bad})
		require.ErrorContains(t, err, "is not a URL of a host", bad)
	}
	_, err := proxy.Start(t.Context(), proxy.Options{Listen: "0.0.0.0:0"})
	require.ErrorContains(t, err, "not loopback")
}

// TestHosts: requests for models, tools and traces are served by the names of this machine and
// the advertised one, and by no other name that a page may resolve to this machine.
func TestHosts(t *testing.T) {
	asked := 0
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(http.StatusOK) })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := free.Addr().String()
	require.NoError(t, free.Close())
	s := start(t, proxy.Options{Listen: at, Advertise: "http://Host.Docker.internal:8123"})
	h := open(t, s, proxy.Session{Token: "token-0123456789", Secret: "stable-secret-0123", MCP: served, OTLP: served, Model: func(context.Context, gateway.Request) (*http.Response, error) {
		asked++
		return response(http.StatusOK, "{}"), nil
	}})
	for _, c := range []struct {
		host string
		ok   bool
	}{
		{at, true}, {"127.0.0.1", true}, {"127.8.9.1:80", true}, {"localhost:4100", true}, {"LOCALHOST", true}, {"[::1]:4100", true}, {"[::1]", true},
		{"host.docker.internal:8123", true}, {"HOST.docker.internal", true},
		{"evil.example", false}, {"host.docker.internal.evil.example", false}, {"evil.example:8123", false}, {"localhost.evil.example", false},
		{"10.0.0.5:4100", false}, {"0.0.0.0", false}, {"172.17.0.1:4100", false}, {"127.0.0.1.evil.example", false}, {"host.docker.internal@evil.example", false},
	} {
		for _, path := range []string{"/e/token-0123456789/v1/chat/completions", "/e/token-0123456789/mcp", "/e/token-0123456789/v1/traces", "/s/stable-secret-0123/v1/chat/completions"} {
			asked = 0
			status, text := ask(t, http.MethodPost, "http://"+at+path, chat, "Host", c.host, "Authorization", "Bearer token-0123456789")
			if c.ok {
				require.Equal(t, []int{http.StatusOK, 1}, []int{status, asked}, "%s %s: %s", c.host, path, text)
				continue
			}
			require.Equal(t, []int{http.StatusForbidden, 0}, []int{status, asked}, "%s %s: %s", c.host, path, text)
			require.NotContains(t, text, h.Token())
		}
	}
	conn, err := net.Dial("tcp", at)
	require.NoError(t, err)
	_, err = io.WriteString(conn, "GET /e/token-0123456789/mcp HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	reply, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Contains(t, string(reply), "403", "a request without a host")
	require.NoError(t, conn.Close())
}
