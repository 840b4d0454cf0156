package interp

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// The page shows what each trigger puts out, as it is.
func TestPage(t *testing.T) {
	_, page, _ := strings.Cut(testkit.Doc(t, "flowsim.md"), "## Execution")
	found := regexp.MustCompile("(?m)^\\| `(form|webhook|chat|schedule|manual)` \\| `?(.*?)`? \\| `(.*?)` \\|").FindAllStringSubmatch(page, -1)
	require.Len(t, found, 5)
	for _, row := range found {
		var input any
		if strings.HasPrefix(row[2], "{") {
			input = value(t, row[2])
		}
		items, err := payload(row[1], input, monday)
		require.NoError(t, err)
		require.JSONEq(t, row[3], text(t, items[0]), row[1])
	}
	for _, class := range []string{ClassLimit, "expression", "parameter", "credential", "quota", "network", "timeout", "table", "not_found", "stopped", "trigger", "graph"} {
		require.Contains(t, page, "`"+class+"`")
	}
}
