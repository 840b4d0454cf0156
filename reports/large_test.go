package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sizes that pages, comments and summaries may have.
func TestSizesOfLargeRuns(t *testing.T) {
	for _, c := range []struct {
		name          string
		tasks, trials int
	}{{"many trials", 25, 100}, {"many tasks", 2500, 1}} {
		t.Run(c.name, func(t *testing.T) {
			r := Build(demo(demoProfiles(), c.tasks, c.trials))
			require.Len(t, r.Episodes, 10_000)
			page := render(t, HTML, r)
			require.Less(t, len(page), 4<<20)
			require.Less(t, len(render(t, Markdown, r)), 60_000)
			left := strings.Contains(page, "To keep this page small, 500 tasks are left out, those that were always solved first")
			require.Equal(t, c.tasks > maxTaskRows, left)
		})
	}
}

// Tasks that were not always solved come before those that were, in their order.
func TestTaskRowsAreBounded(t *testing.T) {
	w := newWorld("a")
	for i := range maxTaskRows + 10 {
		w.add(1, fmt.Sprintf("t%04d", i), i%2 == 0 || i < maxTaskRows, 1, nil)
	}
	r := Build(w.m, w.rows)
	at := r.listed()
	require.Len(t, at, maxTaskRows)
	require.Equal(t, "t2009", r.Tasks[at[maxTaskRows-1]].ID)
	require.Equal(t, "t0000", r.Tasks[at[0]].ID)
	bad := 0
	for _, i := range at {
		if !r.Tasks[i].clean() {
			bad++
		}
	}
	require.Equal(t, 5, bad)
}
