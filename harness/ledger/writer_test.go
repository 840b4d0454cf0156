package ledger

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/stretchr/testify/require"
)

// ledgerFiles returns the contents of the files in a folder by name.
func ledgerFiles(t testing.TB, dir string) map[string]string {
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(data)
	}
	return files
}

func writeStream(t testing.TB, dir string, recs []EpisodeRows) manifest.Totals {
	w, err := NewWriter(dir)
	require.NoError(t, err)
	for _, rec := range recs {
		require.NoError(t, w.Append(rec))
	}
	return closeWriter(t, w)
}

// closeWriter closes a Writer with the sample manifest.
func closeWriter(t testing.TB, w *Writer) (totals manifest.Totals) {
	_, err := w.Close(func(sum manifest.Totals) (manifest.Manifest, error) {
		m := sampleRun()
		m.SetTotals(sum)
		totals = sum
		return m, nil
	})
	require.NoError(t, err)
	return totals
}

func sampleRun() manifest.Manifest {
	return manifest.Manifest{
		Format: manifest.Format, RunID: "20260601T080000-6f1c2a", Status: "complete", Mode: "replay", Trials: 3,
		Candidates: []manifest.Candidate{{Name: "sim & <co>", Agent: "contract", Provider: "sim", Model: "m", Simulated: true}},
		Acceptance: manifest.Acceptance{}.Resolved(),
	}
}

// writeRows is Write with the sample manifest.
func writeRows(dir string, rows Rows) error { return Write(dir, sampleRun(), rows) }

// conclude is for a Writer that must not call it.
func conclude(manifest.Totals) (manifest.Manifest, error) { panic("conclude") }

func rowsOf(recs []EpisodeRows) (rows Rows) {
	for _, rec := range recs {
		rows.Episodes = append(rows.Episodes, rec.Episode)
		rows.Turns = append(rows.Turns, rec.Turns...)
		rows.ToolCalls = append(rows.ToolCalls, rec.ToolCalls...)
	}
	return rows
}

// Writer and Write give the same bytes and the same digest.
func TestWriterEqualsWrite(t *testing.T) {
	for _, n := range []int{0, 1, 13, 700} {
		recs := sampleRecords(n)
		rows, one, other := rowsOf(recs), t.TempDir(), t.TempDir()
		totals := writeStream(t, one, recs)
		require.NoError(t, writeRows(other, rows))
		require.Equal(t, ledgerFiles(t, other), ledgerFiles(t, one), n)
		require.Len(t, ledgerFiles(t, one), 4)
		require.Equal(t, manifest.Totals{Digest: rows.Digest(), Episodes: n, Turns: len(rows.Turns), ToolCalls: len(rows.ToolCalls)}, totals)
		var d Digester
		for _, rec := range recs {
			d.Add(rec)
		}
		require.Equal(t, totals.Digest, d.Sum())
		require.Equal(t, totals.Digest, d.Sum(), "asked again")
		got, err := Read(one)
		require.NoError(t, err)
		require.Equal(t, rows, got)
	}
}

func TestWriterRefusesAnotherOrder(t *testing.T) {
	at := func(task, candidate string, trial int32) Key {
		return Key{TaskID: task, Candidate: candidate, Trial: trial}
	}
	ep := func(k Key) EpisodeRows { return EpisodeRows{Episode: Episode{Key: k}} }
	first := at("b", "m", 2)
	tests := []struct {
		name string
		rec  EpisodeRows
		want []string // in the error; none means that the order is valid
	}{
		{"next trial", ep(at("b", "m", 3)), nil},
		{"next candidate", ep(at("b", "m2", 1)), nil},
		{"next task", ep(at("c", "a", 1)), nil},
		{"by bytes, not by alphabet", ep(at("é", "a", 1)), nil},
		{"the same", ep(first), []string{`episode of task "b", candidate "m", trial 2 comes after that of task "b", candidate "m", trial 2`}},
		{"trial before", ep(at("b", "m", 1)), []string{"trial 1 comes after", "trial 2"}},
		{"candidate before", ep(at("b", "M", 9)), []string{`candidate "M"`, `candidate "m"`}},
		{"task before", ep(at("B", "m", 9)), []string{`task "B"`, `task "b"`}},
		{"turn of another episode", EpisodeRows{ep(at("c", "", 1)).Episode, []Turn{{Key: at("d", "", 1)}}, nil}, []string{`turn of task "d"`, `task "c"`}},
		{"call of another episode", EpisodeRows{ep(at("c", "", 1)).Episode, nil, []ToolCall{{Key: at("c", "", 2)}}}, []string{"tool call of", "trial 2", "trial 1"}},
		{"turns out of order", EpisodeRows{ep(at("c", "", 1)).Episode, []Turn{{Key: at("c", "", 1), Turn: 2}, {Key: at("c", "", 1), Turn: 2}}, nil}, []string{"turn 2 after 2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			w, err := NewWriter(dir)
			require.NoError(t, err)
			defer w.Abort()
			require.NoError(t, w.Append(ep(first)))
			err = w.Append(tt.rec)
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
			_, again := w.Close(conclude)
			require.Equal(t, err, again)
			require.Empty(t, ledgerFiles(t, dir))
		})
	}
	recs := sampleRecords(3)
	rows := rowsOf(recs)
	rows.Episodes = rows.Episodes[1:]
	require.ErrorContains(t, writeRows(t.TempDir(), rows), "turn of task")
	rows = rowsOf(recs)
	rows.ToolCalls[14].Trial++
	require.ErrorContains(t, writeRows(t.TempDir(), rows), "has no episode, or comes before it")
}

