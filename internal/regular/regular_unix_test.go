//go:build unix

package regular

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestOnlyRegularFiles checks that nothing but a file is opened, and that nothing waits.
func TestOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(path("file"), []byte("text"), 0o666))
	require.NoError(t, syscall.Mkfifo(path("fifo"), 0o666))
	require.NoError(t, os.Mkdir(path("folder"), 0o777))
	require.NoError(t, os.Symlink("fifo", path("link")))
	require.NoError(t, os.Symlink("/dev/zero", path("device")))
	require.NoError(t, os.Symlink("file", path("alias")))
	socket, err := net.Listen("unix", path("socket"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, socket.Close()) })
	for name, want := range map[string]string{
		"fifo": "a named pipe (FIFO), not a regular file", "folder": "a folder", "link": "a named pipe (FIFO)", "device": "a device", "socket": "a socket",
	} {
		_, err := Open(path(name))
		require.ErrorIs(t, err, ErrNotRegular, name)
		require.ErrorContains(t, err, "open "+path(name)+": "+want)
		for _, flag := range []int{os.O_RDWR, os.O_WRONLY | os.O_APPEND | os.O_CREATE} {
			_, err = OpenFile(path(name), flag, 0o666)
			require.ErrorIs(t, err, ErrNotRegular, name)
		}
		_, err = ReadFile(path(name))
		require.ErrorIs(t, err, ErrNotRegular, name)
		if name == "folder" {
			continue
		}
		_, err = DirFS(dir).Open(name)
		require.ErrorIs(t, err, ErrNotRegular, name)
		_, err = fs.ReadFile(DirFS(dir), name)
		require.ErrorIs(t, err, ErrNotRegular, name)
	}
	for _, name := range []string{"file", "alias"} {
		text, err := ReadFile(path(name))
		require.NoError(t, err)
		require.Equal(t, "text", string(text))
		text, err = fs.ReadFile(DirFS(dir), name)
		require.NoError(t, err)
		require.Equal(t, "text", string(text))
	}
	_, err = ReadFile(path("missing"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = fs.ReadFile(DirFS(dir), "missing")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = DirFS(dir).Open("../file")
	require.ErrorIs(t, err, fs.ErrInvalid)
}

// TestReadFileIsBounded checks that a file of any length takes bounded memory.
func TestReadFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	require.NoError(t, os.Truncate(path, MaxSize+1)) // sparse
	_, err := ReadFile(path)
	require.ErrorContains(t, err, "larger than")
}

// TestDirFS checks that it is a file system as the standard library wants one.
func TestDirFS(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "b", "c.yaml"), []byte("text"), 0o666))
	require.NoError(t, fstest.TestFS(DirFS(dir), "a/b/c.yaml"))
}

func TestOpenIn(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "out")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "folder")))
	require.NoError(t, os.Symlink("file", filepath.Join(dir, "in")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	for _, name := range []string{"file", "in"} {
		f, err := OpenIn(root, name)
		require.NoError(t, err, name)
		require.NoError(t, f.Close())
	}
	for _, name := range []string{"fifo", "."} {
		_, err := OpenIn(root, name)
		require.ErrorIs(t, err, ErrNotRegular, name)
	}
	for _, name := range []string{"out", "folder/secret", "../" + filepath.Base(outside) + "/secret", filepath.Join(outside, "secret"), "absent"} {
		_, err := OpenIn(root, name)
		require.Error(t, err, name)
	}
}
