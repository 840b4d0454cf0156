package ledger

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/stretchr/testify/require"
)

// readers are all ways to read a run folder.
var readers = map[string]func(dir string) error{
	"Read":         func(dir string) error { _, err := Read(dir); return err },
	"Scan":         func(dir string) error { _, err := scanAll(dir); return err },
	"ReadManifest": func(dir string) error { _, err := manifest.Read(dir); return err },
	"OpenTable":    openAllTables,
}

func openAllTables(dir string) error {
	for _, table := range tables {
		f, _, err := OpenTable(dir, table)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// All readers reject a flipped bit and a truncation of a file. The test samples the bits; package
// manifest tests every bit of run.json.
func TestReadersRejectChangedFiles(t *testing.T) {
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
				require.ErrorAs(t, err, new(*sealed.CorruptError), "%s after %s", name, how)
			}
		}
		flip := func(bit int, names ...string) {
			changed := []byte(text)
			changed[bit/8] ^= 1 << (bit % 8)
			try(changed, fmt.Sprint("bit ", bit), names...)
		}
		tableReaders := []string{"Read", "Scan", "OpenTable"}
		for range testkit.SlowN(8, 40) {
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
			require.ErrorAs(t, err, new(*sealed.CorruptError))
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
}

// Readers reject an intact file of another run, and a manifest whose digest does not match the
// rows.
func TestReadersRejectFilesOfTwoRuns(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	rows := sampleRows(3)
	require.NoError(t, writeRows(dir, rows))
	m := sampleRun()
	m.Acceptance.MinSolved = 0.5
	require.NoError(t, Write(other, m, rows))
	for file, text := range ledgerFiles(t, dir) {
		theirs := ledgerFiles(t, other)[file]
		require.NotEqual(t, theirs, text)
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(theirs), 0o666))
		for _, name := range []string{"Read", "Scan", "OpenTable"} {
			err := readers[name](dir)
			require.ErrorContains(t, err, "does not belong to the run.json beside it", "%s of %s", name, file)
			require.ErrorAs(t, err, new(*sealed.CorruptError))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666))
	}

	w, err := NewWriter(dir)
	require.NoError(t, err)
	m = sampleRun() // without its totals
	_, err = w.Close(func(manifest.Totals) (manifest.Manifest, error) { return m, nil })
	require.NoError(t, err)
	for _, name := range []string{"Read", "Scan"} {
		err := readers[name](dir)
		require.ErrorContains(t, err, "run.json: its ledger_digest does not match the rows", name)
		require.ErrorAs(t, err, new(*sealed.CorruptError))
	}
}
