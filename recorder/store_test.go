package recorder

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/packs"
)

// stores opens each kind of Store in a folder, locked. Opened again, a store is what another
// process finds after a kill.
var stores = map[string]func(t *testing.T, dir string) (s Store, unlock func()){
	"folder": func(t *testing.T, dir string) (Store, func()) {
		t.Helper()
		unlock, err := Dir(dir).Lock()
		require.NoError(t, err)
		return Dir(dir), unlock
	},
	"pack": func(t *testing.T, dir string) (Store, func()) {
		t.Helper()
		f, err := packs.OpenDir(dir)
		require.NoError(t, err)
		unlock, err := f.Lock()
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, f.Close()) })
		return f, unlock
	},
}

func eachStore(t *testing.T, f func(t *testing.T, open func() (Store, func()), dir string)) {
	t.Helper()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			f(t, func() (Store, func()) { return open(t, dir) }, dir)
		})
	}
}

func readStore(t *testing.T, s Store, name string) string {
	t.Helper()
	data, err := s.ReadFile(name, 1<<20)
	require.NoError(t, err)
	return string(data)
}

// inflated is onDisk with everything that zstd has compressed.
func inflated(t *testing.T, dir string) string {
	t.Helper()
	text := onDisk(t, dir)
	d, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer d.Close()
	raw := []byte(text)
	for at := 0; ; at++ {
		i := bytes.Index(raw[at:], []byte("\x28\xb5\x2f\xfd"))
		if i < 0 {
			return text
		}
		at += i
		plain, _ := d.DecodeAll(raw[at:], nil) // what follows the frame is not one
		text += string(plain)
	}
}

// A recording that is killed after any exchange is resumed in every store, and gives the same
// cassette as one that was not.
func TestStoresResume(t *testing.T) {
	whole, _ := wholeRecording(t)
	eachStore(t, func(t *testing.T, open func() (Store, func()), _ string) {
		for n := range len(episode) + 1 {
			s, unlock := open()
			inStore := func(o *Options) { o.Dir, o.Store = "", s }
			first := &served{}
			episode[:n].play(t, resumable(t, "", first, inStore))
			require.Len(t, first.bodies, n)
			unlock()
			s, unlock = open()
			require.Equal(t, n > 0, Unfinished(Options{Store: s, Path: "t/1.yaml"}))
			base := &served{}
			r := resumable(t, "", base, inStore)
			episode.play(t, r)
			require.Len(t, base.bodies, len(episode)-n)
			r.o.KeepJournal = true
			require.NoError(t, r.Save())
			require.Equal(t, string(whole), readStore(t, s, "t/1.yaml"))
			require.NoError(t, Discard(Options{Store: s, Path: "t/1.yaml", Run: "another"}))
			require.True(t, Unfinished(r.o), "it is another run's")
			require.NoError(t, Discard(r.o))
			require.False(t, Unfinished(r.o))
			unlock()
		}
	})
}

// The journal of another run is renamed, its exchanges are recovered, and both are removed in the
// end. A retracted exchange is made again.
func TestStoresKeepOldJournals(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() (Store, func()), _ string) {
		s, unlock := open()
		inStore := func(o *Options) { o.Dir, o.Store = "", s }
		episode[:2].play(t, resumable(t, "", &served{}, inStore))
		unlock()
		s, unlock = open()
		other := func(o *Options) { inStore(o); o.Run = "run-2" }
		r := resumable(t, "", &served{}, other)
		episode[:3].play(t, r)
		r.Retract(2)
		unlock()
		s, unlock = open()
		defer unlock()
		for name, n := range map[string]int{"t/1.yaml.journal": 3, "t/1.yaml.journal.old": 2} {
			got, err := RecoverIn(s, name)
			require.NoError(t, err)
			require.Equal(t, Recovered{got.Cassette, n, 0}, got)
		}
		_, err := RecoverIn(s, "u/1.yaml.journal")
		require.ErrorIs(t, err, fs.ErrNotExist)
		base := &served{}
		r = resumable(t, "", base, other)
		episode[:3].play(t, r)
		require.Equal(t, []string{"two"}, base.bodies)
		require.NoError(t, r.Save())
		for _, name := range []string{"t/1.yaml.journal", "t/1.yaml.journal.old"} {
			_, err := s.Size(name)
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
	})
}

// A credential that becomes known after its exchange is not on the disk any more, whether this
// process recorded it or a killed one, and the other exchanges stay.
func TestStoresForgetSecrets(t *testing.T) {
	for _, killed := range []bool{false, true} {
		eachStore(t, func(t *testing.T, open func() (Store, func()), dir string) {
			s, unlock := open()
			inStore := func(o *Options) { o.Dir, o.Store = "", s }
			r := resumable(t, "", inOrder("fine", "it is "+key, "fine, too"), inStore)
			for range 3 {
				ask(t, r, post(t, "https://api.test/", "{}"))
			}
			require.Contains(t, inflated(t, dir), key)
			if killed {
				unlock()
				s, unlock = open()
				finder := r.o.Secrets
				finder.Add(key)
				r = resumable(t, "", inOrder("new"), func(o *Options) { inStore(o); o.Secrets = finder })
				require.False(t, Unfinished(r.o), "nothing of it is used")
			} else {
				r.o.Secrets.Add(key)
				require.ErrorContains(t, r.Save(), "holds a configured secret")
				got, err := RecoverIn(s, "t/1.yaml.journal")
				require.NoError(t, err)
				require.Equal(t, 2, got.Exchanges)
			}
			text := inflated(t, dir)
			require.False(t, strings.Contains(text, key), "the credential is on the disk")
			unlock()
			_, err := os.Stat(filepath.Join(dir, "t", "1.yaml"))
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}
