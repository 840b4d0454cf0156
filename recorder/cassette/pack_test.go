package cassette

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder/internal/canonical"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
)

// packable returns the cassettes of the built-in suite.
func packable() fs.FS { return os.DirFS(filepath.Join("..", "..", "goldens", "counts", "cassettes")) }

// rich returns cassettes that use every field.
func rich(t testing.TB) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{"README.md": {Data: []byte("no cassette")}, "a/.x.yaml": {Data: []byte("left behind")}}
	for _, name := range []string{"a/T1/1.yaml", "a/T1/2.yaml", "a-b/T1/1.yaml", "a/T2/1.yaml", "top.yaml"} {
		c := sample()
		c.Header.Task, c.Header.Trial = name, len(files)
		for range 3 {
			it := Interaction{Failure: "connection reset", TimedOut: true, FirstByte: 5 * time.Microsecond}
			it.Request.Method, it.Request.URL, it.Request.Body = "POST", "https://api.test/"+name, prompt(len(files), 300)
			it.Request.Headers = http.Header{"Accept": {"a", "b"}}
			it.Response.Status, it.Response.Code, it.Response.Headers = "200 OK", 200, http.Header{}
			it.Response.Body, it.Response.Duration = "\xff\x00", 1500*time.Nanosecond
			it.Reads = []BodyRead{{1, 5}, {1, 0}}
			it.Digest = canonical.Digest("POST", it.Request.URL, it.Request.Body)
			c.Interactions = append(c.Interactions, it)
		}
		early := c.Interactions[len(c.Interactions)-1]
		early.Failure, early.TimedOut, early.ClosedEarly = "", false, true
		c.Interactions = append(c.Interactions, early)
		files[name] = &fstest.MapFile{Data: Encode(c)}
	}
	return files
}

func packed(t testing.TB, files fs.FS) (string, Packed) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cassettes.pack")
	sum, err := WritePack(path, files)
	require.NoError(t, err)
	return path, sum
}

func openedPack(t testing.TB, path string) *Pack {
	t.Helper()
	p, err := OpenPack(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func TestPackRoundTrip(t *testing.T) {
	for name, files := range map[string]fs.FS{"shipped": packable(), "rich": rich(t)} {
		t.Run(name, func(t *testing.T) {
			path, sum := packed(t, files)
			p := openedPack(t, path)
			names, err := cassettesIn(files)
			require.NoError(t, err)
			require.Equal(t, len(names), p.Len())
			require.Equal(t, len(names), sum.Cassettes)
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, info.Size(), sum.Pack)
			size := int64(0)
			for _, name := range names {
				want, err := fs.ReadFile(files, name)
				require.NoError(t, err)
				size += int64(len(want))
				got, err := fs.ReadFile(p, name)
				require.NoError(t, err)
				require.Equal(t, string(want), string(got))

				fromYAML, err := Load(File{FS: files, Path: name})
				require.NoError(t, err)
				fromPack, err := Load(File{FS: p, Path: name})
				require.NoError(t, err)
				for i := range fromYAML.Interactions { // replay does not use them
					fromYAML.Interactions[i].Request.Headers = nil
				}
				require.Equal(t, fromYAML, fromPack, "the recorded, digest and header included")
				digest, err := FileDigest(files, name)
				require.NoError(t, err)
				packDigest, err := FileDigest(p, name)
				require.NoError(t, err)
				require.Equal(t, fromYAML.Digest, digest)
				require.Equal(t, digest, packDigest)
			}
			require.Equal(t, size, sum.YAML)
		})
	}
}

func TestPackIsAFileSystem(t *testing.T) {
	p := openedPack(t, first(packed(t, rich(t))))
	f, err := p.Open("a/T1/2.yaml")
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	require.Equal(t, "2.yaml", info.Name())
	require.Equal(t, fs.FileMode(0o444), info.Mode())
	require.True(t, info.ModTime().IsZero() && !info.IsDir() && info.Sys() == nil)
	data, err := fs.ReadFile(p, "a/T1/2.yaml")
	require.NoError(t, err)
	require.Equal(t, int64(len(data)), info.Size())
	require.NoError(t, f.Close())
	for _, name := range []string{"a", ".", "", "../a", "a/T1/3.yaml", "README.md", "a/.x.yaml"} {
		_, err := p.Open(name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
		_, err = FileDigest(p, name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
}

func first(path string, _ Packed) string { return path }

// The bytes of a pack do not depend on the order in which the file system lists files.
type shuffled struct{ fs.FS }

func (s shuffled) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(s.FS, name)
	slices.Reverse(list)
	return list, err
}

func TestPackIsDeterministic(t *testing.T) {
	var want []byte
	for i, files := range []fs.FS{packable(), shuffled{packable()}, packable()}[:testkit.SlowN(2, 3)] {
		path, sizes := packed(t, files)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		if i == 0 {
			want = got
		}
		require.True(t, bytes.Equal(want, got), "pack %d differs", i)
		require.Less(t, 15*sizes.Pack, sizes.YAML, "at most a fifteenth of the YAML's size")
	}
}

func TestPackIsSafeForConcurrentUse(t *testing.T) {
	p := openedPack(t, first(packed(t, rich(t))))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				for name, e := range p.entries {
					got, err := p.read(e, false)
					if err != nil || got.Header.Task != name {
						t.Errorf("%s: %v", name, err)
						return
					}
					got.Header.Digests["prompt"] = "mine" // a copy of this reader
				}
			}
		})
	}
	wg.Wait()
	got, err := p.read(p.entries["top.yaml"], false)
	require.NoError(t, err)
	require.NotEqual(t, "mine", got.Header.Digests["prompt"])
}

