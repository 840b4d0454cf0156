package reports

import (
	"encoding/xml"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// long is a run of n episodes with one turn each; of every ten the first is
// lost, the second fails.
func long(n int) *Builder {
	b := NewBuilder(ledger.Manifest{RunID: "r"})
	for i := range n {
		e := ledger.Episode{Key: ledger.Key{EpisodeID: fmt.Sprint("e", i), TaskID: "t", Candidate: "a"}, Status: "answered", Solved: i%10 > 1}
		switch i % 10 {
		case 0:
			e.InfraError = true
		case 1:
			e.Checks = []ledger.Check{{Name: "one", Detail: "no"}, {Name: "two", Detail: "no"}}
		}
		b.Add(ledger.EpisodeRows{Episode: e, Turns: []ledger.Turn{{Key: e.Key, Turn: 1, Role: "main", Kind: "act"}}})
	}
	return b
}

func TestShelf(t *testing.T) {
	for _, c := range []struct {
		name                 string
		n                    int
		failed, lost, solved int
	}{
		{"one", 1, 0, 1, 0},
		{"all of a small run", 2000, 200, 200, 1600},
		{"one more", 2001, 200, 201, 99},
		{"no room for solved ones", 2600, 260, 240, 0},
		{"no room for lost ones", 6000, 500, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var kept [3]int
			r := long(c.n).Report()
			at := [3]int{-1, -1, -1}
			for i := range r.Episodes {
				e := &r.Episodes[i]
				k := rank(e)
				require.Equal(t, e.kept != nil, e.anchor != "", "what has a transcript has an anchor")
				if e.kept == nil {
					continue
				}
				kept[k]++
				if at[k] >= 0 && i > at[k] {
					skipped := slices.IndexFunc(r.Episodes[at[k]+1:i], func(e Episode) bool { return rank(&e) == k })
					require.Negative(t, skipped, "the first of their kind are kept, without a gap before %d", i)
				}
				at[k] = i
			}
			require.Equal(t, [3]int{c.failed, c.lost, c.solved}, kept)
		})
	}
}

func TestLargeRunSaysWhatItShows(t *testing.T) {
	r := long(6000).Report()
	page := render(t, HTML, r)
	require.Contains(t, page, "Here are transcripts of 500 of 6,000 episodes: to keep this page small, 5,500 transcripts are left out, solved ones first.")
	require.Contains(t, page, "<code>cupel show r EPISODE</code>")
	var got junitSuites
	require.NoError(t, xml.Unmarshal([]byte(render(t, JUnit, r)), &got))
	require.Equal(t, "answer: one\none: no\ntwo: no", got.Suites[0].Cases[1].Failure.Text)
	require.Equal(t, "answer: one\none: no", got.Suites[0].Cases[5991].Failure.Text, "without its transcript an episode has its first failing check")
	require.Equal(t, []int{6000, 600, 600}, []int{got.Tests, got.Failures, got.Errors})
}

// Rows with megabytes of text leave next to nothing.
func TestBuilderLetsGoOfRows(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b := NewBuilder(ledger.Manifest{RunID: "r"})
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
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(8<<20), "125 MB were seen")
	require.Len(t, b.Report().Episodes, 2500)
}

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
	w := newWorld("point", "a")
	for i := range maxTaskRows + 10 {
		w.add(1, fmt.Sprintf("t%04d", i), i%2 == 0 || i < maxTaskRows, 1, nil)
	}
	views := taskViews(Build(w.m, w.rows), nil)
	require.Len(t, views, maxTaskRows)
	require.Equal(t, "t2009", views[maxTaskRows-1].ID)
	require.Equal(t, "t0000", views[0].ID)
	bad := 0
	for _, v := range views {
		if !v.Clean {
			bad++
		}
	}
	require.Equal(t, 5, bad)
}
