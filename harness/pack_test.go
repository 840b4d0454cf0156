package harness_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// countsPack packs the cassettes of the built-in suite.
func countsPack(t testing.TB) *recorder.Pack {
	t.Helper()
	files, err := fs.Sub(counts.FS, "cassettes")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "cassettes.pack")
	_, err = recorder.WritePack(path, files)
	require.NoError(t, err)
	pack, err := recorder.OpenPack(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pack.Close()) })
	return pack
}

// A pack replays to the same run: its id, its rows and its files.
func TestPackGivesTheSameRun(t *testing.T) {
	o := countsOptions(t)
	o.Runs = t.TempDir()
	fromYAML, err := harness.Run(context.Background(), o)
	require.NoError(t, err)

	o.Cassettes, o.Runs = countsPack(t), t.TempDir()
	fromPack, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, fromPack.Rows.Episodes, len(fromYAML.Rows.Episodes))
	require.NotEmpty(t, fromPack.Manifest.LedgerDigest)
	require.Equal(t, fromYAML.Manifest, fromPack.Manifest)
	require.Equal(t, fromYAML.Rows, fromPack.Rows)
	for _, name := range []string{"run.json", "episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
		want, err := os.ReadFile(filepath.Join(fromYAML.Dir, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(fromPack.Dir, name))
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "%s differs between YAML and pack", name)
	}
}

func TestPackMissesAreToldLikeCassettes(t *testing.T) {
	o := countsOptions(t)
	o.Candidates = append(o.Suite.Candidates[:0:0], o.Suite.Candidates[0])
	o.Candidates[0].Name, o.Select.Tasks = "newcomer", []string{"G03"}
	_, wantErr := harness.Run(context.Background(), o)
	o.Cassettes = countsPack(t)
	_, err := harness.Run(context.Background(), o)
	var missing *recorder.MissingError
	require.ErrorAs(t, err, &missing)
	require.Contains(t, missing.Command, "cupel run --mode record")
	require.EqualError(t, err, wantErr.Error())
}