// readAllOf opens a pack and reads every cassette, as a replay would.
func readAllOf(data []byte) error {
	p, err := readPack("x.pack", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, e := range p.entries {
		if _, err := p.read(e, false); err != nil {
			return err
		}
	}
	return nil
}

func small(t testing.TB) []byte {
	t.Helper()
	files := rich(t)
	data, err := os.ReadFile(first(packed(t, fstest.MapFS{"a/1.yaml": files["a/T1/1.yaml"], "a/2.yaml": files["a/T2/1.yaml"]})))
	require.NoError(t, err)
	require.NoError(t, readAllOf(data))
	return data
}

func refused(t *testing.T, err error, what string, args ...any) {
	t.Helper()
	var corrupt *CorruptError
	require.ErrorAs(t, err, &corrupt, what, args)
	require.Contains(t, err.Error(), "x.pack")
	require.Contains(t, err.Error(), "pack the cassettes again")
}

func TestPackRefusesEveryTruncation(t *testing.T) {
	data := small(t)
	for n := range data {
		refused(t, readAllOf(data[:n]), "cut to %d", n)
		if n > 0 && n < 50 {
			refused(t, readAllOf(data[n:]), "without the first %d", n)
			refused(t, readAllOf(append(bytes.Clone(data), data[:n]...)), "with %d more", n)
		}
	}
}

func TestPackRefusesEveryFlippedBit(t *testing.T) {
	data := small(t)
	for bit := range len(data) * 8 {
		data[bit/8] ^= 1 << (bit % 8)
		refused(t, readAllOf(data), "bit %d", bit)
		data[bit/8] ^= 1 << (bit % 8)
	}
}

func TestPackRefusesForeignFiles(t *testing.T) {
	for name, data := range map[string][]byte{
		"nothing": nil, "a cassette": Encode(sample()), "only the ends": []byte(packMagic + strings.Repeat("\x00", 48) + packEnd),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := OpenPack(fstest.MapFS{"x.pack": {Data: data}}, "x.pack")
			refused(t, err, name)
		})
	}
	dir := os.DirFS(t.TempDir())
	_, err := OpenPack(dir, "none.pack")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = OpenPack(dir, ".")
	require.Error(t, err)
	_, err = OpenPack(noReaderAt{small(t)}, "x.pack")
	require.ErrorContains(t, err, "open pack x.pack: its file system cannot read at an offset")
}

