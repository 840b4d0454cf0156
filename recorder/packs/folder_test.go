package packs

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// sealed is a small cassette that says what.
func sealed(what string) []byte {
	it := cassette.Interaction{}
	it.Request.Method, it.Request.URL, it.Request.Body = "POST", "https://api.test/", "ask "+what
	it.Response.Status, it.Response.Code, it.Response.Body = "200 OK", 200, what
	it.Reads = []cassette.BodyRead{{Bytes: len(what), Micros: 7}}
	it.Digest = it.Raw().Digest()
	return cassette.Encode(&cassette.Data{Header: cassette.Header{Task: what, Recorded: "2026-01-02"}, Interactions: []cassette.Interaction{it}})
}

func opened(t testing.TB, dir string) *Folder {
	t.Helper()
	f, err := OpenDir(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func locked(t testing.TB, dir string) (*Folder, func()) {
	t.Helper()
	f := opened(t, dir)
	unlock, err := f.Lock()
	require.NoError(t, err)
	t.Cleanup(unlock)
	return f, unlock
}

// contents are all files of an archive.
func contents(t testing.TB, a cassette.Archive) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range a.Names() {
		data, err := fs.ReadFile(a, name)
		require.NoError(t, err)
		digest, ok := a.Digest(name)
		require.True(t, ok)
		direct, err := cassette.FileDigest(struct{ fs.FS }{a}, name)
		require.NoError(t, err)
		require.Equal(t, direct, digest)
		loaded, err := a.Load(name)
		require.NoError(t, err)
		require.Equal(t, digest, loaded.Digest)
		all[name] = string(data)
	}
	return all
}

func read(t testing.TB, dir string) map[string]string {
	t.Helper()
	a, err := Open(regular.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	return contents(t, a)
}

func files(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// small makes logs and packs small, so that a few cassettes need several of them.
func small(t testing.TB) {
	t.Helper()
	log, garbage, pack := maxLog, maxGarbage, maxPack
	maxLog, maxGarbage, maxPack = 2_000, 6_000, 3
	t.Cleanup(func() { maxLog, maxGarbage, maxPack = log, garbage, pack })
}

// The model of a folder is a map. Random operations, reopening and compaction change both alike.
func TestFolderIsAMap(t *testing.T) {
	small(t)
	for seed := range testkit.Long(5, 400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			dir := filepath.Join(t.TempDir(), "p")
			want, journals := map[string]string{}, map[string]string{}
			f, unlock := locked(t, dir)
			for step := range 60 {
				name := fmt.Sprintf("c%d/T%d/1.yaml", rng.IntN(2), rng.IntN(4))
				log := name + ".journal"
				text := strings.Repeat(fmt.Sprintf("step %d ", step), rng.IntN(30)+1)
				switch rng.IntN(9) {
				case 0, 1, 2:
					want[name] = string(sealed(text))
					require.NoError(t, f.WriteFile(name, []byte(want[name])))
				case 3, 4:
					size := int64(0)
					if rng.IntN(4) > 0 {
						size = int64(rng.IntN(len(journals[log]) + 1))
					}
					if rng.IntN(3) > 0 {
						size = int64(len(journals[log]))
					}
					journals[log] = journals[log][:size] + text
					require.NoError(t, f.Append(log, size, []byte(text)))
				case 5:
					err := f.Remove(log)
					require.Equal(t, journals[log] == "", errors.Is(err, fs.ErrNotExist), "%v", err)
					delete(journals, log)
				case 6:
					if journals[log] != "" {
						require.NoError(t, f.Rename(log, log+".old"))
						journals[log+".old"] = journals[log]
						delete(journals, log)
					}
				case 7:
					if want[name] != "" && rng.IntN(3) == 0 {
						require.NoError(t, f.Remove(name))
						delete(want, name)
					}
				case 8:
					unlock()
					if rng.IntN(2) == 0 {
						sum, err := f.Compact(rng.IntN(2) == 0)
						require.NoError(t, err)
						require.Equal(t, len(want), sum.Cassettes)
					}
					require.NoError(t, f.Close())
					f, unlock = locked(t, dir)
				}
			}
			check := func(f *Folder) {
				require.Equal(t, want, contents(t, f))
				require.Equal(t, slices.Sorted(maps.Keys(journals)), f.Journals())
				for name, text := range journals {
					got, err := f.ReadFile(name, 1<<20)
					require.NoError(t, err)
					require.Equal(t, text, string(got))
					size, err := f.Size(name)
					require.NoError(t, err)
					require.Equal(t, int64(len(text)), size)
					got, err = f.ReadFile(name, 3)
					require.NoError(t, err)
					require.Equal(t, text[:3], string(got))
				}
			}
			check(f)
			check(opened(t, dir)) // while the other writes, as after a kill
			unlock()
			require.Equal(t, want, read(t, dir))
			_, err := f.Compact(true)
			require.NoError(t, err)
			check(f)
			check(opened(t, dir))
			packs, logs := 0, 0
			for _, name := range files(t, dir) {
				switch filepath.Ext(name) {
				case packExt:
					packs++
				case journalExt:
					logs++
				default:
					require.Fail(t, "left behind", name)
				}
			}
			require.Equal(t, (len(want)+maxPack-1)/maxPack, packs)
			require.Equal(t, len(journals) > 0, logs > 0)
		})
	}
}

// segment is a folder with one segment of three cassettes, and where its records end.
func segment(t testing.TB) (data []byte, ends []int, want map[string]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "p")
	f, unlock := locked(t, dir)
	want = map[string]string{}
	for i, name := range []string{"a/T1/1.yaml", "a/T2/1.yaml", "b/T1/1.yaml"} {
		want[name] = string(sealed(strings.Repeat("x", i+1)))
		require.NoError(t, f.WriteFile(name, []byte(want[name])))
		info, err := os.Stat(filepath.Join(dir, "000001.segment"))
		require.NoError(t, err)
		ends = append(ends, int(info.Size()))
	}
	unlock()
	data, err := os.ReadFile(filepath.Join(dir, "000001.segment"))
	require.NoError(t, err)
	return data, ends, want
}

