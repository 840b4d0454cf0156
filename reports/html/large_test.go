package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/text"
)

// Pages, comments and summaries have size limits.
func TestSizesOfLargeRuns(t *testing.T) {
	for _, c := range []struct {
		name          string
		tasks, trials int
	}{{"many trials", 25, 100}, {"many tasks", 2500, 1}} {
		t.Run(c.name, func(t *testing.T) {
			r := build(reporttest.Demo(reporttest.DemoProfiles(), c.tasks, c.trials))
			require.Len(t, r.Episodes, 10_000)
			page := reporttest.Render(t, page, r)
			require.Less(t, len(page), 4<<20)
			require.Less(t, len(reporttest.Render(t, text.Markdown, r)), 60_000)
			left := strings.Contains(page, "To keep this page small, 500 tasks are left out, those that were always solved first")
			require.Equal(t, c.tasks > maxTaskRows, left)
		})
	}
}

// Tasks that were not always solved come first. Both groups keep their order.
func TestTaskRowsAreBounded(t *testing.T) {
	w := reporttest.NewWorld("a")
	for i := range maxTaskRows + 10 {
		w.Add(1, fmt.Sprintf("t%04d", i), i%2 == 0 || i < maxTaskRows, 1, nil)
	}
	r := build(w.M, w.Rows)
	at := listed(r)
	require.Len(t, at, maxTaskRows)
	require.Equal(t, "t2009", r.Tasks[at[maxTaskRows-1]].ID)
	require.Equal(t, "t0000", r.Tasks[at[0]].ID)
	bad := 0
	for _, i := range at {
		if !clean(r.Tasks[i]) {
			bad++
		}
	}
	require.Equal(t, 5, bad)
}
