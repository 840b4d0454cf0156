package console

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteOutput(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o600))
	require.NoError(t, os.Symlink("target", link))
	before, err := os.Open(target)
	require.NoError(t, err)
	defer func() { require.NoError(t, before.Close()) }()
	require.NoError(t, WriteFile(link, []byte("new")))
	text, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink, "the link stays")
	old := make([]byte, 3)
	_, err = before.Read(old)
	require.NoError(t, err)
	require.Equal(t, "old", string(old), "who had it open reads on")

	require.NoError(t, WriteFile(os.DevNull, []byte("gone")))
	info, err = os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular(), "a device is not replaced")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}
