//go:build unix

package recorder

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

// Cassettes, packs and folders have the permissions that the umask allows. Only the owner can
// read a journal.
func TestRecordingRespectsTheUmask(t *testing.T) {
	for _, mask := range []int{0o002, 0o022, 0o077} {
		dir := filepath.Join(t.TempDir(), "cassettes")
		old := unix.Umask(mask)
		unlock, err := cassette.Lock(dir)
		require.NoError(t, err)
		r := resumable(t, dir, &served{}, func(o *Options) { o.KeepJournal = true })
		episode.play(t, r)
		require.NoError(t, r.Save())
		pack := filepath.Join(t.TempDir(), "x.pack")
		_, err = cassette.WritePack(pack, os.DirFS(dir))
		unlock()
		unix.Umask(old)
		require.NoError(t, err)
		for path, want := range map[string]fs.FileMode{
			dir: 0o777, filepath.Join(dir, "t"): 0o777, cassetteFile(r): 0o666, pack: 0o666, journalFile(r.o): 0o600,
		} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, want&^fs.FileMode(mask), info.Mode().Perm(), "umask %03o: %s", mask, path)
		}
		require.NoError(t, Discard(Options{Dir: dir, Path: "t/1.yaml", Run: "run-2"}))
		require.FileExists(t, journalFile(r.o), "it is another run's")
		require.NoError(t, Discard(r.o))
		require.NoError(t, Discard(r.o))
		require.NoFileExists(t, journalFile(r.o))
	}
}

// A journal that is a FIFO is rejected without waiting for a writer.
func TestAJournalIsARegularFile(t *testing.T) {
	o := Options{Mode: Record, Dir: t.TempDir(), Path: "1.yaml", Resume: true}
	require.NoError(t, unix.Mkfifo(journalFile(o), 0o600))
	_, err := New(o)
	require.ErrorContains(t, err, "not a regular file")
	_, err = Recover(journalFile(o))
	require.ErrorContains(t, err, "not a regular file")
	require.NoError(t, Discard(o))
	require.False(t, Unfinished(o))
}
