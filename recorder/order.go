package recorder

import (
	"cmp"
	"context"
	"net/http"
	"slices"
)

type placeKey struct{}

// Ordered returns a context whose requests have a place, from 1: on the cassette they
// follow those of smaller places, even if they overlapped in time, so that parallel
// requests are recorded in one order. Requests of one place, and those without one, which
// come first, are in starting order.
//
// A replay answers equal requests in the order of the cassette, so they must be sent in the
// order of their places, one after another, unless Repeats is false.
func Ordered(ctx context.Context, place int) context.Context {
	return context.WithValue(ctx, placeKey{}, place)
}

// placeOf is the place of a context's requests; 0 if it has none.
func placeOf(ctx context.Context) int {
	place, _ := ctx.Value(placeKey{}).(int)
	return place
}

// begin starts the recording of a request; the caller must have locked.
func (r *Recorder) begin(req *http.Request) *recording {
	t := &recording{index: len(r.recordings), place: placeOf(req.Context())}
	asked := requested(req, "")
	t.it.Role, t.it.Request.Method, t.it.Request.URL = asked.Role, asked.Method, asked.URL
	if r.begun == nil {
		r.begun = map[int]int{}
	}
	t.nth = r.begun[t.place]
	t.number = r.next(t.place)
	r.begun[t.place]++
	r.recordings = append(r.recordings, t)
	return t
}

// next is the number of the next recording of a place; the caller must have locked.
func (r *Recorder) next(place int) int64 { return number(place, r.begun[place]) }

// compare orders recordings as they are on the cassette.
func (t *recording) compare(other *recording) int {
	return cmp.Or(cmp.Compare(t.place, other.place), cmp.Compare(t.nth, other.nth))
}

// number is the number of a place's nth recording in the journal: numbers sort like
// compare.
func number(place, nth int) int64 { return int64(place)<<32 | int64(nth) }

// ordered returns the recordings in the order of the cassette.
func (r *Recorder) ordered() []*recording {
	list := slices.Clone(r.recordings)
	slices.SortFunc(list, (*recording).compare)
	return list
}

// Positions maps each Exchange.Index to its position on the cassette; it is final after the
// last request. It is nil in other modes than Record, where the index is the position.
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

// Repeats reports whether a replayed cassette has two recordings of one request.
func (r *Recorder) Repeats() bool {
	return r.index != nil && len(r.index.byDigest) < len(r.index.data.Interactions)
}
