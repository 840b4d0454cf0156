package recorder

import (
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hard are pieces of streams that a lenient reader would change.
var hard = []string{
	"data: {\"a\":1}\r\n\r\n", "data: x\n\n", "event: e\rdata: y\r\r", "\r", "\n", ": ping\n\n", "é", "😀", "\u2028", "\ufeff",
	"\x00\xff\xfe", "\xe2\x82", "\xed\xa0\x80", "\x1f\x8b\x08", " ", "\t", "---\n", "seal: sha256:", "exchange 0 9\n",
}

// randomStream returns a body cut at random places, also within CR LF and within a character.
func randomStream(rng *rand.Rand) []string {
	var b strings.Builder
	for range rng.Intn(30) {
		b.WriteString(hard[rng.Intn(len(hard))])
	}
	var chunks []string
	for body := b.String(); body != ""; {
		n := 1 + rng.Intn(min(len(body), 1+rng.Intn(40)))
		chunks = append(chunks, body[:n])
		body = body[n:]
	}
	return chunks
}

// TestReplayHasTheSameReads records streams in random pieces, at random times and with buffers
// of random size, and replays them from the cassette and from the journal.
func TestReplayHasTheSameReads(t *testing.T) {
	const exchanges = 25
	rng := rand.New(rand.NewSource(11))
	for round := range 12 {
		at := time.Unix(0, 0)
		r := newRecording(t, answer(func(*http.Request) (*http.Response, error) { return says(randomStream(rng)...)(nil) }))
		r.o.Now = func() time.Time { at = at.Add(time.Duration(rng.Intn(1e6)) * time.Microsecond); return at }
		var live [][]string
		var times []Exchange
		var elapsed [][]time.Duration
		for i := range exchanges {
			req, seen := observed(post(t, "https://api.test/", fmt.Sprint(i)))
			resp, err := r.RoundTrip(req)
			require.NoError(t, err)
			reads, clock := readClocked(t, resp.Body, 1+rng.Intn(50))
			live, elapsed, times = append(live, reads), append(elapsed, clock), append(times, (*seen)[0])
		}
		left, err := Recover(journalFile(r.o))
		require.NoError(t, err)
		recovered, err := opened(left.Cassette, Options{})
		require.NoError(t, err)
		for _, back := range []*Recorder{saved(t, r), recovered} {
			for _, i := range rng.Perm(exchanges) {
				req, seen := observed(post(t, "https://api.test/", fmt.Sprint(i)))
				resp, err := back.RoundTrip(req)
				require.NoError(t, err)
				reads, clock := readClocked(t, resp.Body, 64<<10) // frames, not the reader, set the bounds
				require.Equal(t, live[i], reads, "round %d exchange %d", round, i)
				require.Equal(t, elapsed[i], clock)
				times[i].Replayed = true
				require.Equal(t, times[i], (*seen)[0])
			}
		}
	}
}

// readClocked reads to the end and returns every read with the body's Elapsed.
func readClocked(t *testing.T, body io.ReadCloser, size int) (reads []string, clock []time.Duration) {
	t.Helper()
	p := make([]byte, size)
	for {
		n, err := body.Read(p)
		if n > 0 {
			reads = append(reads, string(p[:n]))
			clock = append(clock, body.(interface{ Elapsed() time.Duration }).Elapsed())
		}
		if err == io.EOF {
			require.NoError(t, body.Close())
			return reads, clock
		}
		require.NoError(t, err)
	}
}

// lateServer sends a first piece immediately and the rest after a delay.
func lateServer(t testing.TB, late time.Duration) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		time.Sleep(late)
		_, _ = io.WriteString(w, "data: 2\n\n")
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// firstByte is the time from sending a request to the first byte of the reply.
func firstByte(t testing.TB, rt http.RoundTripper, url string) time.Duration {
	t.Helper()
	req := post(t, url, `{"stream":true}`)
	start := time.Now()
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	_, err = io.ReadFull(resp.Body, make([]byte, 1))
	took := time.Since(start)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return took
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// While recording, the first byte arrives at most a millisecond later than without a recorder.
// There are three attempts, because a busy machine delays both.
func TestFirstByteIsNotHeldBack(t *testing.T) {
	url := lateServer(t, 2*time.Millisecond)
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	var more time.Duration
	for range 3 {
		r := newRecording(t, base)
		var direct, recorded []time.Duration
		for range 41 { // alternating, so that both have the same load
			direct = append(direct, firstByte(t, base, url))
			recorded = append(recorded, firstByte(t, r, url))
		}
		if more = median(recorded) - median(direct); more < time.Millisecond {
			return
		}
	}
	t.Fatalf("the first byte comes %v later while recording", more)
}
