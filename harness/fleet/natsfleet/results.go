package natsfleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// receive stores the results of workers until ctx ends. Its error ends the run.
func (c *coordinator) receive(ctx context.Context, w fleet.Work) error {
	for ctx.Err() == nil {
		var cons jetstream.Consumer
		err := c.repeat(ctx, "read results", func() (err error) {
			cons, err = c.js.CreateOrUpdateConsumer(ctx, c.stream("done"), jetstream.ConsumerConfig{
				Durable: c.run, FilterSubject: c.doneSubject(c.run, "*"), AckPolicy: jetstream.AckExplicitPolicy,
				AckWait: time.Minute, MaxDeliver: -1, MaxAckPending: -1,
			})
			return err
		})
		for err == nil {
			var failed error
			if err, failed = c.batch(ctx, w, cons); failed != nil || ctx.Err() != nil {
				return failed
			}
		}
		if ctx.Err() == nil {
			c.access.Say(fmt.Sprintf("read results: %v; trying again", full(err)))
			pause(ctx, time.Second)
		}
	}
	return nil
}

// batch stores the results of about the next second. failed ends the run.
func (c *coordinator) batch(ctx context.Context, w fleet.Work, cons jetstream.Consumer) (err, failed error) {
	within, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	batch, err := cons.Fetch(256, jetstream.FetchContext(within))
	if err != nil {
		return err, nil
	}
	for msg := range batch.Messages() {
		if err := c.result(ctx, w, msg); err != nil {
			return nil, err
		}
	}
	err = batch.Error()
	if errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return nil, nil
	}
	return err, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// result stores one result. A message that cannot be read is dropped, and its unit executed again.
func (c *coordinator) result(ctx context.Context, w fleet.Work, msg jetstream.Msg) error {
	name := msg.Subject()[len(c.doneSubject(c.run, "")):]
	m, res, err := c.read(ctx, msg.Data())
	if err != nil {
		if !errors.Is(err, errDamaged) {
			_ = msg.NakWithDelay(time.Second) // the queue is restarting
			return nil
		}
		c.access.Say(fmt.Sprintf("%v; the unit is executed again", err))
		_ = msg.Term() // if it is delivered again, it is dropped then
		return nil
	}
	final := !slices.ContainsFunc(res.Rows, func(rows ledger.EpisodeRows) bool { return rows.Episode.Excluded() != "" })
	c.mu.Lock()
	publishing := c.publishing[name]
	if _, ok := c.outstanding[name]; !ok && final {
		c.early[name] = true // from here on it is not published
	}
	c.mu.Unlock()
	if publishing {
		_ = msg.NakWithDelay(100 * time.Millisecond) // else it is delivered again later
		return nil
	}
	if c.mode != "replay" { // so that no worker begins the unit again, once its exchanges are removed
		if err := removeWork(ctx, c, name); err != nil {
			return nil // it is delivered again
		}
	}
	if err := w.Ended(res); err != nil {
		return err
	}
	if err := msg.DoubleAck(ctx); err != nil {
		return nil // it is delivered again, and ignored
	}
	if c.mode == "record" {
		removeData(ctx, c, name, final)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = time.Now() //nolint:forbidigo // when to look for lost units; no result depends on it
	if _, ok := c.outstanding[name]; ok {
		delete(c.outstanding, name)
		c.resumed, c.repeated = c.resumed+m.Resumed, c.repeated+m.Repeated
		if m.Deliveries > 1 {
			c.redelivered++
		}
	}
	select {
	case c.returned <- struct{}{}:
	default:
	}
	return nil
}

// errDamaged means that a result cannot be read, now or later.
var errDamaged = errors.New("the result of a unit is damaged")

// read reads a result and its cassettes.
func (c *coordinator) read(ctx context.Context, data []byte) (m doneMessage, res fleet.UnitResult, err error) {
	if data, err = unfitted(ctx, c.queue, data); err != nil {
		return m, res, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, res, fmt.Errorf("%w: %w", errDamaged, err)
	}
	res.Days, res.Cassettes = m.Days, map[string][]byte{}
	if res.Rows, err = decodeRows(m.Rows); err != nil {
		return m, res, fmt.Errorf("%w: %w", errDamaged, err)
	}
	for path, b := range m.Cassettes {
		if res.Cassettes[path], err = readBlob(ctx, c.queue, b); err != nil {
			return m, res, fmt.Errorf("cassette %s: %w", path, err)
		}
	}
	return m, res, nil
}

// removeWork removes a unit that has a result, if its worker was lost before it did.
func removeWork(ctx context.Context, c *coordinator, name string) error {
	work, err := c.js.Stream(ctx, c.stream("work"))
	if err != nil {
		return err
	}
	return work.Purge(ctx, jetstream.WithPurgeSubject(c.workSubject(c.run, "*", name)))
}

// removeData removes the cassettes of a unit, which are stored now, and its exchanges if its result is
// final: else an episode may be run again. What stays is removed at the end of the run.
func removeData(ctx context.Context, c *coordinator, name string, final bool) {
	rest := "c.>"
	if final {
		rest = ">"
	}
	data, err := c.js.Stream(ctx, c.stream("data"))
	if err == nil {
		_ = data.Purge(ctx, jetstream.WithPurgeSubject(c.dataSubject(c.run, name, rest)))
	}
}

// watch publishes units again that the queue has lost, and says what workers refuse, until ctx ends.
func (c *coordinator) watch(ctx context.Context) {
	ticker := time.NewTicker(stateEvery)
	defer ticker.Stop()
	c.mu.Lock()
	c.heard = time.Now() //nolint:forbidigo // see result
	c.mu.Unlock()
	idle := idleSaid - 1 // at the beginning, it is said at once
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		c.mu.Lock()
		silent := time.Since(c.heard) > c.o.Lease+liveFor
		if silent {
			c.heard = time.Now() //nolint:forbidigo // see result
		}
		c.mu.Unlock()
		if silent {
			publishLost(ctx, c)
		}
		idle = c.sayWorkers(ctx, idle)
	}
}

