package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// Request is one request at its worst. A negative number is unknown: it is
// refused where a cap needs it.
type Request struct {
	// Candidate is whose it is: those who wait are served in turn.
	Candidate string
	// ID names the request, the same in a resumed run: at most 256 bytes. See
	// Lane.Settle.
	ID string
	// Input and Output are the most tokens it can take and give.
	Input, Output int64
	// CostNanoUSD is the most it can cost.
	CostNanoUSD int64

	// Model is whom it asks. Text is how many bytes of its input are ASCII text, and
	// Other how many tokens the rest of the input can take at most. 0 bytes of text
	// mean that a request without a report counts at its worst case.
	Model       string
	Text, Other int64
	// Price is the most that so many tokens cost; nil if that is unknown.
	Price func(input, output int64) (nanoUSD int64, ok bool)
}

// Result is how a request ended.
type Result struct {
	// Err is the error of the call; nil if it succeeded.
	Err error
	// Usage is what the reply reports.
	Usage providers.Usage
	// CostNanoUSD is what it cost; nil if that is unknown.
	CostNanoUSD *int64
}

// Permit lets one request be sent. Its holder must call Done, and must not wait for
// another permit before.
type Permit struct {
	// Waited is how long it took to get it.
	Waited time.Duration

	lane      *Lane
	candidate string
	request   Request
	worst     Spend
	// charge is what the request takes from the tokens a minute, need what it takes
	// from the limits that replies state.
	charge float64
	need   amounts
	// sentAt is when it was let go. reset is how long it takes, by its reply, until
	// the limits that had nothing left for it are full.
	sentAt time.Time
	reset  time.Duration
	// advised says that the reply has a Retry-After, be it one of 0.
	advised bool
	// arrival and number order requests as they come and as they go; record is its
	// number in the log.
	arrival, number, record int64
	asked                   time.Time
	// ready is sent to once, when the request may go or is refused.
	ready chan error
	done  bool
	// timedOut says how a request without a report ended.
	timedOut bool
}

// maxAmount bounds what a request may need, so that sums stay in range: 281,475
// USD, or as many billions of tokens.
const maxAmount = 1 << 48

// Acquire waits until a request may be sent. It fails with ErrCapped when its
// worst case does not fit what is left of a cap, with ctx's error when that ends
// first, and when the log cannot be written.
func (l *Lane) Acquire(ctx context.Context, r Request) (*Permit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := l.control
	c.mu.Lock()
	p, err := l.permit(r)
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	now := c.now()
	p.asked = now
	if c.run.waiting == 0 { // nobody to pass
		if _, open := l.open(p, now); open && c.run.fits(p.worst) && l.budget.fits(p.worst) {
			err := p.admit(now)
			c.mu.Unlock()
			return p.or(err)
		}
	}
	c.arrivals++
	p.arrival, p.ready = c.arrivals, make(chan error, 1)
	l.enter(p)
	c.serve(now)
	c.mu.Unlock()
	select {
	case err := <-p.ready:
		return p.or(err)
	case <-ctx.Done():
		p.abandon()
		return nil, ctx.Err()
	}
}

// abandon ends the wait of a request that will not be sent, or gives back what it
// was granted at that moment.
func (p *Permit) abandon() {
	l := p.lane
	c := l.control
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if !l.leave(p) && <-p.ready == nil {
		l.ended(p)
		l.requests.take(-1, now)
		l.stated.take(p.need.times(-1), now)
		p.settle(Spend{}, 0, now)
		p.log(Spend{})
	}
	c.serve(now)
}

