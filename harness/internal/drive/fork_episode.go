package drive

import (
	"cmp"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// history is an episode's recorded beginning in progress: the candidate of its turns and
// the source of their replies.
type history struct {
	*Past
	model     providers.Model
	transport http.RoundTripper
	day       time.Time // the day of the prices
	where     string    // the cassette of its rows; empty for the episode's own
}

// openHistory creates the wire of the recorded turns. Their exchanges come from the fork's
// own cassette or, without one, from the recorded episode's.
func (e *driver) openHistory() (err error) {
	if e.Fork == nil {
		return nil
	}
	h := &history{Past: e.Fork, transport: e.recorder}
	day := e.recorder.Header().ForkRecorded
	if e.Mode != recorder.Replay {
		source, err := e.Fork.Open(e.Cassettes)
		if err != nil {
			return err
		}
		h.transport, day = recorder.NewPast(source, e.recorder), e.Fork.Recorded
	}
	if e.Mode == recorder.Live {
		h.where = e.Fork.Cassette
	}
	if t, err := time.Parse(time.DateOnly, day); err == nil {
		h.day = t // else no price applies
	}
	h.model, err = e.wire(e.Fork.Planned, h.transport, e.recorder, h.day, withoutWaits(e.retryPolicy(uint64(e.Seed.Int64()))), nil)
	e.history = h
	return err
}

// inPast is the episode's history until the fork, and nil after it.
func inPast(e *driver) *history {
	if m, ok := e.machine.(*forkMachine); ok && m.past != nil {
		return e.history
	}
	return nil
}

// askedCandidate returns the candidate whose turn it is.
func askedCandidate(e *driver) goldens.Candidate {
	if h := e.rows.past; h != nil {
		return h.Candidate
	}
	return e.Candidate
}

// toolsTransport is the transport of HTTP tools and process worlds; nil without a cassette.
func toolsTransport(e *driver) http.RoundTripper {
	if h := inPast(e); h != nil {
		return h.transport
	}
	if e.recorder == nil {
		return nil
	}
	return e.recorder
}

// pastKey is the key of a row of the past: the fork's episode with the candidate of the
// recorded turn.
func (b *rowBuilder) pastKey() ledger.Key {
	k := b.key
	if b.past != nil {
		c := b.past.Candidate
		k.Provider, k.Model, k.Replayed = c.Provider, c.Model, true
	}
	return k
}

// pastCassette is the cassette of a turn's exchanges.
func (b *rowBuilder) pastCassette() string {
	if b.past != nil {
		return cmp.Or(b.past.where, b.Cassette)
	}
	return b.Cassette
}
