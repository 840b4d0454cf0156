package ledger

import (
	"path/filepath"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// The schemas are what other programs read. Made by
// go test ./harness/ledger -run TestSchema -update; a change of a schema needs a
// new schemaVersion.
func TestSchema(t *testing.T) {
	for table, text := range map[string]string{
		tableEpisodes: schemaText[Episode](), tableTurns: schemaText[Turn](), tableToolCalls: schemaText[ToolCall](),
	} {
		t.Run(table, func(t *testing.T) {
			testkit.Golden(t, filepath.Join("testdata", "schema", table+".txt"), text+"\n")
		})
	}
}
