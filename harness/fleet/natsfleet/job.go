package natsfleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/fleet"
)

// job is a run that the worker works on.
type job struct {
	*worker
	a    announcement
	h    fleet.Worker
	stop chan struct{} // closed at the end of the run: no unit is needed any more

	mu      sync.Mutex
	held    map[string]*held
	refused error
}

// held is a unit in progress.
type held struct {
	msg jetstream.Msg
	// renewed is when the queue last confirmed its lease.
	renewed time.Time
	lost    context.CancelCauseFunc
	// storing ends only if the worker drains, too: what was paid for is stored although the lease is lost.
	storing context.Context
}

var (
	errLeaseLost = errors.New("the lease of the unit has expired")
	errRunEnded  = errors.New("the run has ended")
)

// work executes units until the run ends, the worker drains or ctx ends. Its error means that the
// worker cannot execute the run.
func (j *job) work(ctx context.Context) error {
	take, enough := context.WithCancelCause(ctx) // ends taking
	defer enough(nil)
	drain := make(chan struct{})
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-over:
			return
		case <-j.stop:
			enough(errRunEnded)
		case <-j.o.Drain:
			enough(fleet.ErrCancelled)
			j.set(func(s *fleet.WorkerStatus) { s.State = stateDraining })
			select {
			case <-over:
				return
			case <-j.stop:
			case <-time.After(j.o.Grace):
			}
		case <-take.Done():
		}
		close(drain)
	})
	wg.Go(func() { j.renew(over) })
	var slots sync.WaitGroup
	total := make(chan struct{}, max(1, j.o.Concurrency))
	for lane, provider := range j.a.Lanes {
		for range j.h.Slots(provider) {
			slots.Go(func() {
				var cons jetstream.Consumer
				for take.Err() == nil {
					if j.o.Concurrency > 0 {
						select {
						case total <- struct{}{}:
						case <-take.Done():
							return
						}
					}
					if err := j.next(ctx, take, lane, &cons, drain); err != nil {
						j.refuseRun(err)
						enough(err)
					}
					if j.o.Concurrency > 0 {
						<-total
					}
				}
			})
		}
	}
	slots.Wait()
	close(over)
	wg.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.refused
}

func (j *job) refuseRun(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.refused == nil {
		j.refused = err
	}
}

// next takes a unit of a lane, by its consumer, and executes it. Its error means that the worker
// cannot execute the run.
func (j *job) next(ctx, take context.Context, lane int, cons *jetstream.Consumer, drain <-chan struct{}) (err error) {
	asked, cancel := context.WithTimeout(take, requestTimeout)
	defer cancel()
	if *cons == nil {
		*cons, err = j.js.Consumer(asked, j.stream("work"), laneConsumer(j.a.Manifest.RunID, lane))
	}
	var msg jetstream.Msg
	if err == nil {
		msg, err = (*cons).Next(jetstream.FetchContext(asked))
	}
	switch {
	case err == nil && take.Err() == nil:
		return j.unit(ctx, msg, drain)
	case err == nil:
		j.handBack(msg)
	case !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, jetstream.ErrNoMessages):
		*cons = nil
		pause(take, time.Second) // the queue is restarting
	}
	return nil
}

// unit executes a unit and publishes its result.
func (j *job) unit(ctx context.Context, msg jetstream.Msg, drain <-chan struct{}) error {
	data, err := unfitted(ctx, j.queue, msg.Data())
	if err != nil && !errors.Is(err, errDamaged) {
		j.handBack(msg)
		pause(ctx, time.Second) // the queue is restarting
		return nil
	}
	var u fleet.Unit
	if err == nil {
		u, err = decodeUnit(data)
	}
	if err != nil {
		j.handBack(msg)
		return fmt.Errorf("read a unit: %w", err)
	}
	return j.execute(ctx, msg, u, drain)
}

// execute executes a unit unless it is in progress here: its lease was lost then, and what it received
// is still being stored.
func (j *job) execute(ctx context.Context, msg jetstream.Msg, u fleet.Unit, drain <-chan struct{}) error {
	storing, stop := context.WithCancel(ctx)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	context.AfterFunc(ctx, func() {
		select {
		case <-drain:
			stop()
		case <-storing.Done():
		}
	})
	name := token(u.Episodes)
	h := &held{msg: msg, renewed: time.Now(), lost: cancel, storing: storing} //nolint:forbidigo // leases are in real time
	if !j.hold(name, h) {
		_ = msg.NakWithDelay(time.Second) // else its lease expires
		return nil
	}
	defer j.release(name)
	deliveries, err := j.begun(ctx, msg, name)
	if err != nil {
		j.handBack(msg)
		return nil
	}
	if deliveries > 1 {
		j.settled(ctx)
	}
	log, err := j.openLog(ctx, msg, name, h)
	if err != nil {
		j.giveBack(name, msg)
		return nil
	}
	var res fleet.UnitResult
	if int(deliveries) > j.a.Attempts {
		res, err = j.h.Abandon(ctx, u, fmt.Errorf("%d workers were lost while they executed it: it is not executed again", j.a.Attempts))
	} else {
		res, err = j.h.Run(ctx, u, log, drain)
	}
	switch {
	case err != nil && !errors.Is(err, fleet.ErrCancelled):
		j.giveBack(name, msg)
		return fmt.Errorf("execute %s: %w", u.Episodes[0], err)
	case j.expired(h):
		j.access.Say(fmt.Sprintf("the lease of %s has expired: another worker executes it", u.Episodes[0]))
		return nil
	case err != nil:
		j.giveBack(name, msg)
		return nil
	}
	m := doneMessage{Worker: j.access.Client, Days: res.Days, Deliveries: deliveries}
	m.Resumed, m.Repeated = log.counts()
	return j.publish(ctx, msg, name, u, res, m)
}

