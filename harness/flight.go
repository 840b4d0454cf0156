package harness

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/recorder"
)

// sky is the model calls of an episode that are under way in real time. Only the
// driver's goroutine touches it; the calls' own send what came of them to landed.
type sky struct {
	flying map[int]*modelCall // by command id
	landed chan completion
}

// glance is how long the driver waits at least before it looks at the calls under way
// again: what waits for admission makes no virtual time.
const glance = 2 * time.Millisecond

// inTurn says whether model calls are made one after another: of a script, which has
// one order, and of a cassette, which answers equal requests in the order it is asked.
// A replay that takes its time asks at once where no requests are equal.
func (e *episode) inTurn() bool {
	switch {
	case e.candidate.Provider == ScriptedCandidate || e.rows.past != nil || e.recorder == nil:
		return true
	case e.rows.live:
		return false
	}
	return e.pace == 0 || e.recorder.Repeats()
}

// start makes a model call. One that is alone needs no goroutine.
func (e *episode) start(ctx context.Context, call *modelCall, alone bool) {
	if e.inTurn() || alone && len(e.pending) == 0 && len(e.sky.flying) == 0 {
		e.pending = append(e.pending, call.run(ctx, e))
		return
	}
	if e.sky.flying == nil {
		e.sky = sky{map[int]*modelCall{}, make(chan completion)}
	}
	e.sky.flying[call.ID] = call
	go func() { e.sky.landed <- call.run(ctx, e) }()
}

// next takes the outcome that is due first, once no call under way can be due before
// it: each has its start and the time its requests have taken so far behind it. false:
// nothing is outstanding.
func (e *episode) next() (completion, bool) {
	for len(e.pending)+len(e.sky.flying) > 0 {
		i := earliest(e.pending)
		wait := e.wait(i)
		if wait == 0 {
			c := e.pending[i]
			e.pending = slices.Delete(e.pending, i, i+1)
			return c, true
		}
		e.land(wait)
	}
	return completion{}, false
}

// earliest is the index of the outcome that is due first, by time and then by command
// id; -1 without any.
func earliest(list []completion) int {
	first := -1
	for i := range list {
		if first < 0 || list[i].compare(list[first]) < 0 {
			first = i
		}
	}
	return first
}

func (c completion) compare(other completion) int {
	return cmp.Or(c.at.Compare(other.at), cmp.Compare(c.id, other.id))
}

// wait is how long to wait before the i-th outcome can be the next one: 0 for not at
// all, and negative for as long as it takes a call to land.
func (e *episode) wait(i int) time.Duration {
	if i < 0 {
		return -1
	}
	longest, first := time.Duration(0), e.pending[i]
	for id, call := range e.sky.flying { // the maximum of them does not depend on the order
		soonest := completion{at: call.start.Add(call.watch.Spent()), id: id}
		if first.compare(soonest) > 0 {
			longest = max(longest, glance, first.at.Sub(soonest.at))
		}
	}
	return longest
}

// land waits for a call to land, for so long at most unless that is negative.
func (e *episode) land(wait time.Duration) {
	var enough <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		enough = t.C
	}
	select {
	case c := <-e.sky.landed:
		delete(e.sky.flying, c.id)
		e.pending = append(e.pending, c)
	case <-enough:
	}
}

// abandon takes what is outstanding from the machine: the outcomes are not fed any
// more. What was paid for and what was executed stays, see close.
func (e *episode) abandon() {
	for len(e.sky.flying) > 0 {
		e.land(-1)
	}
	e.abandoned = append(e.abandoned, e.pending...)
	e.pending = nil
}

// settle completes the rows of what was abandoned. An episode of which a call was
// cancelled with the run has no result, although its machine had finished: what the
// call would have brought is not on the cassette.
func (e *episode) settle() {
	e.abandon()
	slices.SortFunc(e.abandoned, completion.compare)
	for _, c := range e.abandoned {
		if c.apply != nil {
			c.apply(agent.Ready{Used: e.rows.used}, false)
		}
		if _, cancelled := c.event.(agent.Cancelled); cancelled && e.finish.Err == nil {
			e.finish = &agent.Finish{Status: agent.Interrupted}
		}
	}
	e.abandoned = nil
	if e.recorder == nil {
		return
	}
	if at := e.recorder.Positions(); at != nil {
		for i := range e.rows.turns {
			if t := &e.rows.turns[i]; t.Interaction >= 0 {
				t.Interaction = int32(at[t.Interaction])
			}
		}
	}
}

// fatal is the failure of a call that ends the episode whatever its machine makes of
// it, since it says nothing about the candidate and a replay would not meet it: a cap
// of the run, or a request that is not on the cassette. nil for any other.
func fatal(ev agent.Event) error {
	failed, ok := ev.(agent.ModelFailed)
	var miss *recorder.MissError
	if ok && (errors.Is(failed.Err, admission.ErrCapped) || errors.As(failed.Err, &miss)) {
		return failed.Err
	}
	return nil
}
