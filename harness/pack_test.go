package harness_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// packCounts packs the cassettes of the built-in suite in a folder.
func packCounts(t testing.TB, dir string) {
	t.Helper()
	files, err := fs.Sub(counts.FS, "cassettes")
	require.NoError(t, err)
	_, err = cassette.WritePack(filepath.Join(dir, cassettes.PackName), files)
	require.NoError(t, err)
}

func countsPack(t testing.TB) *cassette.Pack {
	t.Helper()
	dir := t.TempDir()
	packCounts(t, dir)
	pack, err := cassette.OpenPack(os.DirFS(dir), cassettes.PackName)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pack.Close()) })
	return pack
}

// packedSuite copies the built-in suite to a folder, with a pack instead of its cassettes.
func packedSuite(t testing.TB) *goldens.Suite {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, counts.FS))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "cassettes")))
	packCounts(t, dir)
	s, err := load.Suite(os.DirFS(dir), "builtin:counts", counts.Worlds())
	require.NoError(t, err)
	return s
}

// The replay of a pack has the same id, rows and files.
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

func TestMissingCassetteInAPack(t *testing.T) {
	o := countsOptions(t)
	o.Candidates = append(o.Suite.Candidates[:0:0], o.Suite.Candidates[0])
	o.Candidates[0].Name, o.Select.Tasks, o.CassetteDir = "newcomer", []string{"G03"}, t.TempDir()
	_, wantErr := harness.Run(context.Background(), o)
	o.Cassettes = countsPack(t)
	_, err := harness.Run(context.Background(), o)
	var missing *cassette.MissingError
	require.ErrorAs(t, err, &missing)
	require.Contains(t, missing.Command, "cupel run --mode record")
	require.EqualError(t, err, wantErr.Error())
}

func TestSuiteWithAPackAndNoCassettes(t *testing.T) {
	o := countsOptions(t)
	o.Select.Tasks = []string{"G0*"}
	want, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Suite = packedSuite(t)
	got, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, want.Rows, got.Rows)

	o.Select = harness.Selection{Tasks: []string{"G01"}, Candidates: []string{"strong"}}
	rows, traces, err := harness.Replay(context.Background(), o, 1)
	require.NoError(t, err)
	require.True(t, rows.Episode.Solved)
	require.NotEmpty(t, traces)

	harness.Test(t, harness.Params{Loaded: o.Suite, Providers: all.Factories(), Select: o.Select})
}

func TestCassettesWinOverAPack(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, counts.FS))
	require.NoError(t, os.WriteFile(filepath.Join(dir, cassettes.PackName), []byte("no pack"), 0o644))
	o := countsOptions(t)
	o.Select.Tasks = []string{"G01"}
	var err error
	o.Suite, err = load.Suite(os.DirFS(dir), dir, counts.Worlds())
	require.NoError(t, err)
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err, "the pack is not looked at")

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "cassettes")))
	_, err = harness.Run(context.Background(), o)
	var corrupt *cassette.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.ErrorContains(t, err, "cassettes.pack: not a pack")

	require.NoError(t, os.Remove(filepath.Join(dir, cassettes.PackName)))
	_, err = harness.Run(context.Background(), o)
	var missing *cassette.MissingError
	require.ErrorAs(t, err, &missing, "with neither, cassettes are missing")
}
