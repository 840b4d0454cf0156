package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/internal/lines"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// behaviour is the environment variable that makes the test binary a server.
const behaviour = "CUPEL_TEST_SERVER"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		serveStdio(how)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// serveStdio is a server that does one thing wrong.
func serveStdio(how string) {
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(out, format+"\n", args...)
		_ = out.Flush()
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name         string
				Cursor       string
				Arguments    json.RawMessage
				Capabilities json.RawMessage
			}
		}
		if json.Unmarshal(in.Bytes(), &r) != nil {
			os.Exit(4)
		}
		answer := func(format string, args ...any) {
			say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, fmt.Sprintf(format, args...))
		}
		switch {
		case r.Method == "initialize" && how == "refuses":
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"too old"}}`, r.ID)
		case r.Method == "initialize" && how == "mute":
			time.Sleep(time.Hour)
		case r.Method == "initialize" && how == "greets":
			say("Server running on stdio")
		case r.Method == "initialize":
			say("")
			answer(`{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"counter %s","version":"1.2"}}`, strings.ReplaceAll(string(r.Params.Capabilities), `"`, `'`))
		case r.Method == "tools/list" && how == "endless":
			answer(`{"tools":[],"nextCursor":"x"}`)
		case r.Method == "tools/list" && r.Params.Cursor == "":
			answer(`{"tools":[{"name":"add"}],"nextCursor":"2"}`)
		case r.Method == "tools/list":
			answer(`{"tools":[{"name":"look"}]}`)
		case r.Method == "tools/call" && how == "hangs":
			time.Sleep(time.Hour)
		case r.Method == "tools/call" && r.Params.Name == "first":
			time.Sleep(time.Second)
			answer(`{"content":[],"structuredContent":%s}`, r.Params.Arguments)
		case r.Method == "tools/call" && how == "crashes":
			fmt.Fprintln(os.Stderr, "panic: no database")
			os.Exit(9)
		case r.Method == "tools/call" && how == "chatters":
			for {
				say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"%s"}}`, strings.Repeat("x", 1<<20))
			}
		case r.Method == "tools/call" && how == "long":
			say(strings.Repeat("x", lines.MaxLine+1))
		case r.Method == "tools/call" && how == "half":
			answer(`{"structuredContent":{}}`)
		case r.Method == "tools/call" && r.Params.Name == "look":
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown tool"}}`, r.ID)
		case r.Method == "tools/call":
			answer(`{"content":[{"type":"text","text":"x"}],"structuredContent":%s}`, r.Params.Arguments)
		}
	}
}

func dial(t *testing.T, how string, timeout time.Duration) (*Client, error) {
	c, err := DialCommand(t.Context(), lines.Program{
		Command: []string{os.Args[0]}, Env: []string{behaviour}, Lookup: func(string) (string, bool) { return how, true },
		Name: "the server s", Setting: "mcp",
	}, timeout)
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

// Numbers and the order of names stay as the server wrote them.
func TestClient(t *testing.T) {
	c, err := dial(t, "well", 10*time.Second)
	require.NoError(t, err)
	name, version := c.Server()
	require.Equal(t, "counter {} 1.2", name+" "+version, "no capabilities are announced")
	list, err := c.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	res, err := c.Call(t.Context(), "add", json.RawMessage(`{"b":12345678901234567890,"a":"<&>"}`), nil)
	require.NoError(t, err)
	value, err := res.Value()
	require.NoError(t, err)
	require.Equal(t, `{"b":12345678901234567890,"a":"<&>"}`, string(value))
	_, err = c.Call(t.Context(), "look", json.RawMessage(`{}`), nil)
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, RefusedError{-32602, "unknown tool"}, *refused)
}

