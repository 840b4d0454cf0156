package role

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMatrix pins what each role may call, one line for each group and role of it.
func TestMatrix(t *testing.T) {
	may := map[string]string{
		Orchestration: "orchestrator", "workflow": "orchestrator delegate builder", "execution": "orchestrator delegate",
		"credential": "orchestrator delegate", "node": "orchestrator delegate builder", "table-read": "orchestrator delegate tables",
		TableWrite: "tables", "workspace": "orchestrator delegate", "research": "orchestrator delegate researcher",
		"template": "orchestrator delegate builder", "sandbox": "builder", Ask: "orchestrator", MCP: "orchestrator",
		"": "orchestrator delegate", "unheard": "orchestrator delegate",
	}
	for group, allowed := range may {
		for _, r := range roles {
			want := strings.Contains(" "+allowed+" ", " "+string(r)+" ")
			require.Equal(t, want, May(r, group, "tool"), "%s of group %q", r, group)
		}
	}
	require.True(t, May(Builder, "credential", "setup-credentials"))
	require.False(t, May(Builder, "credential", "delete-credential"))
	require.False(t, May("observer", "workflow", "list-workflows"), "a role without tools")
	require.Len(t, matrix, 14)
	for _, l := range matrix {
		require.Len(t, l.may, len(roles), l.group)
	}
}

// TestPage: docs/orchestrator.md prints the matrix as it is.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/orchestrator.md")
	require.NoError(t, err)
	require.Contains(t, string(page), table())
}

// table is the matrix in Markdown.
func table() string {
	var w strings.Builder
	w.WriteString("| tools |")
	for _, r := range roles {
		w.WriteString(" " + string(r) + " |")
	}
	w.WriteString("\n|---|" + strings.Repeat(":-:|", len(roles)) + "\n")
	words := map[byte]string{'y': "●", '-': "–", 's': "setup only"}
	for _, l := range matrix {
		w.WriteString("| " + l.title + " |")
		for i := range roles {
			w.WriteString(" " + words[l.may[i]] + " |")
		}
		w.WriteString("\n")
	}
	return w.String()
}
