package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// note is what the server of the tests sends, as a whole body or in a frame.
type note struct {
	Text  string `json:"text"`
	ID    string `json:"id"`
	Error string `json:"error"`
	End   bool   `json:"end"`
}

// notes decodes notes.
type notes struct{}

func (d notes) Whole(b *Builder, body []byte) error {
	_, err := d.Frame(b, Frame{Data: string(body)})
	return err
}

func (notes) Frame(b *Builder, f Frame) (bool, error) {
	var n note
	if err := json.Unmarshal([]byte(f.Data), &n); err != nil {
		return false, err
	}
	if n.Error != "" {
		return false, &Fault{Code: "oops", Message: n.Error}
	}
	b.Reply.RequestID = n.ID
	b.Text(n.Text)
	return n.End, nil
}

// canned answers every request with a status, headers and a body.
type canned struct {
	status int
	header http.Header
	body   io.Reader
	got    *http.Request
	sent   []byte
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	c.got = r
	c.sent, _ = io.ReadAll(r.Body)
	body, ok := c.body.(io.ReadCloser)
	if !ok {
		body = io.NopCloser(c.body)
	}
	if c.header == nil {
		c.header = http.Header{}
	}
	return &http.Response{StatusCode: c.status, Header: c.header, Body: body, Request: r}, nil
}

func client(t *testing.T, c *canned, o providers.Options) *Client {
	t.Helper()
	if c.status == 0 {
		c.status = http.StatusOK
	}
	o.HTTP = &http.Client{Transport: c}
	client, err := New(Dialect{Base: "http://server.test/v1", Kind: func(Fault) fault.Kind { return "" }}, o)
	require.NoError(t, err)
	return client
}

func ask(t *testing.T, c *canned, o providers.Options, call providers.Call) (providers.Reply, *fault.Error) {
	t.Helper()
	r, err := client(t, c, o).Do(context.Background(), call, Request{Path: "/notes", Body: struct{}{}}, notes{}, nil)
	if err == nil {
		return r, nil
	}
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	return r, e
}

const (
	whole  = `{"text":"ab","end":true}`
	stream = "data: {\"text\":\"a\"}\n\ndata: {\"text\":\"b\",\"end\":true}\n\n"
)

// TestABodyIsReadByWhatItIs: neither the content type nor the request decides how a
// body is read.
func TestABodyIsReadByWhatItIs(t *testing.T) {
	for name, body := range map[string]string{
		"document":             whole,
		"stream":               stream,
		"document after space": "\n  \t\r\n" + whole + "\n",
		"stream after lines":   "\r\n\n" + stream,
		"stream after spaces":  "  " + stream,
		"document after a BOM": "\ufeff" + whole,
		"stream after a BOM":   "\ufeff" + stream,
		"stream of a comment":  ": ping\n\n" + stream,
		"stream without end":   strings.TrimSpace(stream),
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"", "application/json", "text/event-stream", "text/plain; charset=latin1"} {
				for _, asked := range []bool{false, true} {
					for how, r := range map[string]io.Reader{"at once": strings.NewReader(body), "byte by byte": iotest.OneByteReader(strings.NewReader(body)), "with EOF": iotest.DataErrReader(strings.NewReader(body))} {
						got, e := ask(t, &canned{header: http.Header{"Content-Type": {kind}}, body: r}, providers.Options{}, providers.Call{Model: "m", Stream: asked})
						require.Nil(t, e, "%s, asked %v, %s", kind, asked, how)
						require.Equal(t, "ab", got.Text)
						require.Equal(t, asked && strings.Contains(body, "data:"), len(got.Frames) == 2, "pieces have times where a stream was asked for")
					}
				}
			}
		})
	}
}