// noReaderAt has a file that can only be read from its start.
type noReaderAt struct{ data []byte }

func (n noReaderAt) Open(string) (fs.File, error) {
	return struct{ fs.File }{packFile{bytes.NewReader(n.data), "x.pack"}}, nil
}

// forged returns a pack with the given content and valid checksums.
func forged(t *testing.T, edit func(e *packEntry, content *[]byte)) []byte {
	t.Helper()
	var w packWriter
	w.data(sample())
	content := w.b
	e := packEntry{path: "a/1.yaml", size: len(content)}
	length := e.length
	edit(&e, &content)
	encoder, err := newEncoder(nil)
	require.NoError(t, err)
	block := encoder.EncodeAll(content, nil)
	if e.length == length {
		e.length = int64(len(block))
	}
	e.block = sha256.Sum256(block)
	text := encodeIndex([]packEntry{e})
	index := encoder.EncodeAll(text, nil)
	return slices.Concat([]byte(packMagic), block, index, encodeFooter(index, len(text)))
}

func TestPackBoundsWhatItReads(t *testing.T) {
	require.NoError(t, readAllOf(forged(t, func(*packEntry, *[]byte) {})))
	for name, tt := range map[string]struct {
		edit func(e *packEntry, content *[]byte)
		want string
	}{
		"more than declared": {func(_ *packEntry, c *[]byte) { *c = append(*c, make([]byte, 8<<20)...) }, "inconsistent with the index"},
		"less than declared": {func(e *packEntry, _ *[]byte) { e.size++ }, "inconsistent with the index"},
		"beyond the limit":   {func(e *packEntry, _ *[]byte) { e.size = MaxBytes + 1 }, "larger than a cassette may be"},
		"beyond the file":    {func(e *packEntry, _ *[]byte) { e.length = 1 << 40 }, "larger than a cassette may be"},
		"a gap":              {func(e *packEntry, _ *[]byte) { e.length = 3 }, "index is inconsistent"},
		"its own base":       {func(e *packEntry, _ *[]byte) { e.base = &packBase{} }, "a/1.yaml refers to itself"},
		"outside":            {func(e *packEntry, _ *[]byte) { e.path = "../1.yaml" }, "out of place"},
		"no interactions":    {func(e *packEntry, c *[]byte) { *c, e.size = []byte{0}, 1 }, "no interactions"},
		"many interactions": {func(e *packEntry, c *[]byte) {
			*c = append([]byte{0x91, 0x4e}, make([]byte, 1<<20)...)
			e.size = len(*c)
		}, "is not a cassette"},
		"something behind": {func(e *packEntry, c *[]byte) { *c = append(*c, 0); e.size++ }, "is not a cassette"},
	} {
		t.Run(name, func(t *testing.T) {
			err := readAllOf(forged(t, tt.edit))
			refused(t, err, name)
			require.Contains(t, err.Error(), tt.want)
		})
	}
	footer := encodeFooter(nil, maxIndex+1)
	_, _, err := decodeFooter(footer, 1<<40)
	require.ErrorContains(t, err, "larger than one may be")
}

