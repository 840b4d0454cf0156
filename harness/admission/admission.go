// Package admission decides when a request may be sent: a request with its worst
// case goes in; a permit comes out once the provider's limits allow it, or an
// error when a cap on spending does not.
//
// Spending is never above a cap, at any concurrency, as long as no request comes
// to more than its worst case, and none that reports no usage to more than its
// estimate: what is spent, what is reserved and the worst case
// of the next request must fit together. A request that does not fit by itself is
// refused with ErrCapped; one that only reservations keep from fitting waits for
// them to settle.
package admission

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// Limits say how fast one provider may be asked, and how much it may be asked
// for in all.
type Limits struct {
	// Concurrency bounds requests in flight per provider and key, adapted downwards
	// while the provider pushes back; 0 means the run's own.
	Concurrency int
	// RequestsPerMinute and TokensPerMinute are the provider's limits per key; 0
	// means that none is known.
	RequestsPerMinute, TokensPerMinute int64
	// Caps bound what the provider is asked for in the run.
	Caps
}

// Caps bound the spending of a run. Zero is no cap.
type Caps struct {
	// CostNanoUSD is money in nano-USD.
	CostNanoUSD int64
	// Tokens of all classes, Requests with every attempt.
	Tokens, Requests int64
}

// Options configure a Control. The zero value bounds nothing but concurrency.
type Options struct {
	// Caps bound the whole run.
	Caps Caps
	// Providers are the limits of single providers, by name.
	Providers map[string]Limits
	// Concurrency is that of lanes whose provider has none of its own; 0 means 8.
	Concurrency int
	// Log keeps reservations for a run that is killed, and holds what the run had
	// spent before; nil keeps nothing. It stays the caller's to close.
	Log *SpendLog
	// Changed is called with every change of a lane's limit, under the control's
	// lock: it must be quick and must not call the control. nil means nobody asks.
	Changed func(Change)
	// Now is the clock; nil means time.Now. Waits take real time.
	Now func() time.Time
}

const defaultConcurrency = 8

// Control admits the requests of one run. It is safe for concurrent use and has
// no goroutines of its own.
type Control struct {
	options Options
	now     func() time.Time

	mu        sync.Mutex
	run       budget
	providers map[string]*budget
	lanes     []*Lane // in the order they were asked for
	byKey     map[laneKey]*Lane
	// arrivals numbers requests as they come, sent as they go.
	arrivals, sent int64
	// timer wakes who waits for a time; nil before it is first needed.
	timer *time.Timer
}

type laneKey struct {
	provider string
	key      [sha256.Size]byte
}

// New makes the control of one run.
func New(o Options) *Control {
	c := &Control{options: o, now: o.Now, providers: map[string]*budget{}, byKey: map[laneKey]*Lane{}}
	if c.now == nil {
		c.now = time.Now //nolint:forbidigo // the seam: the limits of providers are in real time
	}
	c.run = budget{of: "the run", caps: o.Caps}
	if o.Log != nil {
		for provider, spent := range o.Log.Spent() {
			b := c.budget(provider)
			c.run.spent = c.run.spent.Plus(spent)
			b.spent = b.spent.Plus(spent)
			b.spend(Spend{}) // it may have been more than a cap
		}
		c.run.spend(Spend{})
	}
	return c
}

// budget returns that of a provider.
func (c *Control) budget(provider string) *budget {
	b := c.providers[provider]
	if b == nil {
		b = &budget{of: "provider " + provider, caps: c.options.Providers[provider].Caps}
		c.providers[provider] = b
	}
	return b
}

// Lane returns the lane of a provider and key: the same one for the same two.
// Of the key only a digest is kept.
func (c *Control) Lane(provider, key string) *Lane {
	id := laneKey{provider, sha256.Sum256([]byte(key))}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.byKey[id]; l != nil {
		return l
	}
	number := 1
	for _, l := range c.lanes {
		if l.provider == provider {
			number++
		}
	}
	limits := c.options.Providers[provider]
	limit := max(1, cmp.Or(limits.Concurrency, c.options.Concurrency, defaultConcurrency))
	now := c.now()
	l := &Lane{
		control: c, provider: provider, number: number, budget: c.budget(provider), most: limit, limit: float64(limit),
		requests: newBucket(limits.RequestsPerMinute, now), tokens: newBucket(limits.TokensPerMinute, now),
	}
	c.lanes = append(c.lanes, l)
	c.byKey[id] = l
	l.changed(now, Start, time.Time{}, 0)
	return l
}

// Capped returns an error that wraps ErrCapped once a cap on the run or on the
// provider bound: no more episodes of it should be begun. Requests of episodes in
// flight are still admitted as long as they fit.
func (c *Control) Capped(provider string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run.capped != nil {
		return c.run.capped
	}
	if b := c.providers[provider]; b != nil {
		return b.capped
	}
	return nil
}

// serve lets go whoever can, and sets the timer for those who wait for a time.
func (c *Control) serve(now time.Time) {
	if c.run.waiting == 0 {
		return
	}
	var wake time.Time
	for {
		var p *Permit
		var err error
		if p, wake, err = c.next(now); p == nil {
			break
		}
		p.lane.leave(p)
		p.Waited = now.Sub(p.asked)
		p.ready <- err
	}
	switch {
	case wake.IsZero() && c.timer != nil:
		c.timer.Stop()
	case wake.IsZero():
	case c.timer == nil:
		c.timer = time.AfterFunc(wake.Sub(now), c.tick)
	default:
		c.timer.Reset(wake.Sub(now))
	}
}

func (c *Control) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serve(c.now())
}

// next admits or refuses one of those who wait, or returns nil and the time at
// which another can go. Of the heads of lanes that are open the one that came
// first has precedence: while reservations stand in its way nobody passes it who
// draws on the same cap. So a large request is not starved by small ones, and as
// the first of all only ever waits for requests in flight, nothing locks up.
func (c *Control) next(now time.Time) (p *Permit, wake time.Time, err error) {
	var open []*Permit
	for _, l := range c.lanes {
		head := l.head()
		if head == nil {
			continue
		}
		if err := head.refused(); err != nil {
			return head, wake, err
		}
		at, ok := l.open(head, now)
		if ok {
			open = append(open, head)
		} else if !at.IsZero() && (wake.IsZero() || at.Before(wake)) {
			wake = at
		}
	}
	slices.SortFunc(open, func(a, b *Permit) int { return cmp.Compare(a.arrival, b.arrival) })
	full := map[*budget]bool{}
	for _, p := range open {
		if !c.run.fits(p.worst) {
			return nil, wake, nil
		}
		if full[p.lane.budget] || !p.lane.budget.fits(p.worst) {
			full[p.lane.budget] = true
			continue
		}
		return p, wake, p.admit(now)
	}
	return nil, wake, nil
}
