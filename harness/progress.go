package harness

import (
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// Progress is the state of a run that is in progress.
type Progress struct {
	// RunID and Dir are as in Result; Dir is empty without a folder.
	RunID, Dir string
	// Done of Total episodes have ended, Resumed of them before the run was resumed;
	// InFlight are running now, in this process.
	Done, Total, Resumed, InFlight int
	// Round of Rounds is in progress, and Total counts the episodes up to its end; both are
	// 0 in a run without rounds.
	Round, Rounds int

	// Outcomes and the fields below cover the episodes that are Done. None of them is Unfinished.
	Outcomes manifest.Outcomes
	// CostNanoUSD and Tokens, of all classes, are sums of the known values; CostUnknown is set
	// if the cost of any episode is unknown.
	CostNanoUSD, Tokens int64
	CostUnknown         bool
	// Requests counts every attempt, Retries those after the first of a turn.
	Requests, Retries int64

	// Admission is the state of the waiting requests, the lanes' limits and the total
	// spending, including earlier parts of a resumed run; zero in replay.
	Admission admission.Snapshot
	// Batches are what waits for batches; empty unless the run has Batch.
	Batches []batching.Waits
	// Stopping names the cap that prevents further episodes from starting; empty if there is
	// none.
	Stopping string
	// Last is the episode that ended last, LastFailure the last one that is excluded from
	// results; nil if there is none.
	Last        ledger.Episode
	LastFailure *ledger.Episode
	// Change is the changed limit if Options.Watch is called because of one; otherwise nil.
	Change *admission.Change
}

// add counts an episode.
func (p *Progress) add(rows ledger.EpisodeRows) {
	e := rows.Episode // a copy, because &e would move every episode to the heap
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
		p.LastFailure = new(e)
	}
}

const (
	// watchEvery is the interval of calls of Options.Watch without other events.
	watchEvery = time.Second
	// maxChanges bounds the queue of limit changes for Watch. Further changes are dropped from
	// it, but the run folder has all of them.
	maxChanges = 256
)

// onLimitChange queues a change of a limit for Options.Watch. It never blocks, because
// admission waits for it.
func (r *runner) onLimitChange(c admission.Change) {
	select {
	case r.changes <- c:
	default: // without a reader, or with a slow one, the change is dropped
	}
}

// watch calls Options.Watch at the start of the run and, unless the run is a replay without
// waiting, on changes and every second until stop is called.
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
				for len(b.r.changes) > 0 { // no senders are left
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

// state is the current progress; the caller must have locked b.mu.
func (b *runState) state() Progress {
	if b.r.control != nil {
		b.progress.Admission = b.r.control.Snapshot()
	}
	b.progress.Batches = b.r.batches.State()
	if b.capped != nil {
		b.progress.Stopping = b.capped.Error()
	}
	return b.progress
}
