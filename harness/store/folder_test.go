package store_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/store"
	"github.com/cupel-eval/cupel/harness/store/storetest"
)

func TestFolder(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() store.Store {
		dir := filepath.Join(t.TempDir(), "made", "later")
		return func() store.Store { return store.Folder(dir) }
	})
}

// What is not an object of the folder is not listed, and a failed put leaves nothing.
func TestFolderIsTidy(t *testing.T) {
	dir := t.TempDir()
	s := store.Folder(dir)
	_, err := s.Put(t.Context(), "a/b", strings.NewReader("x"), store.None)
	require.NoError(t, err)
	failed := errors.New("the disk of the caller broke")
	_, err = s.Put(t.Context(), "a/c", failing{failed}, store.None)
	require.ErrorIs(t, err, failed)
	require.ErrorContains(t, err, "put a/c")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", ".b.ABCDEFGHIJ.tmp"), nil, 0o666))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o777))
	for o, err := range s.List(t.Context(), "") {
		require.NoError(t, err)
		require.Equal(t, "a/b", o.Name)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Len(t, entries, 2)

	_, _, err = s.Get(t.Context(), "a")
	require.Error(t, err, "a folder is not an object")
	require.NoError(t, s.Delete(t.Context(), "a"))
	_, err = s.Put(t.Context(), "a/b/c", strings.NewReader("x"), store.None)
	require.Error(t, err, "an object is not a folder")
}

func TestFolderErrors(t *testing.T) {
	s := store.Folder(t.TempDir())
	for cause, want := range map[error]error{
		syscall.ENOSPC: store.ErrFull, syscall.EDQUOT: store.ErrFull, fs.ErrPermission: store.ErrDenied,
	} {
		_, err := s.Put(t.Context(), "a", failing{&fs.PathError{Op: "write", Path: "a", Err: cause}}, store.Any)
		require.ErrorIs(t, err, want)
		require.ErrorContains(t, err, "put a: "+want.Error())
	}
	if os.Geteuid() != 0 {
		dir := t.TempDir()
		require.NoError(t, os.Chmod(dir, 0o500))
		_, err := store.Folder(dir).Put(t.Context(), "a", strings.NewReader("x"), store.Any)
		require.ErrorIs(t, err, store.ErrDenied)
	}
	_, err := s.Put(t.Context(), "long", strings.NewReader("123456"), store.None)
	require.NoError(t, err)
	_, _, err = store.ReadAll(t.Context(), s, "long", 5)
	require.ErrorContains(t, err, "get long: it has more than 5 bytes")
}

// failing fails while it is read.
type failing struct{ err error }

func (failing) Seek(int64, int) (int64, error) { return 0, nil }
func (f failing) Read([]byte) (int, error)     { return 0, f.err }

var _ io.ReadSeeker = failing{}
