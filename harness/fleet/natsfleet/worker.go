package natsfleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/admission/shared"
	"github.com/cupel-eval/cupel/harness/fleet"
)

// worker executes units of the run in progress.
type worker struct {
	*queue
	o      fleet.WorkOptions
	states chan struct{} // receives when the state changed, never blocks

	mu    sync.Mutex
	state fleet.WorkerStatus
	lanes func() []fleet.LaneStatus // nil between runs
}

// Work implements fleet.Queue.
func (q *queue) Work(ctx context.Context, o fleet.WorkOptions) error {
	w := &worker{queue: q, o: o, states: make(chan struct{}, 1), state: fleet.WorkerStatus{Name: q.access.Client, State: stateIdle}}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { w.tell(ctx) })
	err := w.follow(ctx)
	cancel()
	wg.Wait()
	end, stop := context.WithTimeout(context.Background(), requestTimeout)
	defer stop()
	_ = q.live.Purge(end, workerKey+w.state.Name) // else it expires
	if err != nil {
		return fmt.Errorf("queue %s: %w", shown(q.access.URL), explain(err))
	}
	return nil
}

// set changes what the worker states.
func (w *worker) set(change func(*fleet.WorkerStatus)) {
	w.mu.Lock()
	change(&w.state)
	w.mu.Unlock()
	select {
	case w.states <- struct{}{}:
	default:
	}
}

// lend sets what tells the limits in force.
func (w *worker) lend(lanes func() []fleet.LaneStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lanes = lanes
}

// tell states the worker's state on changes and from time to time.
func (w *worker) tell(ctx context.Context) {
	ticker := time.NewTicker(stateEvery)
	defer ticker.Stop()
	for {
		w.mu.Lock()
		state, lanes := w.state, w.lanes
		w.mu.Unlock()
		if lanes != nil {
			state.Lanes = lanes()
		}
		text, err := json.Marshal(state)
		if err == nil {
			_, _ = w.live.Put(ctx, workerKey+w.state.Name, text) // it is repeated soon
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-w.states:
			pause(ctx, stateEvery/20) // for further changes
		}
	}
}

// follow works on the announced runs, one after the other.
func (w *worker) follow(ctx context.Context) error {
	watcher, err := w.runs.Watch(ctx, runKey)
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Stop() }()
	var end func()
	leave := func() {
		if end != nil {
			end()
			end = nil
		}
	}
	defer leave()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.o.Drain:
			return nil
		case entry, ok := <-watcher.Updates():
			if !ok {
				return errors.New("the connection was closed")
			}
			if entry == nil {
				continue // all entries so far were delivered
			}
			if entry.Operation() != jetstream.KeyValuePut {
				leave()
				last = ""
				continue
			}
			if string(entry.Value()) == last {
				continue
			}
			leave()
			last = string(entry.Value())
			var a announcement
			if err := json.Unmarshal(entry.Value(), &a); err != nil {
				w.refuse("", fmt.Errorf("read the run in progress: %w", err))
				continue
			}
			end = w.begin(ctx, a)
		}
	}
}

func (w *worker) refuse(run string, err error) {
	w.access.Say(fmt.Sprintf("run %s is refused: %v", run, err))
	w.set(func(s *fleet.WorkerStatus) { s.State, s.RunID, s.Reason = stateRefused, run, err.Error() })
}

// open prepares for a run. It refuses one of another build, where both versions leave open what was
// built: Open compares the versions.
func (w *worker) open(ctx context.Context, a announcement) (fleet.Worker, error) {
	if a.Build != "" && w.o.Build != "" && a.Build != w.o.Build {
		return nil, fmt.Errorf("this worker is another build of cupel than the one that began the run (%.12s, not %.12s), and version %q is not that of a commit: "+
			"copy the program of the run to this machine, or build both from one commit, in a checkout without changes", w.o.Build, a.Build, a.Manifest.CodeVersion)
	}
	limits, err := w.limits(ctx, a)
	if err != nil {
		return nil, err
	}
	return w.o.Open(ctx, a.Manifest, limits)
}

// begin works on a run in the background. end hands back what is in progress, and waits.
func (w *worker) begin(ctx context.Context, a announcement) (end func()) {
	stop, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		run := a.Manifest.RunID
		h, err := w.open(ctx, a)
		if err != nil {
			w.refuse(run, err)
			return
		}
		w.access.Say(fmt.Sprintf("working on run %s", run))
		w.set(func(s *fleet.WorkerStatus) { s.State, s.RunID, s.Reason, s.Done = stateWorking, run, "", 0 })
		w.lend(h.Lanes)
		j := &job{worker: w, a: a, h: h, held: map[string]*held{}, stop: stop}
		err = j.work(ctx)
		w.lend(nil)
		err = errors.Join(err, h.Close())
		select {
		case <-stop:
			if errors.Is(err, shared.ErrNoKey) {
				err = nil // the run has ended, and the coordinator has removed its limits
			}
		default:
		}
		if err != nil {
			w.refuse(run, err)
			return
		}
		done := 0
		w.set(func(s *fleet.WorkerStatus) {
			s.State, s.RunID, done = stateIdle, "", s.Done
		})
		w.access.Say(fmt.Sprintf("left run %s; episodes executed here: %d", run, done))
	}()
	return func() { close(stop); <-over }
}
