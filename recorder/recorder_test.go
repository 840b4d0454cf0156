package recorder

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/internal/canonical"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer is a fake network.
type answer func(*http.Request) (*http.Response, error)

func (f answer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	return f(req)
}

// says answers 200 with one chunk per read.
func says(chunks ...string) answer {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{
			Status: "200 OK", StatusCode: http.StatusOK, ContentLength: -1,
			Header: http.Header{"Content-Type": {"text/plain"}}, Body: &chunkBody{chunks: slices.Clone(chunks)},
		}, nil
	}
}

// chunkBody returns one chunk per read, then end, or io.EOF if end is nil.
type chunkBody struct {
	chunks []string
	end    error
	closed int
}

func (b *chunkBody) Read(p []byte) (int, error) {
	if len(b.chunks) == 0 {
		if b.end != nil {
			return 0, b.end
		}
		return 0, io.EOF
	}
	n := copy(p, b.chunks[0])
	if b.chunks[0] = b.chunks[0][n:]; b.chunks[0] == "" {
		b.chunks = b.chunks[1:]
	}
	return n, nil
}

func (b *chunkBody) Close() error { b.closed++; return nil }

// ticker is a clock that advances by step at each reading.
func ticker(step time.Duration) func() time.Time {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time { at = at.Add(step); return at }
}

func newRecording(t testing.TB, base http.RoundTripper) *Recorder {
	t.Helper()
	r, err := New(Options{Mode: Record, Dir: t.TempDir(), Path: "t/1.yaml", Base: base, Command: "cupel run --mode record"})
	require.NoError(t, err)
	return r
}

// saved saves a recording and opens it for replay.
func saved(t testing.TB, r *Recorder) *Recorder {
	t.Helper()
	require.NoError(t, r.Save())
	o := r.o
	o.Mode, o.Base = Replay, answer(func(*http.Request) (*http.Response, error) { panic("replay used the network") })
	back, err := New(o)
	require.NoError(t, err)
	return back
}

func post(t testing.TB, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	return req
}

// opened replays a cassette of these bytes.
func opened(data []byte, o Options) (*Recorder, error) {
	o.FS, o.Path = fstest.MapFS{"a/b.yaml": &fstest.MapFile{Data: data}}, "a/b.yaml"
	return New(o)
}

// sampled is the cassette of cassette/testdata/sample.yaml.
func sampled() *cassette.Data {
	t, err := cassette.Load(cassette.File{Dir: "cassette/testdata", Path: "sample.yaml"})
	if err != nil {
		panic(err)
	}
	return t
}

// ask makes one exchange and returns the response and its reads.
func ask(t testing.TB, rt http.RoundTripper, req *http.Request) (*http.Response, []string) {
	t.Helper()
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	reads := readAll(t, resp.Body)
	require.NoError(t, resp.Body.Close())
	return resp, reads
}

func readAll(t testing.TB, body io.Reader) []string {
	t.Helper()
	var reads []string
	p := make([]byte, 64<<10)
	for {
		n, err := body.Read(p)
		if n > 0 {
			reads = append(reads, string(p[:n]))
		}
		if err == io.EOF {
			return reads
		}
		require.NoError(t, err)
	}
}

func observed(req *http.Request) (*http.Request, *[]Exchange) {
	var seen []Exchange
	return req.WithContext(Observe(req.Context(), func(x Exchange) { seen = append(seen, x) })), &seen
}

func cassetteFile(r *Recorder) string {
	return filepath.Join(r.o.Dir, filepath.FromSlash(r.o.Path))
}

