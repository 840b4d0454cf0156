// Package admission decides when a request may be sent: Acquire returns a permit for a
// request with its worst case once the provider's limits allow it, or an error if a cap on
// spending does not.
//
// Spending never exceeds a cap, at any concurrency, as long as no request exceeds its worst
// case, and no request without reported usage exceeds its estimate: the sum of spending,
// reservations and the next request's worst case must fit. A request that does not fit by
// itself fails with ErrCapped; one that fits only without the current reservations waits
// for them to settle.
package admission

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// Limits bound the request rate and the spending of one provider.
type Limits struct {
	// Concurrency bounds requests in flight per provider and key. It is lowered while the
	// provider rejects requests; 0 means the run's value.
	Concurrency int `json:"concurrency"`
	// RequestsPerMinute and TokensPerMinute are those of the provider per key; 0 means unknown.
	RequestsPerMinute int64 `json:"requests_per_minute"`
	TokensPerMinute   int64 `json:"tokens_per_minute"`
	// Batched says that the requests go into batches, which have no rate: they wait for caps only.
	Batched bool `json:"batched"`
	// Caps bound the provider's share of the spending.
	Caps
}

// Caps bound the spending of a run: money in nano-USD, tokens of all classes, and requests with
// every attempt. Zero means no cap.
type Caps struct {
	CostNanoUSD int64 `json:"cost_nano_usd"`
	Tokens      int64 `json:"tokens"`
	Requests    int64 `json:"requests"`
}

// Options configure a Control. The zero value bounds nothing but concurrency.
type Options struct {
	// Caps bound the whole run.
	Caps Caps
	// Providers are limits by the name of the provider.
	Providers map[string]Limits
	// Concurrency is the limit of lanes whose provider does not set one; 0 means 8.
	Concurrency int
	// Log stores reservations for the case that the run is killed, and has the run's earlier
	// spending; nil stores none. The caller closes it.
	Log *SpendLog
	// Changed is called with every change of a lane's limit, under the control's lock: it must
	// be fast and must not call the control. nil means no calls.
	Changed func(Change)
	// Shared says that the caps and rates are those of several processes: nothing is admitted
	// beyond what Allot allows. Wanted is called, under the same rules as Changed, when a
	// request waits for more than that.
	Shared bool
	Wanted func()
	// Now is the clock; nil means time.Now. Waits take real time.
	Now func() time.Time
}

const defaultConcurrency = 8

// Control admits the requests of one run. It is safe for concurrent use and does not start
// goroutines.
type Control struct {
	options Options
	now     func() time.Time

	mu        sync.Mutex
	run       budget
	providers map[string]*budget
	lanes     []*Lane // in order of creation
	byKey     map[laneKey]*Lane
	// arrivals numbers requests when they arrive, sent when they are sent.
	arrivals, sent int64
	// timer serves requests that wait for a time; nil before it is first needed.
	timer *time.Timer

	// until is the end of the allotment, stop the reason why there will be no other. asked is
	// set once Wanted was called for it.
	until time.Time
	stop  error
	asked bool
}

type laneKey struct {
	provider string
	key      [sha256.Size]byte
}

// New creates the control of one run.
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
			b.spend(Spend{}) // it may have exceeded a cap
		}
		c.run.spend(Spend{})
	}
	return c
}

// budget returns the budget of a provider.
func (c *Control) budget(provider string) *budget {
	b := c.providers[provider]
	if b == nil {
		b = &budget{of: "provider " + provider, caps: c.options.Providers[provider].Caps}
		if c.options.Shared {
			b.shared = &Part{Limit: Spend{unlimited, unlimited, unlimited}}
			b.bounds = b.caps.or(c.options.Caps)
		}
		c.providers[provider] = b
	}
	return b
}

// Lane returns the lane of a provider and key, the same one for equal arguments. It stores
// only a digest of the key.
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
		control: c, provider: provider, number: number, budget: c.budget(provider), batched: limits.Batched, most: limit, limit: float64(limit),
		requests: newBucket(limits.RequestsPerMinute, now), tokens: newBucket(limits.TokensPerMinute, now),
	}
	if c.options.Shared {
		l.id = laneID(id)
		l.withoutShare = max(limits.RequestsPerMinute, limits.TokensPerMinute) > 0
	}
	c.lanes = append(c.lanes, l)
	c.byKey[id] = l
	l.changed(now, Start, time.Time{}, 0)
	return l
}

// Capped returns an error that wraps ErrCapped once a cap on the run or the provider was
// reached: the caller must not start further episodes of it. Requests of episodes in flight
// are still admitted while they fit.
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

// serve admits every request that can be sent, and sets the timer for those that wait for a
// time.
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

// next admits or refuses one waiting request, or returns nil and the time at which the next
// can be sent. Among the heads of open lanes the earliest arrival has precedence: while it
// waits for reservations, no later request under the same cap passes it. So small requests
// do not starve a large one, and because the first request only ever waits for requests in
// flight, there is no deadlock.
func (c *Control) next(now time.Time) (p *Permit, wake time.Time, err error) {
	var open []*Permit
	for _, b := range c.providers {
		b.short = Spend{}
	}
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
			if !full[p.lane.budget] && !p.lane.budget.granted(p.worst) {
				p.lane.budget.short = p.worst
				c.ask()
			}
			full[p.lane.budget] = true
			continue
		}
		return p, wake, p.admit(now)
	}
	return nil, wake, nil
}