// begun notes that the worker begins a unit, and returns how many workers have begun it, not
// counting those that handed it back.
func (j *job) begun(ctx context.Context, msg jetstream.Msg, name string) (uint64, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return 0, err
	}
	run := j.a.Manifest.RunID
	count := uint64(1)
	if meta.NumDelivered > 1 {
		log, err := j.js.Stream(ctx, j.stream("log"))
		if err != nil {
			return 0, err
		}
		info, err := log.Info(ctx, jetstream.WithSubjectFilter(j.logSubject(run, name, "*")))
		if err != nil {
			return 0, err
		}
		count += info.State.Subjects[j.logSubject(run, name, "begun")] - info.State.Subjects[j.logSubject(run, name, "back")]
	}
	_, err = j.js.PublishAsync(j.logSubject(run, name, "begun"), []byte(j.access.Client))
	return count, err
}

// handBack returns a unit that was not begun, giveBack one that was.
func (j *job) handBack(msg jetstream.Msg) { _ = msg.Nak() } // else its lease expires

func (j *job) giveBack(name string, msg jetstream.Msg) {
	_, _ = j.js.PublishAsync(j.logSubject(j.a.Manifest.RunID, name, "back"), []byte(j.access.Client)) // else it counts as lost
	j.handBack(msg)
}

// publish publishes a result with its cassettes, and repeats that while the lease is valid.
func (j *job) publish(ctx context.Context, msg jetstream.Msg, name string, u fleet.Unit, res fleet.UnitResult, m doneMessage) (err error) {
	if m.Rows, err = encodeRows(res.Rows); err != nil {
		return err
	}
	for path, data := range res.Cassettes {
		b := blob{Subject: j.dataSubject(j.a.Manifest.RunID, name, "c."+rand.Text()), Digest: digestOf(data)}
		if appendData(ctx, j.queue, b.Subject, data) != nil {
			return nil // the lease is lost, or the worker ends
		}
		if m.Cassettes == nil {
			m.Cassettes = map[string]blob{}
		}
		m.Cassettes[path] = b
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if data, err = fitted(ctx, j.queue, j.a.Manifest.RunID, name, data); err != nil {
		return nil // as above
	}
	id := rand.Text()
	err = j.repeat(ctx, "publish the result of "+u.Episodes[0], func() error {
		_, err := j.js.Publish(ctx, j.doneSubject(j.a.Manifest.RunID, name), data, jetstream.WithMsgID(id))
		if isThere(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil // the lease is lost, or the worker ends
	}
	_ = msg.Ack() // else it is delivered again, and its second result is ignored
	j.set(func(s *fleet.WorkerStatus) { s.Done += len(res.Rows) })
	return nil
}

// hold adds a unit to those in progress, unless it is one of them.
func (j *job) hold(name string, h *held) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.held[name] != nil {
		return false
	}
	j.held[name] = h
	n := len(j.held)
	j.set(func(s *fleet.WorkerStatus) { s.InFlight = n })
	return true
}

func (j *job) release(name string) {
	j.mu.Lock()
	delete(j.held, name)
	n := len(j.held)
	j.mu.Unlock()
	j.set(func(s *fleet.WorkerStatus) { s.InFlight = n })
}

// expired reports whether the lease of a unit may have been given to another worker.
func (j *job) expired(h *held) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now() //nolint:forbidigo // leases are in real time
	// The wall clock goes on while a machine sleeps, and the monotonic clock is not set.
	return max(now.Sub(h.renewed), now.Round(0).Sub(h.renewed.Round(0))) >= j.a.Lease
}

// renew renews the leases until over is closed. A unit whose lease has expired is abandoned.
func (j *job) renew(over <-chan struct{}) {
	ticker := time.NewTicker(j.a.Lease / 6)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
		}
		j.mu.Lock()
		list := make([]*held, 0, len(j.held))
		for _, h := range j.held {
			list = append(list, h)
		}
		j.mu.Unlock()
		begun := time.Now() //nolint:forbidigo // leases are in real time
		var renewed []*held
		for _, h := range list {
			switch {
			case j.expired(h):
				h.lost(errLeaseLost)
			case h.msg.InProgress() == nil:
				renewed = append(renewed, h)
			}
		}
		if len(renewed) == 0 || j.nc.FlushTimeout(j.a.Lease/3) != nil {
			continue
		}
		j.mu.Lock()
		for _, h := range renewed {
			h.renewed = begun
		}
		j.mu.Unlock()
	}
}
