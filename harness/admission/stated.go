package admission

import (
	"cmp"
	"math"
	"time"

	"github.com/cupel-eval/cupel/providers"
)

// kind is the quantity that a stated limit counts.
type kind int

// OpenAI counts the maximum tokens of a request, Anthropic the actual ones.
const (
	ofRequests kind = iota
	ofMost          // input and max_tokens
	ofInput
	ofOutput
	ofUsed // input and output
	kinds
)

// amounts are a request's amounts by kind.
type amounts [kinds]float64

func (a amounts) times(f float64) amounts {
	for i := range a {
		a[i] *= f
	}
	return a
}

func (a amounts) plus(b amounts) amounts {
	for i := range a {
		a[i] += b[i]
	}
	return a
}

// stated is a lane's limits from the headers of replies, valid for maxPause.
type stated struct {
	until time.Time
	// refills are continuously refilling limits, by kind.
	refills [kinds]refill
	// These are for limits that are restored at the end of a window: no request is sent before
	// stop, and until spread ends requests are gap apart, with the next one at next.
	gap                time.Duration
	stop, spread, next time.Time
	// output is a moving average of the output of replies; typical is one of the needs of
	// requests.
	output  float64
	typical amounts
	// announced is the end of the slowdown that a Change has reported.
	announced time.Time
}

// refill is a limit that refills continuously.
type refill struct {
	bucket
	// left and reset are from the latest request's reply; seen and full are the largest rest
	// in any reply and the time from then until the limit was full.
	left, seen  float64
	reset, full time.Duration
}

// margin is the factor by which a limit must exceed a request's need, because requests do
// not arrive as evenly as they were sent. It is not consumed, so it does not lower the
// rate.
const margin = 1.05

// need returns a request's amounts.
func (s *stated) need(input, most float64) amounts {
	return amounts{1, most, input, s.output, input + s.output}
}

// slowed returns the end of the slowdown for requests with such a need, and the gap between
// them, which is 0 while none is sent.
func (s *stated) slowed(need amounts, now time.Time) (until time.Time, gap time.Duration) {
	if now.Before(s.stop) {
		return s.stop, 0
	}
	until, gap = s.spread, s.gap
	for k := range s.refills {
		r := &s.refills[k]
		if r.wait(need[k]*margin, now) > 0 {
			full := now.Add(min(r.wait(r.size, now), maxPause))
			if apart := time.Duration(min(need[k]/r.rate, maxPause.Seconds()) * float64(time.Second)); apart > gap {
				until, gap = full, apart
			}
		}
	}
	return until, gap
}

// learn adds the usage of a reply.
func (s *stated) learn(u providers.Usage) {
	used := float64(max(0, u.Output+u.Reasoning))
	s.output = cmp.Or(s.output, used)
	s.output += (used - s.output) / 8
}

// wait is the time until a request can be sent.
func (s *stated) wait(need amounts, now time.Time) time.Duration {
	if !now.Before(s.until) {
		return 0
	}
	at := s.stop
	if now.Before(s.spread) && s.next.After(at) {
		at = s.next
		if s.spread.Before(at) {
			at = s.spread
		}
	}
	wait := at.Sub(now)
	for k := range s.refills {
		wait = max(wait, s.refills[k].wait(need[k]*margin, now))
	}
	return min(wait, s.until.Sub(now))
}

// take subtracts a request's need; negative amounts return it.
func (s *stated) take(need amounts, now time.Time) {
	for k := range s.refills {
		s.refills[k].take(need[k], now)
	}
}

// took subtracts the need of a request that is sent.
func (s *stated) took(need amounts, now time.Time) {
	s.take(need, now)
	for k := range need {
		s.typical[k] = cmp.Or(s.typical[k], need[k])
		s.typical[k] += (need[k] - s.typical[k]) / 8
	}
	if s.gap > 0 {
		s.next = now.Add(s.gap)
	}
}

// see applies any reply's allowance of a refilling limit.
func (s *stated) see(a allowance, need float64) {
	r := &s.refills[a.kind]
	if r.full == 0 || a.left > r.seen {
		r.seen, r.full = a.left, a.reset
	}
	// Without a stated limit, the size is the largest rest ever seen plus what was taken.
	r.size = cmp.Or(a.limit, max(r.size, a.left+need))
	r.paceBy(need)
}

// state applies the allowance in the reply to the latest request, sent at sent. later is
// the need of the requests sent since then that are in flight.
func (s *stated) state(a allowance, need, later float64, sent, now time.Time) {
	r := &s.refills[a.kind]
	r.left, r.reset, r.at = a.left, a.reset, now
	r.paceBy(need)
	r.level = min(r.size, a.left+r.rate*max(0, now.Sub(sent).Seconds())) - later
}

// paceBy computes how fast a limit refills. The stated limit may be larger than the actual
// bucket; then other replies determine the rate.
func (r *refill) paceBy(need float64) {
	if r.left >= r.size || r.reset == 0 {
		r.rate = r.size // full for this purpose
		return
	}
	r.rate = (r.size - r.left) / r.reset.Seconds()
	if taken, took := r.seen-r.left, (r.reset - r.full).Seconds(); taken >= 2*need && took > 0 {
		if seen := taken / took; r.rate > 2*seen {
			r.rate = seen
		}
	}
}

// overrule applies a Retry-After, which takes precedence over headers: afterwards there is
// enough for a request.
func (s *stated) overrule(need amounts, advice time.Duration, now time.Time) {
	s.stop, s.spread, s.gap = time.Time{}, time.Time{}, 0
	for k := range s.refills {
		r := &s.refills[k]
		r.fill(now)
		r.level = max(r.level, min(need[k]*margin, r.size)-r.rate*advice.Seconds())
	}
}

// window takes what a reply says of the limits that end with a window: with nothing
// left nothing is sent before its end; with less left than may be in flight, requests
// are spread over it.
func (s *stated) window(list []allowance, limit float64, now time.Time) {
	s.gap, s.spread, s.stop = 0, now, time.Time{}
	for _, a := range list {
		if a.refills {
			continue
		}
		reset := min(a.reset, maxPause)
		if a.left == 0 {
			if at := now.Add(reset); at.After(s.stop) {
				s.stop = at
			}
			continue
		}
		requests := a.left
		if a.kind != ofRequests {
			if s.typical[a.kind] == 0 {
				continue
			}
			requests = max(1, math.Floor(a.left/s.typical[a.kind]))
		}
		if gap := time.Duration(float64(reset) / requests); requests < limit && gap > s.gap {
			s.gap, s.spread = gap, now.Add(reset)
		}
	}
}