func TestRecordThenReplayIsExact(t *testing.T) {
	long := strings.Repeat("0123456789", 500)
	cases := map[string][]string{
		"json":              {`{"ok":true}`},
		"sse":               {"data: {\"a\":1}\n\n", "data: ", "{\"a\":2}\n\n", "data: [DONE]\n\n"},
		"sse crlf":          {"data: 1\r\n\r\n", "data:  2\r\n", "\r\n"},
		"empty":             nil,
		"one newline":       {"\n"},
		"newlines":          {"\n\n\n"},
		"leading blank":     {"  x\n y"},
		"leading tab":       {"\tx\n"},
		"leading newline":   {"\nx"},
		"trailing spaces":   {"a  \n   \nb \n\n\n"},
		"comment and marks": {"# no\n--- x\n...\n- a: &b *c\n%TAG\n"},
		"quotes":            {`"\` + "`'" + `\n\u0041`},
		"cut rune":          {"\xe2\x82", "\xac euro"},
		"binary":            {"\x00\xff\xfe", string([]byte{0x80, 0x81})},
		"controls":          {"\x00\x01\x07\x1b\x7f\u0080\u0085\u009f\u00a0"},
		"breaks and marks":  {"\ufeffa\u2028b\u2029c\u0085d\ufffe\uffff\ufffd"},
		"emoji":             {"😀 汉字\n"},
		"long":              {long, long},
	}
	for name, chunks := range cases {
		t.Run(name, func(t *testing.T) {
			whole := strings.Join(chunks, "")
			r := newRecording(t, says(chunks...))
			_, live := ask(t, r, post(t, "https://api.test/v1/x", whole))
			require.Equal(t, chunks, live)

			back := saved(t, r)
			resp, replayed := ask(t, back, post(t, "https://api.test/v1/x", whole))
			require.Equal(t, chunks, replayed, "the same reads")
			require.Equal(t, "200 OK", resp.Status)
			require.Equal(t, int64(len(whole)), resp.ContentLength)
			require.Equal(t, http.Header{"Content-Type": {"text/plain"}}, resp.Header)
			require.Zero(t, back.Leftover())
			require.Equal(t, r.Digest(), back.Digest())
			require.Len(t, back.Digest(), 64)
		})
	}
}

func TestTimesAreRecordedInWholeMicroseconds(t *testing.T) {
	r := newRecording(t, says("ab", "c"))
	r.o.Now = ticker(1500500 * time.Nanosecond)
	req, live := observed(post(t, "https://api.test/", "{}"))
	ask(t, r, req)

	req, replayed := observed(post(t, "https://api.test/", "{}"))
	back := saved(t, r)
	start := time.Now()
	ask(t, back, req)
	require.Less(t, time.Since(start), time.Second)

	// Sending reads the clock once, and then each read: 1500.5 µs, 3001 µs, 4501.5 µs.
	want := Exchange{
		Digest: canonical.Digest("POST", "https://api.test/", "{}"), Status: 200,
		FirstByte: 1500 * time.Microsecond, Duration: 4501 * time.Microsecond,
	}
	require.Equal(t, []Exchange{want}, *live)
	want.Replayed = true
	require.Equal(t, []Exchange{want}, *replayed)
	require.Equal(t, []cassette.BodyRead{{Bytes: 2, Micros: 1500}, {Bytes: 1, Micros: 1501}}, back.index.data.Interactions[0].Reads)
}

func TestRecordingStreamsToTheCaller(t *testing.T) {
	const gap = 100 * time.Millisecond
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-release
		time.Sleep(gap)
		_, _ = io.WriteString(w, "data: 2\n\n")
	}))
	defer srv.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	r := newRecording(t, base)
	req, seen := observed(post(t, srv.URL, "{}"))
	resp, err := r.RoundTrip(req)
	require.NoError(t, err)
	p := make([]byte, 100)
	n, err := resp.Body.Read(p) // would hang if the recorder waited for the end
	require.NoError(t, err)
	require.Equal(t, "data: 1\n\n", string(p[:n]))
	close(release)
	require.Equal(t, []string{"data: 2\n\n"}, readAll(t, resp.Body))
	require.NoError(t, resp.Body.Close())
	require.Len(t, *seen, 1)
	x := (*seen)[0]
	require.Positive(t, x.FirstByte)
	require.GreaterOrEqual(t, x.Duration-x.FirstByte, gap)
	require.Zero(t, x.Duration%time.Microsecond)
	require.Zero(t, x.FirstByte%time.Microsecond)
}

