package orchestrator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestBehavioursAreEnforced: a test names every behaviour of an orchestrator, or a page lists it.
func TestBehavioursAreEnforced(t *testing.T) {
	var tests strings.Builder
	for _, pattern := range []string{"*/*_test.go", "../*_test.go", "../contract/*_test.go", "../../docs/behaviours.md"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			tests.Write(text)
		}
	}
	for _, id := range testkit.Behaviours(t, "orchestrator") {
		require.True(t, strings.Contains(tests.String(), id), "no test names %s, and docs/behaviours.md does not list it", id)
	}
}
