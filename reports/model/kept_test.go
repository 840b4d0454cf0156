package model

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

// longer has more turns.
func longer(n, turns int) *Builder {
	b := NewBuilder(manifest.Manifest{RunID: "r"}, nil)
	reporttest.AddLong(b.Add, n, turns)
	return b
}

func TestShelf(t *testing.T) {
	for _, c := range []struct {
		name                 string
		n, turns             int
		failed, lost, solved int
	}{
		{"one", 1, 1, 0, 1, 0},
		// An episode of 95 turns gets 65 of the 100,000 available turns: its first 60
		// and 5 more.
		{"all there is room for", 1538, 95, 154, 154, 1230},
		{"four more", 1542, 95, 155, 155, 1228},
		{"no room for solved ones", 8000, 95, 800, 738, 0},
		{"no room for lost ones", 16_000, 95, 1538, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.n == 16_000 {
				testkit.Slow(t) // "no room for solved ones" is the sample
			}
			var kept [3]int
			r := longer(c.n, c.turns).Report()
			at := [3]int{-1, -1, -1}
			for i := range r.Episodes {
				e := &r.Episodes[i]
				k := e.Rank()
				require.Equal(t, e.Kept != nil, e.Anchor != "", "what has a transcript has an anchor")
				if e.Kept == nil {
					continue
				}
				kept[k]++
				if at[k] >= 0 && i > at[k] {
					skipped := slices.IndexFunc(r.Episodes[at[k]+1:i], func(e Episode) bool { return e.Rank() == k })
					require.Negative(t, skipped, "the first of their kind are kept, without a gap before %d", i)
				}
				at[k] = i
			}
			require.Equal(t, [3]int{c.failed, c.lost, c.solved}, kept)
		})
	}
}

// The builder keeps little of rows with megabytes of text.
func TestBuilderLetsGoOfRows(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b := NewBuilder(manifest.Manifest{RunID: "r"}, nil)
	for i := range 2500 {
		big := fmt.Sprint(i, strings.Repeat("x", 50_000))
		key := ledger.Key{EpisodeID: fmt.Sprint("e", i), TaskID: big[50_000:], Candidate: "a"}
		b.Add(ledger.EpisodeRows{
			Episode: ledger.Episode{Key: key, Answer: big, ErrorText: big, Status: big[:3], Checks: []ledger.Check{{Name: big, Detail: big}}},
			Turns:   []ledger.Turn{{Key: key, Role: "main", NextActionType: big[:10], Violations: []string{big[:20]}, ModelServed: big[:4]}},
		})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(12<<20), "125 MB were seen")
	require.Len(t, b.Report().Episodes, 2500)
}