func folderOf(t testing.TB, dir string, data []byte) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "000001.segment"), data, 0o666))
	return dir
}

// A kill at any byte keeps all cassettes before it, and the folder can be written to again.
func TestSegmentIsCutAnywhere(t *testing.T) {
	data, ends, want := segment(t)
	names := slices.Sorted(maps.Keys(want))
	for end := range len(data) + 1 {
		left := map[string]string{}
		for i, name := range names {
			if ends[i] <= end {
				left[name] = want[name]
			}
		}
		a, err := Open(fstest.MapFS{"p/000001.segment": {Data: data[:end]}}, "p")
		require.NoError(t, err)
		require.Equal(t, left, contents(t, a), "cut at %d", end)
		require.NoError(t, a.Close())
		if end%97 != 0 {
			continue
		}
		dir := folderOf(t, filepath.Join(t.TempDir(), "p"), data[:end])
		f, unlock := locked(t, dir)
		require.NoError(t, f.Damage())
		require.NoError(t, f.WriteFile("z/T1/1.yaml", sealed("z")))
		left["z/T1/1.yaml"] = string(sealed("z"))
		unlock()
		require.Equal(t, left, read(t, dir))
		_, err = f.Compact(false)
		require.NoError(t, err)
		require.Equal(t, left, read(t, dir))
		require.Equal(t, packExt, filepath.Ext(files(t, dir)[0]))
	}
	// Zeros at the end are what a file system leaves at a power failure.
	dir := folderOf(t, filepath.Join(t.TempDir(), "p"), append(slices.Clone(data), make([]byte, 5000)...))
	require.Equal(t, want, read(t, dir))
}

