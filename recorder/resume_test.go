package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// requests are the requests of an episode, in order, each with its place.
type requests []struct {
	place int
	body  string
}

// episode has parallel places, a retry and a repeated request.
var episode = requests{{1, "one"}, {2, "two"}, {3, "three"}, {2, "two"}, {4, "one"}}

// served counts the requests and answers with the request's body and its number.
type served struct{ bodies []string }

func (s *served) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.bodies = append(s.bodies, string(body))
	return says(fmt.Sprintf("%s answered", body), "!")(req)
}

// play makes the requests and returns the reply or error of each.
func (s requests) play(t testing.TB, r *Recorder) (answers []string) {
	t.Helper()
	for _, line := range s {
		req := post(t, "https://api.test/", line.body)
		resp, err := r.RoundTrip(req.WithContext(Ordered(req.Context(), line.place)))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		resp.Header.Set("Retry-After", "changed by the caller")
		answers = append(answers, string(body))
	}
	return answers
}

// resumable starts a recording in dir with a stopped clock.
func resumable(t testing.TB, dir string, base http.RoundTripper, edit func(*Options)) *Recorder {
	t.Helper()
	o := Options{
		Mode: Record, Dir: dir, Path: "t/1.yaml", Base: base, Header: sampled().Header, Run: "run-1", Resume: true,
		Now: func() time.Time { return time.Unix(1, 0) },
	}
	if edit != nil {
		edit(&o)
	}
	r, err := New(o)
	require.NoError(t, err)
	return r
}

// wholeRecording returns the cassette of the episode, recorded without a kill, and its journal
// before Save.
func wholeRecording(t testing.TB) (cassette, journal []byte) {
	t.Helper()
	r := resumable(t, t.TempDir(), &served{}, nil)
	episode.play(t, r)
	journal, err := os.ReadFile(journalFile(r.o))
	require.NoError(t, err)
	require.NoError(t, r.Save())
	cassette, err = os.ReadFile(cassetteFile(r))
	require.NoError(t, err)
	return cassette, journal
}

// putJournal writes a journal into a fresh folder.
func putJournal(t testing.TB, journal []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, "t", "1.yaml.journal")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(t, os.WriteFile(file, journal, 0o600))
	return dir
}

// Wherever a kill truncates the journal, only requests without an intact exchange are sent
// again, and the cassette equals that of a recording that was never killed.
func TestResumeAfterAKillAnywhere(t *testing.T) {
	cassette, journal := wholeRecording(t)
	ends := []int{0}
	for at := 0; at < len(journal); {
		_, size, ok := readRecord(journal[at:])
		require.True(t, ok)
		at += size
		ends = append(ends, at)
	}
	for cut := range len(journal) + 1 {
		if atEnd := slices.ContainsFunc(ends, func(end int) bool { return cut >= end-1 && cut <= end+1 }); !atEnd && cut%101 != 0 {
			continue
		}
		intact := len(readJournal(journal[:cut]).records)
		base := &served{}
		r := resumable(t, putJournal(t, journal[:cut]), base, nil)
		require.Equal(t, []string{"one answered!", "two answered!", "three answered!", "two answered!", "one answered!"}, episode.play(t, r))
		require.Len(t, base.bodies, len(episode)-intact, "cut at %d", cut)
		if cut%2 == 0 { // killed once more, after the last exchange
			again := &served{}
			r = resumable(t, r.o.Dir, again, nil)
			episode.play(t, r)
			require.Empty(t, again.bodies, "cut at %d", cut)
		}
		require.NoError(t, r.Save())
		got, err := os.ReadFile(cassetteFile(r))
		require.NoError(t, err)
		require.Equal(t, string(cassette), string(got), "cut at %d", cut)
		requireOnly(t, filepath.Join(r.o.Dir, "t"), "1.yaml")
	}
}

