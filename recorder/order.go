package recorder

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/cupel-eval/cupel/recorder/internal/canonical"
)

type placeKey struct{}

// Ordered returns a context whose requests have a place, from 1: on the cassette
// they are behind those of smaller places, however they overlapped in time, so that
// what is asked for at once is recorded in one order. Requests of one place, and
// those of none, which come first, are in the order they were begun.
//
// A replay draws equal requests in the order of the cassette: ask it for them in the
// order of their places, one after another, unless Repeats says that there are none.
func Ordered(ctx context.Context, place int) context.Context {
	return context.WithValue(ctx, placeKey{}, place)
}

// placeOf is the place of a context's requests; 0 without any.
func placeOf(ctx context.Context) int {
	place, _ := ctx.Value(placeKey{}).(int)
	return place
}

// reserve begins the recording of a request.
func (r *Recorder) reserve(req *http.Request) *recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begin(req)
}

// begin is reserve for a caller that holds the lock.
func (r *Recorder) begin(req *http.Request) *recording {
	t := &recording{index: len(r.recordings), place: placeOf(req.Context())}
	t.it.Request.Method, t.it.Request.URL = method(req), canonical.URL(req.URL)
	if r.begun == nil {
		r.begun = map[int]int{}
	}
	t.nth = r.begun[t.place]
	t.number = r.next(t.place)
	r.begun[t.place]++
	r.recordings = append(r.recordings, t)
	return t
}

// next is the number of the next recording of a place; the caller holds the lock.
func (r *Recorder) next(place int) int64 { return number(place, r.begun[place]) }

// compare orders recordings as they are on the cassette.
func (t *recording) compare(other *recording) int {
	return cmp.Or(cmp.Compare(t.place, other.place), cmp.Compare(t.nth, other.nth))
}

// number is the one of a place's nth recording in the journal: numbers have the order of
// compare.
func number(place, nth int) int64 { return int64(place)<<32 | int64(nth) }

// ordered are the recordings as they are on the cassette.
func (r *Recorder) ordered() []*recording {
	list := slices.Clone(r.recordings)
	slices.SortFunc(list, (*recording).compare)
	return list
}

// Positions says where on the cassette what was recorded is, by Exchange.Index; it
// is final once no more requests are made. nil in other modes than Record, where
// the index is the position.
func (r *Recorder) Positions() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.o.Mode != Record {
		return nil
	}
	at := make([]int, len(r.recordings))
	for i, t := range r.ordered() {
		at[t.index] = i
	}
	return at
}

// Repeats reports whether a replayed cassette holds two recordings of one request.
func (r *Recorder) Repeats() bool {
	return r.index != nil && len(r.index.byDigest) < len(r.index.data.Interactions)
}
