package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/local"
	"github.com/cupel-eval/cupel/internal/testkit"
)

var newYork = time.FixedZone("America/New_York", -4*3600)

var begin = world.Start{State: json.RawMessage(`{"n":5}`), Now: time.Date(2026, 5, 13, 16, 0, 0, 0, time.UTC), Zone: newYork, Seed: 1<<63 + 1}

func open(t *testing.T, k Kind) world.World {
	t.Helper()
	w, err := k.Open(t.Context(), begin)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

func call(name, args string) tool.Call { return tool.Call{Name: name, Args: json.RawMessage(args)} }

func done(value string, changed bool, harm string) world.Effect {
	return world.Effect{Result: tool.Result{Outcome: tool.OK, Value: json.RawMessage(value)}, Changed: changed, Harm: harm}
}

func refused(code, message string) world.Effect {
	return world.Effect{Result: tool.Result{Outcome: tool.Error, Code: code, Message: message}}
}

func TestWorld(t *testing.T) {
	k := AsWorld("plain")
	require.Nil(t, k.Tools())
	w := open(t, k)
	state, err := w.State(t.Context())
	require.NoError(t, err)
	require.JSONEq(t, `{"n":5,"now":"2026-05-13T12:00:00-04:00 America/New_York","seed":9223372036854775809}`, string(state))
	for _, tc := range []struct {
		call tool.Call
		want world.Effect
	}{
		{call("add", `{"by": 2}`), done(`{"n":7,"now":"2026-05-13T12:01:00-04:00","text":"<a> & b"}`, true, "")},
		{call("look", ``), done(`7`, false, "")},
		{call("steal", `{}`), done(`true`, true, "it was not theirs")},
		{call("fly", `{}`), refused("E_NO_TOOL", "no tool fly")},
	} {
		got, err := w.Call(t.Context(), tc.call, begin.Now.Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, tc.want, got, tc.call.Name)
	}
	state, err = w.State(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(state), `{"n":-1,`)
	require.NoError(t, w.Close())
	_, err = w.State(t.Context())
	require.ErrorContains(t, err, "its world is closed")
}

// TestCanonical checks that values have the same form as those of worlds in Go.
func TestCanonical(t *testing.T) {
	for _, text := range []string{
		`{"b":1,"a":[12345678901234567890,1.0,1e2,-1.50,0.1],"\u00e9":"\u0041\/<&>\u2028"}`, `"x"`, `null`, ` [ ] `, `{"\ud83d\ude00":1,"\uffff":2}`,
	} {
		got, err := canonical(json.RawMessage(text))
		require.NoError(t, err)
		want, err := tool.Canonical([]byte(`{"v":` + text + `}`))
		require.NoError(t, err)
		require.Equal(t, string(want), `{"v":`+string(got)+`}`)
	}
	for _, text := range []string{``, `{"a":1,"a":2}`, `"\ud800"`, `1 2`, `{`} {
		_, err := canonical(json.RawMessage(text))
		require.Error(t, err, text)
	}
}

func TestMCP(t *testing.T) {
	k := AsWorld("mcp")
	k.MCP = true
	w := open(t, k)
	for _, tc := range []struct {
		tool string
		want world.Effect
	}{
		{"structured", done(`{"n":5}`, false, "")},
		{"object", done(`{"now":"2026-05-13T12:00:00-04:00"}`, true, "ouch")},
		{"text", done(`"{ plain"`, true, "")},
		{"parts", done(`[{"text":"a","type":"text"},{"text":"b","type":"text"}]`, true, "")},
		{"refused", refused("E_TOOL", "no seats")},
		{"unknown", refused("E_-32602", "unknown tool")},
	} {
		got, err := w.Call(t.Context(), call(tc.tool, `{}`), begin.Now)
		require.NoError(t, err)
		require.Equal(t, tc.want, got, tc.tool)
	}
	state, err := w.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, `{"n":5}`, string(state))
	_, err = w.Call(t.Context(), call("broken", `{}`), begin.Now)
	require.ErrorContains(t, err, `answers tools/call with "\"text\""; answer {"content": [...]}`)
}

func TestList(t *testing.T) {
	for _, mcp := range []bool{false, true} {
		k := AsWorld(map[bool]string{false: "plain", true: "mcp"}[mcp])
		k.MCP = mcp
		list, err := k.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []tool.Spec{{Name: "add", Description: "Adds.", Schema: json.RawMessage(`{"type":"object"}`)}}, list)
	}
}

