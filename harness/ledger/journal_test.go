package ledger

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func sampleRecords(n int) []EpisodeRows {
	r := rand.New(rand.NewPCG(3, 3))
	recs := make([]EpisodeRows, n)
	for i := range recs {
		recs[i] = sampleEpisode(r, i)
	}
	return recs
}

// writeJournal makes a journal below a new folder and returns both and its content.
func writeJournal(t testing.TB, recs []EpisodeRows) (dir string, content []byte) {
	dir = t.TempDir()
	j, err := OpenJournal(dir)
	require.NoError(t, err)
	for _, rec := range recs {
		require.NoError(t, j.Append(rec))
	}
	require.NoError(t, j.Close())
	content, err = os.ReadFile(journalPath(dir))
	require.NoError(t, err)
	return dir, content
}

func TestJournalRoundTrip(t *testing.T) {
	for _, sync := range []bool{false, true} {
		dir, recs := t.TempDir(), sampleRecords(9)
		recs = append(recs, EpisodeRows{})
		for half := range 2 { // reopened in between, as resume does
			j, err := OpenJournal(dir)
			require.NoError(t, err)
			j.Sync = sync
			for _, rec := range recs[half*5 : half*5+5] {
				require.NoError(t, j.Append(rec))
			}
			require.NoError(t, j.Close())
		}
		got, torn, err := ReadJournal(dir)
		require.NoError(t, err)
		require.Zero(t, torn)
		require.Equal(t, recs, got)
	}
}

func TestJournalCutAnywhere(t *testing.T) {
	recs := sampleRecords(2)
	for i := range recs { // small, so that every offset is quick
		recs[i].Turns, recs[i].ToolCalls = recs[i].Turns[:1], nil
	}
	dir, whole := writeJournal(t, recs)
	ends := []int{0, bytes.IndexByte(whole, '\n') + 1, len(whole)}
	extra := sampleRecords(3)[2]
	for cut := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(journalPath(dir), whole[:cut], 0o644))
		n := 0
		for n+1 < len(ends) && ends[n+1] <= cut {
			n++
		}
		got, torn, err := ReadJournal(dir)
		require.NoError(t, err, "cut at %d", cut)
		require.Len(t, got, n, "cut at %d", cut)
		require.EqualValues(t, cut-ends[n], torn, "cut at %d", cut)

		if cut%17 != 0 && len(whole)-cut > 20 {
			continue
		}
		// Resuming drops the tail and goes on.
		j, err := OpenJournal(dir)
		require.NoError(t, err, "cut at %d", cut)
		require.NoError(t, j.Append(extra))
		require.NoError(t, j.Close())
		got, torn, err = ReadJournal(dir)
		require.NoError(t, err, "cut at %d", cut)
		require.Zero(t, torn)
		require.Equal(t, append(recs[:n:n], extra), got, "cut at %d", cut)
	}
}

func TestJournalDamage(t *testing.T) {
	recs := sampleRecords(3)
	dir, whole := writeJournal(t, recs)
	second := bytes.IndexByte(whole, '\n') + 1
	third := second + bytes.IndexByte(whole[second:], '\n') + 1
	flip := func(at int) []byte {
		bad := bytes.Clone(whole)
		bad[at] ^= 1
		return bad
	}
	line := func(version string) []byte { return append([]byte(version), whole[1:second]...) }
	tests := []struct {
		name string
		data []byte
		want string // in the error; empty means a torn tail
		recs int
	}{
		{"flip in the first record", flip(40), "offset 0", 0},
		{"flip in the second record", flip(second + 100), fmt.Sprint("offset ", second), 1},
		{"flip in a length", flip(second + 3), fmt.Sprint("offset ", second), 1},
		{"flip in a checksum", flip(second + 12), fmt.Sprint("offset ", second), 1},
		{"flip of a newline joins two records", flip(second - 1), "offset 0", 0},
		{"a line of another kind", append([]byte("{}\n"), whole...), "offset 0", 0},
		{"a record missing its start", bytes.Join([][]byte{whole[:second], whole[second+5:]}, nil), fmt.Sprint("offset ", second), 1},
		{"later schema version", append(line("7"), whole...), `schema version "7"`, 0},
		{"later schema version, last", line("7"), `schema version "7"`, 0},
		{"flip in the last record", flip(third + 40), "", 2},
		{"zeros after a power failure", append(bytes.Clone(whole), make([]byte, 4096)...), "", 3},
		{"zeros in the last record", append(bytes.Clone(whole[:third+50]), append(make([]byte, 50), '\n')...), "", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(journalPath(dir), tt.data, 0o644))
			got, torn, err := ReadJournal(dir)
			require.Len(t, got, tt.recs)
			j, openErr := OpenJournal(dir)
			if tt.want == "" {
				require.NoError(t, err)
				require.Positive(t, torn)
				require.NoError(t, openErr)
				require.NoError(t, j.Close())
				return
			}
			for _, err := range []error{err, openErr} {
				require.ErrorContains(t, err, tt.want)
				require.ErrorContains(t, err, "episodes.log")
			}
			after, err := os.ReadFile(journalPath(dir))
			require.NoError(t, err)
			require.Equal(t, tt.data, after, "a damaged journal is left as it is")
		})
	}
}

