package natsfleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/fleet"
)

// maxOutstanding bounds the units that are published and have no result yet.
const maxOutstanding = 4096

// coordinator implements fleet.Coordinator.
type coordinator struct {
	*queue
	o    fleet.CoordinateOptions
	lock *lock
	// run and its mode are set by the first Execute.
	run, mode string

	mu sync.Mutex
	// outstanding are the published units without a result, by token.
	outstanding map[string]outstanding
	// publishing are those of them whose publication is in progress. Results wait for it: else one
	// that seemed to fail would be repeated after the result, and the unit executed again.
	publishing map[string]bool
	// early are the units of an earlier coordinator whose result came before their publication.
	early                          map[string]bool
	returned                       chan struct{} // receives after a result, never blocks
	heard                          time.Time     // of the last result
	redelivered, resumed, repeated int
	warned                         map[string]bool // workers whose refusal was said
}

type outstanding struct {
	name, subject string
	data          []byte
}

// Coordinate implements fleet.Queue.
func (q *queue) Coordinate(o fleet.CoordinateOptions) fleet.Coordinator {
	if o.Lease <= 0 {
		o.Lease = fleet.DefaultLease
	}
	if o.Attempts <= 0 {
		o.Attempts = fleet.DefaultAttempts
	}
	return &coordinator{queue: q, o: o, outstanding: map[string]outstanding{}, publishing: map[string]bool{}, early: map[string]bool{}, returned: make(chan struct{}, 1), warned: map[string]bool{}}
}

// Execute implements fleet.Executor.
func (c *coordinator) Execute(ctx context.Context, w fleet.Work) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := c.begin(ctx, w, cancel); err != nil {
		return fmt.Errorf("queue %s: %w", shown(c.access.URL), explain(err))
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	work, stop := context.WithCancel(ctx)
	defer stop()
	published := make(chan struct{})
	wg.Go(func() {
		if err := c.receive(work, w); err != nil {
			cancel(err)
		}
	})
	wg.Go(func() {
		defer close(published)
		if err := c.publishAll(work, w); err != nil {
			cancel(err)
		}
	})
	wg.Go(func() { c.watch(work) })
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.Drain:
			return nil
		case <-published:
			if c.left() == 0 {
				return nil
			}
			select {
			case <-c.returned:
			case <-ctx.Done():
			case <-w.Drain:
			}
		}
	}
}

// begin makes this process the coordinator and announces the run.
func (c *coordinator) begin(ctx context.Context, w fleet.Work, lost context.CancelCauseFunc) (err error) {
	run := w.Manifest.RunID
	state := func() []byte { return c.state(w) }
	if c.lock == nil {
		if c.lock, err = c.acquire(ctx, state); err != nil {
			return err
		}
		// Counts of an earlier attempt would blame units for workers that were lost then.
		log, err := c.js.Stream(ctx, c.stream("log"))
		if err != nil {
			return err
		}
		for _, what := range []string{"begun", "back"} {
			if err := log.Purge(ctx, jetstream.WithPurgeSubject(c.logSubject(run, "*", what))); err != nil {
				return err
			}
		}
	}
	c.run, c.mode = run, w.Manifest.Mode
	c.lock.use(state, lost)
	work, err := c.js.Stream(ctx, c.stream("work"))
	if err != nil {
		return err
	}
	for lane := range w.Lanes {
		_, err := work.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: laneConsumer(run, lane), FilterSubject: c.workSubject(run, strconv.Itoa(lane), "*"), AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: c.o.Lease, MaxDeliver: -1, MaxAckPending: -1,
		})
		if err != nil {
			return err
		}
	}
	if err := share(ctx, c, w.Manifest); err != nil {
		return err
	}
	a := announcement{Manifest: w.Manifest, Lanes: w.Lanes, Lease: c.o.Lease, Attempts: c.o.Attempts, Build: c.o.Build}
	a.Manifest.Tasks, a.Manifest.Decide = nil, nil // the same in each round: workers go on
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if now, err := c.runs.Get(ctx, runKey); err == nil && string(now.Value()) == string(text) {
		return nil
	}
	_, err = c.runs.Put(ctx, runKey, text)
	return err
}

