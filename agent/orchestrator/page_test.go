package orchestrator

import (
	"cmp"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/orchestrator/background"
	"github.com/cupel-eval/cupel/agent/orchestrator/build"
	"github.com/cupel-eval/cupel/agent/orchestrator/graph"
	"github.com/cupel-eval/cupel/agent/orchestrator/transition"
)

// TestPage: docs/orchestrator.md shows the state machines as they are.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/orchestrator.md")
	require.NoError(t, err)
	for name, table := range map[string]transition.Table{
		"graph": graph.Graphs, "task": graph.Tasks, "background": background.Tasks, "build": build.Items,
	} {
		diagram := "stateDiagram-v2\n"
		for _, e := range table {
			diagram += fmt.Sprintf("    %s --> %s: %s\n", cmp.Or(e.From, "[*]"), e.To, e.Event)
		}
		require.Contains(t, string(page), "```mermaid\n"+diagram+"```\n", name)
	}
}