// TestFailures checks that each way in which a command can fail ends soon, with one
// message that names the command and the fix. TestMain finds leaked goroutines.
func TestFailures(t *testing.T) {
	for how, want := range map[string]string{
		"exits":        `ended (exit status 3) before it answered reset; run it by hand to see why; its standard error ends: Traceback: no module named world`,
		"hangs":        `did not answer call within 1s; look what it waits for, or raise process.timeout; its standard error ends: waiting for the database`,
		"garbage":      `wrote "Hello, world!" in place of a line of JSON; write answers alone to standard output, all else to standard error`,
		"other id":     `wrote "{\"id\":11,\"result\":1}" in place of the answer to request 1 (reset); answer each request once, with its id`,
		"nothing":      `answered reset with neither result nor error; answer {"id": …, "result": …}`,
		"no start":     `refuses reset: E_STATE: state has no n; see docs/worlds.md for what it must answer`,
		"floods":       `wrote a line of more than 16 MiB in answer to reset; return less, and leave out of the state what never changes`,
		"large":        `answers state: longer than 16 MiB; leave out what never changes`,
		"too large":    `wrote a line of more than 16 MiB in answer to state; return less, and leave out of the state what never changes`,
		"twice":        `answers a call of add: not JSON with unique names`,
		"dies":         `ended (exit status 7) before it answered call; run it by hand to see why`,
		"mcp chatters": `wrote more than 256 MiB to standard output; return less`,
	} {
		t.Run(how, func(t *testing.T) {
			k := AsWorld(how)
			if k.MCP = how == "mcp chatters"; k.MCP {
				testkit.Slow(t) // 256 MiB; "floods" is the sample
			}
			k.Timeout = 2 * time.Minute // 256 MiB take long beside other tests
			if how == "hangs" {
				k.Timeout = time.Second
			}
			err := run(t.Context(), k)
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "the world's command \""+os.Args[0]+`"`)
		})
	}
}

// run opens a world, calls add and reads the state, up to the first error.
func run(ctx context.Context, k Kind) error {
	w, err := k.Open(ctx, begin)
	if err != nil {
		return err
	}
	if _, err = w.Call(ctx, call("add", `{"by":1}`), begin.Now); err == nil {
		_, err = w.State(ctx)
	}
	return errors.Join(err, w.Close())
}

func TestNotStarted(t *testing.T) {
	none := AsWorld("plain")
	none.Command = nil
	require.EqualError(t, run(t.Context(), none), "start a world's process: no command; give process.command")
	none.Command, none.Dir = []string{"no-such-program", "x"}, t.TempDir()
	require.ErrorContains(t, run(t.Context(), none), `start the world's command "no-such-program x" in `+none.Dir+`: exec: "no-such-program": executable file not found in $PATH; install it, or correct process.command`)
	none = AsWorld("plain")
	none.Env = []string{behaviour, "NO_SUCH"}
	require.ErrorContains(t, run(t.Context(), none), "needs the environment variable NO_SUCH; set it, or take it out of process.env")
}

// TestCancelled checks that stopping a run stops its worlds immediately.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w, err := AsWorld("hangs").Open(ctx, begin)
	require.NoError(t, err)
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = w.Call(ctx, call("add", `{}`), begin.Now)
	require.ErrorIs(t, err, context.Canceled)
	_, err = w.State(t.Context())
	require.ErrorIs(t, err, context.Canceled, "the process is gone")
	require.NoError(t, w.Close())
}

// TestIgnoresItsKill checks that a process that ignores every signal it can, and its
// children, do not outlive the world.
func TestIgnoresItsKill(t *testing.T) {
	w := open(t, AsWorld("ignores"))
	got, err := w.Call(t.Context(), call("spawn", `{}`), begin.Now)
	require.NoError(t, err)
	var address string
	require.NoError(t, json.Unmarshal(got.Value, &address))
	child, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer func() { require.NoError(t, child.Close()) }()
	require.NoError(t, w.Close())
	require.NoError(t, child.SetReadDeadline(time.Now().Add(20*time.Second)))
	_, err = child.Read(make([]byte, 1))
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the child still runs")
	require.Error(t, err)
}

