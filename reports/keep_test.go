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
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// long is a run of n episodes with one turn each; of every ten the first is
// lost, the second fails.
func long(n int) *Builder { return longer(n, 1) }

// longer has more turns.
func longer(n, turns int) *Builder {
	b := NewBuilder(manifest.Manifest{RunID: "r"})
	list := slices.Repeat([]ledger.Turn{{Turn: 1, Role: "main", Kind: "act"}}, turns)
	for i := range n {
		e := ledger.Episode{Key: ledger.Key{EpisodeID: fmt.Sprint("e", i), TaskID: "t", Candidate: "a"}, Status: "answered", Solved: i%10 > 1}
		switch i % 10 {
		case 0:
			e.InfraError = true
		case 1:
			e.Checks = []ledger.Check{{Name: "one", Detail: "no"}, {Name: "two", Detail: "no"}}
		}
		b.Add(ledger.EpisodeRows{Episode: e, Turns: list})
	}
	return b
}

func TestShelf(t *testing.T) {
	for _, c := range []struct {
		name                 string
		n, turns             int
		failed, lost, solved int
	}{
		{"one", 1, 1, 0, 1, 0},
		// An episode of 95 turns takes 65 of the 100,000 there are: its first 60 and 5.
		{"all there is room for", 1538, 95, 154, 154, 1230},
		{"four more", 1542, 95, 155, 155, 1228},
		{"no room for solved ones", 8000, 95, 800, 738, 0},
		{"no room for lost ones", 16_000, 95, 1538, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var kept [3]int
			r := longer(c.n, c.turns).Report()
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
	for i := range r.Episodes {
		if i > 5000 {
			r.Episodes[i].kept, r.Episodes[i].anchor = nil, ""
		}
	}
	page := render(t, HTML, r)
	require.Regexp(t, `Here are transcripts of [\d,]+ of 6,000 episodes: to keep this page small, [\d,]+ transcripts are left out, solved ones first\.`, page)
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
	b := NewBuilder(manifest.Manifest{RunID: "r"})
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