// After a flipped bit in the journal, one request is sent again; the other replies stay.
func TestResumeAfterAnyFlippedBit(t *testing.T) {
	cassette, journal := wholeRecording(t)
	all := journalOf(journal)
	for bit := 0; bit < len(journal)*8; bit += testkit.SlowN(5, 1) { // meets each bit of a byte
		flipped := bytes.Clone(journal)
		flipped[bit/8] ^= 1 << (bit % 8)
		left := journalOf(flipped)
		require.Len(t, left, len(all)-1, "bit %d", bit)
		for _, rec := range left {
			require.True(t, slices.ContainsFunc(all, func(was journalRecord) bool { return reflect.DeepEqual(rec, was) }), "bit %d", bit)
		}
		if bit%997 != 0 {
			continue
		}
		base := &served{}
		r := resumable(t, putJournal(t, flipped), base, nil)
		episode.play(t, r)
		require.Len(t, base.bodies, 1, "bit %d", bit)
		require.NoError(t, r.Save())
		got, err := os.ReadFile(cassetteFile(r))
		require.NoError(t, err)
		require.Equal(t, string(cassette), string(got), "bit %d", bit)
	}
}

// A journal of another run or configuration, or without either, is not continued. It is
// renamed, as by a recording that does not resume.
func TestResumeRejectsOtherJournals(t *testing.T) {
	cassette, journal := wholeRecording(t)
	for name, edit := range map[string]func(*Options){
		"another run":        func(o *Options) { o.Run = "run-2" },
		"no run":             func(o *Options) { o.Run = "" },
		"another candidate":  func(o *Options) { o.Header.Candidate = "other" },
		"another model":      func(o *Options) { o.Header.Model = "other" },
		"another day":        func(o *Options) { o.Header.Recorded = "2030-01-01" },
		"another prompt":     func(o *Options) { o.Header.Digests = map[string]string{"prompt": "1"} },
		"not a continuation": func(o *Options) { o.Resume = false },
	} {
		t.Run(name, func(t *testing.T) {
			base := &served{}
			r := resumable(t, putJournal(t, journal), base, edit)
			episode[:1].play(t, r)
			require.Len(t, base.bodies, 1)
			old, err := os.ReadFile(journalFile(r.o) + ".old")
			require.NoError(t, err)
			require.Equal(t, journal, old)
			episode[1:].play(t, r)
			require.Len(t, base.bodies, len(episode))
			require.NoError(t, r.Save())
			requireOnly(t, filepath.Join(r.o.Dir, "t"), "1.yaml")
		})
	}
	_, err := New(Options{Mode: Record, Dir: t.TempDir(), Path: "1.yaml", Run: "two words"})
	require.ErrorContains(t, err, "no white space")
	require.NotContains(t, string(cassette), "run-1")
}

// A request that differs from the journal's is sent, and the cassette has the new exchange in
// its place. Equal requests before and after it are answered from the journal.
func TestResumeWithAnotherRequest(t *testing.T) {
	_, journal := wholeRecording(t)
	base := &served{}
	r := resumable(t, putJournal(t, journal), base, nil)
	changed := requests{{1, "one"}, {2, "zwei"}, {3, "three"}, {4, "one"}}
	require.Equal(t, []string{"one answered!", "zwei answered!", "three answered!", "one answered!"}, changed.play(t, r))
	require.Equal(t, []string{"zwei"}, base.bodies)
	again := &served{}
	r = resumable(t, r.o.Dir, again, nil)
	changed.play(t, r)
	require.Empty(t, again.bodies, "both exchanges of a place are kept")
	require.NoError(t, r.Save())
	saved, err := New(Options{Dir: r.o.Dir, Path: "t/1.yaml"})
	require.NoError(t, err)
	require.Equal(t, 4, saved.Leftover())
	changed.play(t, saved)
	require.Zero(t, saved.Leftover())
}

// Only a request whose exchange is journaled is answered without being sent.
func TestOnlyJournaled(t *testing.T) {
	_, journal := wholeRecording(t)
	base := &served{}
	r := resumable(t, putJournal(t, journal), base, nil)
	ask := func(place int, body string) error {
		req := post(t, "https://api.test/", body)
		ctx := Ordered(req.Context(), place)
		var recorded http.Header
		resp, err := r.RoundTrip(req.WithContext(OnlyJournaled(ctx, func(h http.Header) { recorded = h })))
		require.Equal(t, err == nil, recorded != nil)
		if err == nil {
			require.NoError(t, resp.Body.Close())
		}
		return err
	}
	require.True(t, r.Resumes())
	require.NoError(t, ask(1, "one"))
	require.NoError(t, ask(1, "one"), "an equal request of another place")
	require.ErrorIs(t, ask(1, "one"), ErrNotJournaled, "they are used up")
	require.True(t, r.Journaled(Ordered(context.Background(), 3)))
	require.ErrorIs(t, ask(3, "drei"), ErrNotJournaled, "another request")
	require.False(t, r.Journaled(Ordered(context.Background(), 9)))
	require.Empty(t, base.bodies)
	requests{{3, "drei"}}.play(t, r)
	require.Equal(t, []string{"drei"}, base.bodies)
	require.NoError(t, ask(9, "three"), "asked for in another place")
	require.True(t, r.Resumes())
	require.NoError(t, ask(2, "two"))
	require.NoError(t, ask(2, "two"))
	require.False(t, r.Resumes())
}

