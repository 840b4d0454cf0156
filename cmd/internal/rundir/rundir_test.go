package rundir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The two latest runs are told by when their manifests were written.
func TestFindRunByAge(t *testing.T) {
	runs := t.TempDir()
	_, err := Find(runs, "latest")
	require.ErrorContains(t, err, "no run")
	for i, id := range []string{"B", "C", "A"} {
		file := filepath.Join(runs, id, "run.json")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, nil, 0o644))
		at := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(file, at, at))
		_, err := Find(runs, "previous")
		require.Equal(t, i == 0, err != nil)
	}
	for name, want := range map[string]string{"latest": "A", "previous": "C", "B": "B"} {
		dir, err := Find(runs, name)
		require.NoError(t, err)
		require.Equal(t, want, filepath.Base(dir))
	}
}
