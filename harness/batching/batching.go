// Package batching collects the model requests of a run's open episodes into batches of a
// provider's batch API. It is a transport below the recorder: an ordinary request waits here
// until its batch has ended, and gets the ordinary reply, marked with Header. So retries, caps,
// cassettes and replays work as for single requests.
//
// A batch is submitted when every open episode waits: for a batch, or for admission. It is
// submitted earlier if it is as large as the provider allows, and in any case when its first
// request has waited for Options.MaxWait, so that no episode waits for ever.
//
// A batch is noted in the run folder before and after it is submitted. Whatever moment the
// process is killed at, a resumed run knows what it may have submitted, asks the provider for
// it, and gives its results to equal requests. Nothing is submitted twice.
package batching

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/providers/batch"
)

// Header marks the reply to a batched request; its value names the batch. Cassettes keep it.
const Header = "X-Cupel-Batched"

// Settings are those of a run that sends its model requests in batches. Every candidate's provider
// must have a batch API; helpers whose provider has none are asked one by one. The zero value of
// each field means its default.
type Settings struct {
	// MaxItems bounds the requests of a batch; 0 means the provider's limit.
	MaxItems int
	// MaxWait is the longest wait of a request for others; 0 means 5 min. Settle is how long
	// every open episode must have waited; 0 means 200 ms. Poll is the first pause between two
	// questions for a batch, which grows up to a minute; 0 means 1 s.
	MaxWait, Settle, Poll time.Duration
}

// Options configure a Collector. Only Transport is required.
type Options struct {
	Settings
	// Run names the run; the keys of its batches are made of it.
	Run string
	// Notes is the file of notes in the run folder; empty keeps none, so that a killed run
	// cannot be resumed.
	Notes string
	// Transport returns what sends a provider's requests.
	Transport func(provider string) http.RoundTripper
	// Now is the clock of notes; nil means time.Now. Waits take real time.
	Now func() time.Time
}

// Collector collects the requests of one run. A nil *Collector batches nothing. It is safe for
// concurrent use.
type Collector struct {
	o     Options
	ctx   context.Context
	stop  context.CancelFunc
	work  sync.WaitGroup
	notes *notes

	mu sync.Mutex
	// open and waiting count episodes; queued counts requests in groups; handing counts batches
	// whose results are being handed out.
	open, waiting, queued, handing int
	groups                         map[string]*group
	settle                         *time.Timer
	batches                        []*remote          // those with items that wait
	held                           map[string][]*Held // of an earlier process, by digest
	last                           int                // number of a batch
	known                          map[string]bool    // ids of batches at providers
}

// group is the requests that may be in one batch.
type group struct {
	provider string
	client   *batch.Client
	queue    []*item
	bytes    int
	limit    int // of items; lowered when the provider allows fewer
	expired  *time.Timer
}

// item is one request.
type item struct {
	c          *Collector
	id, digest string // see Identify
	body       string
	group      *group
	episode    *episode
	batch      *remote // nil while it is in a queue
	answered   bool
	gone       bool         // who made it no longer waits
	done       chan outcome // gets one
}

// outcome is what became of an item.
type outcome struct {
	result batch.Result
	err    error
}

// Held is a request that an earlier process of the run put into a batch.
type Held struct{ it *item }

// ID is the id of the request.
func (h *Held) ID() string { return h.it.id }

// WaitingError means that a request is in a batch that goes on at the provider, where it is paid
// for: it must not be sent again. A resumed run gets its reply.
type WaitingError struct {
	Provider, Batch string
	Err             error
}

// Error implements error.
func (e *WaitingError) Error() string {
	return fmt.Sprintf("the request is in batch %s of %s; resume the run to collect its reply: %v", e.Batch, e.Provider, e.Err)
}

// Unwrap returns why the run no longer waits.
func (e *WaitingError) Unwrap() error { return e.Err }

// IsWaiting reports whether err wraps a WaitingError.
func IsWaiting(err error) bool {
	_, ok := errors.AsType[*WaitingError](err)
	return ok
}

