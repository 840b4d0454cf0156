package draft

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/load"
)

// A list gains its item, and every byte around it stays; what cannot be done safely
// is refused.
func TestInsertItem(t *testing.T) {
	for name, tc := range map[string]struct{ before, after string }{
		"lines":               {"tools:\n  - a\nx: 1\n", "tools:\n  - a\n  - NEW\nx: 1\n"},
		"not indented":        {"tools:\n- a\n- b # last\n", "tools:\n- a\n- b # last\n- NEW\n"},
		"brackets":            {"é: 1\ntools: [a, b] # c\n", "é: 1\ntools: [NEW, a, b] # c\n"},
		"brackets, non-ASCII": {"{é: ü, tools: [a]}", "{é: ü, tools: [NEW, a]}"},
		"empty brackets":      {"tools: []\n", "tools: [NEW]\n"},
		"brackets in lines":   {"tools: [\n  a,\n  ]\n", "tools: [NEW, \n  a,\n  ]\n"},
		"nothing there":       {"name: x", "name: x\ntools:\n  - NEW\n"},
		"a text at its end":   {"tools:\n  - |\n    a\n    # no comment\nx: 1\n", "tools:\n  - |\n    a\n    # no comment\n  - NEW\nx: 1\n"},
		"comments behind":     {"tools:\n  - a\n  # of tools\n\n# of x\nx: 1\n", "tools:\n  - a\n  # of tools\n  - NEW\n\n# of x\nx: 1\n"},
		"all in braces":       {"{name: x}", ""},
		"no list":             {"tools: {a: b}\n", ""},
		"an alias":            {"a: &a [x]\ntools: *a\n", ""},
		"an anchor":           {"tools: &a [x]\n", ""},
		"a dash alone":        {"tools:\n  -\n    a\n", ""},
		"no YAML":             {"]", ""},
		"nothing":             {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := insertItem([]byte(tc.before), "tools", "NEW")
			if tc.after == "" {
				require.ErrorIs(t, err, errShape)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.after, string(got))
		})
	}
}

// Whatever a suite.yaml looks like, what was there is there still, around one item.
func FuzzInsertItem(f *testing.F) {
	f.Add("tasks:\n  - a\n\n# c\nx: 1\n")
	f.Add("x: é\r\ntasks: [ [a], {b: c}] # d")
	f.Add("tasks:\n- |+\n  a\n\n\n...\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := insertItem([]byte(text), "tasks", "NEW")
		if err != nil {
			return
		}
		i := bytes.Index(got, []byte("NEW"))
		require.GreaterOrEqual(t, i, 0)
		require.Greater(t, len(got), len(text))
		kept := 0
		for kept < len(text) && got[kept] == text[kept] {
			kept++
		}
		require.True(t, strings.HasSuffix(string(got), text[kept:]), "one insertion, nothing else")
	})
}

func TestFolderName(t *testing.T) {
	for folder, want := range map[string]string{
		"suites/mine": "mine", `C:\Suites\Mine 2`: "mine-2", ".": "suite", "/": "suite", "a.b": "a-b", "con": "suite", "": "suite", "Ü": "suite",
	} {
		require.Equal(t, want, folderName(folder), folder)
	}
}

// The overlay is a folder like any other.
func TestOverlay(t *testing.T) {
	base := fstest.MapFS{"suite.yaml": {Data: []byte("old")}, "tasks/a.yaml": {Data: []byte("a")}}
	o := newOverlay(base, []AddedFile{{Path: "new/sub/x.yaml", Text: []byte("x")}, {Path: "tasks/b.yaml", Text: []byte("b")}, {Path: "suite.yaml", Text: []byte("new"), Replaces: true}})
	for name, want := range map[string]string{"suite.yaml": "new", "tasks/a.yaml": "a", "tasks/b.yaml": "b", "new/sub/x.yaml": "x"} {
		got, err := fs.ReadFile(o, name)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	for pattern, want := range map[string][]string{
		"*.yaml": {"suite.yaml"}, "tasks/*.yaml": {"tasks/a.yaml", "tasks/b.yaml"}, "*/*.yaml": {"tasks/a.yaml", "tasks/b.yaml"},
		"*/*/*": {"new/sub/x.yaml"}, "none/*": nil,
	} {
		got, err := fs.Glob(o, pattern)
		require.NoError(t, err)
		require.Equal(t, want, got, pattern)
	}
	info, err := fs.Stat(o, "tasks/b.yaml")
	require.NoError(t, err)
	require.Equal(t, int64(1), info.Size())
	require.False(t, info.IsDir())
	_, err = o.ReadDir("none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A folder that a pattern would find once it is there is found before it is.
func TestDraftInAFolderToBe(t *testing.T) {
	from, err := load.Suite(suitetest.Folder(suitetest.Head+"tasks: ["+suitetest.Task+"]\n"), "from", suitetest.Worlds())
	require.NoError(t, err)
	task := from.Tasks[0]
	task.ID = "New"
	a, err := Draft{Task: task, From: from}.AddTo(suitetest.Folder(suitetest.Head+"tasks: ['*/*.yaml']\n", "golden/a.yaml", "tasks: ["+suitetest.Task+"]\n"), "s")
	require.NoError(t, err)
	require.Equal(t, "tasks/New.yaml", a.Files[0].Path)
	require.Len(t, a.Files, 1)
}

func BenchmarkDraft(b *testing.B) {
	// Floor: writing, reading and linting a suite of one task, nearly all of it in the
	// YAML parser.
	from := builtIn(b)
	d := Draft{Task: from.Tasks[0], From: from}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.AddTo(fstest.MapFS{}, "s"); err != nil {
			b.Fatal(err)
		}
	}
}
