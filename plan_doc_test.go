package cupel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestPlanPage: docs/plan.md names every fault of a plan and every violation of a
// step.
func TestPlanPage(t *testing.T) {
	page := testkit.Doc(t, "plan.md")
	found := 0
	for _, c := range constants(t, filepath.Join("agent", "plan")) {
		if strings.HasPrefix(c.name, "code") {
			require.Contains(t, page, "`"+c.text+"`", c.name)
			found++
		}
	}
	require.Greater(t, found, 20)
	for _, c := range constants(t, "agent") {
		if strings.HasPrefix(c.name, "violation") && strings.HasPrefix(c.text, "step.") {
			require.Contains(t, page, "`"+c.text+"`", c.name)
			found++
		}
	}
	require.Greater(t, found, 23)
}
