package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBehavioursPage: docs/behaviours.md has every behaviour that a strategy does not
// have.
func TestBehavioursPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "behaviours.md"))
	require.NoError(t, err)
	for _, list := range []map[string]string{planElsewhere, toolsElsewhere} {
		for id := range list {
			require.Regexp(t, `(?m)^\|[B0-9, ]*`+id+`[B0-9, ]*\|`, string(page))
		}
	}
}
