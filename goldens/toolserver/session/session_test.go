package session

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/local"
	"github.com/cupel-eval/cupel/internal/mcp"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// behaviour is the environment variable that makes the test binary a reset: it writes its
// value to the file that it names.
const behaviour = "CUPEL_TEST_RESET"

func TestMain(m *testing.M) {
	if name := os.Getenv(behaviour); name == "fails" {
		os.Exit(5)
	} else if name != "" {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString("reset ")
		}
		if err != nil {
			os.Exit(6)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// counting is a server of a tool that adds, over HTTP, and what was asked of it.
type counting struct {
	mu    sync.Mutex // guards log: a call that times out may still run beside the next one
	log   []string
	tools []mcp.Tool
}

// asked returns the arguments of the calls since it was called before.
func (c *counting) asked() (log []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	log, c.log = c.log, nil
	return log
}

func (c *counting) start(t *testing.T) toolserver.Server {
	c.tools = []mcp.Tool{{Name: "add", Description: "Adds.", Schema: json.RawMessage(`{"type":"object"}`)}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key-of-the-server" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		mcp.Handler(mcp.ServerOptions{Name: "counting", Version: "7", Tools: c.tools, Call: c.call}).ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	server := toolserver.Server{
		Name: "counts", URL: s.URL, Timeout: 10 * time.Second, Dir: t.TempDir(),
		Headers: []world.HTTPHeader{{Name: "Authorization", Env: "KEY", Prefix: "Bearer "}, {Name: "X-Fixed", Value: "1"}},
	}
	var err error
	server.Pinned, err = List(t.Context(), server, lookup)
	require.NoError(t, err)
	require.Equal(t, "counting 7", server.Pinned.Server+" "+server.Pinned.Version)
	return server
}

func (c *counting) call(ctx context.Context, _ string, args json.RawMessage) (mcp.Answer, error) {
	c.mu.Lock()
	c.log = append(c.log, string(args))
	calls := len(c.log)
	c.mu.Unlock()
	switch string(args) {
	case `{"how":"hangs"}`:
		<-ctx.Done()
	case `{"how":"long"}`:
		return mcp.Answer{Value: json.RawMessage(`{"x":"` + strings.Repeat("x", maxResult) + `"}`)}, nil
	case `{"how":"fails"}`:
		return mcp.Answer{Code: "E_STATE", Message: "no such account"}, nil
	case `{"how":"tells"}`:
		return mcp.Answer{Value: json.RawMessage(`"key-of-the-server"`)}, nil
	case `{"how":"lists"}`:
		return mcp.Answer{Value: json.RawMessage(`[1, 2]`)}, nil
	}
	return mcp.Answer{Value: json.RawMessage(`{"calls": ` + string(rune('0'+calls)) + `}`)}, nil
}

func lookup(name string) (string, bool) { return "key-of-the-server", name == "KEY" }

var base = local.Transport{Secrets: secrets.New("key-of-the-server")}

func TestSession(t *testing.T) {
	server := (&counting{}).start(t)
	server.Timeout = 2 * time.Second
	s := New(server, lookup)
	t.Cleanup(s.Close)
	require.NoError(t, s.Open(t.Context(), base))
	for args, want := range map[string]tool.Result{
		`{}`:              {Outcome: tool.OK, Value: json.RawMessage(`{"calls":1}`)},
		`{"how":"lists"}`: {Outcome: tool.OK, Value: json.RawMessage(`[1,2]`)},
		`{"how":"fails"}`: {Outcome: tool.Error, Code: "E_TOOL", Message: "E_STATE: no such account"},
		`{"how":"long"}`:  {Outcome: tool.Error, Code: "E_TOO_LARGE", Message: "the tool's answer is longer than 1048576 bytes"},
		`{"how":"tells"}`: {Outcome: tool.Error, Code: "E_SECRET", Message: "the tool's answer holds a credential and is withheld"},
		`{"how":"hangs"}`: {Outcome: tool.Timeout, Code: "E_TIMEOUT", Message: "no answer within 2s"},
	} {
		got, err := s.Call(t.Context(), base, tool.Call{Name: "add", Args: json.RawMessage(args)})
		require.NoError(t, err, args)
		if args == `{}` {
			got.Value = want.Value // the order of the calls is random
		}
		require.Equal(t, want, got, args)
	}
	got, err := s.Call(t.Context(), base, tool.Call{Name: "gone", Args: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Equal(t, tool.Result{Outcome: tool.Error, Code: "E_-32602", Message: `unknown tool "gone"`}, got)
	s.Close()
	_, err = s.Call(t.Context(), base, tool.Call{Name: "add"})
	require.ErrorContains(t, err, "the episode has ended")
}

// TestChangedList: the difference is known before a call.
func TestChangedList(t *testing.T) {
	c := &counting{}
	server := c.start(t)
	c.tools[0].Description = "Adds two numbers."
	c.tools = append(c.tools, mcp.Tool{Name: "subtract", Schema: json.RawMessage(`{}`)})
	s := New(server, lookup)
	t.Cleanup(s.Close)
	err := s.Open(t.Context(), base)
	require.ErrorContains(t, err, "the tools of the MCP server counts ("+server.URL+`) are not the pinned ones: changed add (description: "Adds." → "Adds two numbers."), added subtract; to accept them, run: cupel suite tools `+server.Dir+" --pin")
	_, err = s.Call(t.Context(), base, tool.Call{Name: "add"})
	require.ErrorContains(t, err, "are not the pinned ones")
	require.Empty(t, c.asked())
}

func TestUnusable(t *testing.T) {
	server := (&counting{}).start(t)
	none := func(string) (string, bool) { return "", false }
	require.ErrorContains(t, New(server, none).Open(t.Context(), base), "needs a value for its header Authorization: set KEY")
	server.Headers = nil
	require.ErrorContains(t, New(server, nil).Open(t.Context(), base), "Unauthorized")
}

// recorded answers the first requests as they were answered before.
type recorded struct {
	answers []string
	written *[]string
}

// RoundTrip implements http.RoundTripper.
func (r *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(r.answers) > 0 {
		text := r.answers[0]
		r.answers = r.answers[1:]
		return &http.Response{Body: io.NopCloser(strings.NewReader(text))}, nil
	}
	resp, err := base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	*r.written = append(*r.written, string(text))
	return &http.Response{Body: io.NopCloser(strings.NewReader(string(text)))}, err
}

// TestResumed: a server with a reset is brought to the state that recorded calls led to; one
// without is not asked twice. Recorded answers alone start nothing.
func TestResumed(t *testing.T) {
	for _, reset := range []bool{false, true} {
		c := &counting{}
		server := c.start(t)
		log := server.Dir + "/log"
		find := func(name string) (string, bool) {
			if name == behaviour {
				return log, true
			}
			return lookup(name)
		}
		if reset {
			server.Reset, server.Env = []string{os.Args[0]}, []string{behaviour}
		}
		var written []string
		run := func(server toolserver.Server, recordings, calls int) (last string) {
			s := New(server, find)
			defer s.Close()
			to := &recorded{written[:recordings:recordings], &written}
			require.NoError(t, s.Open(t.Context(), to))
			for i := range calls {
				got, err := s.Call(t.Context(), to, tool.Call{Name: "add", Args: json.RawMessage(`{"n":` + string(rune('0'+i)) + `}`)})
				require.NoError(t, err)
				last = string(got.Value)
			}
			return last
		}
		require.Equal(t, `{"calls":2}`, run(server, 0, 2))
		require.Equal(t, []string{`{"n":0}`, `{"n":1}`}, c.asked())
		replayed := server
		replayed.URL, replayed.Command = "", []string{"no-such-program"}
		require.Equal(t, `{"calls":2}`, run(replayed, 3, 2), "nothing is started")

		run(server, 2, 2) // the first call is recorded
		if !reset {
			require.Equal(t, []string{`{"n":1}`}, c.asked())
			require.NoFileExists(t, log)
			continue
		}
		require.Equal(t, []string{`{"n":0}`, `{"n":1}`}, c.asked())
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		require.Equal(t, "reset reset ", string(text))
		find = func(name string) (string, bool) { return "fails", name == behaviour }
		require.ErrorContains(t, New(server, find).Open(t.Context(), base), `failed (exit status 5); run it by hand to see why`)
	}
}

// TestTurn: episodes that share a reset take turns, whatever other servers they use.
func TestTurn(t *testing.T) {
	a, b := toolserver.Server{Dir: "a", Reset: []string{"x"}}, toolserver.Server{Dir: "b", Reset: []string{"x"}}
	end, err := Turn(t.Context(), []toolserver.Server{b, a, a, {Dir: "a"}})
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = Turn(short, []toolserver.Server{a})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	other, err := Turn(t.Context(), []toolserver.Server{{Dir: "a"}})
	require.NoError(t, err)
	other()
	end()
	end, err = Turn(t.Context(), []toolserver.Server{a, b})
	require.NoError(t, err)
	end()
}

func TestDescribe(t *testing.T) {
	for in, want := range map[string]string{
		`[ {"type":"text", "text":"a"} ]`:                         `[ {"type":"text", "text":"a"} ]`,
		`[{"type":"image","data":"aGVsbG8=","mimeType":"i/png"}]`: `[{"bytes":5,"mimeType":"i/png","sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","type":"image"}]`,
		`[{"type":"audio","data":"?"}]`:                           `[{"bytes":1,"sha256":"8a8de823d5ed3e12746a62ef169bcf372be0ca44f0a1236abc35df05d96928e1","type":"audio"}]`,
		`[{"type":"resource","resource":{"uri":"u","blob":""}}]`:  `[{"resource":{"bytes":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","uri":"u"},"type":"resource"}]`,
		`[{"type":"resource","resource":{"uri":"u","text":"<"}}]`: `[{"type":"resource","resource":{"uri":"u","text":"<"}}]`,
		`[{"type":"image","data":5}]`:                             `[{"type":"image","data":5}]`,
	} {
		got, err := describe(json.RawMessage(in))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}