func TestEnvironment(t *testing.T) {
	k := AsWorld("plain")
	for _, name := range []string{"HOME", "TMPDIR", "SYSTEMROOT", "TEMP", "USERPROFILE", "PATHEXT"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", "/bin")
	t.Setenv("SECRET_OF_CUPEL", "not asked for")
	lookup := k.Lookup
	k.Lookup = func(name string) (string, bool) {
		if name == "SECRET_OF_CUPEL" {
			return "not asked for", true
		}
		return lookup(name)
	}
	got, err := open(t, k).Call(t.Context(), call("environment", `{}`), begin.Now)
	require.NoError(t, err)
	require.JSONEq(t, `["LC_ALL=C.UTF-8","TZ=UTC","PYTHONHASHSEED=0","PYTHONUTF8=1","PATH=/bin","CUPEL_TEST_WORLD=plain"]`, string(got.Value))
}

// recorded is as much of a recorder as worlds need.
type recorded struct {
	next             http.RoundTripper
	answers, written map[string][]string
}

// RoundTrip implements http.RoundTripper.
func (p *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	key := req.Method + " " + req.URL.String() + " " + string(body)
	if list := p.answers[key]; len(list) > 0 {
		p.answers[key] = list[1:]
		return &http.Response{Body: io.NopCloser(strings.NewReader(list[0]))}, nil
	}
	resp, err := p.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	p.written[key] = append(p.written[key], string(text))
	return &http.Response{Body: io.NopCloser(strings.NewReader(string(text)))}, err
}

// again returns a recording with the first n answers to each request.
func (p *recorded) again(n int) *recorded {
	copied := &recorded{next: p.next, answers: map[string][]string{}, written: map[string][]string{}}
	for key, list := range p.written {
		copied.answers[key] = list[:min(n, len(list))]
	}
	return copied
}

// TestRecorded checks that all requests use the transport and that a replay starts no
// process. A replay with only the first answers brings its process to the state that
// they led to.
func TestRecorded(t *testing.T) {
	recorded := (&recorded{next: local.Transport{}}).again(0)
	k := AsWorld("plain")
	k.Transport = recorded
	w := open(t, k)
	add := func(w world.World) string {
		got, err := w.Call(t.Context(), call("add", `{"by":1}`), begin.Now)
		require.NoError(t, err)
		return string(got.Value)
	}
	first := add(w)
	state, err := w.State(t.Context())
	require.NoError(t, err)
	require.Len(t, recorded.written, 3)
	require.Contains(t, recorded.written, fmt.Sprintf(`POST http://world.invalid/reset {"params":{"state":"%x","now":"2026-05-13T12:00:00-04:00","zone":"America/New_York","seed":9223372036854775809}}`, sha256.Sum256(begin.State)))

	k.Command, k.Transport = []string{"no-such-program"}, recorded.again(1)
	again := open(t, k)
	require.Equal(t, first, add(again))
	got, err := again.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, state, got)

	k = AsWorld("plain")
	k.Transport = recorded.again(1)
	resumed := open(t, k)
	require.Equal(t, first, add(resumed))
	require.Contains(t, add(resumed), `"n":7`, "not on the recorded: the process comes after the recorded call")
	require.Contains(t, add(resumed), `"n":8`)

	k = AsWorld("random")
	k.Transport = recorded.again(1)
	other := open(t, k)
	require.Equal(t, first, add(other))
	_, err = other.Call(t.Context(), call("fly", `{}`), begin.Now)
	require.ErrorContains(t, err, "answers request 2 (call) differently from its recording; record the episode again, or make the command deterministic")
}

// FuzzAnswer checks that any output of a command is an answer of bounded size or an
// error.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"result":{"a":1}}`, `{"result":1e999}`, `{"error":{"code":[1],"message":"x"}}`, `{"error":{}}`, `{}`, `null`, `[]`, `{"result":{"a":1,"a":2}}`, `{"result":"\ud800"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k := Kind{Transport: (&recorded{next: answers(text)}).again(0)}
		w := k.open()
		w.zone = time.UTC
		e, err := w.Call(t.Context(), call("add", `{}`), begin.Now)
		if err != nil {
			return
		}
		if e.Outcome == tool.OK {
			require.True(t, json.Valid(e.Value))
			return
		}
		require.Equal(t, tool.Error, e.Outcome)
		require.Regexp(t, codePattern, e.Code)
		require.LessOrEqual(t, len(e.Message), maxMessage+len("…"))
	})
}

// FuzzLines checks that for any bytes a process writes, a call ends with a result or
// one error of bounded length.
func FuzzLines(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"result":1}`, "{}\n", "\x00\xff\n", `{"id":1,"result":{"content":[{"type":"text","text":"{"}]}}` + "\n", `{"id":1,"method":"ping"}` + "\n",
		`{"id":1,"result":{"content":[],"isError":true}}` + "\n", `{"id":1,"result":{"tools":[{}],"nextCursor":"x"}}` + "\n",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, mcp bool) {
		k := AsWorld("raw:" + hex.EncodeToString([]byte(text)))
		k.MCP = mcp
		c, err := start(t.Context(), k)
		if err != nil {
			require.True(t, mcp)
			require.Less(t, len(err.Error()), 1500)
			return
		}
		defer c.close()
		for _, method := range []string{"call", "tools"} {
			answer, err := c.ask(t.Context(), method, json.RawMessage(`{"name":"add","arguments":{},"now":"x"}`))
			if err != nil {
				require.Less(t, len(err.Error()), 1500)
				return
			}
			require.True(t, json.Valid(answer))
		}
	})
}

// answers is a transport that answers every request with one text.
type answers string

// RoundTrip implements http.RoundTripper.
func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// BenchmarkCall makes a call over the pipe, which may take at most 1 ms.
func BenchmarkCall(b *testing.B) {
	w, err := AsWorld("plain").Open(b.Context(), begin)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Call(b.Context(), call("look", `{}`), begin.Now); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, w.Close())
}
