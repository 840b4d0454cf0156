package guard

import "time"

// DedupeTTL is how long a result answers repeated calls, counted from when the
// call was made; the last instant is included.
const DedupeTTL = 300 * time.Second

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
}

type entry[R any] struct {
	expires time.Time
	value   R
	// present tells a result, which may be any zero value, from a call in flight.
	present bool
}

// Gate decides about a call with this key at time at. Execute marks it as in
// flight. The value is the earlier result when the decision is Cached.
func (d *Dedupe[R]) Gate(key string, at time.Time) (R, Decision) {
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
		d.entries[key] = entry[R]{expires: at.Add(d.TTL)}
	}
	var none R
	return none, Execute
}

// Settle ends a call in flight. keep says that value is a result worth keeping,
// whatever it is; a call that failed is forgotten. A key that is not in flight
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
