package drive

import (
	"cmp"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent"
)

// completion is an outcome that the machine has not received.
type completion struct {
	at time.Time
	id int
	// event is created when the completion is due; apply fills in the row, fed is set once the
	// machine has received it.
	event agent.Event
	apply func(r agent.Ready, fed bool)
	// failure ends the episode instead of an event.
	failure error
	// late, if not nil, is called when the completion is due, and returns the one to take its
	// place, which may be due later.
	late func() completion
	// open reports that there is no outcome yet: a person has not answered.
	open bool
}

func (c completion) compare(other completion) int {
	return cmp.Or(c.at.Compare(other.at), cmp.Compare(c.id, other.id))
}

// pendingCalls contains known outcomes that the machine has not received, and model calls
// in flight. Only the driver's goroutine accesses it; each call's goroutine sends its
// outcome to done. The zero value is empty.
type pendingCalls struct {
	known []completion
	byID  map[int]*modelCall // in flight, by command id
	done  chan completion
}

// pollInterval is the shortest time between two checks of the calls in flight. Polling is
// needed because a call that waits for admission does not advance the virtual clock.
const pollInterval = 2 * time.Millisecond

func (p *pendingCalls) empty() bool { return len(p.known)+len(p.byID) == 0 }

// add adds an outcome that is known.
func (p *pendingCalls) add(c completion) {
	if !c.open {
		p.known = append(p.known, c)
	}
}

// start makes a call in a goroutine.
func (p *pendingCalls) start(call *modelCall, run func() completion) {
	if p.byID == nil {
		p.byID, p.done = map[int]*modelCall{}, make(chan completion)
	}
	p.byID[call.ID] = call
	go func() { p.done <- run() }()
}

// next removes the outcome that is due first, once no call in flight can be due before it:
// the time of its requests so far is added to the start of each. It returns false if there
// are no outcomes or calls.
func (p *pendingCalls) next() (completion, bool) {
	for !p.empty() {
		i := earliest(p.known)
		wait := p.wait(i)
		if wait == 0 {
			c := p.known[i]
			p.known = slices.Delete(p.known, i, i+1)
			return c, true
		}
		p.waitForCall(wait)
	}
	return completion{}, false
}

// takeAll waits for all calls in flight and takes all outcomes.
func (p *pendingCalls) takeAll() []completion {
	for len(p.byID) > 0 {
		p.waitForCall(-1)
	}
	all := p.known
	p.known = nil
	return all
}

// earliest returns the index of the outcome that is due first, by time and then by command
// id; -1 if there is none.
func earliest(list []completion) int {
	first := -1
	for i := range list {
		if first < 0 || list[i].compare(list[first]) < 0 {
			first = i
		}
	}
	return first
}

// wait returns how long to wait before the i-th outcome can be the next one: 0 if it is,
// and negative to wait until a call ends.
func (p *pendingCalls) wait(i int) time.Duration {
	if i < 0 {
		return -1
	}
	longest, first := time.Duration(0), p.known[i]
	for id, call := range p.byID { // the maximum does not depend on the order
		soonest := completion{at: call.start.Add(call.watch.Spent()), id: id}
		if first.compare(soonest) > 0 {
			longest = max(longest, pollInterval, first.at.Sub(soonest.at))
		}
	}
	return longest
}

// waitForCall waits until a call in flight ends, at most for the given time unless that is
// negative.
func (p *pendingCalls) waitForCall(atMost time.Duration) {
	var enough <-chan time.Time
	if atMost > 0 {
		t := time.NewTimer(atMost)
		defer t.Stop()
		enough = t.C
	}
	select {
	case c := <-p.done:
		delete(p.byID, c.id)
		p.known = append(p.known, c)
	case <-enough:
	}
}
