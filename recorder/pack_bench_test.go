package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/stretchr/testify/require"
)

// prose returns about n bytes of words, as a model would write them.
func prose(rng *rand.Rand, words []string, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[int(float64(len(words))*rng.Float64()*rng.Float64()*rng.Float64())] + " ")
	}
	return b.String()[:n]
}

// talks are n cassettes of 6 exchanges of one candidate: bodies of 4 KB, of
// which the prompt's first half is the same everywhere.
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
		t := &tape{header: Header{Candidate: "c", Task: fmt.Sprintf("T%04d", i), Trial: 1}}
		for range 6 {
			it := interaction{firstByte: 400 * time.Millisecond}
			it.Request.Method, it.Request.URL = http.MethodPost, "https://api.test/v1/chat"
			it.Request.Body = fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}]}`, prompt, prose(rng, words, 2000))
			it.Request.Headers = http.Header{"Content-Type": {"application/json"}}
			it.Response.Status, it.Response.Code = "200 OK", http.StatusOK
			it.Response.Headers = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {fmt.Sprint(rng.Uint64())}}
			it.Response.Body = fmt.Sprintf(`{"id":"%d","choices":[{"message":{"role":"assistant","content":"%s"}}]}`, rng.Uint64(), prose(rng, words, 3900))
			it.Response.Duration = time.Second
			it.frames = []frame{{1000, 400_000}, {len(it.Response.Body) - 1000, 600_000}}
			it.digest = requestDigest(it.Request.Method, it.Request.URL, it.Request.Body)
			t.interactions = append(t.interactions, it)
		}
		files[fmt.Sprintf("c/T%04d/1.yaml", i)] = &fstest.MapFile{Data: encode(t)}
	}
	return files
}

// replayAll replays a whole cassette: opens it and asks all it holds.
func replayAll(b *testing.B, files fs.FS, name string, p []byte) {
	r, err := New(Options{FS: files, Path: name})
	if err != nil {
		b.Fatal(err)
	}
	for i := range r.deck.tape.interactions {
		req, _ := http.NewRequest(http.MethodPost, "https://api.test/v1/chat", strings.NewReader(r.deck.tape.interactions[i].Request.Body))
		resp, err := r.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = resp.Body.Read(p)
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
	if r.Leftover() != 0 {
		b.Fatal("left over")
	}
}

// BenchmarkReplayPack replays 1,000 cassettes of 6 exchanges, one after the
// other, from a pack and from YAML files. Floor, measured beside them: the same
// blocks read from the pack, checked and inflated, and the same tapes decoded
// by encoding/json. From a pack a replay is to stay within 3 times that.
func BenchmarkReplayPack(b *testing.B) {
	files := talks(1000)
	dir := b.TempDir()
	require.NoError(b, os.CopyFS(dir, files))
	path, sum := packed(b, files)
	pack := openedPack(b, path)
	names, err := cassettesIn(files)
	require.NoError(b, err)
	buf := make([]byte, 32<<10)
	run := func(name string, replay func(name string)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, name := range names {
					replay(name)
				}
			}
			b.ReportMetric(float64(b.N*len(names)*6)/b.Elapsed().Seconds(), "turns/s")
			b.ReportMetric(float64(sum.YAML)/float64(sum.Pack), "yaml/pack")
		})
	}
	run("pack", func(name string) { replayAll(b, pack, name, buf) })
	run("yaml", func(name string) { replayAll(b, os.DirFS(dir), name, buf) })
	texts := asJSON(b, pack)
	run("floor", func(name string) {
		e := pack.entries[name]
		decoder := pack.plain
		if e.base != nil {
			decoder = e.base.decoder
		}
		require.NoError(b, pack.content(e, decoder, func([]byte) error { return nil }))
		var list []jsonInteraction
		require.NoError(b, json.Unmarshal(texts[name], &list))
	})
}

type jsonInteraction struct {
	Request  cassette.Request
	Response cassette.Response
	Digest   string
	Frames   [][2]int64
}

// asJSON returns every cassette of a pack as JSON.
func asJSON(b *testing.B, pack *Pack) map[string][]byte {
	texts := map[string][]byte{}
	for name, e := range pack.entries {
		t, err := pack.tape(e, true)
		require.NoError(b, err)
		var list []jsonInteraction
		for _, it := range t.interactions {
			j := jsonInteraction{Request: it.Request, Response: it.Response, Digest: it.digest}
			for _, f := range it.frames {
				j.Frames = append(j.Frames, [2]int64{int64(f.bytes), f.micros})
			}
			list = append(list, j)
		}
		texts[name], err = json.Marshal(list)
		require.NoError(b, err)
	}
	return texts
}

// BenchmarkLoadPack opens the cassettes of the built-in suite one by one, to be
// compared with BenchmarkLoad. Floor: reading and inflating the blocks.
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
				if _, err := New(Options{FS: from.files, Path: names[i%len(names)]}); err != nil {
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
