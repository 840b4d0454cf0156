package ledger

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite testdata/schema")

// The schemas are what other programs read. Made by
// go test ./harness/ledger -run TestSchema -update; a change of a schema needs a
// new schemaVersion.
func TestSchema(t *testing.T) {
	for table, text := range map[string]string{
		tableEpisodes: schemaText[Episode](), tableTurns: schemaText[Turn](), tableToolCalls: schemaText[ToolCall](),
	} {
		t.Run(table, func(t *testing.T) {
			path := filepath.Join("testdata", "schema", table+".txt")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), text+"\n")
		})
	}
}