func TestWritePackRefuses(t *testing.T) {
	whole := Encode(sample())
	foreign := "---\nversion: 1\ninteractions: []\n"
	otherwise := checksum.Append([]byte(strings.Replace(string(whole[:len(whole)-checksum.Size]), "---\n", "--- # by hand\n", 1)))
	for name, tt := range map[string]struct {
		files fs.FS
		want  string
	}{
		"cut":           {fstest.MapFS{"a/1.yaml": {Data: whole[:len(whole)-9]}}, "cassette a/1.yaml: checksum mismatch"},
		"foreign":       {fstest.MapFS{"a/1.yaml": {Data: []byte(foreign)}}, "cassette a/1.yaml: not sealed"},
		"other layout":  {fstest.MapFS{"a/1.yaml": {Data: otherwise}}, "cassette a/1.yaml: it is not laid out as cupel does"},
		"no cassettes":  {fstest.MapFS{"README.md": {}}, "no *.yaml"},
		"no folder":     {os.DirFS(filepath.Join(t.TempDir(), "none")), "find cassettes"},
		"a broken disk": {broken{}, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.pack")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
			_, err := WritePack(path, tt.files)
			require.ErrorContains(t, err, tt.want)
			left, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			require.Len(t, left, 1, "nothing is left behind")
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, "old", string(text))
		})
	}
	_, err := WritePack(filepath.Join(t.TempDir(), "none", "c.pack"), packable())
	require.ErrorIs(t, err, fs.ErrNotExist)
}

type broken struct{}

func (broken) Open(string) (fs.File, error) { return nil, errors.New("broken") }

func FuzzPack(f *testing.F) {
	f.Add(small(f))
	f.Add([]byte(packMagic + packEnd))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := readAllOf(data); err != nil && err.Error() == "" {
			t.Fatal("an error without a word")
		}
	})
}

// FuzzPackTape checks that the reader of a block accepts only what the writer writes.
func FuzzPackTape(f *testing.F) {
	var w packWriter
	w.data(sample())
	f.Add(w.b)
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &packReader{rest: string(data)}
		list := r.interactions()
		if r.bad || r.rest != "" {
			return
		}
		var w packWriter
		w.data(&Data{Interactions: list})
		require.Equal(t, data, w.b)
	})
}

// FuzzPackIndex reads indexes without checking their checksum, because that can be forged.
func FuzzPackIndex(f *testing.F) {
	h := sample().Header
	f.Add(encodeIndex([]packEntry{{path: "a/1", header: h, length: 2}, {path: "a/2", header: h, length: 3}}), int64(len(packMagic)+5))
	f.Fuzz(func(t *testing.T, data []byte, end int64) {
		entries, err := decodeIndex(string(data), end)
		if err != nil {
			return
		}
		for path, e := range entries {
			if !fs.ValidPath(path) || e.offset < int64(len(packMagic)) || e.offset+e.length > end || e.size > MaxBytes {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// measured notes the live heap whenever one of its files is opened.
type measured struct {
	fstest.MapFS
	heap []uint64
}

func (m *measured) Open(name string) (fs.File, error) {
	if filepath.Ext(name) == ".yaml" {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		m.heap = append(m.heap, s.HeapAlloc)
	}
	return m.MapFS.Open(name)
}

// A pack of any number of cassettes needs the memory of a few: none of their text stays.
func TestPackKeepsNoText(t *testing.T) {
	const count, size = 60, 256 << 10
	files := &measured{MapFS: fstest.MapFS{}}
	for i := range count {
		c := sample()
		c.Header.Task, c.Header.Trial = fmt.Sprintf("T%d", i), 1
		it := &c.Interactions[0]
		it.Request.Body = strings.Repeat(fmt.Sprintf("%d ", i+10), size/3)
		it.Digest = canonical.Digest(it.Request.Method, it.Request.URL, it.Request.Body)
		files.MapFS[fmt.Sprintf("a/T%02d/1.yaml", i)] = &fstest.MapFile{Data: Encode(c)}
	}
	packed(t, files)
	require.GreaterOrEqual(t, len(files.heap), count)
	grown := int64(files.heap[len(files.heap)-1]) - int64(files.heap[len(files.heap)-count+9])
	require.Less(t, grown, int64(50*size/4), "of the last 50 cassettes, %d bytes", 50*size)
}
