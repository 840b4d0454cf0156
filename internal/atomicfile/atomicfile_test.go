package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	require.NoError(t, WriteBytes(path, []byte("old")))
	require.NoError(t, WriteBytes(path, []byte("new")))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
	require.Equal(t, []string{"run.json"}, names(t, dir))

	long := filepath.Join(dir, strings.Repeat("x", 255))
	require.NoError(t, WriteBytes(long, nil), "a name as long as names can be")
	require.Error(t, WriteBytes(filepath.Join(dir, "absent", "x"), nil))
}

func TestWriteKeepsTheOldContentAfterAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	require.NoError(t, WriteBytes(path, []byte("old")))
	failed := errors.New("failed")
	err := Write(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, strings.Repeat("half", 100<<10))
		return failed
	})
	require.ErrorIs(t, err, failed)
	require.ErrorContains(t, err, path)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
	require.Equal(t, []string{"x"}, names(t, dir))

	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o777))
	require.Error(t, WriteBytes(filepath.Join(dir, "folder"), nil), "a folder is not replaced")
	require.Equal(t, []string{"folder", "x"}, names(t, dir))
}

// Writers of one path have a temporary file each, and none removes another's.
func TestWritersOfOnePath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				text := strings.Repeat(fmt.Sprint(i), 1000)
				require.NoError(t, WriteBytes(path, []byte(text)))
				got, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, strings.Repeat(string(got[:1]), 1000), string(got))
				Sweep(dir)
			}
		})
	}
	wg.Wait()
	require.Equal(t, []string{"x"}, names(t, dir))
}

// What a killed process left is removed, what a living one writes is not.
func TestSweepAfterKill(t *testing.T) {
	if path := os.Getenv("CUPEL_TEST_ATOMIC"); path != "" {
		for _, name := range []string{"a", "b"} {
			_, err := Create(filepath.Join(path, name))
			require.NoError(t, err)
		}
		_, _ = os.Stdout.WriteString("written\n")
		time.Sleep(time.Minute) // until it is killed; select{} would end it as a deadlock
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSweepAfterKill$")
	cmd.Env = append(os.Environ(), "CUPEL_TEST_ATOMIC="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 100))
	require.NoError(t, err)
	Sweep(dir)
	require.Len(t, names(t, dir), 2, "they are being written")
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())

	require.Len(t, names(t, dir), 2)
	require.NoError(t, WriteBytes(filepath.Join(dir, "a"), nil))
	require.Equal(t, []string{"a"}, names(t, dir))
	own := []string{".a.tmp", ".b.ABCDEFGHI1.tmp", ".b.ABCDEFGHIJ.tmp~", "b.ABCDEFGHIJ.tmp"}
	for _, name := range own {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	Sweep(dir)
	require.ElementsMatch(t, append(own, "a"), names(t, dir), "and files of others stay")
}

func TestMkdirTemp(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, remove, err := MkdirTemp("cupel-x")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rows"), nil, 0o600))
	left := filepath.Join(os.TempDir(), "cupel-x-LEFT") // by a process that was killed
	other := filepath.Join(os.TempDir(), "cupel-xy")
	for _, name := range []string{left, other} {
		require.NoError(t, os.MkdirAll(filepath.Join(name, "runs"), 0o700))
	}
	second, removeSecond, err := MkdirTemp("cupel-x")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "rows"), "it is in use")
	require.NoDirExists(t, left)
	require.DirExists(t, other)
	remove()
	removeSecond()
	require.NoDirExists(t, dir)
	require.NoDirExists(t, second)
}