// A flipped bit is found: its cassette is refused or is lost with a message, or it was the last
// one and looks cut off. All others are read as they were written.
func TestBitFlips(t *testing.T) {
	data, ends, want := segment(t)
	names := slices.Sorted(maps.Keys(want))
	bits := testkit.Long(1, 8)
	found, torn, unused := 0, 0, 0
	for at := range data {
		for bit := range bits {
			flipped := slices.Clone(data)
			flipped[at] ^= 1 << ((at + bit) % 8)
			hit := slices.IndexFunc(ends, func(end int) bool { return at < end })
			if at < len(magic) {
				hit = -1
			}
			memory := fstest.MapFS{"p/000001.segment": {Data: flipped}}
			f := &Folder{files: memory, dir: "p"}
			f.files, _ = fs.Sub(memory, "p")
			require.NoError(t, f.load())
			damage := f.Damage()
			_, err := Open(memory, "p")
			require.Equal(t, damage != nil, err != nil)
			if err != nil {
				require.ErrorContains(t, err, "cupel cassette pack --pack")
				require.True(t, errors.As(err, new(*cassette.CorruptError)))
			}
			for i, name := range names {
				got, err := fs.ReadFile(f, name)
				switch {
				case i != hit:
					require.NoError(t, err, "flip at %d, %s", at, name)
					require.Equal(t, want[name], string(got))
				case err == nil: // a bit that the decompressor does not look at
					require.Equal(t, want[name], string(got))
					unused++
				case errors.As(err, new(*cassette.CorruptError)), damage != nil:
					found++
				default:
					require.ErrorIs(t, err, fs.ErrNotExist)
					require.Equal(t, len(names)-1, hit, "only the last record may look cut off")
					torn++
				}
			}
			if at < len(magic) {
				require.Error(t, damage)
			}
			require.NoError(t, f.Close())
		}
	}
	require.Greater(t, found, 20*(torn+unused), "%d found, %d look cut off, %d do not matter", found, torn, unused)
}

// Compact keeps what is intact of a damaged segment, and refuses to drop a cassette whose block
// is damaged.
func TestCompactDamaged(t *testing.T) {
	data, ends, want := segment(t)
	head := slices.Clone(data)
	head[ends[0]+10] ^= 1
	dir := folderOf(t, filepath.Join(t.TempDir(), "p"), head)
	f := opened(t, dir)
	require.ErrorContains(t, f.Damage(), fmt.Sprintf("000001.segment: damaged at byte %d", ends[0]))
	_, err := f.Compact(true)
	require.NoError(t, err)
	require.NoError(t, f.Damage())
	delete(want, "a/T2/1.yaml")
	require.Equal(t, want, read(t, dir))

	block := slices.Clone(data)
	block[ends[1]-3] ^= 1
	dir = folderOf(t, filepath.Join(t.TempDir(), "p"), block)
	f = opened(t, dir)
	_, err = f.Compact(true)
	require.ErrorContains(t, err, "a/T2/1.yaml: in 000001.segment: checksum mismatch")
	require.Equal(t, []string{"000001.segment"}, files(t, dir))
	got, err := os.ReadFile(filepath.Join(dir, "000001.segment"))
	require.NoError(t, err)
	require.Equal(t, block, got)
	unlock, err := f.Lock()
	require.NoError(t, err)
	require.NoError(t, f.WriteFile("a/T2/1.yaml", sealed("again")), "it is recorded again")
	unlock()
	_, err = f.Compact(true)
	require.NoError(t, err)
	require.Equal(t, string(sealed("again")), read(t, dir)["a/T2/1.yaml"])
}

func copied(t testing.TB, from string, keep func(name string) bool) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "p")
	require.NoError(t, os.MkdirAll(to, 0o777))
	for _, name := range files(t, from) {
		if keep == nil || keep(name) {
			data, err := os.ReadFile(filepath.Join(from, name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(to, name), data, 0o666))
		}
	}
	return to
}

