package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// writeJournal creates a journal below a new folder and returns both and its content.
func writeJournal(t testing.TB, recs []EpisodeRows) (dir string, content []byte) {
	return writeJournalIn(t, t.TempDir(), recs)
}

func writeJournalIn(t testing.TB, dir string, recs []EpisodeRows) (string, []byte) {
	j, err := OpenJournal(dir, nil)
	require.NoError(t, err)
	appendAll(t, j, recs)
	require.NoError(t, j.Close())
	content, err := os.ReadFile(journalPath(dir))
	require.NoError(t, err)
	return dir, content
}

func appendAll(t testing.TB, j *Journal, recs []EpisodeRows) {
	for _, rec := range recs {
		_, err := j.Append(rec)
		require.NoError(t, err)
	}
}

// readJournal returns the records of a journal, by opening it.
func readJournal(dir string) (recs []EpisodeRows, err error) {
	j, err := OpenJournal(dir, func(rec EpisodeRows, _ int64) error {
		recs = append(recs, rec)
		return nil
	})
	if err != nil {
		return recs, err
	}
	return recs, j.Close()
}

// While another process writes, ReadUnfinished returns the records so far and changes nothing.
func TestReadUnfinished(t *testing.T) {
	recs := sampleRecords(5)
	read := func(dir string) (got []EpisodeRows, err error) {
		inUse, err := ReadUnfinished(dir, func(rec EpisodeRows) { got = append(got, rec) })
		require.False(t, inUse)
		return got, err
	}
	got, err := read(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, got)

	dir := t.TempDir()
	j, err := OpenJournal(dir, nil)
	require.NoError(t, err)
	j.Sync = true
	appendAll(t, j, recs[:3])
	got, err = read(dir)
	require.NoError(t, err)
	require.Equal(t, recs[:3], got)
	appendAll(t, j, recs[3:])
	require.NoError(t, j.Close())

	content, err := os.ReadFile(journalPath(dir))
	require.NoError(t, err)
	cut := content[:len(content)-3]
	require.NoError(t, os.WriteFile(journalPath(dir), cut, 0o600))
	got, err = read(dir)
	require.NoError(t, err)
	require.Equal(t, recs[:4], got)
	after, err := os.ReadFile(journalPath(dir))
	require.NoError(t, err)
	require.Equal(t, cut, after, "the tail is for OpenJournal to remove")
	cut[headLen+20] ^= 1
	require.NoError(t, os.WriteFile(journalPath(dir), cut, 0o600))
	_, err = read(dir)
	require.ErrorContains(t, err, "damaged at offset 0")
}

// frameEnds are the offsets after each frame of a journal.
func frameEnds(whole []byte) (ends []int) {
	for at := 0; at < len(whole); {
		at += headLen + int(binary.LittleEndian.Uint32(whole[at+4:]))
		ends = append(ends, at)
	}
	return ends
}

func TestJournalRoundTrip(t *testing.T) {
	for _, sync := range []bool{false, true} {
		dir, recs := t.TempDir(), sampleRecords(9)
		recs = append(recs, EpisodeRows{})
		for half := range 2 { // reopened between the halves, as by a resumed run
			j, err := OpenJournal(dir, nil)
			require.NoError(t, err)
			j.Sync = sync
			for _, rec := range recs[half*5 : half*5+5] {
				at, err := j.Append(rec)
				require.NoError(t, err)
				got, err := j.ReadAt(at)
				require.NoError(t, err)
				require.Equal(t, rec, got)
			}
			require.NoError(t, j.Close())
		}
		got, err := readJournal(dir)
		require.NoError(t, err)
		require.Equal(t, recs, got)
	}
}

// In a fork, the rows of the recorded turns have another key than the episode.
func TestJournalKeepsKeysThatDiffer(t *testing.T) {
	rec := sampleRecords(3)[2]
	for i := range 2 {
		rec.Turns[i].Provider, rec.Turns[i].Replayed, rec.ToolCalls[i].Model = "older", !rec.Turns[i].Replayed, "older"
	}
	dir, _ := writeJournal(t, []EpisodeRows{rec})
	got, err := readJournal(dir)
	require.NoError(t, err)
	require.Equal(t, []EpisodeRows{rec}, got)
}