func TestFailures(t *testing.T) {
	reset := errors.New("connection reset")
	cut := func(text string) io.Reader { return io.MultiReader(strings.NewReader(text), iotest.ErrReader(reset)) }
	for _, c := range []struct {
		name    string
		status  int
		body    io.Reader
		kind    fault.Kind
		message string
		text    string
	}{
		{"empty", 200, strings.NewReader(""), fault.Transport, "the stream ended before its first event", ""},
		{"blank", 200, strings.NewReader(" \n"), fault.Transport, "the stream ended before its first event", ""},
		{"no JSON", 200, strings.NewReader("<html><title>Hi</title>"), fault.Malformed, "the body is not the expected JSON: a web page titled Hi", ""},
		{"fault in a 200", 200, strings.NewReader(`{"error":"too much"}`), fault.Malformed, "too much", ""},
		{"fault", 503, strings.NewReader(`{"error":{"message":"later"}}`), fault.Overloaded, "later", ""},
		{"fault after a BOM", 503, strings.NewReader("\ufeff" + `{"error":{"message":"later"}}`), fault.Overloaded, "later", ""},
		{"nothing but a status", 503, strings.NewReader(""), fault.Overloaded, "no explanation: the body is empty or of an unknown form", ""},
		{"fault as an event", 429, strings.NewReader("event: error\ndata: {\"error\":{\"message\":\"slow down\"}}\n\ndata: bye\n\n"), fault.RateLimit, "slow down", ""},
		{"text as an event", 429, strings.NewReader("data: slow down\n"), fault.RateLimit, "slow down", ""},
		{"cut document", 200, cut(`{"text":"a`), fault.Transport, "the reply broke off", ""},
		{"cut before anything", 200, cut(""), fault.Transport, "the reply broke off", ""},
		{"cut fault", 500, cut(`{"err`), fault.Transport, "the reply broke off", ""},
		{"cut stream", 200, cut("data: {\"text\":\"a\"}\n\ndata: {\"te"), fault.Transport, "the stream broke off", "a"},
		{"cut stream, before anything", 200, cut("data: "), fault.Transport, "the stream broke off", ""},
		{"stream that ends early", 200, strings.NewReader("data: {\"text\":\"a\"}\n\n"), fault.Transport, "the stream ended before its last event", "a"},
		{"fault in a stream", 200, strings.NewReader("data: {\"text\":\"a\"}\n\ndata: {\"error\":\"no\"}\n\n"), fault.Malformed, "no", "a"},
		{"no JSON in a stream", 200, strings.NewReader("data: {\"text\":\"a\"}\n\ndata: resting\n\n" + stream), fault.Malformed, "the body is not the expected JSON: resting", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, e := ask(t, &canned{status: c.status, header: http.Header{"X-Request-Id": {"r"}}, body: c.body}, providers.Options{Provider: "p"}, providers.Call{Model: "m", Stream: true})
			require.NotNil(t, e)
			require.Equal(t, c.kind, e.Kind, e.Message)
			require.Equal(t, c.message, e.Message)
			require.Equal(t, c.text, got.Text)
			require.Equal(t, c.text != "", e.Partial)
			require.Equal(t, []any{c.status, "r", c.status, "r", "p", "m"}, []any{got.Status, got.RequestID, e.Status, e.RequestID, e.Provider, e.Model})
			if strings.HasSuffix(e.Message, "broke off") {
				require.ErrorIs(t, e, reset)
			}
		})
	}
}

func TestBodiesAreBounded(t *testing.T) {
	padded := func(n int) string { return whole + strings.Repeat(" ", n-len(whole)) }
	long := "data: {\"text\":\"a\"}\n\n" + strings.Repeat(": ping\n\n", 1000)
	for _, c := range []struct {
		name, body string
		ok         bool
	}{
		{"document of the limit", padded(100), true},
		{"document over it", padded(101), false},
		{"document far over it", padded(10_000), false},
		{"space without end", strings.Repeat(" ", 10_000), false},
		{"stream over it", long + stream, false},
		{"one long event", "data: {\"text\":\"" + strings.Repeat("a", 10_000) + "\"}\n\n", false},
		{"stream whose end comes before it", stream + long, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			read := &counting{Reader: strings.NewReader(c.body)}
			_, e := ask(t, &canned{body: read}, providers.Options{MaxBody: 100}, providers.Call{Stream: true})
			require.Equal(t, c.ok, e == nil, "%v", e)
			if !c.ok {
				require.Equal(t, fault.Malformed, e.Kind)
				require.Equal(t, "the reply is longer than 100 bytes", e.Message)
				require.LessOrEqual(t, read.n, 101)
			}
		})
	}
	t.Run("a fault over it", func(t *testing.T) {
		_, e := ask(t, &canned{status: 500, body: strings.NewReader(padded(101))}, providers.Options{MaxBody: 100}, providers.Call{})
		require.Equal(t, "the reply is longer than 100 bytes", e.Message)
	})
}

type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// watched is a body with its own clock: one second for each read.
type watched struct {
	io.Reader
	reads int
}

func (w *watched) Read(p []byte) (int, error) {
	w.reads++
	return w.Reader.Read(p)
}
func (w *watched) Close() error           { return nil }
func (w *watched) Elapsed() time.Duration { return time.Duration(w.reads) * time.Second }

