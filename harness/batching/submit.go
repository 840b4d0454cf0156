package batching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/internal/pause"
	"github.com/cupel-eval/cupel/providers/batch"
	"github.com/cupel-eval/cupel/providers/price"
)

// CheckPrices rejects models of a provider that have a price, but none in batches: what the run
// costs would be unknown, only because of s. who names the candidate or the helper. A nil s rejects
// nothing.
func (s *Settings) CheckPrices(prices price.Table, day time.Time, who, provider string, models ...string) error {
	if s == nil || !batch.Has(provider) {
		return nil
	}
	for _, model := range models {
		_, priced := prices.Lookup(provider, model, day)
		if _, batched := prices.WorstOf(batch.Tier, provider, model, 0, 0, day); priced && !batched {
			return fmt.Errorf("%s: the price table has no batch price of model %s of provider %s, so the cost of the run would be unknown; add services: {batch: \"0.5\"} to its prices, with the factor that the provider states, or leave batch out", who, model, provider)
		}
	}
	return nil
}

// pauses are the waits between attempts.
type pauses struct{ next, most time.Duration }

// wait waits, unless ctx ends first, and makes the next wait longer.
func (p *pauses) wait(ctx context.Context) bool {
	now := p.next
	p.next = min(p.next*3/2, p.most)
	return pause.For(ctx, now) == nil
}

// lengthen makes the next wait as long as a provider asks for.
func (p *pauses) lengthen(failed *batch.Error) {
	if failed != nil {
		if s, err := strconv.Atoi(failed.Header.Get("Retry-After")); err == nil && s > 0 {
			p.next = max(p.next, min(time.Duration(s)*time.Second, time.Hour))
		}
	}
}

func newPauses(c *Collector) *pauses { return &pauses{c.o.Poll, max(c.o.Poll, time.Minute)} }

// find looks for a batch that may have been submitted. It asks again after an empty answer,
// because the killed process may have sent the request just before.
func (b *remote) find() (id string, err error) {
	c := b.c
	known := func(id string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.known[id]
	}
	p := newPauses(b.c)
	for range 3 {
		id, err = b.group.client.Find(c.ctx, batch.Lost{Key: b.key, Items: b.count, Since: b.at, Known: known})
		if id != "" && err == nil || !p.wait(c.ctx) {
			break
		}
	}
	return id, cmp.Or(err, c.ctx.Err())
}

// maxCreate bounds the attempts to submit a batch.
const maxCreate = 12

// create submits a batch. What may have been created in spite of a failure is looked for before
// it is submitted again.
func (b *remote) create() {
	c := b.c
	if err := c.notes.prepared(b); err != nil {
		b.fail(err)
		return
	}
	items := make([]batch.Item, 0, b.count)
	for _, id := range b.order {
		items = append(items, batch.Item{ID: id, Body: b.items[id].body})
	}
	p := newPauses(b.c)
	for attempt := 1; ; attempt++ {
		id, err := b.group.client.Submit(c.ctx, b.key, items)
		if err == nil {
			b.created(id)
			return
		}
		if c.ctx.Err() != nil {
			return // a resumed run finds out
		}
		var failed *batch.Error
		_ = errors.As(err, &failed) // every error of the client is one
		if failed != nil && b.count > 1 && (failed.Status == http.StatusRequestEntityTooLarge || failed.Status == http.StatusTooManyRequests && attempt >= 3) {
			b.rejected(batch.State{Full: true})
			return
		}
		if failed != nil && failed.Refused() {
			b.refuse(failed.Status, "batch_rejected", fmt.Sprintf("the provider rejected the batch of %d requests: %v", b.count, failed))
			return
		}
		p.lengthen(failed)
		wait := p.wait(c.ctx)
		if wait && (failed == nil || failed.Created()) {
			if found, lost := b.find(); found != "" {
				b.created(found)
				return
			} else if lost != nil {
				b.giveUp(err)
				return
			}
		}
		if !wait {
			return
		}
		if attempt == maxCreate {
			b.refuse(http.StatusServiceUnavailable, "batch_not_created", fmt.Sprintf("the batch could not be submitted: %v", err))
			return
		}
	}
}
