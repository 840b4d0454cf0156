package cassette

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/internal/canonical"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// prose returns about n bytes of words, as a model would write them.
func prose(rng *rand.Rand, words []string, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[int(float64(len(words))*rng.Float64()*rng.Float64()*rng.Float64())] + " ")
	}
	return b.String()[:n]
}

// talks returns n cassettes of 6 exchanges of one candidate, with bodies of 4 KB. The first half
// of the prompt is the same in all of them.
func talks(n int) fstest.MapFS {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3000)
	for i := range words {
		b := make([]byte, 2+rng.IntN(8))
		for j := range b {
			b[j] = byte('a' + rng.IntN(26))
		}
		words[i] = string(b)
	}
	prompt := prose(rng, words, 2000)
	files := fstest.MapFS{}
	for i := range n {
		t := &Data{Header: Header{Candidate: "c", Task: fmt.Sprintf("T%04d", i), Trial: 1}}
		for range 6 {
			it := Interaction{FirstByte: 400 * time.Millisecond}
			it.Request.Method, it.Request.URL = http.MethodPost, "https://api.test/v1/chat"
			it.Request.Body = fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}]}`, prompt, prose(rng, words, 2000))
			it.Request.Headers = http.Header{"Content-Type": {"application/json"}}
			it.Response.Status, it.Response.Code = "200 OK", http.StatusOK
			it.Response.Headers = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {fmt.Sprint(rng.Uint64())}}
			it.Response.Body = fmt.Sprintf(`{"id":"%d","choices":[{"message":{"role":"assistant","content":"%s"}}]}`, rng.Uint64(), prose(rng, words, 3900))
			it.Response.Duration = time.Second
			it.Reads = []BodyRead{{1000, 400_000}, {len(it.Response.Body) - 1000, 600_000}}
			it.Digest = canonical.Digest(it.Request.Method, it.Request.URL, it.Request.Body)
			t.Interactions = append(t.Interactions, it)
		}
		files[fmt.Sprintf("c/T%04d/1.yaml", i)] = &fstest.MapFile{Data: Encode(t)}
	}
	return files
}

type jsonInteraction struct {
	Request  govcr.Request
	Response govcr.Response
	Digest   string
	Frames   [][2]int64
}

// asJSON returns every cassette of a pack as JSON.
func asJSON(b *testing.B, pack *Pack) map[string][]byte {
	texts := map[string][]byte{}
	for name, e := range pack.entries {
		t, err := pack.read(e, true)
		require.NoError(b, err)
		var list []jsonInteraction
		for _, it := range t.Interactions {
			j := jsonInteraction{Request: it.Request, Response: it.Response, Digest: it.Digest}
			for _, f := range it.Reads {
				j.Frames = append(j.Frames, [2]int64{int64(f.Bytes), f.Micros})
			}
			list = append(list, j)
		}
		texts[name], err = json.Marshal(list)
		require.NoError(b, err)
	}
	return texts
}

// floor does the least work that a replay of each cassette of a pack needs.
func floor(b *testing.B, pack *Pack) func(name string) {
	texts := asJSON(b, pack)
	return func(name string) {
		e := pack.entries[name]
		decoder := pack.plain
		if e.base != nil {
			decoder = e.base.decoder
		}
		require.NoError(b, pack.content(e, decoder, func([]byte) error { return nil }))
		var list []jsonInteraction
		require.NoError(b, json.Unmarshal(texts[name], &list))
	}
}

// BenchmarkLoadPack opens the cassettes of the built-in suite one by one; compare it with
// BenchmarkLoad. The target is reading and decompressing the blocks.
func BenchmarkLoadPack(b *testing.B) {
	names, err := cassettesIn(packable())
	require.NoError(b, err)
	path, sum := packed(b, packable())
	pack := openedPack(b, path)
	for _, from := range []struct {
		name  string
		files fs.FS
	}{{"pack", pack}, {"yaml", packable()}} {
		b.Run(from.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := Load(File{FS: from.files, Path: names[i%len(names)]}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(sum.YAML)/float64(sum.Pack), "yaml/pack")
		})
	}
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p, err := OpenPack(os.DirFS(filepath.Dir(path)), filepath.Base(path))
			if err != nil {
				b.Fatal(err)
			}
			_ = p.Close()
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			e := pack.entries[names[i%len(names)]]
			decoder := pack.plain
			if e.base != nil {
				decoder = e.base.decoder
			}
			require.NoError(b, pack.content(e, decoder, func([]byte) error { return nil }))
		}
	})
}

// prompt is a JSON body of about size bytes.
func prompt(n, size int) string {
	return fmt.Sprintf(`{"model":"m","max_tokens":400,"messages":[{"role":"system","content":"%s"},{"role":"user","content":"turn %d"}]}`,
		strings.Repeat("word\\n ", size/7), n)
}

// asked returns an exchange whose request has about size bytes.
func asked(n, size int, reply string) Interaction {
	it := Interaction{}
	it.Request.Method, it.Request.URL, it.Request.Body = "POST", "https://api.test/v1/chat", prompt(n, size)
	it.Response.Status, it.Response.Code, it.Response.Body = "200 OK", 200, reply
	it.adopt()
	return it
}

// BenchmarkScanOfARecording measures the part of Save that searches for credentials. It takes
// about a quarter of Save on a file system in memory, and 5 % of recording an episode from a
// server without latency. The target is reading the YAML back, which Save also does.
func BenchmarkScanOfARecording(b *testing.B) {
	t := &Data{Header: Header{Task: "t"}}
	for i := range 8 {
		t.Interactions = append(t.Interactions, asked(i, 4000, strings.Repeat("data: {\"delta\":\""+strings.Repeat("y", 500)+"\"}\n\n", 8)))
	}
	data := Encode(t)
	s := secrets.New("canary-0-0123456789", "canary-1-0123456789", "canary-2-0123456789")
	o := File{Path: "t/1.yaml", Secrets: s}
	b.Run("scan", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := Scan(o, t); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("save", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		f := File{Dir: b.TempDir(), Path: "1.yaml"}
		for b.Loop() {
			data, err := Seal(o, t)
			if err != nil {
				b.Fatal(err)
			}
			if err := f.Write(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