// publishLost publishes the outstanding units again unless the queue has them or a result.
func publishLost(ctx context.Context, c *coordinator) {
	done, err := c.js.Stream(ctx, c.stream("done"))
	if err != nil {
		return
	}
	info, err := done.Info(ctx, jetstream.WithSubjectFilter(c.doneSubject(c.run, "*")))
	if err != nil {
		return
	}
	c.mu.Lock()
	var lost []outstanding
	for name, out := range c.outstanding {
		if info.State.Subjects[c.doneSubject(c.run, name)] == 0 && !c.publishing[name] {
			c.publishing[name] = true
			lost = append(lost, out)
		}
	}
	c.mu.Unlock()
	for _, out := range lost {
		_ = c.publish(ctx, out) // it fails only if ctx ends
	}
}

// idleSaid is how often in a row no worker is seen until that is said: after a restart of the queue
// they need a moment to state themselves again.
const idleSaid = 3

// sayWorkers says that no worker is there, and why workers refuse the run. idle is how often in a row
// no worker was seen.
func (c *coordinator) sayWorkers(ctx context.Context, idle int) int {
	list, err := c.workers(ctx)
	if err != nil {
		return idle
	}
	able := 0
	for _, s := range list {
		if s.State != stateRefused || s.RunID != c.run {
			able++
		} else if key := s.Name + s.Reason; !c.warned[key] {
			c.warned[key] = true
			c.access.Say(fmt.Sprintf("worker %s refuses the run: %s", s.Name, s.Reason))
		}
	}
	if able > 0 {
		return 0
	}
	if idle++; idle == idleSaid {
		c.access.Say("no worker is there; start workers with: cupel-fleet worker --queue " + shown(c.access.URL))
	}
	return idle
}
