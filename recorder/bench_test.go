package recorder

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/stretchr/testify/require"
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

// BenchmarkLoad opens a cassette of 4 exchanges and 6 KB. Floor: 40 µs,
// and a fifth of what go-vcr takes in the same run.
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
			if _, err := cassette.Load(name); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMatch finds one request among n recordings. Floor: flat from 10 to
// 10,000: 0.2 µs where the bytes are as recorded; 8 µs where the JSON is
// written otherwise and has to be put in order.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		t := &tape{}
		for i := range n {
			it := interaction{}
			it.Request.Method, it.Request.URL, it.Request.Body = "POST", "https://api.test/", request(i, 700)
			it.digest = requestDigest("POST", "https://api.test/", it.Request.Body)
			t.interactions = append(t.interactions, it)
		}
		d := newDeck(t)
		body := request(n/2, 700)
		for name, body := range map[string]string{"as recorded": body, "reordered": " " + body} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if d.find(rawRequest{"POST", "https://api.test/", body}) == nil {
						b.Fatal("no match")
					}
				}
			})
		}
	}
}

// BenchmarkReplayedExchange is a request made, answered and read to its end.
// Floor: 4 µs.
func BenchmarkReplayedExchange(b *testing.B) {
	files := fstest.MapFS{"c.yaml": &fstest.MapFile{Data: recorded(b, 4, 700)}}
	r, err := New(Options{FS: files, Path: "c.yaml"})
	require.NoError(b, err)
	body := request(0, 350)
	p := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		req, _ := http.NewRequest(http.MethodPost, "https://api.test/v1/chat", strings.NewReader(body))
		resp, err := r.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = resp.Body.Read(p)
		}
		_ = resp.Body.Close()
		r.deck.byDigest[r.deck.tape.interactions[0].digest].next = 0
	}
}

// BenchmarkRecordedExchange is what recording adds to an exchange without a
// network. Floor: 12 µs.
func BenchmarkRecordedExchange(b *testing.B) {
	body := request(0, 350)
	chunk := "data: " + strings.Repeat("y", 50) + "\n\n"
	base := says(chunk, chunk, chunk, chunk, chunk, chunk, chunk, chunk)
	for _, mode := range []string{"bare", "recording"} {
		b.Run(mode, func(b *testing.B) {
			r := newRecording(b, base)
			var rt http.RoundTripper = r
			if mode == "bare" {
				rt = base
			}
			p := make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				req, _ := http.NewRequest(http.MethodPost, "https://api.test/v1/chat", strings.NewReader(body))
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
				r.takes = r.takes[:0]
			}
		})
	}
}

// BenchmarkSave writes a cassette of 4 exchanges. Floor: the disk's own time
// for two fsyncs.
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
