package harness

import (
	"cmp"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// history is an episode's recorded beginning under way: whom its turns ask and
// where the answers come from.
type history struct {
	*past
	model     providers.Model
	transport http.RoundTripper
	day       time.Time // whose prices apply
	where     string    // the cassette of its rows; empty for the episode's own
}

// openHistory makes the wire of the recorded turns. A fork's own cassette holds
// them, too; without one they come from the recorded episode's.
func (e *episode) openHistory(r *runner) (err error) {
	if e.fork == nil {
		return nil
	}
	h := &history{past: e.fork, transport: e.recorder}
	day := e.recorder.Header().ForkRecorded
	if r.Mode != recorder.Replay {
		source, err := e.fork.open(r)
		if err != nil {
			return err
		}
		h.transport, day = recorder.NewPast(source, e.recorder), e.fork.recorded
	}
	if r.Mode == recorder.Live {
		h.where = e.fork.cassette
	}
	if t, err := time.Parse(time.DateOnly, day); err == nil {
		h.day = t // else no price applies
	}
	h.model, err = e.wire(e.fork.planned, h.transport, h.day, withoutWaits(r.retryPolicy(uint64(e.seed.Int64()))), nil)
	e.history = h
	return err
}

// inPast is the episode's history until the fork, and nil after it.
func (e *episode) inPast() *history {
	if m, ok := e.machine.(*forkMachine); ok && m.past != nil {
		return e.history
	}
	return nil
}

// asks is the candidate whose turn it is.
func (e *episode) asks() goldens.Candidate {
	if h := e.rows.past; h != nil {
		return h.candidate
	}
	return e.candidate
}

// transport is what HTTP tools go through; nil without a cassette.
func (e *episode) transport() http.RoundTripper {
	switch {
	case e.rows.past != nil:
		return e.rows.past.transport
	case e.recorder == nil:
		return nil
	}
	return e.recorder
}

// pastKey is the key of a row of the past: of the fork's episode, but naming
// whom the recorded turn asked.
func (b *rowBuilder) pastKey() ledger.Key {
	k := b.key
	if b.past != nil {
		c := b.past.candidate
		k.Provider, k.Model, k.Replayed = c.Provider, c.Model, true
	}
	return k
}

// pastCassette is where a turn's exchanges are.
func (b *rowBuilder) pastCassette() string {
	if b.past != nil {
		return cmp.Or(b.past.where, b.cassette)
	}
	return b.cassette
}
