package testkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/regular"
)

// Root is the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(t, filepath.Dir(dir), dir, "the test does not run in the repository")
	}
}

// Doc reads a page of the docs.
func Doc(t testing.TB, name string) string {
	t.Helper()
	page, err := regular.ReadFile(filepath.Join(Root(t), "docs", name))
	require.NoError(t, err)
	return string(page)
}

// Shared reads a file of the folder ../shared, beside the repository. Where that has no
// such file, the test is skipped.
func Shared(t testing.TB, path ...string) []byte {
	t.Helper()
	text, err := regular.ReadFile(filepath.Join(append([]string{Root(t), "..", "shared"}, path...)...))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the data of the test is not on this machine: %v", err)
	}
	require.NoError(t, err)
	return text
}

// Conformance reads the rows of a JSONL file of the shared conformance data whose field
// has the value. If the file is missing, the test is skipped.
func Conformance[T any](t testing.TB, file, field, value string) (rows []T) {
	t.Helper()
	for line := range bytes.Lines(Shared(t, "conformance", file)) {
		var all map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(line, &all))
		if string(all[field]) == Quote(value) {
			var row T
			require.NoError(t, json.Unmarshal(line, &row))
			rows = append(rows, row)
		}
	}
	require.NotEmpty(t, rows)
	return rows
}

// HasShared says whether a file of the folder ../shared is on this machine: for tests
// that have other cases, too.
func HasShared(t testing.TB, path ...string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(append([]string{Root(t), "..", "shared"}, path...)...))
	return err == nil
}

// Behaviours are the ids of the shared conformance data's behaviours that apply to an
// agent strategy. Where they are not on this machine, the test is skipped.
func Behaviours(t testing.TB, strategy string) (ids []string) {
	t.Helper()
	for line := range bytes.Lines(Shared(t, "conformance", "behaviours.jsonl")) {
		var row struct {
			ID      string
			Applies []string `json:"applies_to"`
		}
		require.NoError(t, json.Unmarshal(line, &row))
		if slices.Contains(row.Applies, strategy) {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// Modules is the folder with other programs' modules that an environment variable names.
// Where it names none, the test is skipped; install says what it is to have, and how.
func Modules(t testing.TB, variable, install string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skipf("%s does not name a folder with %s", variable, install)
	}
	return dir
}

var update = flag.Bool("update", false, "write the files and tables that tests compare with")

// Update says whether tests write what they otherwise compare with: go test -update.
func Update() bool { return *update }

// Golden holds a text against a file, or writes it there with -update.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := regular.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "%s differs; if the change is meant, run the test with -update and review the diff", file)
}
