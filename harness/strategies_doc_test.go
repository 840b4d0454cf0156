package harness_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page contains the code of the example, which is short.
func TestStrategiesPage(t *testing.T) {
	page, err := os.ReadFile("../docs/custom-strategies.md")
	require.NoError(t, err)
	file, err := os.ReadFile("example_vote_test.go")
	require.NoError(t, err)
	_, code, found := strings.Cut(string(file), "package harness_test\n\n")
	require.True(t, found)
	require.Less(t, strings.Count(code, "\n"), 100)
	require.Contains(t, string(page), "```go\n"+code+"```\n", "docs/custom-strategies.md: copy the code of example_vote_test.go")
	for _, linked := range []string{"contract.md", "tools.md", "plan.md", "ledger.md", "agents.md"} {
		require.Contains(t, string(page), "]("+linked+")")
	}
}
