package ledger

import (
	"path/filepath"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// Other programs depend on the schemas, so a change needs a new schemaVersion and
// go test ./harness/ledger -run TestSchema -update.
func TestSchema(t *testing.T) {
	for table, text := range map[string]string{
		tableEpisodes: schemaText[Episode](), tableTurns: schemaText[Turn](), tableToolCalls: schemaText[ToolCall](),
	} {
		t.Run(table, func(t *testing.T) {
			testkit.Golden(t, filepath.Join("testdata", "schema", table+".txt"), text+"\n")
		})
	}
}