func TestTimesOfAStream(t *testing.T) {
	parts := func() io.Reader { // the third has no piece, so it has no time
		return io.MultiReader(strings.NewReader("data: {\"text\":\"a\"}\n\n"), strings.NewReader("data: {\"text\":\"b\"}\n\n"), strings.NewReader(": ping\n\ndata: {}\n\n"), strings.NewReader("data: {\"text\":\"c\",\"end\":true}\n\n"))
	}
	t.Run("of the body", func(t *testing.T) {
		got, e := ask(t, &canned{body: &watched{Reader: parts()}}, providers.Options{Now: func() time.Time { return time.Unix(0, 0) }}, providers.Call{Stream: true})
		require.Nil(t, e)
		require.Equal(t, "abc", got.Text)
		require.Equal(t, time.Second, got.FirstToken)
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, got.Frames)
	})
	t.Run("of the clock", func(t *testing.T) {
		now := time.Unix(1000, 0)
		clock := func() time.Time { now = now.Add(time.Second); return now }
		got, e := ask(t, &canned{body: parts()}, providers.Options{Now: clock}, providers.Call{Stream: true})
		require.Nil(t, e)
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, got.Frames)
	})
	t.Run("none of a document", func(t *testing.T) {
		got, e := ask(t, &canned{body: strings.NewReader(whole)}, providers.Options{}, providers.Call{Stream: true})
		require.Nil(t, e)
		require.Empty(t, got.Frames)
		require.Zero(t, got.FirstToken)
	})
	t.Run("not without bound", func(t *testing.T) {
		body := strings.Repeat("data: {\"text\":\"a\"}\n\n", maxFrames+5) + stream
		got, e := ask(t, &canned{body: strings.NewReader(body)}, providers.Options{}, providers.Call{Stream: true})
		require.Nil(t, e)
		require.Len(t, got.Text, maxFrames+7)
		require.Len(t, got.Frames, maxFrames)
	})
}

func TestDeltasOfAStreamAlone(t *testing.T) {
	for _, asked := range []bool{true, false} {
		var got []string
		_, e := ask(t, &canned{body: strings.NewReader(stream)}, providers.Options{}, providers.Call{Stream: asked, OnDelta: func(d providers.Delta) { got = append(got, d.Text) }})
		require.Nil(t, e)
		require.Equal(t, asked, len(got) == 2, got)
	}
}

// TestAServerThatNeverCloses checks that the reply is returned after its last event.
func TestAServerThatNeverCloses(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, stream)
		w.(http.Flusher).Flush()
		<-release
	}))
	defer server.Close()
	defer close(release)
	c, err := New(Dialect{}, providers.Options{BaseURL: server.URL})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	got, err := c.Do(ctx, providers.Call{Stream: true}, Request{Path: "/notes"}, notes{}, nil)
	require.NoError(t, err)
	require.Equal(t, "ab", got.Text)
	require.NoError(t, ctx.Err(), "it waited for the server")
}

// TestADrainedConnectionIsUsedAgain checks that the rest after the last event is read.
func TestADrainedConnectionIsUsedAgain(t *testing.T) {
	addresses := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addresses[r.RemoteAddr] = true
		_, _ = io.WriteString(w, stream)
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "data: [DONE]\n\n"+strings.Repeat(": bye\n\n", 100))
	}))
	defer server.Close()
	c, err := New(Dialect{}, providers.Options{BaseURL: server.URL, HTTP: server.Client()})
	require.NoError(t, err)
	for range 5 {
		_, err := c.Do(context.Background(), providers.Call{Stream: true}, Request{Path: "/notes"}, notes{}, nil)
		require.NoError(t, err)
	}
	require.Len(t, addresses, 1)
}

func TestADeadlineInAStream(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: {\"text\":\"a\"}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	c, err := New(Dialect{}, providers.Options{BaseURL: server.URL})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	got, err := c.Do(ctx, providers.Call{Stream: true}, Request{Path: "/notes"}, notes{}, nil)
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.TimedOut, e.Kind)
	require.True(t, e.Partial)
	require.Equal(t, "a", got.Text)
}