// Every state that a kill during a compaction can leave on the disk has the same cassettes: some
// outputs and all inputs, or all outputs and inputs without the first ones.
func TestCompactionIsKilledAnywhere(t *testing.T) {
	small(t)
	dir := filepath.Join(t.TempDir(), "p")
	want := map[string]string{}
	for round := range 3 {
		f, unlock := locked(t, dir)
		for i := range 10 {
			if i%(round+1) == 0 {
				name := fmt.Sprintf("c/T%d/1.yaml", i)
				want[name] = string(sealed(strings.Repeat(fmt.Sprintf("round %d ", round), 100)))
				require.NoError(t, f.WriteFile(name, []byte(want[name])))
			}
		}
		if round == 1 {
			require.NoError(t, f.Remove("c/T1/1.yaml"))
			delete(want, "c/T1/1.yaml")
		}
		unlock()
		if round < 2 {
			_, err := f.Compact(false)
			require.NoError(t, err)
		}
		require.NoError(t, f.Close())
	}
	f, unlock := locked(t, dir)
	require.NoError(t, f.Remove("c/T0/1.yaml"))
	delete(want, "c/T0/1.yaml")
	unlock()
	require.NoError(t, f.Close())
	inputs := files(t, dir)
	require.Greater(t, len(inputs), 3)

	after := copied(t, dir, nil)
	f = opened(t, after)
	_, err := f.Compact(true)
	require.NoError(t, err)
	outputs := slices.DeleteFunc(files(t, after), func(name string) bool { return slices.Contains(inputs, name) })
	require.Greater(t, len(outputs), 1)
	state := func(names ...string) {
		t.Helper()
		dir := copied(t, dir, func(name string) bool { return slices.Contains(names, name) })
		for _, name := range names {
			if slices.Contains(outputs, name) {
				data, err := os.ReadFile(filepath.Join(after, name))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o666))
			}
		}
		require.Equal(t, want, read(t, dir), "%v", names)
		f := opened(t, dir) // what was killed can be done again
		_, err := f.Compact(true)
		require.NoError(t, err)
		require.Equal(t, want, read(t, dir))
	}
	for n := range len(outputs) + 1 {
		state(slices.Concat(inputs, outputs[:n])...)
	}
	replaced := slices.DeleteFunc(slices.Clone(inputs), func(name string) bool { return slices.Contains(files(t, after), name) })
	for n := range len(replaced) + 1 {
		gone := replaced[:n]
		state(slices.DeleteFunc(slices.Concat(inputs, outputs), func(name string) bool { return slices.Contains(gone, name) })...)
	}
}

