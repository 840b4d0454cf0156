package sealed

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSealedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan")
	for _, text := range []string{"", "one\n", "one\ntwo", "a\n# seal: sha256:0\n"} {
		require.NoError(t, Write(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }))
		got, err := Read(path, 100)
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
	require.NoError(t, Write(path, func(w io.Writer) error { _, err := w.Write(make([]byte, 101)); return err }))
	_, err := Read(path, 100)
	require.ErrorContains(t, err, "more than 100 bytes")
	require.NoError(t, os.Remove(path))
	_, err = Read(path, 100)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorAs(t, err, new(*CorruptError))
}

func requireChanged(t *testing.T, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, text, 0o666))
	_, err := Read(path, 100)
	require.ErrorContains(t, err, path+": cut or changed after it was written")
	require.ErrorAs(t, err, new(*CorruptError))
}