// Without Sync, records are written in blocks, and a killed process leaves complete records.
func TestJournalWritesBlocks(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir, nil)
	require.NoError(t, err)
	var places []int64
	recs := sampleRecords(60)
	for _, rec := range recs {
		at, err := j.Append(rec)
		require.NoError(t, err)
		places = append(places, at)
		info, err := os.Stat(journalPath(dir))
		require.NoError(t, err)
		require.Less(t, at-info.Size(), int64(blockBytes), "the buffer is bounded")
	}
	half := t.TempDir()
	require.NoError(t, os.CopyFS(half, os.DirFS(dir)))
	got, err := readJournal(half)
	require.NoError(t, err)
	require.NotEmpty(t, got)
	require.Equal(t, recs[:len(got)], got)

	for i := len(places) - 1; i >= 0; i-- {
		got, err := j.ReadAt(places[i])
		require.NoError(t, err)
		require.Equal(t, recs[i], got)
	}
	require.NoError(t, j.Close())
}

func TestTruncatedJournal(t *testing.T) {
	recs := sampleRecords(2)
	for i := range recs { // small, because the test tries every offset
		recs[i].Turns, recs[i].ToolCalls = recs[i].Turns[:1], nil
	}
	dir, whole := writeJournal(t, recs)
	ends := append([]int{0}, frameEnds(whole)...)
	extra := sampleRecords(3)[2]
	for cut := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(journalPath(dir), whole[:cut], 0o644))
		n := 0
		for n+1 < len(ends) && ends[n+1] <= cut {
			n++
		}
		got, err := readJournal(dir)
		require.NoError(t, err, "cut at %d", cut)
		require.Len(t, got, n, "cut at %d", cut)
		left, err := os.ReadFile(journalPath(dir))
		require.NoError(t, err)
		require.Equal(t, whole[:ends[n]], left, "cut at %d", cut)

		if cut%17 != 0 && len(whole)-cut > 20 {
			continue
		}
		// A resumed run removes the tail and continues.
		require.NoError(t, os.WriteFile(journalPath(dir), whole[:cut], 0o644))
		writeJournalIn(t, dir, []EpisodeRows{extra})
		got, err = readJournal(dir)
		require.NoError(t, err, "cut at %d", cut)
		require.Equal(t, append(recs[:n:n], extra), got, "cut at %d", cut)
	}
}

// reheaded returns a frame with another version or length and valid checksums.
func reheaded(frame []byte, version uint16, length int) []byte {
	out := bytes.Clone(frame)
	fillHead(out)
	binary.LittleEndian.PutUint16(out[2:], version)
	binary.LittleEndian.PutUint32(out[4:], uint32(length))
	fillHeadSum(out)
	return out
}

