package ledger

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
)

func scanAll(dir string) (recs []EpisodeRows, err error) {
	for rec, err := range Scan(dir) {
		if err != nil {
			return recs, err
		}
		recs = append(recs, rec)
	}
	return recs, nil
}

func TestScan(t *testing.T) {
	for _, n := range []int{0, 1, 40, 700} {
		recs := sampleRecords(n)
		for i := range recs { // some without turns or calls
			recs[i].Turns = recs[i].Turns[:5-i%6%5]
			if recs[i].ToolCalls = recs[i].ToolCalls[:i%4]; i%4 == 0 {
				recs[i].ToolCalls = nil
			}
		}
		dir := t.TempDir()
		writeStream(t, dir, recs)
		got, err := scanAll(dir)
		require.NoError(t, err)
		require.Equal(t, recs, append([]EpisodeRows{}, got...))
	}
}

func TestScanStopsEarly(t *testing.T) {
	dir := t.TempDir()
	writeStream(t, dir, sampleRecords(300))
	n := 0
	for _, err := range Scan(dir) {
		require.NoError(t, err)
		if n++; n == 3 {
			break
		}
	}
	require.Equal(t, 3, n)
}

func TestScanRefuses(t *testing.T) {
	good := t.TempDir()
	writeStream(t, good, sampleRecords(9))
	turns := []Turn{{Key: Key{TaskID: "zz"}}}
	late := make([]ToolCall, 1)
	late[0].TaskID = "zz"
	run := sealed.Digest([]byte(ledgerFiles(t, good)["run.json"]))
	forge := func(file []byte, err error) string {
		require.NoError(t, err)
		return string(file)
	}
	swapped := rowsOf(sampleRecords(9)).Episodes
	swapped[0], swapped[1] = swapped[1], swapped[0]
	tests := []struct {
		name, file, data string
		want             string
		recs             int
	}{
		{"missing", "turns", "", "turns.parquet", 0},
		{"cut", "turns", ledgerFiles(t, good)["turns.parquet"][:900], "turns.parquet", 0},
		{"changed", "tool_calls", flipped(ledgerFiles(t, good)["tool_calls.parquet"], 600), "damaged or changed", 0},
		{"turns without their episodes", "turns", forge(encodeTableOf(tableTurns, run, turns)), `turn of task "zz"`, 9},
		{"calls without their episodes", "tool_calls", forge(encodeTableOf(tableToolCalls, run, late)), `tool call of task "zz"`, 9},
		{"another order", "episodes", forge(encodeTableOf(tableEpisodes, run, swapped)), "comes after that of", 1},
		{"another table", "episodes", forge(encodeTableOf(tableTurns, run, turns)), "contains the table", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(good)))
			path := filepath.Join(dir, tt.file+".parquet")
			require.NoError(t, os.Remove(path))
			if tt.data != "" {
				require.NoError(t, os.WriteFile(path, []byte(tt.data), 0o644))
			}
			recs, err := scanAll(dir)
			require.ErrorContains(t, err, tt.want)
			require.Len(t, recs, tt.recs)
			if tt.data == "" {
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
		})
	}
}

func flipped(s string, at int) string {
	b := []byte(s)
	b[at] ^= 1
	return string(b)
}

// Scan rejects a footer whose digest does not match the rows after the last row.
func TestScanChecksTheDigestOfTheRows(t *testing.T) {
	dir := t.TempDir()
	writeStream(t, dir, sampleRecords(3))
	path := filepath.Join(dir, "episodes.parquet")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	digest := []byte(tableDigest(rowsOf(sampleRecords(3)).Episodes))
	at := bytes.Index(data, digest)
	require.Positive(t, at)
	data[at] ^= 1
	require.True(t, reseal(data))
	require.NoError(t, os.WriteFile(path, data, 0o644))
	recs, err := scanAll(dir)
	require.ErrorContains(t, err, "do not have the digest")
	require.Len(t, recs, 3)
	_, err = Read(dir)
	require.ErrorContains(t, err, "do not have the digest")
}

// Files declare their order and their row groups do not overlap, so that a reader of one task
// reads few pages of one row group.
func TestReadersSkip(t *testing.T) {
	dir := t.TempDir()
	run := newEndless()
	run.write(t, dir, 8000, func(int) {}) // 40,000 turns
	for table, last := range map[string]string{tableEpisodes: "", tableTurns: "turn", tableToolCalls: "tool_call_seq"} {
		file, err := os.Open(filepath.Join(dir, fileName(table)))
		require.NoError(t, err)
		defer func() { require.NoError(t, file.Close()) }()
		info, err := file.Stat()
		require.NoError(t, err)
		f, err := parquet.OpenFile(file, info.Size())
		require.NoError(t, err)
		requireSorted(t, f, last)
		if table == tableTurns {
			requireSkipping(t, f, run.at(5555).Episode.TaskID)
		}
	}
}

func requireSorted(t *testing.T, f *parquet.File, last string) {
	want := []string{"task_id", "candidate", "trial"}
	if last != "" {
		want = append(want, last)
	}
	for _, group := range f.RowGroups() {
		require.LessOrEqual(t, group.NumRows(), int64(rowGroupRows))
		var got []string
		for _, c := range group.SortingColumns() {
			require.False(t, c.Descending())
			got = append(got, c.Path()[0])
		}
		require.Equal(t, want, got)
	}
}

func requireSkipping(t *testing.T, f *parquet.File, name string) {
	task, ok := f.Schema().Lookup("task_id")
	require.True(t, ok)
	wanted := parquet.ValueOf(name)
	groups, pages, rows := 0, 0, 0
	for _, group := range f.RowGroups() {
		chunk := group.ColumnChunks()[task.ColumnIndex]
		index, err := chunk.ColumnIndex()
		require.NoError(t, err)
		hit := false
		for i := range index.NumPages() {
			if lo, hi := index.MinValue(i), index.MaxValue(i); compare(lo, wanted) <= 0 && compare(wanted, hi) <= 0 {
				hit = true
				pages++
			}
		}
		if !hit {
			continue
		}
		groups++
		rows += countRows(t, group, task.ColumnIndex, wanted)
	}
	require.Greater(t, len(f.RowGroups()), 2)
	require.Equal(t, 1, groups, "row groups whose bounds allow the task")
	require.Equal(t, 1, pages, "pages of it")
	require.Equal(t, 100, rows, "20 episodes of 5 turns")
}

func compare(a, b parquet.Value) int { return bytes.Compare(a.ByteArray(), b.ByteArray()) }

func countRows(t *testing.T, group parquet.RowGroup, column int, wanted parquet.Value) (n int) {
	rows := group.Rows()
	defer func() { require.NoError(t, rows.Close()) }()
	buf := make([]parquet.Row, 64)
	for {
		got, err := rows.ReadRows(buf)
		for _, row := range buf[:got] {
			row.Range(func(i int, v []parquet.Value) bool {
				if i == column && compare(v[0], wanted) == 0 {
					n++
				}
				return i < column
			})
		}
		if errors.Is(err, io.EOF) {
			return n
		}
		require.NoError(t, err)
	}
}
