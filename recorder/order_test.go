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

// script is what the provider says to the requests of one place, in order; "503" is
// its overload, "reset" a lost connection.
type script map[int][]string

// wire answers by place and number, each answer when its turn comes: the requests of
// all places are held back until as many wait as there are places, and are then
// answered in a drawn order.
type wire struct {
	says  script
	draw  *rand.Rand
	mu    sync.Mutex
	asked map[int]int
	gate  []chan struct{}
	left  int // places that are still at work
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
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

// open lets those that wait go, in a drawn order, once all are there.
func (w *wire) open() {
	if len(w.gate) < w.left {
		return
	}
	w.draw.Shuffle(len(w.gate), func(i, j int) { w.gate[i], w.gate[j] = w.gate[j], w.gate[i] })
	for _, g := range w.gate {
		close(g)
	}
	w.gate = nil
}

func (w *wire) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left--
	if w.left > 0 {
		w.open()
	}
}

// converse asks as one command does: again after 503 and after a lost connection.
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

var atOnce = script{
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

// recordAtOnce records what the places say to each other's equal requests, at once.
func recordAtOnce(t *testing.T, seed uint64) *Recorder {
	t.Helper()
	w := &wire{says: atOnce, draw: rand.New(rand.NewPCG(seed, 1)), asked: map[int]int{}, left: len(atOnce)}
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

// What is asked for at once is recorded in one order, whatever the order in which
// requests are sent and answered; and a replay gives each command its own answers,
// the retries of equal requests included.
func TestRecordingAtOnceGivesTheSameBytes(t *testing.T) {
	var want []byte
	for procs := 1; procs <= 4; procs++ {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			for seed := range uint64(25) {
				r := recordAtOnce(t, seed)
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

// A recording that is killed while requests overlap is recovered in the same order.
func TestRecoveredExchangesOfRequestsAtOnce(t *testing.T) {
	for seed := range uint64(5) {
		r := recordAtOnce(t, seed)
		got, err := Recover(journalFile(r.o))
		require.NoError(t, err)
		require.Equal(t, 8, got.Exchanges)
		require.NoError(t, r.Save())
		saved, err := os.ReadFile(cassetteFile(r))
		require.NoError(t, err)
		require.True(t, bytes.Equal(saved, got.Cassette))
	}
}

// What a fork replays of its past has its place, too; requests of no place come
// first, in the order they were begun.
func TestPlacesOfAPast(t *testing.T) {
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
