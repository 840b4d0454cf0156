package batching

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/providers/batch"
)

// remote is a batch that was submitted, or is about to be.
type remote struct {
	c        *Collector
	number   int
	key, id  string // id is the provider's
	provider string
	at       time.Time
	group    *group           // nil until one of its requests is made in this process
	items    map[string]*item // by the id within the batch
	order    []string         // of items, as submitted
	count    int
	closed   int // items whose reply is where it is kept
}

// name names the batch in messages and cassettes.
func (b *remote) name() string { return cmp.Or(b.id, b.key) }

// unanswered counts the items without an answer.
func (b *remote) unanswered() (n int) {
	for _, it := range b.items {
		if !it.answered {
			n++
		}
	}
	return n
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9-]{1,50}$`)

// add adds the i-th item. Its id within the batch begins with the batch's key, because Anthropic
// has no other place for it.
func (b *remote) add(i int, it *item) {
	id := b.key + "_" + it.id
	if b.items[id] != nil || !plainID.MatchString(it.id) {
		id = b.key + "_n" + strconv.Itoa(i)
	}
	b.items[id] = it
	b.order = append(b.order, id)
}

// submit submits the queue of a group, as several batches if it must; the caller must have
// locked.
func (c *Collector) submit(g *group) {
	g.stopTimer()
	for len(g.queue) > 0 && c.ctx.Err() == nil {
		c.last++
		b := &remote{c: c, number: c.last, key: keyOf(c.o.Run, c.last), provider: g.provider, group: g, at: c.o.Now(), items: map[string]*item{}}
		size := 0
		for _, it := range g.queue[:min(len(g.queue), max(g.limit, 1))] {
			if size += itemBytes(it); size > g.client.Limits().Bytes && b.count > 0 {
				break
			}
			it.batch = b
			b.add(b.count, it)
			b.count++
			g.bytes -= itemBytes(it)
		}
		g.queue = slices.Delete(g.queue, 0, b.count)
		c.queued -= b.count
		c.batches = append(c.batches, b)
		c.work.Go(func() { b.create() })
	}
}

// followEarlier follows a batch of an earlier process, once; the caller must have locked.
func (c *Collector) followEarlier(b *remote, g *group) {
	if b.group != nil {
		return
	}
	b.group = g
	if b.id != "" {
		c.work.Go(func() { b.follow() })
		return
	}
	c.work.Go(func() {
		switch id, err := b.find(); {
		case err != nil:
			b.giveUp(err)
		case id == "":
			b.lost()
		default:
			b.created(id)
		}
	})
}

// created notes that a batch exists and follows it.
func (b *remote) created(id string) {
	c := b.c
	c.mu.Lock()
	b.id = id
	c.known[id] = true
	c.mu.Unlock()
	if err := c.notes.submitted(b); err != nil {
		b.giveUp(err)
		return
	}
	b.follow()
}

// maxAge is how long a batch is waited for: providers end it after 24 hours.
const maxAge = 26 * time.Hour

// maxUnreadable is how many replies that are not what the API documents end the wait for a batch.
const maxUnreadable = 12

// follow asks for the state of a batch until it has ended and hands out its results.
func (b *remote) follow() {
	c := b.c
	p := newPauses(b.c)
	unreadable := 0
	for {
		s, err := b.group.client.State(c.ctx, b.id)
		if err == nil && s.Ended {
			if s.Rejected != "" {
				b.rejected(s)
				return
			}
			if err = b.handOut(s); err == nil {
				return
			}
		}
		var failed *batch.Error
		if errors.As(err, &failed) {
			if failed.Status == http.StatusNotFound || failed.Status == http.StatusGone {
				b.refuse(http.StatusGatewayTimeout, "batch_gone", fmt.Sprintf("the provider has no batch %s any more: %v", b.id, err))
				return
			}
			if failed.Refused() {
				b.giveUp(err)
				return
			}
			if failed.Unreadable() {
				unreadable++
			}
			p.lengthen(failed)
		}
		if unreadable == maxUnreadable {
			b.giveUp(err)
			return
		}
		if c.o.Now().Sub(b.at) > maxAge {
			b.giveUp(cmp.Or(err, fmt.Errorf("no result after %v", maxAge)))
			return
		}
		if !p.wait(c.ctx) {
			return
		}
	}
}

// handOut hands out the results. Whatever their order, each item gets the first one it has; what
// has none is an item that failed.
func (b *remote) handOut(s batch.State) error {
	c := b.c
	c.mu.Lock()
	c.handing++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.handing--
		c.check()
	}()
	err := b.group.client.Results(c.ctx, b.id, s, func(r batch.Result) {
		if it := b.items[r.ID]; it != nil {
			it.answer(outcome{result: r})
		}
	})
	if err != nil {
		return err
	}
	status, kind, message := http.StatusGatewayTimeout, "batch_no_result", fmt.Sprintf("batch %s ended without a result for this request", b.id)
	if s.Cut != "" {
		status, kind, message = batch.NotRun(s.Cut), "batch_"+s.Cut, fmt.Sprintf("batch %s was %s before it ran this request", b.id, s.Cut)
	}
	for _, it := range b.items {
		it.answer(outcome{result: b.group.client.Failure(it.id, status, kind, message)})
	}
	return nil
}

// answer gives an item its answer, unless it has one.
func (it *item) answer(o outcome) {
	c := it.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if it.answered {
		return
	}
	it.answered, it.body = true, ""
	c.unblock(it.episode)
	it.done <- o
}

// refuse answers every item of a batch that was not accepted.
func (b *remote) refuse(status int, kind, message string) {
	c := b.c
	for _, it := range b.items {
		it.answer(outcome{result: b.group.client.Failure(it.id, status, kind, message)})
	}
	c.drop(b)
}

// fail ends every item with an error, without a request.
func (b *remote) fail(err error) {
	c := b.c
	for _, it := range b.items {
		it.answer(outcome{err: err})
	}
	c.drop(b)
}

// giveUp ends the wait for a batch that goes on.
func (b *remote) giveUp(err error) {
	for _, it := range b.items {
		it.answer(outcome{err: &WaitingError{b.provider, b.name(), err}})
	}
}

// rejected deals with a batch that the provider rejected after it had taken it. The items that it
// names fail, the others are submitted again; so are all of them, in smaller batches, if there
// were too many.
func (b *remote) rejected(s batch.State) {
	c := b.c
	again := len(s.Lines) > 0 || s.Full && b.count > 1
	if !again {
		status := http.StatusBadRequest
		if s.Full {
			status = http.StatusTooManyRequests
		}
		b.refuse(status, "batch_rejected", fmt.Sprintf("the provider rejected batch %s of %d requests: %s", b.id, b.count, s.Rejected))
		return
	}
	for i, id := range b.order {
		if why, named := s.Lines[i]; named {
			it := b.items[id]
			it.answer(outcome{result: b.group.client.Failure(it.id, http.StatusBadRequest, "batch_item_rejected", why)})
		}
	}
	c.mu.Lock()
	if s.Full {
		b.group.limit = max(1, b.count/2)
	}
	c.mu.Unlock()
	b.lost()
}

// lost puts the requests of a batch that does not exist, or was rejected, into the queue again.
func (b *remote) lost() {
	c := b.c
	c.mu.Lock()
	for _, id := range b.order {
		switch it := b.items[id]; {
		case it.answered:
		case it.group == nil: // of an earlier process, and not made yet
			it.forget()
		default:
			delete(b.items, id)
			if it.gone {
				continue
			}
			it.enqueue()
		}
	}
	c.mu.Unlock()
	c.drop(b)
}

// forget makes a request of an earlier process one like any other; the caller must have locked.
func (it *item) forget() {
	c := it.c
	list := slices.DeleteFunc(c.held[it.digest], func(h *Held) bool { return h.it == it })
	if c.held[it.digest] = list; len(list) == 0 {
		delete(c.held, it.digest)
	}
	it.batch = nil // who has claimed it already queues it
}

// drop notes that nothing of a batch is expected any more.
func (c *Collector) drop(b *remote) {
	c.mu.Lock()
	c.batches = slices.DeleteFunc(c.batches, func(other *remote) bool { return other == b })
	c.mu.Unlock()
	c.notes.done(b)
}

// kept notes that the reply of an item is where it is kept.
func (it *item) kept(status int) {
	b, c := it.batch, it.c
	c.mu.Lock()
	b.closed++
	over := b.closed == b.count
	c.mu.Unlock()
	if status >= http.StatusBadRequest {
		c.notes.failed(b, it.id)
	}
	if over {
		c.drop(b)
	}
}