// The old ledger stays until Close. The next Writer removes the files of an aborted or killed one.
func TestWriterKeepsTheOldLedger(t *testing.T) {
	dir := t.TempDir()
	writeStream(t, dir, sampleRecords(2))
	before := ledgerFiles(t, dir)
	w, err := NewWriter(dir)
	require.NoError(t, err)
	require.NoError(t, w.Append(sampleRecords(1)[0]))
	require.Len(t, ledgerFiles(t, dir), 7)
	w.Abort()
	w.Abort()
	require.Equal(t, before, ledgerFiles(t, dir))
	require.ErrorIs(t, w.Append(sampleRecords(1)[0]), os.ErrClosed)
	_, err = w.Close(conclude)
	require.ErrorIs(t, err, os.ErrClosed)

	require.NoError(t, os.WriteFile(filepath.Join(dir, ".turns.parquet.ABCDEFGHIJ.tmp"), nil, 0o666)) // of a killed process
	writeStream(t, dir, sampleRecords(1))
	after := ledgerFiles(t, dir)
	require.Len(t, after, 4)
	require.NotEqual(t, before, after)

	_, err = NewWriter(filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// After a failed write, here to a read-only file, the old ledger stays.
func TestWriterAfterAFailedWrite(t *testing.T) {
	dir := t.TempDir()
	writeStream(t, dir, sampleRecords(2))
	before := ledgerFiles(t, dir)
	w, err := NewWriter(dir)
	require.NoError(t, err)
	require.NoError(t, w.temps[1].Close())
	require.NoError(t, w.Append(sampleRecords(1)[0]))
	_, err = w.Close(func(manifest.Totals) (manifest.Manifest, error) { return sampleRun(), nil })
	require.ErrorContains(t, err, "turns.parquet")
	require.ErrorIs(t, err, os.ErrClosed)
	require.Equal(t, before, ledgerFiles(t, dir))
}

// endless returns the episodes of a run of any length: the rows of a thousand episodes with new
// keys. The rows are valid until a thousand calls later.
type endless []EpisodeRows

func newEndless() endless { return sampleRecords(1000) }

func (l endless) at(i int) EpisodeRows {
	rec := &l[i%len(l)]
	k := &rec.Episode.Key
	k.TaskID, k.EpisodeID, k.Replayed = fmt.Sprintf("task-%06d", i/20), fmt.Sprintf("01J%020d", i), true
	k.Candidate, k.Trial = fmt.Sprint("candidate-", i/5%4), int32(i%5+1)
	for j := range rec.Turns {
		rec.Turns[j].Key = *k
	}
	for j := range rec.ToolCalls {
		rec.ToolCalls[j].Key = *k
	}
	return *rec
}

func (l endless) write(t testing.TB, dir string, n int, each func(i int)) manifest.Totals {
	w, err := NewWriter(dir)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, w.Append(l.at(i)))
		each(i)
	}
	return closeWriter(t, w)
}

// peakHeap runs f and returns the growth of the live heap. It samples the heap whenever f calls
// its argument.
func peakHeap(f func(look func())) (peak uint64) {
	var m runtime.MemStats
	live := func() uint64 {
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	base := live()
	f(func() { peak = max(peak, live()) })
	return peak - min(peak, base)
}

// Writer and Scan need no more memory for tens of thousands of episodes than for a thousand.
func TestManyEpisodesInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 60 MB and more")
	}
	const bound = 48 << 20
	n := testkit.Long(testkit.SlowN(5_000, 20_000), 100_000)
	dir, run := t.TempDir(), newEndless()
	var totals manifest.Totals
	wrote := peakHeap(func(look func()) {
		totals = run.write(t, dir, n, func(i int) {
			if i%5000 == 4999 {
				look()
			}
		})
	})
	require.Equal(t, n, totals.Episodes)
	require.Equal(t, 5*n, totals.Turns)
	require.Less(t, wrote, uint64(bound))
	var d Digester
	i := 0
	read := peakHeap(func(look func()) {
		for rec, err := range Scan(dir) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Add(rec); i%5000 == 0 {
				require.Equal(t, run.at(i), rec)
				look()
			}
			i++
		}
	})
	require.Equal(t, n, i)
	require.Equal(t, totals.Digest, d.Sum())
	require.Less(t, read, uint64(bound))
	t.Logf("peak of the live heap: writing %d MB, reading %d MB", wrote>>20, read>>20)
}
