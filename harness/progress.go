package harness

import (
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// Progress is the state of a run that is in progress.
type Progress struct {
	// RunID and Dir are those of the result; Dir is empty without a folder.
	RunID, Dir string
	// Done of Total episodes have ended, Resumed of them before the run was resumed;
	// InFlight are running now.
	Done, Total, Resumed, InFlight int
	// Round of Rounds is in progress, and Total counts the episodes up to its end; both are
	// 0 in a run without rounds.
	Round, Rounds int

	// Outcomes and what follows are of the episodes that ended since the run began
	// or was resumed. None of them is Unfinished.
	Outcomes manifest.Outcomes
	// CostNanoUSD and Tokens, of all classes, sum what is known; CostUnknown says
	// that the cost of some episode is not.
	CostNanoUSD, Tokens int64
	CostUnknown         bool
	// Requests counts every attempt, Retries those after the first of a turn.
	Requests, Retries int64

	// Admission is what requests wait for, the limits of every lane, and what was
	// spent in all, in earlier parts of a resumed run, too; zero in replay.
	Admission admission.Snapshot
	// Stopping names the cap that keeps further episodes from being begun; empty
	// while none does.
	Stopping string
	// Last is the episode that ended last, and LastFailure the last of those that
	// say nothing about a model, nil if none.
	Last        ledger.Episode
	LastFailure *ledger.Episode
	// Change is the change of a limit that Options.Watch is called with; else nil.
	Change *admission.Change
}

// add counts an episode.
func (p *Progress) add(rows ledger.EpisodeRows) {
	e := rows.Episode // never &e: only a failure is worth the memory
	p.Done++
	e.AddTo(&p.Outcomes)
	if e.CostNanoUSD != nil {
		p.CostNanoUSD += *e.CostNanoUSD
	}
	p.CostUnknown = p.CostUnknown || e.CostNanoUSD == nil
	for _, n := range []*int64{e.In, e.Out, e.CacheRead, e.CacheWrite, e.Reasoning} {
		if n != nil {
			p.Tokens += *n
		}
	}
	if e.Provider != episode.ScriptedCandidate {
		for i := range rows.Turns {
			n := int64(rows.Turns[i].Attempts)
			p.Requests += n
			p.Retries += max(n-1, 0)
		}
	}
	p.Last = e
	if e.InfraError {
		failed := e
		p.LastFailure = &failed
	}
}

const (
	// watchEvery is how often Options.Watch is called while nothing else happens.
	watchEvery = time.Second
	// maxChanges bounds the changes of limits that wait to be told. More are left
	// out: the run folder has them all.
	maxChanges = 256
)

// onLimitChange keeps a change of a limit for Options.Watch. It never waits, since
// admission does not go on before it returns.
func (r *runner) onLimitChange(c admission.Change) {
	select {
	case r.changes <- c:
	default: // nobody watches, or too slowly
	}
}

// watch tells Options.Watch that the run has begun and, if it takes time, of what
// happens between the episodes, until stop is called.
func (b *runState) watch() (stop func()) {
	if b.r.Watch == nil {
		return func() {}
	}
	b.tell(nil)
	if b.r.Mode == recorder.Replay && b.r.ReplaySpeed == 0 {
		return func() {}
	}
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			select {
			case c := <-b.r.changes:
				b.tell(&c)
			case <-ticker.C:
				b.tell(nil)
			case <-over:
				for len(b.r.changes) > 0 { // nobody adds any more
					c := <-b.r.changes
					b.tell(&c)
				}
				return
			}
		}
	}()
	return func() { close(over); <-gone }
}

func (b *runState) tell(c *admission.Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	state := b.state()
	state.Change = c
	b.r.Watch(state)
}

// state is the progress at this moment; b.mu is held.
func (b *runState) state() Progress {
	if b.r.control != nil {
		b.progress.Admission = b.r.control.Snapshot()
	}
	if b.capped != nil {
		b.progress.Stopping = b.capped.Error()
	}
	return b.progress
}
