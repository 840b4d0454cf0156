package suiteimport

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/internal/testkit"
)

const bfclFixture = "../../../goldens/internal/bfcl/testdata"

// TestBFCL imports the questions that are part of this repository: all of them, with their
// licence.
func TestBFCL(t *testing.T) {
	var printed strings.Builder
	out := filepath.Join(t.TempDir(), "suites", "bfcl")
	require.NoError(t, write(Host{Stdout: &printed}, "bfcl", formats["bfcl"], bfclFixture, out))
	suite, err := load.Suite(os.DirFS(out), out, nil)
	require.NoError(t, err)
	want := 0
	for _, category := range bfclCategories {
		text, err := os.ReadFile(filepath.Join(bfclFixture, category+".jsonl"))
		require.NoError(t, err)
		want += bytes.Count(text, []byte("\n"))
	}
	require.Len(t, suite.Tasks, want)
	require.Contains(t, printed.String(), "1 × unanswerable")
	require.FileExists(t, filepath.Join(out, "LICENSE"))
	entries, err := os.ReadDir(filepath.Dir(out))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing temporary is left")
}

// TestPublishedBFCL imports all questions of the leaderboard.
func TestPublishedBFCL(t *testing.T) {
	t.Parallel()
	testkit.Shared(t, "published", "bfcl", "README.md")
	dir := filepath.Join(testkit.Root(t), "..", "shared", "published", "bfcl")
	out := filepath.Join(t.TempDir(), "bfcl")
	var printed strings.Builder
	require.NoError(t, write(Host{Stdout: &printed}, "bfcl", formats["bfcl"], dir, out))
	require.Contains(t, printed.String(), "1,240 tasks\n134 warnings;")
}

// TestUpstreamNames reads the files as the leaderboard has them: questions and accepted
// answers apart.
func TestUpstreamNames(t *testing.T) {
	const function = `{"name": "f", "parameters": {"type": "dict"}}`
	from := source{"d", fstest.MapFS{
		"gorilla_openfunctions_v1_test_simple.json":                 {Data: []byte(`{"id": "a", "question": "q", "function": ` + function + `}` + "\n")},
		"possible_answer/gorilla_openfunctions_v1_test_simple.json": {Data: []byte(`{"id": "a", "ground_truth": {"f": {}}}` + "\n" + `{"id": "b", "ground_truth": {}}`)},
	}}
	s, err := readBFCL(from)
	require.NoError(t, err)
	require.JSONEq(t, `{"id": "a", "question": "q", "function": `+function+`, "ground_truth": {"f": {}}}`, string(s.files["simple.jsonl"]))
	require.Equal(t, 1, s.leftOut["accepted answer of a question that there is not"])
	from.fsys.(fstest.MapFS)["possible_answer/gorilla_openfunctions_v1_test_simple.json"] = &fstest.MapFile{Data: []byte(`{"id": "a", "ground_truth": {}}` + "\n" + `{"id": "a", "ground_truth": {}}` + "\n" + `{"id": "c"}`)}
	_, err = readBFCL(from)
	require.ErrorContains(t, err, `simple.json:2: id "a" has an accepted answer already`)
	require.ErrorContains(t, err, "simple.json:3: must have an id and ground_truth")
}

func FuzzBFCL(f *testing.F) {
	text, err := os.ReadFile(filepath.Join(bfclFixture, "simple.jsonl"))
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"id": "a", "question": "q", "function": {}, "ground_truth": {}, "more": 1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := readBFCL(source{"d", fstest.MapFS{"simple.jsonl": {Data: text}}})
		if err != nil {
			return
		}
		dir := t.TempDir()
		for name, content := range s.files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
		}
		_, _ = load.Suite(os.DirFS(dir), "d", nil) // it may refuse the rows, and does not panic
	})
}
