package admission

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"time"
)

// Allotment is what one of several processes may use of the limits that they share: see
// Options.Shared.
type Allotment struct {
	// Until is its end by the control's clock. Nothing is admitted afterwards.
	Until time.Time
	// Providers are the parts of the caps, by the provider's name. A provider that is not named
	// keeps its part.
	Providers map[string]Part
	// Shares are the parts of the rates of lanes, from 0 to 1, by LaneState.ID.
	Shares map[string]float64
	// Filled are the parts of a minute of the limits that are added to the buckets of lanes. What
	// a lane gains otherwise is empty at first.
	Filled map[string]float64
	// Stop, if not nil, ends the run like a cap that is reached.
	Stop error
}

// Part is a part of the caps on one provider and on the run. Its amounts count from the
// control's beginning, with the spending in its log. Amounts without a cap play no part.
type Part struct {
	// Granted bounds spending and reservations now, Limit what could ever be granted.
	Granted, Limit Spend
}

const unlimited = math.MaxInt64

// Allot replaces the allotment of a control with Options.Shared by what f returns, and
// admits what it allows. f gets the state at this moment, and nothing is admitted
// meanwhile: it must be fast and must not call the control.
func (c *Control) Allot(f func(Snapshot) Allotment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	a := f(c.snapshot(now))
	for name, part := range a.Providers {
		*c.budget(name).shared = part
	}
	for _, l := range c.lanes {
		limits := c.options.Providers[l.provider]
		share := a.Shares[l.id]
		l.withoutShare = share <= 0 && max(limits.RequestsPerMinute, limits.TokensPerMinute) > 0
		l.requests.share(float64(limits.RequestsPerMinute), share, a.Filled[l.id], a.Until, now)
		l.tokens.share(float64(limits.TokensPerMinute), share, a.Filled[l.id], a.Until, now)
	}
	c.until, c.asked = a.Until, false
	if a.Stop != nil && c.stop == nil {
		c.stop = fmt.Errorf("%w: %w", ErrCapped, a.Stop)
		c.run.capped = cmp.Or(c.run.capped, c.stop)
	}
	c.serve(now)
}

// share changes the part of a limit that a bucket has, and adds a part of a minute. It has not
// been filled since its earlier share ended.
func (b *bucket) share(perMinute, share, filled float64, until, now time.Time) {
	b.fill(now)
	b.at, b.until = now, until
	b.size = max(0, perMinute*share)
	b.rate, b.level = b.size/60, min(b.level+max(0, perMinute*filled), b.size)
}

// part is what a bucket has, as a part of a minute of a limit: 1 without a limit.
func (b *bucket) part(perMinute int64, now time.Time) float64 {
	if perMinute <= 0 {
		return 1
	}
	b.fill(now)
	return max(0, b.level/float64(perMinute))
}

// ask calls Wanted once for an allotment.
func (c *Control) ask() {
	if !c.asked && c.options.Wanted != nil {
		c.asked = true
		c.options.Wanted()
	}
}

// allotted reports whether an allotment is in force. Both readings of the clock count,
// because the monotonic one stands still while a machine sleeps.
func (c *Control) allotted(now time.Time) bool {
	return !c.options.Shared || now.Before(c.until) && now.Round(0).Before(c.until.Round(0))
}

// laneID names a lane to other processes. The key cannot be found from it.
func laneID(k laneKey) string { return k.provider + "/" + hex.EncodeToString(k.key[:8]) }

// granted reports whether the part of the shared caps covers a request.
func (b *budget) granted(worst Spend) bool {
	if b.shared == nil {
		return true
	}
	measure, _ := b.bounds.above(b.spent.Plus(b.reserved).Plus(worst), b.shared.Granted)
	return measure == ""
}

// missing is the worst case of a waiting request that the part does not cover.
func (b *budget) missing() Spend {
	if b.waiting == 0 {
		return Spend{}
	}
	return b.short
}

// refusePart returns an error if no part that other processes leave could cover a request.
func (b *budget) refusePart(worst Spend) error {
	if b.shared == nil {
		return nil
	}
	measure, value := b.bounds.above(b.spent.Plus(worst), b.shared.Limit)
	if measure == "" {
		return nil
	}
	err := fmt.Errorf("%w: %s of %s, shared by the workers: this worker has spent %s, the others leave it %s in all, the next request may need %s: "+
		"raise the cap and resume the run", ErrCapped, measure, b.of, amount(measure, value(b.spent)), amount(measure, value(b.shared.Limit)), amount(measure, value(worst)))
	b.capped = cmp.Or(b.capped, err)
	return err
}

// above names the first capped measure in which a sum exceeds a bound; "" if there is none.
func (c Caps) above(s, bound Spend) (measure string, of func(Spend) int64) {
	for _, m := range measures {
		if m.of(Spend(c)) > 0 && m.of(s) > m.of(bound) {
			return m.name, m.of
		}
	}
	return "", nil
}

// or returns the caps with those of d in place of absent ones.
func (c Caps) or(d Caps) Caps {
	return Caps{cmp.Or(c.CostNanoUSD, d.CostNanoUSD), cmp.Or(c.Tokens, d.Tokens), cmp.Or(c.Requests, d.Requests)}
}
