package harness

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// sink accepts the episodes of a run in ledger order. Without a folder it collects their
// rows, with one it writes the ledger.
type sink struct {
	writer   *ledger.Writer // nil without a folder
	rows     ledger.Rows
	outcomes manifest.Outcomes
	excluded Excluded
	doubts   map[UsageDoubt]int // by doubt: the number of turns with it
}

// newSink starts the ledger in a folder.
func newSink(dir string) (k *sink, err error) {
	k = &sink{doubts: map[UsageDoubt]int{}}
	if dir != "" {
		k.writer, err = ledger.NewWriter(dir)
	}
	return k, err
}

func (k *sink) add(rec ledger.EpisodeRows) error {
	rec.Episode.AddTo(&k.outcomes)
	k.excluded.add(rec.Episode)
	for _, t := range rec.Turns {
		for _, text := range t.NotUnderstood {
			k.doubts[UsageDoubt{Provider: t.Provider, What: text}]++
		}
	}
	if k.writer != nil {
		return k.writer.Append(rec)
	}
	k.rows.Episodes = append(k.rows.Episodes, rec.Episode)
	k.rows.Turns = append(k.rows.Turns, rec.Turns...)
	k.rows.ToolCalls = append(k.rows.ToolCalls, rec.ToolCalls...)
	return nil
}

// close concludes the run and writes the folder, if there is one.
func (k *sink) close(conclude func(manifest.Totals) (manifest.Manifest, error)) (manifest.Manifest, error) {
	if k.writer != nil {
		return k.writer.Close(conclude)
	}
	return conclude(manifest.Totals{
		Digest: k.rows.Digest(), Episodes: len(k.rows.Episodes), Turns: len(k.rows.Turns), ToolCalls: len(k.rows.ToolCalls),
	})
}

// notUnderstood returns the doubts, sorted by provider and text.
func (k *sink) notUnderstood() []UsageDoubt {
	var list []UsageDoubt
	for d, turns := range k.doubts {
		d.Turns = turns
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b UsageDoubt) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.What, b.What))
	})
	return list
}

// stream writes the ledger of a replay during the run, because its episodes end nearly in
// ledger order. The worker whose episode is next in the ledger writes it and the finished
// ones after it. If the run is interrupted, its journal still has all of them.
type stream struct {
	*sink
	busy sync.Mutex // locked by the worker that writes
	next int        // place in the plan of the next episode
	err  error      // the error that ended writing

	mu sync.Mutex
	// waiting are episodes that ended before those ahead of them in the ledger. Beyond
	// maxWaiting, stream reads them from the journal later.
	waiting map[int]ledger.EpisodeRows
}

const maxWaiting = 512

// ended notes an episode and writes the next ones unless another worker is writing.
func (w *stream) ended(s *store, i int, rows ledger.EpisodeRows) {
	w.mu.Lock()
	if len(w.waiting) < maxWaiting {
		w.waiting[i] = rows
	}
	w.mu.Unlock()
	if w.busy.TryLock() {
		defer w.busy.Unlock()
		for w.next < s.plan.len() && w.err == nil && s.settled(w.next) {
			w.err = w.one(s)
		}
	}
}

// one writes the next episode if it has rows. The caller must have locked busy.
func (w *stream) one(s *store) error {
	i := w.next
	w.next++
	w.mu.Lock()
	rows, ok := w.waiting[i]
	delete(w.waiting, i)
	w.mu.Unlock()
	if !ok {
		var err error
		if rows, ok, err = s.get(i); err != nil || !ok {
			return err
		}
	}
	return w.add(rows)
}