// A record that passes its checksum but is not ours is damage, also at the end.
func TestJournalRefusesForeignPayload(t *testing.T) {
	dir, _ := writeJournal(t, nil)
	for _, payload := range []string{`{"Episode":{"NoSuchColumn":1}}`, `{"Episode":{"Trial":"x"}}`, `{"Episode":{},"Episode":{}}`, `[]`, ``} {
		require.NoError(t, os.WriteFile(journalPath(dir), []byte(frame(payload)), 0o644))
		_, _, err := ReadJournal(dir)
		require.ErrorContains(t, err, "offset 0", payload)
	}
}

func frame(payload string) string { return string(appendFrame(nil, []byte(payload))) }

func TestJournalConcurrentAppend(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir)
	require.NoError(t, err)
	want := map[string]EpisodeRows{}
	var wg sync.WaitGroup
	errs := make(chan error, 40)
	for _, rec := range sampleRecords(40) {
		want[rec.Episode.EpisodeID] = rec
		wg.Go(func() { errs <- j.Append(rec) })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, j.Close())
	got, torn, err := ReadJournal(dir)
	require.NoError(t, err)
	require.Zero(t, torn)
	require.Len(t, got, 40)
	for _, rec := range got {
		require.Equal(t, want[rec.Episode.EpisodeID], rec)
	}
}

func TestJournalErrors(t *testing.T) {
	dir := t.TempDir()
	_, _, err := ReadJournal(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "episodes.log")

	j, err := OpenJournal(dir)
	require.NoError(t, err)
	nan := math.NaN()
	rec := EpisodeRows{Episode: Episode{Key: Key{EpisodeID: "e7"}}, Turns: []Turn{{Confidence: &nan}}}
	require.ErrorContains(t, j.Append(rec), "episode e7")
	rec = EpisodeRows{Episode: Episode{Key: Key{EpisodeID: "e8"}, Answer: strings.Repeat("x", maxRecord)}}
	require.ErrorContains(t, j.Append(rec), "episode e8")
	require.NoError(t, j.Append(EpisodeRows{}), "a refused record leaves the journal usable")
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Append(EpisodeRows{}), os.ErrClosed)
	require.Error(t, j.Close())
	recs, torn, err := ReadJournal(dir)
	require.NoError(t, err)
	require.Zero(t, torn)
	require.Len(t, recs, 1)

	blocked := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(blocked, "journal"), nil, 0o644))
	_, err = OpenJournal(blocked)
	require.ErrorContains(t, err, "open journal")
}

func FuzzReadJournal(f *testing.F) {
	small := EpisodeRows{Turns: []Turn{{}}}
	_, whole := writeJournal(f, []EpisodeRows{small, small})
	f.Add(whole, false)
	f.Add(whole[:len(whole)-7], false)
	f.Add([]byte(`{"Episode":{"Trial":1},"Turns":[{"In":0}]}`), true)
	f.Add([]byte("1 00000000 00000000 \n\n"), false)
	f.Fuzz(func(t *testing.T, data []byte, framed bool) {
		if framed {
			data = appendFrame(nil, data)
		}
		path := journalPath(t.TempDir())
		dir := filepath.Dir(filepath.Dir(path))
		require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, data, 0o644))
		recs, torn, err := ReadJournal(dir)
		if err != nil {
			return
		}
		// What is left without the tail reads the same, with another record after it.
		line, err := encodeRecord(small)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, slices.Concat(data[:int64(len(data))-torn], line), 0o644))
		again, torn, err := ReadJournal(dir)
		require.NoError(t, err)
		require.Zero(t, torn)
		require.Equal(t, append(recs, small), again)
	})
}