// Every attempt of a retracted place is made again, and stays in the journal for Recover. A
// transport failure is answered as recorded.
func TestRetract(t *testing.T) {
	dir := t.TempDir()
	failing := answer(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset") })
	r := resumable(t, dir, &served{}, nil)
	r.Retract(7) // nothing to take back: there is no journal
	require.NoFileExists(t, journalFile(r.o))
	episode.play(t, r)
	r.o.Base = failing
	for range 2 {
		req := post(t, "https://api.test/", "five")
		_, err := r.RoundTrip(req.WithContext(Ordered(req.Context(), 5)))
		require.Error(t, err)
	}

	base := &served{}
	r = resumable(t, dir, base, nil)
	episode.play(t, r)
	req := post(t, "https://api.test/", "five")
	_, err := r.RoundTrip(req.WithContext(Ordered(req.Context(), 5)))
	require.EqualError(t, err, "connection reset")
	r.Retract(5)
	require.Empty(t, base.bodies)
	got, err := Recover(journalFile(r.o))
	require.NoError(t, err)
	require.Equal(t, 7, got.Exchanges, "the failed attempts, too")

	last := requests{{5, "five"}}
	for range 2 { // the second time from the journal
		r = resumable(t, dir, base, nil)
		episode.play(t, r)
		require.Equal(t, []string{"five answered!"}, last.play(t, r))
		require.Equal(t, []string{"five"}, base.bodies)
	}
	got, err = Recover(journalFile(r.o))
	require.NoError(t, err)
	require.Equal(t, 6, got.Exchanges, "what was made again replaces them")
	require.NoError(t, r.Save())
}

// An exchange may answer a request in another place. A second kill must then lose neither it
// nor the exchange that was made in its old place.
func TestResumeAfterAnotherOrder(t *testing.T) {
	dir, base := t.TempDir(), &served{}
	requests{{1, "one"}, {2, "two"}, {2, "two"}}.play(t, resumable(t, dir, base, nil))
	later := requests{{1, "two"}, {2, "three"}, {3, "one"}, {4, "two"}, {2, "two"}}
	for range 3 {
		later.play(t, resumable(t, dir, base, nil))
		require.Equal(t, []string{"one", "two", "two", "three", "two"}, base.bodies)
	}
	r := resumable(t, dir, base, nil)
	later.play(t, r)
	r.Retract(1) // its exchange was made in place 2
	require.NoError(t, r.Save())
	r = resumable(t, dir, base, nil)
	require.False(t, r.Resumes(), "the journal is gone with Save")
}

// Observers receive the recorded times of a journaled exchange.
func TestResumeKeepsTimes(t *testing.T) {
	dir := t.TempDir()
	now := time.Unix(1, 0)
	slow := answer(func(req *http.Request) (*http.Response, error) {
		now = now.Add(3 * time.Second)
		return says("done")(req)
	})
	var seen []Exchange
	for range 2 {
		r := resumable(t, dir, slow, func(o *Options) { o.Now = func() time.Time { return now } })
		var w Watch
		req := post(t, "https://api.test/", "x")
		resp, err := r.RoundTrip(req.WithContext(Watched(Observe(req.Context(), func(x Exchange) { seen = append(seen, x) }), &w)))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 3*time.Second, w.Spent())
	}
	require.Len(t, seen, 2)
	require.True(t, seen[1].Replayed)
	seen[1].Replayed = false
	require.Equal(t, seen[0], seen[1])
}

// journalOf returns the exchanges that a resumed recording takes from a journal.
func journalOf(data []byte) []journalRecord {
	c := readJournal(data)
	return c.exchanges(true)
}