func TestJournalDamage(t *testing.T) {
	recs := sampleRecords(3)
	dir, whole := writeJournal(t, recs)
	ends := frameEnds(whole)
	second, third := ends[0], ends[1]
	flip := func(at int) []byte {
		bad := bytes.Clone(whole)
		bad[at] ^= 1
		return bad
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	another := func(version uint16) []byte { return reheaded(whole[:second], version, second-headLen) }
	at2 := fmt.Sprint("damaged at offset ", second)
	tests := []struct {
		name string
		data []byte
		want string // in the error; empty means a torn tail
		recs int
	}{
		{"flip in the first record", flip(40), "damaged at offset 0", 0},
		{"flip in the second record", flip(second + 100), at2, 1},
		{"flip in a mark", flip(second), at2, 1},
		{"flip in a version", flip(second + 2), at2, 1},
		{"flip in a length", flip(second + 5), at2, 1},
		{"flip in a checksum", flip(second + 9), at2, 1},
		{"flip in the checksum of a head", flip(second + 13), at2, 1},
		{"bytes between records", join(whole[:second], []byte("x"), whole[second:]), at2, 1},
		{"zeros before records", join(make([]byte, 100), whole), "damaged at offset 0", 0},
		{"a record missing its start", join(whole[:second], whole[second+5:]), at2, 1},
		{"later schema version", join(another(schemaVersion+1), whole), fmt.Sprintf("schema version %q", fmt.Sprint(schemaVersion+1)), 0},
		{"later schema version, last", join(whole[:second], another(schemaVersion+1)), fmt.Sprintf("schema version %q", fmt.Sprint(schemaVersion+1)), 1},
		{"lines of text", []byte("3 00000042 0badcafe {\"Episode\":{}}\n"), "not a journal", 0},
		{"length beyond bounds", join(whole[:second], reheaded(whole[:second], schemaVersion, maxRecord+1)), at2, 1},
		{"something else", []byte("a file that is no journal at all"), "not a journal", 0},
		{"flip in the last record", flip(third + 40), "", 2},
		{"flip in the last head", flip(third + 6), "", 2},
		{"zeros after a power failure", join(whole, make([]byte, 4096)), "", 3},
		{"only zeros", make([]byte, 4096), "", 0},
		{"zeros in the last record", join(whole[:third+50], make([]byte, len(whole)-third-50)), "", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(journalPath(dir), tt.data, 0o644))
			got, err := readJournal(dir)
			require.Equal(t, len(got), tt.recs)
			after, readErr := os.ReadFile(journalPath(dir))
			require.NoError(t, readErr)
			if tt.want == "" {
				require.NoError(t, err)
				require.Less(t, len(after), len(tt.data))
				require.Equal(t, tt.data[:len(after)], after)
				return
			}
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "episodes.log")
			require.Equal(t, tt.data, after, "a damaged journal is left as it is")
		})
	}
}

// A record with a valid checksum and other content is damage, also at the end.
func TestJournalRefusesForeignPayload(t *testing.T) {
	dir, _ := writeJournal(t, nil)
	good := newCoder().appendEpisode(nil, &EpisodeRows{})
	for name, payload := range map[string][]byte{
		"empty": nil, "JSON": []byte(`{"Episode":{}}`), "no key before the first": append([]byte{sameKey}, good[1:]...),
		"cut": good[:len(good)-1], "a byte more": append(good[:len(good):len(good)], 0), "more rows than bytes": append(good[:len(good)-1:len(good)-1], 0xff, 0xff, 0x7f),
	} {
		require.NoError(t, os.WriteFile(journalPath(dir), frame(payload), 0o644))
		_, err := readJournal(dir)
		require.ErrorContains(t, err, "offset 0", name)
		require.ErrorContains(t, err, "not rows of an episode", name)
	}
}

// TestB140: what is written is read again, reopened or not, and a record of an unknown kind is an
// error that says where it is. That of recordings is in package recorder.
func TestB140(t *testing.T) {
	recs := sampleRecords(3)
	dir, whole := writeJournal(t, recs)
	got, err := readJournal(dir)
	require.NoError(t, err)
	require.Equal(t, recs, got)
	require.NoError(t, os.WriteFile(journalPath(dir), append(whole, frame([]byte(`{"unheard":1}`))...), 0o644))
	_, err = readJournal(dir)
	require.ErrorContains(t, err, fmt.Sprintf("offset %d", len(whole)))
}

func frame(payload []byte) []byte {
	out := append(make([]byte, headLen), payload...)
	fillHead(out)
	return out
}

func TestJournalConcurrentAppend(t *testing.T) {
	for _, sync := range []bool{false, true} {
		testConcurrentAppend(t, sync)
	}
}

