package recorder

import (
	"cmp"
	"context"
	"net/http"
	"slices"
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

// reserve begins a take of a request.
func (r *Recorder) reserve(req *http.Request) *take {
	t := &take{}
	t.it.Request.Method, t.it.Request.URL = method(req), canonicalURL(req.URL)
	t.place, _ = req.Context().Value(placeKey{}).(int)
	r.mu.Lock()
	defer r.mu.Unlock()
	t.index = len(r.takes)
	if r.begun == nil {
		r.begun = map[int]int{}
	}
	t.nth = r.begun[t.place]
	r.begun[t.place]++
	r.takes = append(r.takes, t)
	return t
}

// compare orders takes as they are on the cassette.
func (t *take) compare(other *take) int {
	return cmp.Or(cmp.Compare(t.place, other.place), cmp.Compare(t.nth, other.nth))
}

// number is the one of a take in the journal: numbers have the order of compare.
func (t *take) number() int64 { return int64(t.place)<<32 | int64(t.nth) }

// ordered are the takes as they are on the cassette.
func (r *Recorder) ordered() []*take {
	list := slices.Clone(r.takes)
	slices.SortFunc(list, (*take).compare)
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
	at := make([]int, len(r.takes))
	for i, t := range r.ordered() {
		at[t.index] = i
	}
	return at
}

// Repeats says whether a replayed cassette holds two recordings of one request.
func (r *Recorder) Repeats() bool {
	return r.deck != nil && len(r.deck.byDigest) < len(r.deck.tape.interactions)
}
