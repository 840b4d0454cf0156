package cassette

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// brokenFS cannot be listed.
type brokenFS struct{}

func (brokenFS) Open(string) (fs.File, error) { return nil, errors.New("disk on fire") }

func TestList(t *testing.T) {
	files, err := List(fstest.MapFS{"b/x.yaml": {}, "a/y.yaml": {}, "a/z.yml": {}, "a/.t.yaml": {}})
	require.NoError(t, err)
	require.Equal(t, []string{"a/y.yaml", "b/x.yaml"}, files)
	files, err = List(os.DirFS(filepath.Join(t.TempDir(), "none")))
	require.NoError(t, err)
	require.Empty(t, files)
	_, err = List(brokenFS{})
	require.ErrorContains(t, err, "disk on fire")
}