// New makes a collector and reads the notes of an earlier process of the run. The caller must
// close it.
func New(o Options) (*Collector, error) {
	o.MaxWait, o.Settle, o.Poll = cmp.Or(o.MaxWait, 5*time.Minute), cmp.Or(o.Settle, 200*time.Millisecond), cmp.Or(o.Poll, time.Second)
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the seam: when a batch was submitted is real time
	}
	c := &Collector{o: o, groups: map[string]*group{}, held: map[string][]*Held{}, known: map[string]bool{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.settle = time.AfterFunc(time.Hour, c.settled)
	c.settle.Stop()
	var err error
	if c.notes, err = openNotes(o.Notes, c.noted); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// noted takes over an unfinished batch of an earlier process.
func (c *Collector) noted(n note, failed map[string]bool) {
	c.last = max(c.last, n.Batch)
	if n.ID != "" {
		c.known[n.ID] = true
	}
	if n.Done {
		return
	}
	b := &remote{c: c, number: n.Batch, key: n.Key, id: n.ID, provider: n.Provider, at: n.At, items: map[string]*item{}, count: len(n.Items)}
	for i, x := range n.Items {
		it := &item{c: c, id: x[0], digest: x[1], batch: b, done: make(chan outcome, 1)}
		b.add(i, it)
		if !failed[it.id] { // a failure is asked again
			c.held[it.digest] = append(c.held[it.digest], &Held{it})
		}
	}
	c.batches = append(c.batches, b)
}

// Close stops asking for batches and waits until that has ended. The batches go on.
func (c *Collector) Close() error {
	if c == nil {
		return nil
	}
	c.stop()
	c.settle.Stop()
	c.mu.Lock()
	for _, g := range c.groups {
		g.stopTimer()
	}
	c.mu.Unlock()
	c.work.Wait()
	return c.notes.close()
}

func (g *group) stopTimer() {
	if g.expired != nil {
		g.expired.Stop()
		g.expired = nil
	}
}

// episode is an open episode. The collector's lock guards it.
type episode struct{ waits int }

type episodeKey struct{}

// Open returns the context of an episode that begins. The caller must call end when it has
// ended.
func (c *Collector) Open(ctx context.Context) (_ context.Context, end func()) {
	if c == nil {
		return ctx, func() {}
	}
	c.mu.Lock()
	c.open++
	c.mu.Unlock()
	return context.WithValue(ctx, episodeKey{}, &episode{}), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
		c.check()
	}
}

// Waiting runs f, which waits for what other episodes do, such as for admission.
func (c *Collector) Waiting(ctx context.Context, f func() error) error {
	if c == nil {
		return f()
	}
	e, _ := ctx.Value(episodeKey{}).(*episode)
	c.mu.Lock()
	c.block(e)
	c.check()
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unblock(e)
	}()
	return f()
}

// block and unblock count a call of an episode that waits; the caller must have locked.
func (c *Collector) block(e *episode) {
	if e == nil {
		return
	}
	if e.waits++; e.waits == 1 {
		c.waiting++
	}
}

func (c *Collector) unblock(e *episode) {
	if e == nil {
		return
	}
	if e.waits--; e.waits == 0 {
		c.waiting--
	}
}

// check starts the time after which the queues are submitted, if nothing else can happen; the
// caller must have locked.
func (c *Collector) check() {
	if !c.idle() {
		c.settle.Stop()
		return
	}
	c.settle.Reset(c.o.Settle)
}

// idle reports whether requests are queued and every open episode waits.
func (c *Collector) idle() bool {
	return c.queued > 0 && c.handing == 0 && c.waiting >= c.open && c.ctx.Err() == nil
}

// settled submits all queues if still nothing else can happen.
func (c *Collector) settled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.idle() {
		return
	}
	for _, g := range c.groups {
		c.submit(g)
	}
}

// Claim returns the request of an earlier process that equals one: by its digest, and if there
// are several, by its id. It returns nil if there is none. A request is returned only once.
func (c *Collector) Claim(id, digest string) *Held {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.held[digest]
	if len(list) == 0 {
		return nil
	}
	at := 0
	for i, h := range list {
		if h.it.id == id {
			at = i
		}
	}
	h := list[at]
	if c.held[digest] = append(list[:at:at], list[at+1:]...); len(c.held[digest]) == 0 {
		delete(c.held, digest)
	}
	return h
}

// Waits is what waits at one provider.
type Waits struct {
	Provider string
	// Batch is the id of a batch; empty for the requests that are collected.
	Batch string
	// Requests is how many have no reply yet.
	Requests int
	// Since is when the batch was submitted; zero for the requests that are collected.
	Since time.Time
}

// State returns what waits, in the order of submission, the requests that are collected last.
func (c *Collector) State() (list []Waits) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.batches {
		if n := b.unanswered(); n > 0 {
			list = append(list, Waits{b.provider, cmp.Or(b.id, "submitted as "+b.key), n, b.at})
		}
	}
	if c.queued > 0 {
		list = append(list, Waits{Requests: c.queued})
	}
	return list
}

// Sums are sums over what waits.
type Sums struct {
	// Submitted are the requests in Batches batches, the first of which was submitted at Since.
	// Collected are those that are in none yet.
	Submitted, Batches, Collected int
	Since                         time.Time
}

// Sum adds up what State returned.
func Sum(list []Waits) (s Sums) {
	for _, w := range list {
		if w.Batch == "" {
			s.Collected += w.Requests
			continue
		}
		s.Submitted, s.Batches = s.Submitted+w.Requests, s.Batches+1
		if s.Since.IsZero() || w.Since.Before(s.Since) {
			s.Since = w.Since
		}
	}
	return s
}

// keyOf is the key of a batch: the same for the same number in a run.
func keyOf(run string, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", run, number))
	return hex.EncodeToString(sum[:6])
}
