package ledger

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// readers are all ways to read a run folder.
var readers = map[string]func(dir string) error{
	"Read":         func(dir string) error { _, err := Read(dir); return err },
	"Scan":         func(dir string) error { _, err := scanAll(dir); return err },
	"ReadManifest": func(dir string) error { _, err := ReadManifest(dir); return err },
	"OpenColumns":  openAllColumns,
}

func openAllColumns(dir string) error {
	for _, table := range tables {
		c, err := OpenColumns(dir, table, []string{"candidate", "trial"})
		if err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Every flipped bit of run.json and every cut of it is refused, by all readers. Of the
// tables a sample is: their bytes are too many.
func TestEveryChangeOfAFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	writeStream(t, dir, sampleRecords(3))
	for name, read := range readers {
		require.NoError(t, read(dir), name)
	}
	r := rand.New(rand.NewPCG(16, 4))
	for file, text := range ledgerFiles(t, dir) {
		path := filepath.Join(dir, file)
		try := func(changed []byte, how string, names ...string) {
			require.NoError(t, os.WriteFile(path, changed, 0o666))
			for _, name := range names {
				err := readers[name](dir)
				require.ErrorContains(t, err, path, "%s after %s", name, how)
				require.ErrorAs(t, err, new(*CorruptError), "%s after %s", name, how)
			}
		}
		flip := func(bit int, names ...string) {
			changed := []byte(text)
			changed[bit/8] ^= 1 << (bit % 8)
			try(changed, fmt.Sprint("bit ", bit), names...)
		}
		if file == manifestName {
			for bit := range 8 * len(text) {
				changed := []byte(text)
				changed[bit/8] ^= 1 << (bit % 8)
				_, err := decodeManifest(changed)
				require.Error(t, err, "bit %d", bit)
			}
			for n := range len(text) {
				_, err := decodeManifest([]byte(text[:n]))
				require.Error(t, err, "cut at %d", n)
			}
		}
		tableReaders := []string{"Read", "Scan", "OpenColumns"}
		for range 40 {
			flip(r.IntN(8*len(text)), tableReaders...)
			n := r.IntN(len(text))
			try([]byte(text[:n]), fmt.Sprint("cut at ", n), tableReaders...)
		}
		try([]byte(text+"\n"), "a byte more", tableReaders...)
		require.NoError(t, os.Remove(path))
		for _, name := range tableReaders {
			err := readers[name](dir)
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.ErrorContains(t, err, path+": missing; restore the run folder")
			require.ErrorAs(t, err, new(*CorruptError))
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
}

// A whole file of another run is refused, whichever it is, and so is a manifest whose
// digest is not that of the rows.
func TestFilesOfTwoRunsAreRefused(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	rows := sampleRows(3)
	require.NoError(t, writeRows(dir, rows))
	m := sampleManifest()
	m.Acceptance.MinSolved = 0.5
	require.NoError(t, Write(other, m, rows))
	for file, text := range ledgerFiles(t, dir) {
		theirs := ledgerFiles(t, other)[file]
		require.NotEqual(t, theirs, text)
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(theirs), 0o666))
		for _, name := range []string{"Read", "Scan", "OpenColumns"} {
			err := readers[name](dir)
			require.ErrorContains(t, err, "does not belong to the run.json beside it", "%s of %s", name, file)
			require.ErrorAs(t, err, new(*CorruptError))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666))
	}

	w, err := NewWriter(dir)
	require.NoError(t, err)
	m = sampleManifest() // without its totals
	_, err = w.Close(func(Totals) (Manifest, error) { return m, nil })
	require.NoError(t, err)
	for _, name := range []string{"Read", "Scan"} {
		err := readers[name](dir)
		require.ErrorContains(t, err, "run.json: its ledger_digest is not that of the rows", name)
		require.ErrorAs(t, err, new(*CorruptError))
	}
}

// What cannot be read says nothing about the content, and a pipe is not opened.
func TestUnreadableIsNotCorrupt(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "run.json"), 0o777))
	_, err := ReadManifest(dir)
	require.ErrorContains(t, err, "run.json: a folder, not a regular file")
	require.NoError(t, os.Remove(filepath.Join(dir, "run.json")))
	require.NoError(t, writeRows(dir, sampleRows(1)))
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "run.json"), 0))
	_, err = ReadManifest(dir)
	require.ErrorIs(t, err, fs.ErrPermission)
	require.NotErrorAs(t, err, new(*CorruptError))
}

func TestSealedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan")
	for _, text := range []string{"", "one\n", "one\ntwo", "a\n# seal: sha256:0\n"} {
		require.NoError(t, WriteSealed(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }))
		got, err := ReadSealed(path, 100)
		require.NoError(t, err)
		if text == "one\ntwo" {
			text += "\n"
		}
		require.Equal(t, text, string(got))

		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for bit := range 8 * len(whole) {
			changed := slices.Clone(whole)
			changed[bit/8] ^= 1 << (bit % 8)
			requireChanged(t, path, changed)
		}
		for n := range len(whole) {
			requireChanged(t, path, whole[:n])
		}
		requireChanged(t, path, append(whole, '\n'))
		requireChanged(t, path, append(whole, whole...))
	}
	require.NoError(t, WriteSealed(path, func(w io.Writer) error { _, err := w.Write(make([]byte, 101)); return err }))
	_, err := ReadSealed(path, 100)
	require.ErrorContains(t, err, "more than 100 bytes")
	require.NoError(t, os.Remove(path))
	_, err = ReadSealed(path, 100)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorAs(t, err, new(*CorruptError))
}

func requireChanged(t *testing.T, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, text, 0o666))
	_, err := ReadSealed(path, 100)
	require.ErrorContains(t, err, path+": cut or changed after it was written")
	require.ErrorAs(t, err, new(*CorruptError))
}