func (p *Permit) or(err error) (*Permit, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// permit checks a request and makes its permit.
func (l *Lane) permit(r Request) (*Permit, error) {
	caps, own := l.control.run.caps, l.budget.caps
	switch {
	case max(r.Input, r.Output, r.CostNanoUSD) > maxAmount:
		return nil, fmt.Errorf("admit a request to %s: a worst case of %d + %d tokens, %d nano-USD is beyond belief", l.provider, r.Input, r.Output, r.CostNanoUSD)
	case r.CostNanoUSD < 0 && max(caps.CostNanoUSD, own.CostNanoUSD) > 0:
		return nil, fmt.Errorf("admit a request to %s: what it may cost is unknown, and cost is capped: give the model a price and a bound on its output, or drop the cap", l.provider)
	case min(r.Input, r.Output) < 0 && max(caps.Tokens, own.Tokens) > 0:
		return nil, fmt.Errorf("admit a request to %s: how many tokens it may take is unknown, and tokens are capped: bound the model's output, or drop the cap", l.provider)
	}
	in, out := max(0, r.Input), max(0, r.Output)
	p := &Permit{lane: l, candidate: r.Candidate, request: r, worst: Spend{CostNanoUSD: max(0, r.CostNanoUSD), Tokens: in + out, Requests: 1}}
	// Four bytes a token is what providers charge on admission; Input is in bytes.
	p.charge = float64(in)/4 + float64(out)
	p.need = l.stated.need(float64(in)/4, p.charge)
	return p, p.refused()
}

// refused reports whether a cap is against the request.
func (p *Permit) refused() error {
	if err := p.lane.control.run.refuse(p.worst); err != nil {
		return err
	}
	return p.lane.budget.refuse(p.worst)
}

// admit reserves the worst case and lets the request go.
func (p *Permit) admit(now time.Time) error {
	c := p.lane.control
	if c.options.Log != nil {
		var err error
		if p.record, err = c.options.Log.reserve(p.lane.provider, p.request.ID, p.worst); err != nil {
			return err
		}
	}
	c.sent++
	p.number = c.sent
	c.run.reserve(p.worst)
	p.lane.budget.reserve(p.worst)
	p.lane.took(p, now)
	return nil
}

// settle replaces the reservation by what the request came to. charge is what it
// took of the tokens a minute.
func (p *Permit) settle(actual Spend, charge float64, now time.Time) {
	p.done = true
	c := p.lane.control
	c.run.settle(p.worst, actual)
	p.lane.budget.settle(p.worst, actual)
	p.lane.tokens.take(charge-p.charge, now)
}

// log writes down what the request came to.
func (p *Permit) log(actual Spend) {
	if log := p.lane.control.options.Log; log != nil {
		log.settle(p.record, actual)
	}
}

// Done tells how the request ended, and lets the next one go. Calls after the
// first do nothing.
//
// What is reported replaces the worst case, be it more. Without a report a failure
// that cannot have been billed costs nothing, and anything else what observations
// estimates. A reply that broke off may have reported too early, so its report does
// not count.
func (p *Permit) Done(r Result) {
	c := p.lane.control
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.done {
		return
	}
	now := c.now()
	observed := p.observations()
	if r.Err == nil && r.Usage.Reported && observed.observe(p.request, r.Usage) {
		observed.settleWaiting(c)
	}
	if r.believable() && r.Usage.Reported {
		p.lane.stated.learn(r.Usage)
	}
	actual, charge, final := Spend{Requests: 1}, 0.0, true
	if r.believable() || !r.unbilled() {
		actual, charge, final = p.billed(r, observed)
	}
	p.settle(actual, charge, now)
	if final {
		p.log(actual)
	}
	p.lane.adapt(p, r.Err, now)
	c.serve(now)
}

// billed returns what a request counts for that may have been billed. It is not
// final while what was not reported must wait for observations.
func (p *Permit) billed(r Result, observed *observations) (actual Spend, charge float64, final bool) {
	failed := failureOf(r.Err)
	p.timedOut = failed != nil && failed.Kind == fault.TimedOut
	actual, charge = observed.estimate(p, p.timedOut), p.charge
	if r.Usage.Reported {
		tokens := max(0, r.Usage.Total())
		if r.believable() {
			actual.Tokens, charge = tokens, float64(tokens)
		}
		actual.Tokens = max(actual.Tokens, tokens)
	}
	if r.CostNanoUSD != nil {
		cost := max(0, *r.CostNanoUSD)
		if r.believable() {
			actual.CostNanoUSD = cost
		}
		actual.CostNanoUSD = max(actual.CostNanoUSD, cost)
	}
	if actual != p.worst || p.request.Text <= 0 || observed.reported >= minReported || len(observed.waiting) == maxUnreported {
		return actual, charge, true
	}
	observed.waiting = append(observed.waiting, p)
	return actual, charge, false
}

// believable reports whether what is reported is all there was.
func (r Result) believable() bool {
	if r.Err == nil {
		return true
	}
	failed := failureOf(r.Err)
	return r.Usage.Reported && failed != nil && !failed.Partial && failed.Kind != fault.TimedOut && failed.Kind != fault.Transport
}

// unbilled reports whether a request failed before anything could be billed.
func (r Result) unbilled() bool {
	failed := failureOf(r.Err)
	if failed == nil || failed.Partial {
		return false
	}
	switch failed.Kind {
	case fault.RateLimit, fault.Overloaded, fault.Auth, fault.Quota, fault.InvalidRequest, fault.NotFound, fault.ContextLength:
		return true
	}
	return neverSent(r.Err)
}

// failureOf returns a provider's error; nil if err is none.
func failureOf(err error) *fault.Error {
	if err == nil {
		return nil
	}
	var failed *fault.Error
	_ = errors.As(err, &failed) // nil if there is none
	return failed
}

// neverSent reports whether no connection was made.
func neverSent(err error) bool {
	var op *net.OpError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") || errors.As(err, &name) || errors.As(err, &certificate)
}
