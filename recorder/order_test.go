package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// replies are the provider's replies to the requests of each place, in order; "503" means
// overloaded, "reset" a lost connection.
type replies map[int][]string

// shuffledProvider answers the requests of all places in a random order. It waits until every
// place that is not finished has a request.
type shuffledProvider struct {
	says  replies
	draw  *rand.Rand
	mu    sync.Mutex
	asked map[int]int
	gate  []chan struct{}
	left  int // places that are not finished
}

func (w *shuffledProvider) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	place := req.Context().Value(placeKey{}).(int)
	w.mu.Lock()
	n := w.asked[place]
	w.asked[place]++
	mine := make(chan struct{})
	w.gate = append(w.gate, mine)
	w.open()
	w.mu.Unlock()
	<-mine
	answer := w.says[place][n]
	if answer == "reset" {
		return nil, errors.New("connection reset")
	}
	code := http.StatusOK
	if answer == "503" {
		code = http.StatusServiceUnavailable
	}
	return &http.Response{
		StatusCode: code, Status: fmt.Sprint(code), Header: http.Header{}, Request: req,
		ContentLength: int64(len(answer)), Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}

// open answers the waiting requests in a random order, once there is one of each place.
func (w *shuffledProvider) open() {
	if len(w.gate) < w.left {
		return
	}
	w.draw.Shuffle(len(w.gate), func(i, j int) { w.gate[i], w.gate[j] = w.gate[j], w.gate[i] })
	for _, g := range w.gate {
		close(g)
	}
	w.gate = nil
}

func (w *shuffledProvider) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left--
	if w.left > 0 {
		w.open()
	}
}

// converse makes the requests of one command, with retries after 503 and after a lost
// connection.
func converse(t *testing.T, rt http.RoundTripper, place int, body string) (heard []string, at []int) {
	for {
		ctx := Ordered(Observe(context.Background(), func(x Exchange) { at = append(at, x.Index) }), place)
		resp, err := rt.RoundTrip(post(t, "https://api.test/", body).WithContext(ctx))
		if err != nil {
			heard = append(heard, "reset")
			continue
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.Body.Close() != nil {
			t.Error("cannot read", err)
			return heard, at
		}
		heard = append(heard, string(text))
		if resp.StatusCode == http.StatusOK {
			return heard, at
		}
	}
}

var atOnce = replies{
	2: {"a"},
	3: {"503", "reset", "b"}, // equal to the ones around it
	4: {"c"},
	7: {"503", "d"},
	9: {"e"},
}

func bodyOf(place int) string {
	if place < 7 {
		return `{"vote":true}`
	}
	return fmt.Sprintf(`{"place":%d}`, place)
}

// recordInParallel records the requests of all places in parallel. All requests are equal.
func recordInParallel(t *testing.T, seed uint64) *Recorder {
	t.Helper()
	w := &shuffledProvider{says: atOnce, draw: rand.New(rand.NewPCG(seed, 1)), asked: map[int]int{}, left: len(atOnce)}
	r := newRecording(t, w)
	r.o.Now = func() time.Time { return time.Unix(0, 0) }
	var wg sync.WaitGroup
	at := make([][]int, 10)
	for place, said := range atOnce {
		wg.Go(func() {
			defer w.done()
			var heard []string
			heard, at[place] = converse(t, r, place, bodyOf(place))
			if fmt.Sprint(heard) != fmt.Sprint(said) {
				t.Errorf("place %d heard %v", place, heard)
			}
		})
	}
	wg.Wait()
	positions, next := r.Positions(), 0
	for _, indexes := range at {
		for _, i := range indexes {
			require.Equal(t, next, positions[i])
			next++
		}
	}
	return r
}

// Parallel requests are recorded in one order, independently of the order of requests and
// replies. A replay gives each command its own replies, also to retries of equal requests.
func TestParallelRecordingGivesTheSameBytes(t *testing.T) {
	var want []byte
	for procs := 1; procs <= 4; procs++ {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			for seed := range uint64(25) {
				r := recordInParallel(t, seed)
				require.NoError(t, r.Save())
				got, err := os.ReadFile(cassetteFile(r))
				require.NoError(t, err)
				if want == nil {
					want = got
				}
				require.True(t, bytes.Equal(want, got), "seed %d", seed)

				back, err := New(Options{Dir: r.o.Dir, Path: r.o.Path})
				require.NoError(t, err)
				require.True(t, back.Repeats())
				require.Nil(t, back.Positions())
				next := 0
				for place := range 10 {
					if atOnce[place] == nil {
						continue
					}
					heard, at := converse(t, back, place, bodyOf(place))
					require.Equal(t, atOnce[place], heard)
					require.Equal(t, next, at[0])
					next += len(at)
				}
				require.Zero(t, back.Leftover())
			}
		})
	}
}

// Recovery has the same order if the recording was killed while requests overlapped.
func TestRecoverParallelRequests(t *testing.T) {
	for seed := range uint64(5) {
		r := recordInParallel(t, seed)
		got, err := Recover(journalFile(r.o))
		require.NoError(t, err)
		require.Equal(t, 8, got.Exchanges)
		require.NoError(t, r.Save())
		saved, err := os.ReadFile(cassetteFile(r))
		require.NoError(t, err)
		require.True(t, bytes.Equal(saved, got.Cassette))
	}
}

// The replayed exchanges of a fork have their places, too. Requests without a place come
// first, in starting order.
func TestPlacesOfAForksPast(t *testing.T) {
	source := recordedPast(t)
	next := newRecording(t, says("new"))
	placed := func(place int, body string) *http.Request {
		return post(t, "https://old.test/", body).WithContext(Ordered(context.Background(), place))
	}
	ask(t, NewPast(source, next), placed(9, `{"turn":3}`))
	ask(t, NewPast(source, next), placed(4, `{"turn":1}`))
	ask(t, next, placed(5, `{"turn":4}`))
	ask(t, next, post(t, "https://old.test/", `{"turn":5}`))
	ask(t, next, post(t, "https://old.test/", `{"turn":6}`))
	require.Equal(t, []int{4, 2, 3, 0, 1}, next.Positions())
	back := saved(t, next)
	require.False(t, back.Repeats())
	var order []string
	for _, it := range back.index.data.Interactions {
		order = append(order, strings.Trim(it.Request.Body, `{"turn:}`))
	}
	require.Equal(t, []string{"5", "6", "1", "4", "3"}, order)
}