func TestEqualRequestsReplayInOrder(t *testing.T) {
	n := 0
	r := newRecording(t, answer(func(*http.Request) (*http.Response, error) {
		n++
		return says(strings.Repeat("x", n))(nil)
	}))
	for range 3 {
		ask(t, r, post(t, "https://api.test/", `{"a":1,"b":2}`))
	}
	back := saved(t, r)
	require.Equal(t, 3, back.Leftover())
	for i, body := range []string{`{"a":1,"b":2}`, `{"b": 2, "a": 1}`, "{\n\"a\":1,\"\\u0062\":2}"} {
		_, got := ask(t, back, post(t, "https://api.test/", body))
		require.Equal(t, strings.Repeat("x", i+1), strings.Join(got, ""))
		require.Equal(t, 2-i, back.Leftover())
	}
	_, err := back.RoundTrip(post(t, "https://api.test/", `{"a":1,"b":2}`))
	var miss *MissError
	require.ErrorAs(t, err, &miss)
	require.Equal(t, []string{"all 3 recordings of this request were already used"}, miss.Diff)
	require.Equal(t, 2, miss.Nearest)
}

func TestReplayOfABodyClosedEarly(t *testing.T) {
	r := newRecording(t, says("one", "two", "three"))
	resp, err := r.RoundTrip(post(t, "https://api.test/", "{}"))
	require.NoError(t, err)
	p := make([]byte, 10)
	for range 2 {
		_, err = resp.Body.Read(p)
		require.NoError(t, err)
	}
	require.NoError(t, resp.Body.Close())

	back := saved(t, r)
	resp, err = back.RoundTrip(post(t, "https://api.test/", "{}"))
	require.NoError(t, err)
	require.Equal(t, int64(-1), resp.ContentLength)
	got, err := io.ReadAll(resp.Body)
	require.Equal(t, "onetwo", string(got))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.ErrorContains(t, err, "t/1.yaml: interaction 0 was closed here")
	require.NoError(t, resp.Body.Close())
	_, err = resp.Body.Read(p)
	require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
}

func TestBodyClosedAtItsAnnouncedLengthIsComplete(t *testing.T) {
	r := newRecording(t, answer(func(*http.Request) (*http.Response, error) {
		resp, err := says("abc")(nil)
		resp.ContentLength = 3
		return resp, err
	}))
	resp, err := r.RoundTrip(post(t, "https://api.test/", "{}"))
	require.NoError(t, err)
	_, err = resp.Body.Read(make([]byte, 3))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	_, got := ask(t, saved(t, r), post(t, "https://api.test/", "{}"))
	require.Equal(t, []string{"abc"}, got)
}

func TestEveryExchangeIsReportedOnce(t *testing.T) {
	broken := errors.New("broken")
	failing := answer(func(*http.Request) (*http.Response, error) { return nil, broken })
	halfway := answer(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: &chunkBody{chunks: []string{"a"}, end: broken}}, nil
	})
	cases := []struct {
		name          string
		mode          Mode
		base          answer
		index, status int
	}{
		{"record", Record, says("a"), 0, 200},
		{"live", Live, says("a"), -1, 200},
		{"record, transport fails", Record, failing, 0, 0},
		{"live, transport fails", Live, failing, -1, 0},
		{"record, body fails", Record, halfway, 0, 200},
		{"live, body fails", Live, halfway, -1, 200},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, err := New(Options{Mode: c.mode, Dir: t.TempDir(), Path: "a.yaml", Base: c.base, Now: ticker(time.Millisecond)})
			require.NoError(t, err)
			req, seen := observed(post(t, "https://api.test/", "{}"))
			if resp, err := r.RoundTrip(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_, err = resp.Body.Read(make([]byte, 1))
				require.Error(t, err)
				require.NoError(t, resp.Body.Close())
				require.NoError(t, resp.Body.Close())
			}
			require.Len(t, *seen, 1)
			x := (*seen)[0]
			require.Equal(t, c.index, x.Index)
			require.Equal(t, c.status, x.Status)
			require.Equal(t, canonical.Digest("POST", "https://api.test/", "{}"), x.Digest)
			require.Positive(t, x.Duration)
			require.False(t, x.Replayed)
		})
	}
}

