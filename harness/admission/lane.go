package admission

import (
	"math"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/providers/fault"
)

// maxAdvice bounds the pause that a provider's error can request, because a daily limit is
// waited for only within reason.
const maxAdvice = time.Hour

// If one request at a time still fails, the lane pauses, doubling from minBackoff to
// maxBackoff, so that an outage does not get one request after the other.
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

	batched bool
	// most is the configured concurrency, limit the adapted one.
	most  int
	limit float64
	// id names the lane to other processes, and withoutShare says that they have all of its
	// rates; both only with Options.Shared. sent counts its requests.
	id           string
	withoutShare bool
	sent         int64
	// lowered is the number of requests sent when the limit was last lowered: a failure of one
	// of those is not new information. heard is the number sent when the provider last stated
	// a limit or a pause: headers of those requests are outdated.
	lowered, heard int64
	// paused is the time before which no requests are sent. backoff is the last pause that the
	// provider did not request; 0 after a success.
	paused  time.Time
	backoff time.Duration

	requests, tokens bucket
	stated           stated
	inFlight         []*Permit // in the order they were sent

	// lines are the waiting requests by candidate, in the order of service. None is empty.
	lines   []line
	waiting int
}

type line struct {
	candidate string
	permits   []*Permit
}

// Why is the cause of a Change.
type Why string

// These are the causes of a Change.
const (
	Start      Why = "start"      // the configured limit
	RateLimit  Why = "rate_limit" // the provider refused because of the rate
	Overloaded Why = "overloaded" // the provider refused because of its load
	Header     Why = "header"     // a reply stated the remaining limit
	Recovered  Why = "recovered"  // requests at the limit succeeded
)

// Change is a change of a lane's request rate.
type Change struct {
	At       time.Time
	Provider string
	// Lane numbers the keys of a provider from 1, in the order of first use.
	Lane int
	// Limit is the new number of requests in flight.
	Limit int
	Why   Why
	// Until, if set, is the end of the lane's pause or, with Gap, of the time over which its
	// requests are spread.
	Until time.Time
	Gap   time.Duration
}

func (l *Lane) changed(now time.Time, why Why, until time.Time, gap time.Duration) {
	if f := l.control.options.Changed; f != nil {
		f(Change{At: now, Provider: l.provider, Lane: l.number, Limit: int(l.limit), Why: why, Until: until, Gap: gap})
	}
}

// open reports whether the lane's rates allow a request; if it must wait for a time rather
// than for another request, at is that time.
func (l *Lane) open(p *Permit, now time.Time) (at time.Time, ok bool) {
	if !l.control.allotted(now) {
		return time.Time{}, false
	}
	if l.batched {
		return now, true
	}
	if len(l.inFlight) >= int(l.limit) {
		return time.Time{}, false
	}
	if l.withoutShare {
		l.control.ask()
		return time.Time{}, false
	}
	wait := max(l.paused.Sub(now), l.requests.wait(1, now), l.tokens.wait(p.charge, now), l.stated.wait(p.need, now))
	return now.Add(wait), wait <= 0
}

// took charges a request that is sent.
func (l *Lane) took(p *Permit, now time.Time) {
	l.inFlight = append(l.inFlight, p)
	l.sent++
	p.sentAt = now
	l.requests.take(1, now)
	l.tokens.take(p.charge, now)
	l.stated.took(p.need, now)
}

// ended removes a request from those in flight.
func (l *Lane) ended(p *Permit) {
	if i := slices.Index(l.inFlight, p); i >= 0 {
		l.inFlight = slices.Delete(l.inFlight, i, i+1)
	}
}

// adapt adjusts the limit to the end of a request: additive increase, 1/limit for every
// success while the limit is in use, and multiplicative decrease, once per round trip.
func (l *Lane) adapt(p *Permit, err error, now time.Time) {
	used := len(l.inFlight) >= int(l.limit)
	l.ended(p)
	if l.batched {
		return
	}
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

// pause pauses the lane; a pause that is only slightly longer than the current one is not
// reported.
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

// head is the next request to serve; nil if none waits.
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

// leave removes a waiting request; false if it does not wait. If it was the head of the
// lane, its candidate moves to the end of the lines.
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
