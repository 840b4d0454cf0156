package label

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/labels"
)

// A row is read by every CSV reader as it was written, and none of its cells begins as a formula,
// whatever a model said.
func TestRowIsInert(t *testing.T) {
	cells := []string{"=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", `a "quoted" text`, "a,b;=c", "line\n=1", "\xff", "plain", ""}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	row(w, cells)
	require.NoError(t, w.Flush())
	for _, comma := range []rune{',', ';', '\t'} {
		r := csv.NewReader(bytes.NewReader(b.Bytes()))
		r.Comma, r.LazyQuotes = comma, true
		got, err := r.Read()
		require.NoError(t, err)
		for i, cell := range got {
			require.False(t, cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])), "separator %q, cell %q", comma, cell)
			if comma == ',' && i != 9 {
				require.Equal(t, strings.ReplaceAll(cells[i], "\r", "\r"), labels.Plain(cell))
			}
		}
	}
}
