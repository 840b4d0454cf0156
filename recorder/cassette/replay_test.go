package cassette_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// bodies returns the bodies of the requests of a cassette of Talks.
func bodies(t testing.TB, files fs.FS, name string) (list []string) {
	t.Helper()
	data, err := cassette.Load(cassette.File{FS: files, Path: name})
	require.NoError(t, err)
	for i := range data.Interactions {
		list = append(list, data.Interactions[i].Request.Body)
	}
	return list
}

// replay opens a cassette, makes all its requests and returns the number of reads.
func replay(t testing.TB, files fs.FS, name string, bodies []string, p []byte) (reads int) {
	r, err := recorder.New(recorder.Options{FS: files, Path: name})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		req, _ := http.NewRequest(http.MethodPost, "https://api.test/v1/chat", strings.NewReader(body))
		resp, err := r.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		for ; err == nil; reads++ {
			_, err = resp.Body.Read(p)
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	if r.Leftover() != 0 {
		t.Fatal("left over")
	}
	return reads
}

func TestPackReplays(t *testing.T) {
	pack, _ := cassette.PackOf(t, cassette.Talks(2))
	const name = "c/T0001/1.yaml"
	require.Equal(t, 6*3, replay(t, pack, name, bodies(t, pack, name), make([]byte, 32<<10)), "read by read, and the end")

	_, err := recorder.New(recorder.Options{FS: pack, Path: "t/2.yaml", Command: "record it"})
	require.Equal(t, &cassette.MissingError{Path: "t/2.yaml", Command: "record it"}, err)
}

// BenchmarkReplayPack replays 1,000 cassettes of 6 exchanges, one after the other, from a pack and
// from YAML files. It also measures a lower bound: reading, verifying and decompressing the same
// blocks, and decoding the same cassettes with encoding/json. The target for a pack is 3 times
// that.
func BenchmarkReplayPack(b *testing.B) {
	files := cassette.Talks(1000)
	dir := b.TempDir()
	require.NoError(b, os.CopyFS(dir, files))
	pack, sum := cassette.PackOf(b, files)
	names := pack.Names()
	asked := map[string][]string{}
	for _, name := range names {
		asked[name] = bodies(b, pack, name)
	}
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
	run("pack", func(name string) { replay(b, pack, name, asked[name], buf) })
	run("yaml", func(name string) { replay(b, os.DirFS(dir), name, asked[name], buf) })
	run("floor", cassette.Floor(b, pack))
}
