// Package tracetest runs the scripted traces of state machines: a file for each edge, and
// proves that no edge lacks one.
package tracetest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/orchestrator/transition"
	"github.com/cupel-eval/cupel/internal/regular"
)

// Run executes every file of testdata/NAME. Its first line is "edge: FROM EVENT TO", with
// "-" for the beginning; the others are commands, which replay executes one after another
// with a new machine. It returns the edges taken, and the last command takes that of the file.
func Run(t *testing.T, name string, table transition.Table, replay func(t *testing.T, commands []string) []transition.Edge) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", name, "*.txt"))
	require.NoError(t, err)
	left := map[string]bool{}
	for _, e := range table {
		left[e.String()] = true
	}
	require.Len(t, left, len(table), "an edge is named twice")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := regular.ReadFile(file)
			require.NoError(t, err)
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			edge := strings.Replace(strings.TrimPrefix(lines[0], "edge: "), "- ", " ", 1)
			var commands []string
			for _, line := range lines[1:] {
				if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
					commands = append(commands, strings.TrimSpace(line))
				}
			}
			named := func(taken []transition.Edge) []string {
				var out []string
				for _, e := range taken {
					out = append(out, e.String())
				}
				return out
			}
			all := named(replay(t, commands))
			before := named(replay(t, commands[:len(commands)-1]))
			require.True(t, slices.Contains(all[len(before):], edge), "%q is not among the edges of the last command: %q", edge, all[len(before):])
			require.True(t, left[edge], "%q is not an edge, or has two files", edge)
			delete(left, edge)
		})
	}
	require.Empty(t, left, "edges without a trace in testdata/%s", name)
}