func testConcurrentAppend(t *testing.T, synced bool) {
	dir := t.TempDir()
	j, err := OpenJournal(dir, nil)
	require.NoError(t, err)
	j.Sync = synced
	want := map[string]EpisodeRows{}
	var wg sync.WaitGroup
	errs := make(chan error, 80)
	for _, rec := range sampleRecords(80) {
		want[rec.Episode.EpisodeID] = rec
		wg.Go(func() {
			at, err := j.Append(rec)
			if err == nil && synced && j.size.Load() <= at {
				err = fmt.Errorf("%d is not on disk", at)
			}
			var got EpisodeRows
			if err == nil {
				got, err = j.ReadAt(at)
			}
			if err == nil && got.Episode.EpisodeID != rec.Episode.EpisodeID {
				err = fmt.Errorf("%s at the place of %s", got.Episode.EpisodeID, rec.Episode.EpisodeID)
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, j.Close())
	got, err := readJournal(dir)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for _, rec := range got {
		require.Equal(t, want[rec.Episode.EpisodeID], rec)
	}
}

func TestJournalErrors(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir, nil)
	require.NoError(t, err)
	_, err = j.Append(EpisodeRows{Episode: Episode{Key: Key{EpisodeID: "e8"}, Answer: strings.Repeat("x", maxRecord)}})
	require.ErrorContains(t, err, "episode e8")
	at, err := j.Append(EpisodeRows{})
	require.NoError(t, err, "a refused record leaves the journal usable")
	require.Zero(t, at)
	for _, at := range []int64{-1, 1, 16, 1 << 40} {
		_, err = j.ReadAt(at)
		require.ErrorContains(t, err, fmt.Sprint("offset ", at))
	}
	require.NoError(t, j.Close())
	_, err = j.Append(EpisodeRows{})
	require.ErrorIs(t, err, os.ErrClosed)
	_, err = j.ReadAt(0)
	require.ErrorIs(t, err, os.ErrClosed)
	require.Error(t, j.Close())
	recs, err := readJournal(dir)
	require.NoError(t, err)
	require.Len(t, recs, 1)

	_, err = OpenJournal(dir, func(EpisodeRows, int64) error { return os.ErrInvalid })
	require.ErrorIs(t, err, os.ErrInvalid)
	require.NotContains(t, err.Error(), "damaged")

	blocked := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(blocked, "journal"), nil, 0o644))
	_, err = OpenJournal(blocked, nil)
	require.ErrorContains(t, err, "open journal")

	for range 2 {
		require.NoError(t, RemoveJournal(dir))
		require.NoDirExists(t, filepath.Join(dir, "journal"))
	}
}

// A failed write leaves complete records and is not repeated.
func TestJournalAfterAFailedWrite(t *testing.T) {
	dir, whole := writeJournal(t, sampleRecords(2))
	j, err := OpenJournal(dir, nil)
	require.NoError(t, err)
	j.Sync = true
	file := j.file
	j.file, err = os.Open(journalPath(dir)) // which cannot be written
	require.NoError(t, err)
	_, first := j.Append(sampleRecords(3)[2])
	require.ErrorContains(t, first, "episodes.log")
	j.file = file
	_, err = j.Append(EpisodeRows{})
	require.ErrorContains(t, err, "episodes.log", "the first error again")
	require.NoError(t, file.Close())
	after, err := os.ReadFile(journalPath(dir))
	require.NoError(t, err)
	require.Equal(t, whole, after)
}

func FuzzScanJournal(f *testing.F) {
	small := EpisodeRows{Turns: []Turn{{}}}
	c := newCoder()
	one, err := c.appendFrame(nil, &small)
	require.NoError(f, err)
	two, err := c.appendFrame(bytes.Clone(one), &sampleRecords(3)[2])
	require.NoError(f, err)
	f.Add(two, false)
	f.Add(two[:len(two)-7], false)
	f.Add(one[headLen:], true)
	f.Add(two[len(one)+headLen:], true)
	scan := func(data []byte) (recs []EpisodeRows, good int64, err error) {
		good, err = scanJournal(bytes.NewReader(data), newCoder(), func(rec EpisodeRows, _ int64) error {
			recs = append(recs, rec)
			return nil
		})
		return recs, good, err
	}
	f.Fuzz(func(t *testing.T, data []byte, framed bool) {
		if framed {
			data = frame(data)
		}
		recs, good, err := scan(data)
		require.LessOrEqual(t, good, int64(len(data)))
		if err != nil {
			return
		}
		// Without the tail, the journal reads the same, also with another record after it.
		again, _, err := scan(append(data[:good:good], one...))
		require.NoError(t, err)
		require.Len(t, again, len(recs)+1)
		for i, rec := range append(recs, small) { // NaN is not equal to itself
			c := newCoder()
			require.Equal(t, c.appendEpisode(nil, &rec), c.appendEpisode(nil, &again[i]))
		}
	})
}