// publishAll publishes the units, as many as may be outstanding.
func (c *coordinator) publishAll(ctx context.Context, w fleet.Work) error {
	for u, err := range w.Units {
		if err != nil {
			return err
		}
		for c.left() >= maxOutstanding {
			select {
			case <-c.returned:
			case <-w.Drain:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
		select {
		case <-w.Drain:
			return nil
		default:
		}
		data, err := encodeUnit(u)
		if err != nil {
			return err
		}
		name := token(u.Episodes)
		out := outstanding{name, c.workSubject(c.run, strconv.Itoa(u.Lane), name), data}
		if c.claim(out) && (appendJournals(ctx, c, name, u.Journals) != nil || c.publish(ctx, out) != nil) {
			return nil // ctx has ended
		}
	}
	return nil
}

// claim makes a unit outstanding, before its publication, which must follow. It returns false if the
// unit has a result.
func (c *coordinator) claim(out outstanding) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.early[out.name] {
		delete(c.early, out.name)
		return false
	}
	c.outstanding[out.name], c.publishing[out.name] = out, true
	return true
}

// publish publishes a claimed unit unless the queue has it or a result. It repeats what fails until
// ctx ends.
func (c *coordinator) publish(ctx context.Context, out outstanding) error {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.publishing, out.name)
	}()
	data, err := fitted(ctx, c.queue, c.run, out.name, out.data)
	if err != nil {
		return err
	}
	id := rand.Text()
	return c.repeat(ctx, "publish a unit", func() error {
		if has, err := hasResult(ctx, c, out.name); has || err != nil {
			return err
		}
		_, err := c.js.Publish(ctx, out.subject, data, jetstream.WithMsgID(id))
		if isThere(err) {
			return nil
		}
		return err
	})
}

// hasResult reports whether the queue has a result of a unit. It does not ask in a replay, which costs
// nothing.
func hasResult(ctx context.Context, c *coordinator, name string) (bool, error) {
	if c.mode == "replay" {
		return false, nil
	}
	done, err := c.js.Stream(ctx, c.stream("done"))
	if err == nil {
		_, err = done.GetLastMsgForSubject(ctx, c.doneSubject(c.run, name))
	}
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	return err == nil, err
}

// repeat calls f until it succeeds or ctx ends, and says once why it fails.
func (q *queue) repeat(ctx context.Context, what string, f func() error) error {
	said := ""
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := f()
		if err == nil {
			if said != "" {
				q.access.Say(what + ": works again")
			}
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if text := fmt.Sprintf("%s: %v; trying again", what, full(err)); text != said && wait > 200*time.Millisecond {
			said = text
			q.access.Say(text)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// full says what to do if the queue is full or does not answer.
func full(err error) error {
	var api *jetstream.APIError
	switch {
	case errors.As(err, &api) && (api.ErrorCode == 10077 || api.ErrorCode == 10023 || api.ErrorCode == 10047):
		return fmt.Errorf("the queue is full or cannot write: %w: give it more space", err)
	case isTimeout(err):
		return fmt.Errorf("the queue does not answer (%w): is it running, with a disk that has space?", err)
	}
	return explain(err)
}

func (c *coordinator) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.outstanding)
}

// Finish implements fleet.Coordinator.
func (c *coordinator) Finish(complete bool) error {
	if c.lock == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	err := c.runs.Purge(ctx, runKey)
	if complete {
		err = errors.Join(err, c.forget(ctx), c.runs.Purge(ctx, sharedKey(c.run)))
	}
	c.lock.release(ctx)
	if c.redelivered > 0 {
		text := fmt.Sprintf("%d units of lost workers were taken over", c.redelivered)
		switch c.mode {
		case "record":
			text += fmt.Sprintf(": %d of their exchanges were not asked again, at most %d requests in flight were", c.resumed, c.repeated)
		case "live":
			text += fmt.Sprintf(" and began again: at most %d requests were asked twice", c.repeated)
		}
		c.access.Say(text)
	}
	if err != nil {
		return fmt.Errorf("queue %s: end run %s: %w", shown(c.access.URL), c.run, err)
	}
	return nil
}

// forget removes everything of the run from the queue.
func (c *coordinator) forget(ctx context.Context) error {
	run := c.run
	var errs []error
	for _, what := range []string{"work", "done", "log", "data"} {
		s, err := c.js.Stream(ctx, c.stream(what))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		names := s.ConsumerNames(ctx)
		for name := range names.Name() {
			if name == run || len(name) > len(run) && name[:len(run)+1] == run+"-" {
				errs = append(errs, s.DeleteConsumer(ctx, name))
			}
		}
		errs = append(errs, names.Err(), s.Purge(ctx, jetstream.WithPurgeSubject(s.CachedInfo().Config.Name+"."+run+".>")))
	}
	return errors.Join(errs...)
}
