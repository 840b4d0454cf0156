package ledger

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLock(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	unlock, err := Lock(dir)
	require.NoError(t, err)
	_, err = Lock(dir)
	require.ErrorIs(t, err, errLocked)
	require.ErrorContains(t, err, dir)
	require.ErrorContains(t, err, "wait for it to end, or use another runs folder")
	free, err := Lock(other)
	require.NoError(t, err, "another folder is another lock")
	free()
	unlock()
	unlock()
	again, err := Lock(dir)
	require.NoError(t, err)
	again()
	require.FileExists(t, filepath.Join(dir, ".lock"))

	require.False(t, isLocked(dir))
	require.False(t, isLocked(t.TempDir()))
	last, err := Lock(dir)
	require.NoError(t, err, "isLocked gives the lock back")
	require.True(t, isLocked(dir))
	last()
	require.False(t, isLocked(dir))

	_, err = Lock(filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, errLocked)
}

// The lock of another process ends with that process, also if it is killed.
func TestLockOfAnotherProcess(t *testing.T) {
	if dir := os.Getenv("CUPEL_TEST_LOCK"); dir != "" {
		unlock, err := Lock(dir)
		require.NoError(t, err)
		_, _ = os.Stdout.WriteString("locked\n")
		time.Sleep(time.Minute) // until it is killed; blocking forever would be a deadlock and end it
		unlock()
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLockOfAnotherProcess$")
	cmd.Env = append(os.Environ(), "CUPEL_TEST_LOCK="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 100))
	require.NoError(t, err)
	_, err = Lock(dir)
	require.ErrorIs(t, err, errLocked)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	unlock, err := Lock(dir)
	require.NoError(t, err)
	unlock()
}
