package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// Request is one request at its worst case. A negative number is unknown: a request is
// refused if a cap needs it.
type Request struct {
	// Candidate is the owner: waiting candidates are served in turn.
	Candidate string
	// ID names the request, the same in a resumed run: at most 256 bytes. See
	// Lane.Settle.
	ID string
	// Input and Output are the most tokens it can take and give.
	Input, Output int64
	// CostNanoUSD is the most it can cost.
	CostNanoUSD int64

	// Model is the model's name. Text is the number of bytes of ASCII text in the input, and
	// Other the most tokens of the rest of the input. If Text is 0, a request without a report
	// counts at its worst case.
	Model       string
	Text, Other int64
	// Price is the maximum price of these tokens; nil if unknown.
	Price func(input, output int64) (nanoUSD int64, ok bool)
}

// Result is how a request ended.
type Result struct {
	// Err is the error of the call; nil if it succeeded.
	Err error
	// Usage is the reported usage.
	Usage providers.Usage
	// CostNanoUSD is the cost; nil if unknown.
	CostNanoUSD *int64
}

// Permit allows one request. Its owner must call Done before waiting for another permit.
type Permit struct {
	// Waited is the time until the permit was granted.
	Waited time.Duration

	lane      *Lane
	candidate string
	request   Request
	worst     Spend
	// charge is the request's amount of the tokens per minute, need its amounts of the limits
	// that replies state.
	charge float64
	need   amounts
	// sentAt is when it was sent. reset is the time, according to its reply, until the
	// exhausted limits are full.
	sentAt time.Time
	reset  time.Duration
	// advised is set if the reply has a Retry-After, including 0.
	advised bool
	// arrival and number order requests by arrival and sending; record is the number in the
	// log.
	arrival, number, record int64
	asked                   time.Time
	// ready receives one value, when the request may be sent or is refused.
	ready chan error
	done  bool
	// timedOut is set if a request without a report timed out.
	timedOut bool
}

// maxAmount bounds a request's amounts, so that sums do not overflow: 281,475 USD, or as
// many billions of tokens.
const maxAmount = 1 << 48

// Acquire waits until a request may be sent. It fails with ErrCapped if its worst case
// exceeds the rest of a cap, with ctx's error if ctx ends first, and if the log cannot be
// written.
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
	if c.run.waiting == 0 { // there is no waiting request to pass
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

// abandon ends the wait of a request that will not be sent, or returns what it was just
// granted.
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

// permit checks a request and creates its permit.
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
	// Providers charge four bytes per token on admission; Input is in bytes.
	p.charge = float64(in)/4 + float64(out)
	p.need = l.stated.need(float64(in)/4, p.charge)
	return p, p.refused()
}

// refused returns an error if a cap rules the request out.
func (p *Permit) refused() error {
	if err := p.lane.control.stop; err != nil {
		return err
	}
	if err := p.lane.control.run.refuse(p.worst); err != nil {
		return err
	}
	return p.lane.budget.refuse(p.worst)
}

// admit reserves the worst case and allows the request.
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

// settle replaces the reservation by the actual spending. charge is the actual amount of
// the tokens per minute.
func (p *Permit) settle(actual Spend, charge float64, now time.Time) {
	p.done = true
	c := p.lane.control
	c.run.settle(p.worst, actual)
	p.lane.budget.settle(p.worst, actual)
	p.lane.tokens.take(charge-p.charge, now)
}

// log logs the request's spending.
func (p *Permit) log(actual Spend) {
	if log := p.lane.control.options.Log; log != nil {
		log.settle(p.record, actual)
	}
}

// Done ends the request and serves the next one. Calls after the first have no effect.
//
// The reported usage replaces the worst case, even if it is larger. Without a report, a
// failure that cannot have been billed costs nothing, and any other request costs the
// estimate of observations. The report of an incomplete reply does not count, because it
// may have been too early.
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

// billed returns the amounts of a request that may have been billed. They are not final
// while a request without a report waits for observations.
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

// believable reports whether the reported usage is complete.
func (r Result) believable() bool {
	if r.Err == nil {
		return true
	}
	failed := failureOf(r.Err)
	return r.Usage.Reported && failed != nil && !failed.Partial && failed.Kind != fault.TimedOut && failed.Kind != fault.Transport
}

// unbilled reports whether a request failed before it could be billed.
func (r Result) unbilled() bool {
	failed := failureOf(r.Err)
	refusals := []fault.Kind{fault.RateLimit, fault.Overloaded, fault.Auth, fault.Quota, fault.InvalidRequest, fault.NotFound, fault.ContextLength}
	return failed != nil && !failed.Partial && (slices.Contains(refusals, failed.Kind) || neverSent(r.Err))
}

// failureOf returns a provider's error; nil if err does not wrap one.
func failureOf(err error) *fault.Error {
	failed, _ := errors.AsType[*fault.Error](err)
	return failed
}

// neverSent reports whether no connection was made.
func neverSent(err error) bool {
	var op *net.OpError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") || errors.As(err, &name) || errors.As(err, &certificate)
}