func TestLiveStoresNothing(t *testing.T) {
	r, err := New(Options{Mode: Live, Base: says("a")})
	require.NoError(t, err)
	_, got := ask(t, r, post(t, "https://api.test/", "{}"))
	require.Equal(t, []string{"a"}, got)
	require.NoError(t, r.Save())
	require.Empty(t, r.Digest())
	require.Zero(t, r.Leftover())
}

func TestTheCallersRequestIsNotChanged(t *testing.T) {
	for _, mode := range []Mode{Record, Live} {
		t.Run(string(mode), func(t *testing.T) {
			var sent *http.Request
			var body string
			base := answer(func(req *http.Request) (*http.Response, error) { return says("ok")(req) })
			spy := testkit.Transport(func(req *http.Request) (*http.Response, error) {
				sent = req
				b, _ := io.ReadAll(req.Body)
				body = string(b)
				again, err := req.GetBody()
				require.NoError(t, err)
				b, _ = io.ReadAll(again)
				require.Equal(t, body, string(b), "a transport may rewind the body")
				return base(req)
			})
			r, err := New(Options{Mode: mode, Dir: t.TempDir(), Path: "a.yaml", Base: spy})
			require.NoError(t, err)
			req, _ := observed(post(t, "https://api.test/?key=0123456789", `{"a":1}`))
			req.Header.Set("Authorization", "Bearer x")
			before := req.Clone(context.Background())
			original := req.Body
			resp, _ := ask(t, r, req)
			require.Equal(t, before.Header, req.Header)
			require.Equal(t, before.URL, req.URL)
			require.Same(t, req, resp.Request)
			require.True(t, original == req.Body, "the body is still the caller's")
			require.NotSame(t, req, sent)
			require.Equal(t, `{"a":1}`, body)
			require.Equal(t, "Bearer x", sent.Header.Get("Authorization"), "what is sent is whole")
			require.Equal(t, "key=0123456789", sent.URL.RawQuery)
		})
	}
}

func TestReplayStopsWithItsContext(t *testing.T) {
	r := newRecording(t, says("a"))
	ask(t, r, post(t, "https://api.test/", "{}"))
	back := saved(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := back.RoundTrip(post(t, "https://api.test/", "{}").WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, back.Leftover())
}

func TestNewRefusesBadOptions(t *testing.T) {
	dir := t.TempDir()
	cases := map[string]struct {
		o    Options
		text string
	}{
		"mode":              {Options{Mode: "rewind", Dir: dir, Path: "a"}, `unknown mode "rewind"`},
		"no path":           {Options{Dir: dir}, `cassette path ""`},
		"path climbs":       {Options{Mode: Record, Dir: dir, Path: "../a"}, `cassette path "../a"`},
		"absolute path":     {Options{Mode: Record, Dir: dir, Path: "/etc/passwd"}, `cassette path "/etc/passwd"`},
		"nowhere to write":  {Options{Mode: Record, Path: "a"}, "no folder to write to"},
		"nowhere to read":   {Options{Path: "a"}, "no folder to read from"},
		"a folder, no file": {Options{Dir: dir, Path: "sub"}, "read cassette sub"},
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.o)
			require.ErrorContains(t, err, c.text)
		})
	}
}
