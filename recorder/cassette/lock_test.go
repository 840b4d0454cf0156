package cassette

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A folder has one writer. Lock removes the temporary files of killed ones, and unlocking removes
// a folder that stayed empty.
func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "suite", "cassettes")
	unlock, err := Lock(dir)
	require.NoError(t, err)
	_, err = Lock(dir)
	require.ErrorIs(t, err, ErrLocked)
	require.EqualError(t, err, "lock cassettes folder "+dir+": in use by another cupel process; wait for it to end, or work on a copy of the suite")
	unlock()
	unlock()
	require.NoDirExists(t, dir)

	left := filepath.Join(dir, "strong", "G01", ".1.yaml.ABCDEFGHIJ.tmp")
	require.NoError(t, os.MkdirAll(filepath.Dir(left), 0o777))
	require.NoError(t, os.WriteFile(left, []byte("half"), 0o600))
	unlock, err = Lock(dir)
	require.NoError(t, err)
	require.NoFileExists(t, left)
	unlock()
	require.DirExists(t, dir, "it was there before")

	_, err = Lock(filepath.Join(dir, "strong", "G01", strings.Repeat("x", 300)))
	require.Error(t, err)
	require.NotErrorIs(t, err, fs.ErrNotExist)
}
