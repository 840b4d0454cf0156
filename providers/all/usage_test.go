package all

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// columns are the ledger columns that a number of a usage object can go to.
var columns = []string{
	"", "tokens_in", "tokens_out", "tokens_cache_read", "tokens_cache_write", "tokens_reasoning",
	"tokens_in_processed", "tokens_out_processed", "server_tools", "cost_reported_nanousd", "service_tier",
}

// TestEveryUsageFieldHasAnEnd checks that each field goes to a column, or has a reason
// why not.
func TestEveryUsageFieldHasAnEnd(t *testing.T) {
	for wire, fields := range UsageFields() {
		seen := map[string]bool{}
		require.NotEmpty(t, fields, wire)
		for _, f := range fields {
			require.False(t, seen[f.Path], "%s: %s twice", wire, f.Path)
			seen[f.Path] = true
			require.Contains(t, columns, f.Column, f.Path)
			require.NotEmpty(t, f.Column+f.Reason, "%s: %s", wire, f.Path)
			require.NotContains(t, f.Path+f.Reason, "|")
		}
	}
}

// TestThePageListsEveryUsageField checks that the page's table equals UsageFields. With
// -update it writes the table.
func TestThePageListsEveryUsageField(t *testing.T) {
	const head = "| wire | number | column | note |\n|---|---|---|---|\n"
	before, rest, ok := strings.Cut(testkit.Doc(t, "providers.md"), head)
	require.True(t, ok, "docs/providers.md has no table that begins with %s", head)
	at := strings.Index(rest, "\n\n")
	require.GreaterOrEqual(t, at, 0, "nothing follows the table")
	var table strings.Builder
	fields := UsageFields()
	for _, wire := range slices.Sorted(maps.Keys(fields)) {
		for _, f := range fields[wire] {
			column := "–"
			if f.Column != "" {
				column = "`" + f.Column + "`"
			}
			_, _ = fmt.Fprintf(&table, "| %s | `%s` | %s | %s |\n", wire, f.Path, column, f.Reason)
		}
	}
	want := before + head + strings.TrimSuffix(table.String(), "\n") + rest[at:]
	testkit.Golden(t, filepath.Join("..", "..", "docs", "providers.md"), want)
}
