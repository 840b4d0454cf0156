package natsfleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/fleet"
)

// These are the states of a worker.
const (
	stateIdle     = "idle"
	stateWorking  = "working"
	stateDraining = "draining"
	stateRefused  = "refused"
)

// coordinatorKey is the key under which the coordinator states its progress; workerKey begins
// those of workers.
const (
	coordinatorKey = "coordinator"
	workerKey      = "worker."
)

// lock is held by the coordinator of a fleet. It is the entry coordinatorKey, which expires by the
// clock of the queue if it is not renewed.
type lock struct {
	q    *queue
	stop func()

	mu       sync.Mutex
	revision uint64
	state    func() []byte
	lost     context.CancelCauseFunc
}

// BusyError means that the fleet has another coordinator.
type BusyError struct{ Name, Run, Coordinator string }

// Error names the coordinator.
func (e *BusyError) Error() string {
	return fmt.Sprintf("fleet %s has a run in progress: %s, coordinated by %s; wait for it, or use another fleet with --fleet NAME", e.Name, e.Run, e.Coordinator)
}

// acquire waits until an earlier coordinator's entry has expired. If that one is alive, it fails
// with a *BusyError.
func (q *queue) acquire(ctx context.Context, state func() []byte) (*lock, error) {
	l := &lock{q: q, state: state, lost: func(error) {}}
	var first uint64
	for said := false; ; {
		revision, err := q.live.Create(ctx, coordinatorKey, state())
		if err == nil {
			l.revision = revision
			break
		}
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return nil, err
		}
		held, err := q.live.Get(ctx, coordinatorKey)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			continue
		case err != nil:
			return nil, err
		case first == 0:
			first = held.Revision()
		case held.Revision() != first:
			var s fleet.RunStatus
			_ = json.Unmarshal(held.Value(), &s) // an entry that cannot be read is one of another version
			return nil, &BusyError{q.access.Name, s.RunID, s.Coordinator}
		}
		if !said {
			q.access.Say(fmt.Sprintf("the fleet had another coordinator: waiting up to %v until its entry expires", liveFor))
			said = true
		}
		if pause(ctx, time.Second); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	renew, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	l.stop = sync.OnceFunc(func() { cancel(); <-gone })
	go func() { defer close(gone); l.renew(renew) }()
	return l, nil
}

// use sets what the coordinator states, and what is called if another process takes its place.
func (l *lock) use(state func() []byte, lost context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state, l.lost = state, lost
}

func (l *lock) renew(ctx context.Context) {
	ticker := time.NewTicker(stateEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.once(ctx)
		}
	}
}

// once renews the entry. After an interruption it may have expired; then it is made again.
func (l *lock) once(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	text := l.state()
	revision, err := l.q.live.Update(ctx, coordinatorKey, text, l.revision)
	if err != nil {
		revision, err = l.q.live.Create(ctx, coordinatorKey, text)
	}
	switch {
	case err == nil:
		l.revision = revision
	case errors.Is(err, jetstream.ErrKeyExists):
		held, err := l.q.live.Get(ctx, coordinatorKey)
		var s, own fleet.RunStatus
		if err != nil || json.Unmarshal(held.Value(), &s) != nil || json.Unmarshal(text, &own) != nil {
			return
		}
		if s.Coordinator == own.Coordinator && s.RunID == own.RunID { // its reply was lost
			l.revision = held.Revision()
			return
		}
		l.lost(&BusyError{l.q.access.Name, s.RunID, s.Coordinator})
	}
}

func (l *lock) release(ctx context.Context) {
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.q.live.Purge(ctx, coordinatorKey, jetstream.LastRevision(l.revision)) // else it expires
}

// state is what the coordinator states about a run.
func (c *coordinator) state(w fleet.Work) []byte {
	s := w.Progress()
	s.Coordinator = c.access.Client
	c.mu.Lock()
	s.Redelivered, s.Resumed, s.Repeated = c.redelivered, c.resumed, c.repeated
	c.mu.Unlock()
	text, err := json.Marshal(s)
	if err != nil {
		panic("natsfleet: " + err.Error()) // unreachable: strings and numbers
	}
	return text
}

// workers returns what the live workers state, sorted by name.
func (q *queue) workers(ctx context.Context) (list []fleet.WorkerStatus, err error) {
	keys, err := q.live.ListKeysFiltered(ctx, workerKey+"*")
	if err != nil {
		return nil, err
	}
	for key := range keys.Keys() {
		entry, err := q.live.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var s fleet.WorkerStatus
		if json.Unmarshal(entry.Value(), &s) == nil {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b fleet.WorkerStatus) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Status implements fleet.Queue.
func (q *queue) Status(ctx context.Context) (s fleet.Status, err error) {
	s.Name = q.access.Name
	if s.Workers, err = q.workers(ctx); err != nil {
		return s, err
	}
	run := ""
	switch entry, err := q.live.Get(ctx, coordinatorKey); {
	case err == nil:
		s.Run, s.Coordinated = &fleet.RunStatus{}, true
		if err := json.Unmarshal(entry.Value(), s.Run); err != nil {
			return s, fmt.Errorf("read the coordinator's state: %w", err)
		}
		run = s.Run.RunID
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return s, err
	}
	if run == "" {
		a, err := announced(ctx, q)
		if err != nil || a == nil {
			return s, err
		}
		run = a.Manifest.RunID
		s.Run = &fleet.RunStatus{RunID: run, Suite: a.Manifest.SuitePath, Mode: a.Manifest.Mode}
	}
	if err := addSpent(ctx, q, run, &s); err != nil {
		return s, err
	}
	return s, count(ctx, q, run, &s)
}

// announced returns the run in progress; nil if there is none.
func announced(ctx context.Context, q *queue) (*announcement, error) {
	entry, err := q.runs.Get(ctx, runKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var a announcement
	if err := json.Unmarshal(entry.Value(), &a); err != nil {
		return nil, fmt.Errorf("read the run in progress: %w", err)
	}
	return &a, nil
}

// count adds up the units of a run.
func count(ctx context.Context, q *queue, run string, s *fleet.Status) error {
	for _, what := range []string{"work", "done"} {
		stream, err := q.js.Stream(ctx, q.stream(what))
		if err != nil {
			return err
		}
		list := stream.ListConsumers(ctx)
		for info := range list.Info() {
			switch {
			case what == "done" && info.Name == run:
				s.Returned += info.NumPending + uint64(info.NumAckPending)
			case what == "work" && strings.HasPrefix(info.Name, run+"-"):
				s.Queued += info.NumPending
				s.Taken += uint64(info.NumAckPending)
			}
		}
		if err := list.Err(); err != nil {
			return err
		}
	}
	return nil
}