func TestWhatIsSent(t *testing.T) {
	body := struct {
		A string         `json:"a"`
		B map[string]int `json:"b"`
		C float64        `json:"c"`
	}{"<&>", map[string]int{"y": 2, "x": 1}, 1}
	for _, c := range []struct {
		name  string
		o     providers.Options
		r     Request
		call  providers.Call
		url   string
		body  string
		heads map[string]string
	}{
		{
			"plain", providers.Options{}, Request{Path: "/notes"}, providers.Call{}, "http://server.test/v1/notes", `{"a":"<&>","b":{"x":1,"y":2},"c":1}`,
			map[string]string{"Accept": "application/json", "Content-Type": "application/json", "X-Client-Request-Id": ""},
		},
		{
			"a stream", providers.Options{}, Request{Path: "/notes", Framing: Lines}, providers.Call{Stream: true, RequestID: "r"}, "http://server.test/v1/notes", `{"a":"<&>","b":{"x":1,"y":2},"c":1}`,
			map[string]string{"Accept": "application/x-ndjson", "X-Client-Request-Id": "r"},
		},
		{
			"more of everything", providers.Options{
				BaseURL: "http://other.test/notes/", Header: map[string]string{"x-more": "1", "accept": "x/y"}, Query: map[string]string{"v": "a b", "alt": "mine"},
				Extra: json.RawMessage(`{"a":null,"b":{"y":null,"z":3},"d":12345678901234567890}`),
			},
			Request{Path: "/notes", Query: map[string][]string{"alt": {"sse"}, "k": {"1"}}}, providers.Call{}, "http://other.test/notes?alt=mine&k=1&v=a+b", `{"b":{"x":1,"z":3},"c":1,"d":12345678901234567890}`,
			map[string]string{"X-More": "1", "Accept": "x/y"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := &canned{body: strings.NewReader(whole)}
			c.r.Body = body
			_, err := client(t, server, c.o).Do(context.Background(), c.call, c.r, notes{}, nil)
			require.NoError(t, err)
			require.Equal(t, c.url, server.got.URL.String())
			require.Equal(t, c.body, string(server.sent))
			for name, want := range c.heads {
				require.Equal(t, want, server.got.Header.Get(name), name)
			}
		})
	}
}

func TestOptionsThatCannotBeSent(t *testing.T) {
	for name, o := range map[string]providers.Options{
		"extra is a list":             {Extra: json.RawMessage(`[]`)},
		"extra is null":               {Extra: json.RawMessage(`null`)},
		"header with a line break":    {Header: map[string]string{"X-A": "b\nX-C: d"}},
		"header without a name":       {Header: map[string]string{"": "b"}},
		"address with a query":        {BaseURL: "http://x.test/?a=1"},
		"address with a password":     {BaseURL: "http://me:secret@x.test/"},
		"address of another protocol": {BaseURL: "ftp://x.test/"},
	} {
		_, err := New(Dialect{}, o)
		var e *fault.Error
		require.ErrorAs(t, err, &e, name)
		require.Equal(t, fault.InvalidRequest, e.Kind)
		require.NotContains(t, e.Error(), "secret")
	}
}

// TestMergePatch checks the examples of RFC 7396, appendix A.
func TestMergePatch(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a":1.50,"b":"<"}`, `{"c":1e400}`, `{"a":1.50,"b":"<","c":1e400}`}, // our own case: the text of numbers and strings does not change
	} {
		got, err := mergePatch([]byte(c[0]), []byte(c[1]))
		require.NoError(t, err)
		require.Equal(t, c[2], string(got), "%s patched by %s", c[0], c[1])
	}
	_, err := mergePatch([]byte(`{`), []byte(`{}`))
	require.Error(t, err)
}

// TestDecodeReadsAsDoDoes checks that Decode, which tests of decoders use, reads like
// Do.
func TestDecodeReadsAsDoDoes(t *testing.T) {
	for i, body := range []string{whole, stream, "\ufeff" + whole, "  " + stream, `{"error":"x"}`, "data: {\"text\":\"a\"}\n\n", "resting", ""} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			want, e := ask(t, &canned{body: strings.NewReader(body)}, providers.Options{}, providers.Call{})
			got, complete, err := Decode(notes{}, Events, []byte(body), false, "")
			require.Equal(t, e == nil, err == nil && complete)
			require.Equal(t, want.Text, got.Text)
		})
	}
}

func BenchmarkDo(b *testing.B) {
	body := bytes.Repeat([]byte("data: {\"text\":\"angry 17, sad 4, \"}\n\n"), 1000)
	body = append(body, stream...)
	c, err := New(Dialect{Base: "http://server.test"}, providers.Options{HTTP: &http.Client{Transport: replaying(body)}})
	require.NoError(b, err)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() { // Floor: BenchmarkEventsFloor and a json.Unmarshal of each frame
		if _, err := c.Do(context.Background(), providers.Call{Stream: true}, Request{Path: "/notes", Body: struct{}{}}, notes{}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// replaying answers every request with the same body.
type replaying []byte

func (p replaying) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(p)), Request: r}, nil
}
