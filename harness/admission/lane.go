package admission

import (
	"math"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/providers/fault"
)

// maxAdvice bounds how long a lane is paused because the provider said so in an
// error: a daily limit is waited for, within reason.
const maxAdvice = time.Hour

// Below one request at a time the limit falls on as a pause that doubles, from
// minBackoff to maxBackoff: an outage is not met by one request after the other.
const (
	minBackoff = 20 * time.Millisecond
	maxBackoff = 30 * time.Second
)

// Lane admits the requests to one provider with one key.
type Lane struct {
	control  *Control
	provider string
	number   int
	budget   *budget

	// most is the configured concurrency, limit the adapted one.
	most  int
	limit float64
	// lowered is how many requests had been sent when the limit was last lowered:
	// the failure of one of those says nothing new. heard is how many had been sent when the
	// provider last said what is left, or when to come back: what the reply to one of
	// those says of that is out of date.
	lowered, heard int64
	// Nothing is sent before paused. backoff is the last pause that nobody asked
	// for; 0 since a request succeeded.
	paused  time.Time
	backoff time.Duration

	requests, tokens bucket
	stated           stated
	inFlight         []*Permit // in the order they were sent

	// lines are those who wait, by candidate, the next one to be served first.
	// None is empty.
	lines   []line
	waiting int
}

type line struct {
	candidate string
	permits   []*Permit
}

// Why is the cause of a Change.
type Why string

// The causes.
const (
	Start      Why = "start"      // the configured limit
	RateLimit  Why = "rate_limit" // the provider refused for the rate
	Overloaded Why = "overloaded" // the provider refused for its load
	Header     Why = "header"     // a reply said what is left
	Recovered  Why = "recovered"  // requests at the limit succeeded
)

// Change is a change of how fast a lane asks.
type Change struct {
	At       time.Time
	Provider string
	// Lane numbers the keys of a provider from 1, in the order of first use.
	Lane int
	// Limit is how many requests may be in flight from now on.
	Limit int
	Why   Why
	// Until is set when the lane is paused until then; with Gap, when its requests
	// are spread until then.
	Until time.Time
	Gap   time.Duration
}

func (l *Lane) changed(now time.Time, why Why, until time.Time, gap time.Duration) {
	if f := l.control.options.Changed; f != nil {
		f(Change{At: now, Provider: l.provider, Lane: l.number, Limit: int(l.limit), Why: why, Until: until, Gap: gap})
	}
}

// open reports whether the lane's rates let a request go, and if it must wait for a
// time rather than for another request, which.
func (l *Lane) open(p *Permit, now time.Time) (at time.Time, ok bool) {
	if len(l.inFlight) >= int(l.limit) {
		return time.Time{}, false
	}
	wait := max(l.paused.Sub(now), l.requests.wait(1, now), l.tokens.wait(p.charge, now), l.stated.wait(p.need, now))
	return now.Add(wait), wait <= 0
}

// took charges a request that is let go.
func (l *Lane) took(p *Permit, now time.Time) {
	l.inFlight = append(l.inFlight, p)
	p.sentAt = now
	l.requests.take(1, now)
	l.tokens.take(p.charge, now)
	l.stated.took(p.need, now)
}

// ended takes a request out of those in flight.
func (l *Lane) ended(p *Permit) {
	if i := slices.Index(l.inFlight, p); i >= 0 {
		l.inFlight = slices.Delete(l.inFlight, i, i+1)
	}
}

// adapt learns from how a request ended: additive increase, 1/limit for every
// success while the limit is in use, and multiplicative decrease, once a round trip.
func (l *Lane) adapt(p *Permit, err error, now time.Time) {
	used := len(l.inFlight) >= int(l.limit)
	l.ended(p)
	before := int(l.limit)
	failed := failureOf(err)
	switch {
	case err == nil:
		l.backoff = 0
		if used {
			l.limit = min(float64(l.most), l.limit+1/l.limit)
		}
		if int(l.limit) > before {
			l.changed(now, Recovered, time.Time{}, 0)
		}
	case failed != nil && (failed.Kind == fault.RateLimit || failed.Kind == fault.Overloaded):
		why := RateLimit
		if failed.Kind == fault.Overloaded {
			why = Overloaded
		}
		if advice := min(max(0, failed.RetryAfter), maxAdvice); advice > 0 || p.advised {
			l.heard = l.control.sent
			l.stated.overrule(p.need, advice, now)
			l.pause(advice, why, now)
		} else {
			l.pause(p.reset, why, now)
		}
		if p.number <= l.lowered {
			return
		}
		l.lowered = l.control.sent
		l.limit = max(1, math.Floor(l.limit/2))
		if before > 1 {
			l.changed(now, why, time.Time{}, 0)
			return
		}
		l.backoff = min(max(2*l.backoff, minBackoff), maxBackoff)
		l.pause(l.backoff, why, now)
	}
}

// pause stops the lane for a time; one that barely prolongs another is not told.
func (l *Lane) pause(d time.Duration, why Why, now time.Time) {
	until := now.Add(d)
	if d <= 0 || !until.After(l.paused) {
		return
	}
	news := until.Sub(l.paused) > time.Second || !now.Before(l.paused)
	l.paused = until
	if news {
		l.changed(now, why, until, 0)
	}
}

// head is who is served next; nil if nobody waits.
func (l *Lane) head() *Permit {
	if len(l.lines) == 0 {
		return nil
	}
	return l.lines[0].permits[0]
}

func (l *Lane) enter(p *Permit) {
	l.waiting++
	l.budget.waiting++
	l.control.run.waiting++
	for i := range l.lines {
		if l.lines[i].candidate == p.candidate {
			l.lines[i].permits = append(l.lines[i].permits, p)
			return
		}
	}
	l.lines = append(l.lines, line{p.candidate, []*Permit{p}})
}

// leave takes out one who waits; false if it does not. Behind the head of the
// first line come the other candidates.
func (l *Lane) leave(p *Permit) bool {
	for i, q := range l.lines {
		if q.candidate != p.candidate {
			continue
		}
		for k := range q.permits {
			if q.permits[k] != p {
				continue
			}
			l.waiting--
			l.budget.waiting--
			l.control.run.waiting--
			q.permits[k] = nil
			if k == 0 {
				q.permits = q.permits[1:]
			} else {
				q.permits = append(q.permits[:k], q.permits[k+1:]...)
			}
			switch {
			case len(q.permits) == 0:
				l.lines = append(l.lines[:i], l.lines[i+1:]...)
			case i == 0 && k == 0:
				l.lines = append(append(l.lines[:0], l.lines[1:]...), q)
			default:
				l.lines[i] = q
			}
			return true
		}
	}
	return false
}
