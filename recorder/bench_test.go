package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"
	vcr "github.com/dnaeon/go-vcr/v2/recorder"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/internal/canonical"
)

// request returns the JSON body of about size bytes that turn n would send.
func request(n, size int) string {
	return fmt.Sprintf(`{"model":"m","max_tokens":400,"messages":[{"role":"system","content":"%s"},{"role":"user","content":"turn %d"}]}`,
		strings.Repeat("word\\n ", size/7), n)
}

// recorded returns a cassette file of n exchanges of about size bytes each.
func recorded(b testing.TB, n, size int) []byte {
	b.Helper()
	turn := 0
	r := newRecording(b, answer(func(*http.Request) (*http.Response, error) {
		turn++
		var chunks []string
		for i := range 8 {
			chunks = append(chunks, fmt.Sprintf("data: {\"turn\":%d,\"delta\":\"%s\"}\n\n", turn, strings.Repeat("y", size/16+i)))
		}
		return says(chunks...)(nil)
	}))
	for i := range n {
		ask(b, r, post(b, "https://api.test/v1/chat", request(i, size/2)))
	}
	require.NoError(b, r.Save())
	data, err := os.ReadFile(cassetteFile(r))
	require.NoError(b, err)
	return data
}

// BenchmarkLoad opens a cassette of 4 exchanges and 6 KB. The target is 40 µs, and a fifth of
// the time of go-vcr in the same run.
func BenchmarkLoad(b *testing.B) {
	data := recorded(b, 4, 700)
	name := filepath.Join(b.TempDir(), "c")
	require.NoError(b, os.WriteFile(name+".yaml", data, 0o644))
	o := Options{FS: os.DirFS(filepath.Dir(name)), Path: "c.yaml"}
	b.Run("cupel", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := New(o); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("go-vcr", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := govcr.Load(name); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMatch finds one request among n recordings, next to go-vcr's search. The target is
// the same time from 10 to 10,000 recordings: 0.2 µs if the bytes equal the recorded ones, 8 µs
// if the JSON is formatted differently and has to be normalised.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		t := &cassette.Data{}
		for i := range n {
			it := cassette.Interaction{}
			it.Request.Method, it.Request.URL, it.Request.Body = "POST", "https://api.test/", request(i, 700)
			it.Digest = canonical.Digest("POST", "https://api.test/", it.Request.Body)
			t.Interactions = append(t.Interactions, it)
		}
		d := newRecordingIndex(t)
		body := request(n/2, 700)
		for name, body := range map[string]string{"as recorded": body, "reordered": " " + body} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if d.find(cassette.Request{Method: "POST", URL: "https://api.test/", Body: body}) == nil {
						b.Fatal("no match")
					}
				}
			})
		}
		c := govcr.New("")
		for _, it := range t.Interactions {
			c.AddInteraction(&govcr.Interaction{Request: it.Request, Response: it.Response})
		}
		c.ReplayableInteractions, c.Matcher = true, vcrMatcher
		req := post(b, "https://api.test/", body)
		b.Run(fmt.Sprintf("go-vcr/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.GetInteraction(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// vcrMatcher compares bodies as go-vcr's documentation recommends, because its default matcher
// ignores them.
func vcrMatcher(r *http.Request, i govcr.Request) bool {
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Body); err != nil {
		return false
	}
	r.Body = io.NopCloser(&b)
	return govcr.DefaultMatcher(r, i) && (b.String() == "" || b.String() == i.Body)
}

// exchange makes one request and reads the answer to its end.
func exchange(b *testing.B, rt http.RoundTripper, url, body string, p []byte) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	for err == nil {
		_, err = resp.Body.Read(p)
	}
	if !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
	_ = resp.Body.Close()
}

// BenchmarkReplayedExchange makes a request and reads the reply, next to go-vcr's recorder on
// the same file. The target is 4 µs.
func BenchmarkReplayedExchange(b *testing.B) {
	data := recorded(b, 4, 700)
	body := request(0, 350)
	p := make([]byte, 4096)
	b.Run("cupel", func(b *testing.B) {
		r, err := New(Options{FS: fstest.MapFS{"c.yaml": &fstest.MapFile{Data: data}}, Path: "c.yaml"})
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			exchange(b, r, "https://api.test/v1/chat", body, p)
			r.index.byDigest[r.index.data.Interactions[0].Digest].next = 0
		}
	})
	b.Run("go-vcr", func(b *testing.B) {
		name := filepath.Join(b.TempDir(), "c")
		require.NoError(b, os.WriteFile(name+".yaml", data, 0o644))
		r, err := vcr.NewAsMode(name, vcr.ModeReplaying, nil)
		require.NoError(b, err)
		r.SkipRequestLatency = true
		r.SetReplayableInteractions(true)
		r.SetMatcher(vcrMatcher)
		b.ReportAllocs()
		for b.Loop() {
			exchange(b, r, "https://api.test/v1/chat", body, p)
		}
	})
}

// BenchmarkRecordedExchange measures what recording adds to an exchange without a network, next
// to go-vcr's recorder, which writes to disk only at its end. The target is the bare exchange,
// a synced append of as many bytes, and 60 µs to search for credentials and encode the record.
func BenchmarkRecordedExchange(b *testing.B) {
	const url = "https://api.test/v1/chat"
	body := request(0, 350)
	chunk := "data: " + strings.Repeat("y", 50) + "\n\n"
	base := says(chunk, chunk, chunk, chunk, chunk, chunk, chunk, chunk)
	p := make([]byte, 4096)
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			exchange(b, base, url, body, p)
		}
	})
	b.Run("journaled", func(b *testing.B) {
		r := newRecording(b, base)
		b.ReportAllocs()
		for b.Loop() {
			exchange(b, r, url, body, p)
			r.recordings = r.recordings[:0]
		}
	})
	b.Run("disk", func(b *testing.B) {
		r := newRecording(b, base)
		exchange(b, r, url, body, p)
		line, err := os.ReadFile(journalFile(r.o))
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			if err := r.journal.write(r.o, line); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("go-vcr", func(b *testing.B) {
		r, err := vcr.NewAsMode(filepath.Join(b.TempDir(), "c"), vcr.ModeRecording, base)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			exchange(b, r, url, body, p)
		}
	})
}

// BenchmarkFirstByte measures the median time to the first byte of a stream that ends 5 ms
// later, on loopback. The target is the time without a recorder.
func BenchmarkFirstByte(b *testing.B) {
	url := lateServer(b, 5*time.Millisecond)
	base := &http.Transport{}
	b.Cleanup(base.CloseIdleConnections)
	theirs, err := vcr.NewAsMode(filepath.Join(b.TempDir(), "c"), vcr.ModeRecording, base)
	require.NoError(b, err)
	for _, c := range []struct {
		name string
		rt   http.RoundTripper
	}{{"direct", base}, {"cupel", newRecording(b, base)}, {"go-vcr", theirs}} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				took = append(took, firstByte(b, c.rt, url))
			}
			b.ReportMetric(float64(median(took).Microseconds()), "µs-to-first-byte")
		})
	}
}

// BenchmarkSave writes a cassette of 4 exchanges. The target is the time of two fsyncs.
func BenchmarkSave(b *testing.B) {
	r := newRecording(b, says("data: {}\n\n", "data: [DONE]\n\n"))
	for i := range 4 {
		ask(b, r, post(b, "https://api.test/v1/chat", request(i, 350)))
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Save(); err != nil {
			b.Fatal(err)
		}
	}
}
