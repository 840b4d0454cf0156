package harness

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// streamed writes the episodes of a plan of n episodes that end in this order, in pairs.
func streamed(t *testing.T, n int, order []int) (ledger.Rows, *store) {
	dir := t.TempDir()
	p := &plan{tasks: []plannedTask{{Task: goldens.Task{ID: "T"}}}, candidates: []resolvedCandidate{{Candidate: goldens.Candidate{Name: "m"}}}}
	for i := range n {
		p.cells = append(p.cells, drive.Cell{Trial: int32(i + 1)})
	}
	s := &store{dir: dir, plan: p, unlock: func() {}, at: slices.Repeat([]int64{-1}, n), todo: slices.Repeat([]bool{true}, n), excluded: make([]bool, n)}
	var err error
	s.journal, err = ledger.OpenJournal(dir, s.visit)
	require.NoError(t, err)
	k, err := newSink(dir)
	require.NoError(t, err)
	s.stream = &stream{sink: k, waiting: map[int]ledger.EpisodeRows{}}
	var wg sync.WaitGroup
	for half := range slices.Chunk(order, (len(order)+1)/2) {
		wg.Go(func() {
			for _, i := range half {
				key := ledger.Key{TaskID: "T", Candidate: "m", Trial: int32(i + 1)}
				rec := ledger.EpisodeRows{Episode: ledger.Episode{Key: key, Status: "answered", Solved: true}, Turns: []ledger.Turn{{Key: key, Turn: 1}}}
				if err := s.put(i, rec); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var res Result
	m, err := s.write(&res, func(totals manifest.Totals, outcomes manifest.Outcomes) (manifest.Manifest, error) {
		m := manifest.Manifest{Format: manifest.Format, Outcomes: outcomes}
		m.SetTotals(totals)
		return m, nil
	})
	require.NoError(t, err)
	require.NoError(t, s.close())
	require.Equal(t, len(order), m.Episodes)
	require.Equal(t, len(order), m.Outcomes.Solved)
	rows, err := ledger.Read(dir)
	require.NoError(t, err)
	return rows, s
}

// The ledger does not depend on the order in which episodes end, nor on whether all do.
func TestStreamInAnyOrder(t *testing.T) {
	const n = 3 * maxWaiting
	inOrder := make([]int, n)
	for i := range inOrder {
		inOrder[i] = i
	}
	backwards, shuffled := slices.Clone(inOrder), slices.Clone(inOrder)
	slices.Reverse(backwards)
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	want, _ := streamed(t, n, inOrder)
	require.Len(t, want.Turns, n)
	for name, order := range map[string][]int{"backwards": backwards, "shuffled": shuffled} {
		t.Run(name, func(t *testing.T) {
			got, s := streamed(t, n, order)
			require.Equal(t, want, got)
			require.Empty(t, s.stream.waiting)
		})
	}
	t.Run("some never end", func(t *testing.T) {
		got, _ := streamed(t, n, inOrder[1:n-1])
		require.Equal(t, want.Episodes[1:n-1], got.Episodes)
		require.Equal(t, want.Turns[1:n-1], got.Turns)
	})
}