// Writers and compactors are killed by a signal at random moments. What WriteFile had returned
// for is there, in its last version or a later one.
func TestKilledWriters(t *testing.T) {
	const variable = "CUPEL_TEST_PACKS"
	if dir := os.Getenv(variable); dir != "" {
		maxLog, maxPack = 20_000, 10
		f := opened(t, dir)
		for n := 0; ; n++ {
			unlock, err := f.Lock()
			require.NoError(t, err)
			for i := range 20 {
				require.NoError(t, f.Append(fmt.Sprintf("c/T%d/1.yaml.journal", i), 0, bytes.Repeat([]byte("exchange "), 100)))
				require.NoError(t, f.WriteFile(fmt.Sprintf("c/T%d/1.yaml", i), sealed(strings.Repeat(fmt.Sprintf("%d of %d. ", i, n), 50))))
				fmt.Printf("%d %d\n", i, n)
				require.NoError(t, f.Remove(fmt.Sprintf("c/T%d/1.yaml.journal", i)))
			}
			unlock()
			_, err = f.Compact(n%3 == 0)
			require.NoError(t, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "p")
	rng := rand.New(rand.NewPCG(1, 1))
	for round := range testkit.Long(4, 60) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWriters$")
		cmd.Env = append(os.Environ(), variable+"="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		said := map[int]int{}
		for range 1 + rng.IntN(200) {
			var i, n int
			if _, err := fmt.Fscan(out, &i, &n); err != nil {
				break
			}
			said[i] = n
		}
		require.NoError(t, cmd.Process.Kill())
		rest := map[int]int{} // said before the kill
		for {
			var i, n int
			if _, err := fmt.Fscan(out, &i, &n); err != nil {
				break
			}
			rest[i] = n
		}
		maps.Copy(said, rest)
		require.Error(t, cmd.Wait())
		got := read(t, dir)
		require.NotEmpty(t, said)
		for i, n := range said {
			name := fmt.Sprintf("c/T%d/1.yaml", i)
			this, next := string(sealed(strings.Repeat(fmt.Sprintf("%d of %d. ", i, n), 50))), string(sealed(strings.Repeat(fmt.Sprintf("%d of %d. ", i, n+1), 50)))
			require.Contains(t, []string{this, next}, got[name], "round %d, %s", round, name)
		}
		f := opened(t, dir)
		require.NoError(t, f.Damage())
		require.LessOrEqual(t, len(f.Journals()), 2)
	}
}

// Two processes, or two parts of one, do not write to one folder. Reading needs no lock.
func TestTwoWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	first, unlock := locked(t, dir)
	require.NoError(t, first.WriteFile("a/T/1.yaml", sealed("first")))
	second := opened(t, dir)
	_, err := second.Lock()
	require.ErrorIs(t, err, cassette.ErrLocked)
	_, err = second.Compact(true)
	require.ErrorIs(t, err, cassette.ErrLocked)
	require.ErrorContains(t, second.WriteFile("a/T/1.yaml", sealed("second")), "not locked")
	require.Equal(t, contents(t, first), contents(t, second))
	require.NoError(t, first.WriteFile("a/T/2.yaml", sealed("later")))
	unlock()
	require.ErrorContains(t, first.WriteFile("a/T/1.yaml", sealed("x")), "not locked")
	unlock2, err := second.Lock()
	require.NoError(t, err)
	defer unlock2()
	require.Equal(t, []string{"a/T/1.yaml", "a/T/2.yaml"}, second.Names(), "the lock shows what the other wrote")
}

// Many goroutines write at once, while others read and cassettes are written again.
func TestConcurrentWriters(t *testing.T) {
	small(t)
	dir := filepath.Join(t.TempDir(), "p")
	f, unlock := locked(t, dir)
	var wg sync.WaitGroup
	for lane := range 8 {
		wg.Go(func() {
			for n := range 20 {
				name := fmt.Sprintf("c%d/T%d/1.yaml", lane, n%5)
				for i := range 3 {
					size, _ := f.Size(name + ".journal")
					require.NoError(t, f.Append(name+".journal", size, []byte(fmt.Sprintf("exchange %d of %d\n", i, n))))
				}
				log, err := f.ReadFile(name+".journal", 1<<20)
				require.NoError(t, err)
				require.Equal(t, 3, bytes.Count(log, []byte("\n")))
				require.NoError(t, f.WriteFile(name, sealed(name+fmt.Sprint(n))))
				data, err := f.Load(name)
				require.NoError(t, err)
				require.Equal(t, name+fmt.Sprint(n), data.Header.Task)
				require.NoError(t, f.Remove(name+".journal"))
				for _, other := range f.Names() {
					_, err := f.Load(other)
					require.NoError(t, err)
				}
			}
		})
	}
	wg.Wait()
	require.Empty(t, f.Journals())
	unlock()
	require.Len(t, read(t, dir), 40)
	for _, name := range files(t, dir) {
		require.NotEqual(t, journalExt, filepath.Ext(name), "no journal is left")
	}
}

// What Remove removes is not on the disk any more, because it may have been a credential.
func TestRemovedJournalIsOverwritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	f, unlock := locked(t, dir)
	secret := []byte("7hq2Zp0vKx9Lr4Tn8Wd3")
	require.NoError(t, f.Append("c/T/1.yaml.journal", 0, secret))
	require.NoError(t, f.Append("c/U/1.yaml.journal", 0, []byte("another recording")))
	require.NoError(t, f.Append("c/T/1.yaml.journal", int64(len(secret)), secret))
	unlock() // as after a kill, another process goes on
	f, _ = locked(t, dir)
	onDisk := func() (n int) {
		for _, name := range files(t, dir) {
			data, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			n += bytes.Count(data, secret)
		}
		return n
	}
	require.Positive(t, onDisk(), "short texts are not compressed")
	require.NoError(t, f.Remove("c/T/1.yaml.journal"))
	require.Zero(t, onDisk())
	require.NoError(t, f.Append("c/U/1.yaml.journal", 17, secret))
	require.Equal(t, 1, onDisk())
	require.NoError(t, f.Append("c/U/1.yaml.journal", 17, []byte("!")))
	require.Zero(t, onDisk())
	require.NoError(t, f.Rename("c/U/1.yaml.journal", "c/U/1.yaml.journal.old"))
	got, err := f.ReadFile("c/U/1.yaml.journal.old", 100)
	require.NoError(t, err)
	require.Equal(t, "another recording!", string(got))
	require.Equal(t, []string{"c/U/1.yaml.journal.old"}, opened(t, dir).Journals())
}

