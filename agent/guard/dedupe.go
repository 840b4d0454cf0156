package guard

import "time"

// DedupeTTL is how long a result answers repeated calls, counted from when the
// call was made; the last instant is included.
const DedupeTTL = 300 * time.Second

// maxEntries bounds what a Dedupe remembers. Beyond it the oldest result is
// forgotten, and its call executed again if it comes back.
const maxEntries = 256

// Decision is what a Dedupe says about a call.
type Decision int

// The decisions.
const (
	Execute  Decision = iota // nothing is known: run it, then Settle
	Cached                   // an earlier result answers it
	InFlight                 // the same call is being executed right now
)

// Dedupe answers repeated calls of one episode from earlier results of type R.
// TTL is usually DedupeTTL; 0 or less never answers and never waits.
type Dedupe[R any] struct {
	TTL     time.Duration
	entries map[string]entry[R]
	// ages are the entries in the order in which they expire. One that was
	// forgotten or made again since is not in entries with the same expiry.
	ages []age
}

type age struct {
	key     string
	expires time.Time
}

type entry[R any] struct {
	expires time.Time
	value   R
	// present distinguishes a result, which may be any zero value, from a call in flight.
	present bool
}

// Gate decides about a call with this key at time at. Execute marks it as in
// flight. The value is the earlier result when the decision is Cached.
func (d *Dedupe[R]) Gate(key string, at time.Time) (R, Decision) {
	d.prune(at)
	e, ok := d.entries[key]
	switch {
	case ok && e.expires.Before(at):
		delete(d.entries, key)
	case ok && e.present:
		return e.value, Cached
	case ok:
		return e.value, InFlight
	}
	if d.TTL > 0 {
		if d.entries == nil {
			d.entries = map[string]entry[R]{}
		}
		expires := at.Add(d.TTL)
		d.entries[key] = entry[R]{expires: expires}
		d.ages = append(d.ages, age{key, expires})
	}
	var none R
	return none, Execute
}

// prune forgets what has expired, and the oldest results when there are too
// many. A call in flight is forgotten by time only.
func (d *Dedupe[R]) prune(at time.Time) {
	gone := 0
	for _, a := range d.ages {
		e, ok := d.entries[a.key]
		ok = ok && e.expires.Equal(a.expires)
		switch crowded := len(d.ages)-gone > maxEntries; {
		case !ok:
		case a.expires.Before(at), crowded && e.present:
			delete(d.entries, a.key)
		default:
			d.ages = d.ages[gone:]
			return
		}
		gone++
	}
	d.ages = d.ages[gone:]
}

// Settle ends a call in flight. keep reports that value is a result to keep,
// even the zero value; a failed call is forgotten. A key that is not in flight
// is ignored.
func (d *Dedupe[R]) Settle(key string, value R, keep bool) {
	e, ok := d.entries[key]
	switch {
	case !ok || e.present:
	case keep:
		e.value, e.present = value, true
		d.entries[key] = e
	default:
		delete(d.entries, key)
	}
}
