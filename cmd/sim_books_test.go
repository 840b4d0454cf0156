package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

// cupel sim follows the playbooks of the built-in suites, or of the named ones, which must have one.
func TestBooksOfSim(t *testing.T) {
	p := &process{}
	known, err := p.booksOf(nil)
	require.NoError(t, err)
	require.Len(t, known, len(builtins))

	text, err := scaffold.ReadFile("scaffold/suites/first/suite.yaml")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "suite.yaml"), text, 0o644))
	_, err = p.booksOf([]string{dir})
	require.ErrorContains(t, err, "has no playbook.yaml; write the solutions of its tasks there, as docs/playbooks.md says")
	text, err = scaffold.ReadFile("scaffold/suites/first/playbook.yaml")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "playbook.yaml"), text, 0o644))
	known, err = p.booksOf([]string{dir, "builtin:counts"})
	require.NoError(t, err)
	require.Len(t, known, 2)
}

// booksFor returns the playbooks of suites, or those of the built-in ones if none is named.
func booksFor(t *testing.T, suites ...string) []*playbook.Book {
	t.Helper()
	known, err := (&process{}).booksOf(suites)
	require.NoError(t, err)
	return known
}
