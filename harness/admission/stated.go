package admission

import (
	"cmp"
	"math"
	"time"

	"github.com/cupel-eval/cupel/providers"
)

// kind is what a limit that replies state counts.
type kind int

// The kinds. OpenAI counts the most tokens that a request can come to, Anthropic those
// that it comes to.
const (
	ofRequests kind = iota
	ofMost          // input and max_tokens
	ofInput
	ofOutput
	ofUsed // input and output
	kinds
)

// amounts are what a request takes, by kind.
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

// stated is what the headers of replies say of a lane's limits. It holds for
// maxPause.
type stated struct {
	until time.Time
	// refills are limits that refill all the time, by kind.
	refills [kinds]refill
	// Of limits that are full again at the end of a window: nothing is sent before
	// stop, and until spread ends requests are gap apart, the next one goes at next.
	gap                time.Duration
	stop, spread, next time.Time
	// output is a moving average of what replies use; typical one of what requests
	// need.
	output  float64
	typical amounts
	// announced is until when a Change has said so.
	announced time.Time
}

// refill is a limit that refills all the time.
type refill struct {
	bucket
	// left and reset are what the latest request's reply said, seen and full the most
	// that was left by a reply, and how long it took from there until the limit was full.
	left, seen  float64
	reset, full time.Duration
}

// margin is how much more of a limit than a request needs is waited for: requests do
// not arrive as evenly spaced as they were sent. As it is not taken, it costs no rate.
const margin = 1.05

// need is what a request needs.
func (s *stated) need(input, most float64) amounts {
	return amounts{1, most, input, s.output, input + s.output}
}

// slowed returns until when the lane is slowed down for requests like one that needs
// so much, and how far apart they are, which is 0 while nothing is sent at all.
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

// learn takes what a reply used.
func (s *stated) learn(u providers.Usage) {
	used := float64(max(0, u.Output+u.Reasoning))
	if s.output == 0 {
		s.output = used
	}
	s.output += (used - s.output) / 8
}

// wait is how long it takes until a request can go.
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

// take takes what a request needs; negative amounts give it back.
func (s *stated) take(need amounts, now time.Time) {
	for k := range s.refills {
		s.refills[k].take(need[k], now)
	}
}

// took takes what a request needs that is sent.
func (s *stated) took(need amounts, now time.Time) {
	s.take(need, now)
	for k := range need {
		if s.typical[k] == 0 {
			s.typical[k] = need[k]
		}
		s.typical[k] += (need[k] - s.typical[k]) / 8
	}
	if s.gap > 0 {
		s.next = now.Add(s.gap)
	}
}

// see takes what any reply says of a limit that refills.
func (s *stated) see(a allowance, need float64) {
	r := &s.refills[a.kind]
	if r.full == 0 || a.left > r.seen {
		r.seen, r.full = a.left, a.reset
	}
	// Without a stated limit it is the most that was ever left, and what was taken of it.
	r.size = cmp.Or(a.limit, max(r.size, a.left+need))
	r.paceBy(need)
}

// state takes what the reply to the latest request says of it, when that was sent.
// later is what was sent since and is in flight.
func (s *stated) state(a allowance, need, later float64, sent, now time.Time) {
	r := &s.refills[a.kind]
	r.left, r.reset, r.at = a.left, a.reset, now
	r.paceBy(need)
	r.level = min(r.size, a.left+r.rate*max(0, now.Sub(sent).Seconds())) - later
}

// paceBy works out how fast a limit refills. It may be stated larger than the bucket
// is that is behind it: then what other replies said tells how fast that refills.
func (r *refill) paceBy(need float64) {
	if r.left >= r.size || r.reset == 0 {
		r.rate = r.size // nothing is missing: it is as good as full
		return
	}
	r.rate = (r.size - r.left) / r.reset.Seconds()
	if taken, took := r.seen-r.left, (r.reset - r.full).Seconds(); taken >= 2*need && took > 0 {
		if seen := taken / took; r.rate > 2*seen {
			r.rate = seen
		}
	}
}

// overrule takes advice on when to come back, which outranks what headers say: there
// will be enough for a request then.
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
