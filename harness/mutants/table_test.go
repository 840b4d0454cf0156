package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTable: every mutant applies to the code as it is, so the table cannot rot.
func TestTable(t *testing.T) {
	mutants, err := readTable(table, filepath.Join("..", ".."))
	require.NoError(t, err)
	n := 0
	for _, m := range mutants {
		if m.Equivalent == "" {
			n++
		}
	}
	require.GreaterOrEqual(t, n, 80)
}

func TestReadTable(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n\nvar x, y = 1, 1\n"), 0o666))
	read := func(fields string) ([]mutant, error) {
		return readTable([]byte("- class: c\n  mutants:\n    - {id: a, file: a.go, breaks: x, "+fields+"}\n"), root)
	}
	got, err := read(`old: "= 1", new: "= 2"`)
	require.NoError(t, err)
	require.Equal(t, []mutant{{ID: "a", Class: "c", File: "a.go", Old: "= 1", New: "= 2", Breaks: "x"}}, got)
	text, err := got[0].source(root)
	require.NoError(t, err)
	require.Equal(t, "package a\n\nvar x, y = 2, 1\n", string(text))

	for fields, want := range map[string]string{
		`old: "1", new: "2"`:                 "mutant a: a.go: the old text occurs 2 times and must occur once; adapt the mutant to the file",
		`old: "z", new: "2"`:                 "mutant a: a.go: the old text occurs 0 times",
		`old: "= 1", new: "= 1"`:             "mutant a: a mutant has an id",
		`old: "= 1", new: "= ="`:             "mutant a: the mutated file is not Go",
		`old: "= 1", new: "= 2", because: x`: "field because not found",
	} {
		_, err := read(fields)
		require.ErrorContains(t, err, want)
	}
	_, err = readTable([]byte("- class: c\n  mutants:\n    - &m {id: a, file: a.go, breaks: x, old: '= 1', new: '= 2'}\n    - *m\n"), root)
	require.EqualError(t, err, "mutant a: the id is used twice")
}