// After an error of the disk, what is written later is read, and what was written before.
func TestWriteFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	f, _ := locked(t, dir)
	require.NoError(t, f.WriteFile("a/T/1.yaml", sealed("one")))
	require.NoError(t, f.writer.segments.part.file.Close())
	require.ErrorIs(t, f.WriteFile("a/T/2.yaml", sealed("two")), os.ErrClosed)
	require.NoError(t, f.WriteFile("a/T/3.yaml", sealed("three")))
	require.Equal(t, map[string]string{"a/T/1.yaml": string(sealed("one")), "a/T/3.yaml": string(sealed("three"))}, read(t, dir))
	f.writer.segments.part.close = func() error { return nil }
	f.parts[0].close = func() error { return nil }
	require.Error(t, f.WriteFile("../x.yaml", nil))
	require.ErrorIs(t, f.Append("a/T/1.yaml.journal", 5, nil), io.ErrUnexpectedEOF, "it has no five bytes")
}

func TestNotAPack(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o666))
	_, err := OpenDir(dir)
	require.ErrorContains(t, err, "notes.txt: this folder is not a pack")
	_, err = Open(os.DirFS(dir), "absent")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "000001.pack"), []byte("no pack"), 0o666))
	_, err = OpenDir(dir)
	require.ErrorContains(t, err, "000001.pack")
	f, err := OpenDir(filepath.Join(dir, "new"))
	require.NoError(t, err)
	require.Empty(t, f.Names())
	_, err = f.Load("a/T/1.yaml")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoDirExists(t, filepath.Join(dir, "new"), "reading makes nothing")
	unlock, err := f.Lock()
	require.NoError(t, err)
	unlock()
	require.NoDirExists(t, filepath.Join(dir, "new"), "nor does a lock")
}

// FuzzScan checks that any bytes are read without a panic, and that intact records behind them
// are found.
func FuzzScan(f *testing.F) {
	data, _, _ := segment(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte(mark + strings.Repeat("\xff", 100)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b batch
		b.add(content, "z/T/1.yaml", []byte("intact"))
		all := slices.Concat(data, b.data)
		var last record
		_, err := scan(bytes.NewReader(all), int64(len(all)), func(rec record) {
			last = rec
			_, _ = rec.read(bytes.NewReader(all))
		})
		require.NoError(t, err)
		if int64(len(data)) < int64(len(magic)) {
			return
		}
		if end := last.at + int64(last.stored); last.name != "z/T/1.yaml" {
			require.Greater(t, end, int64(len(data))-int64(len(mark)), "hidden by %s", hex.EncodeToString(data))
		}
	})
}