// TestClientFailures: each way a server can fail ends soon with one message.
func TestClientFailures(t *testing.T) {
	for how, want := range map[string]string{
		"refuses":  `refuses initialize: too old`,
		"mute":     `did not answer initialize within 1s; look what it waits for, or raise mcp.timeout`,
		"greets":   `wrote "Server running on stdio" in place of a line of JSON; write answers alone to standard output, all else to standard error`,
		"endless":  `answers tools/list with more than 100 pages`,
		"crashes":  `ended (exit status 9) before it answered tools/call; run it by hand to see why; its standard error ends: panic: no database`,
		"chatters": `wrote more than 256 MiB to standard output; return less`,
		"long":     `wrote a line of more than 16 MiB in answer to tools/call; return less`,
		"half":     `answers tools/call with "{\"structuredContent\":{}}"; answer {"content": [...]}`,
	} {
		t.Run(how, func(t *testing.T) {
			if how == "chatters" {
				testkit.Slow(t) // 256 MiB; "long" is the sample
			}
			timeout := 2 * time.Minute
			if how == "mute" {
				timeout = time.Second
			}
			c, err := dial(t, how, timeout)
			if err == nil {
				_, err = c.List(t.Context())
			}
			if err == nil {
				_, err = c.Call(t.Context(), "add", json.RawMessage(`{}`), nil)
				require.Error(t, err)
				_, again := c.Call(t.Context(), "add", json.RawMessage(`{}`), nil)
				require.Equal(t, err, again)
			}
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, `the server s "`)
		})
	}
}

// TestClientGoesOn: a server that answers too late still answers the next call.
func TestClientGoesOn(t *testing.T) {
	c, err := dial(t, "slow", 500*time.Millisecond)
	require.NoError(t, err)
	_, err = c.Call(t.Context(), "first", json.RawMessage(`{"n":1}`), nil)
	var late *TimeoutError
	require.ErrorAs(t, err, &late)
	require.ErrorContains(t, err, "did not answer tools/call within 500ms")
	c.timeout = 20 * time.Second
	res, err := c.Call(t.Context(), "add", json.RawMessage(`{"n":2}`), nil)
	require.NoError(t, err)
	require.Equal(t, `{"n":2}`, string(res.Structured))
}

func TestClientIsCancelled(t *testing.T) {
	c, err := dial(t, "hangs", 20*time.Second)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = c.Call(ctx, "add", json.RawMessage(`{}`), nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestClientOverHTTP(t *testing.T) {
	var mu sync.Mutex // a call that ended early may still be handled
	var versions []string
	h := Handler(ServerOptions{
		Name: "world", Version: "3", Tools: []Tool{{Name: "add", Schema: json.RawMessage(`{}`)}},
		Call: func(_ context.Context, _ string, args json.RawMessage) (Answer, error) {
			return Answer{Value: args}, nil
		},
	})
	var broken atomic.Value
	broken.Store("")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			mu.Lock()
			versions = append(versions, r.Header.Get("Mcp-Protocol-Version")+r.Header.Get("X-Key"))
			mu.Unlock()
		}
		switch broken.Load() {
		case "redirects":
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
		case "fails":
			http.Error(w, "no database", http.StatusInternalServerError)
		case "writes HTML":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>"))
		case "writes no JSON":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{"))
		case "floods":
			w.Header().Set("Content-Type", "application/json")
			for range 20 {
				_, _ = w.Write([]byte(strings.Repeat(" ", 1<<20)))
			}
		case "hangs":
			_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not seen
			<-r.Context().Done()
		default:
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	dial := func(timeout time.Duration) *Client {
		broken.Store("")
		c, err := DialURL(t.Context(), "the server s", s.URL, http.Header{"X-Key": {"k"}}, http.DefaultTransport, timeout)
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return c
	}
	c := dial(10 * time.Second)
	list, err := c.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	res, err := c.Call(t.Context(), "add", json.RawMessage(`{"b":12345678901234567890,"a":1}`), nil)
	require.NoError(t, err)
	require.Equal(t, `{"b":12345678901234567890,"a":1}`, string(res.Structured))
	mu.Lock()
	require.Equal(t, []string{"k", "k", "2025-11-25k", "2025-11-25k"}, versions[len(versions)-4:])
	mu.Unlock()

	for how, want := range map[string]string{
		"redirects":      `Found`,
		"fails":          `Internal Server Error`,
		"writes HTML":    `unsupported content type "text/html"`,
		"writes no JSON": `unexpected EOF`,
		"floods":         `the answer is longer than 16 MiB`,
		"hangs":          `did not answer tools/call within 1s`,
	} {
		t.Run(how, func(t *testing.T) {
			c := dial(time.Second)
			broken.Store(how)
			defer broken.Store("")
			_, err := c.Call(t.Context(), "add", json.RawMessage(`{}`), nil)
			require.ErrorContains(t, err, "the server s")
			require.ErrorContains(t, err, want)
		})
	}
	_, err = DialURL(t.Context(), "the server s", "http://127.0.0.1:1/", nil, http.DefaultTransport, time.Second)
	require.ErrorContains(t, err, "connection refused")
}
