package shared

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/providers"
)

// fleet is a simulated fleet on the virtual clock of a synctest bubble. It knows every
// request that was sent, whoever has forgotten it.
type fleet struct {
	t       *testing.T
	rng     *rand.Rand
	kv      KV
	config  Config
	dir     string
	quiet   bool // without faults
	focus   int  // of its faults
	wrong   wrong
	begun   time.Time
	workers []*worker

	mu sync.Mutex // of what follows, and of frozen and since of the workers
	// committed is what was sent: what a request cost once its worker knows, and until then
	// its worst case, for ever if the worker was killed.
	committed map[string]admission.Spend
	settled   map[string]admission.Spend // without what is in flight
	lanes     map[string]*laneTruth
	problem   error
	healed    bool // no further faults
	stuck     int
	sent      int
	refused   int
}

// Some cases concentrate on one kind of limit and fault.
const onRates, onKills = 0, 1

// wrong are the mistakes that the test must find.
type wrong struct {
	// release counts an expired lease by what it has reported. outlive lets workers use a lease
	// after its end. blind writes without a condition. trusting never takes a lease for
	// expired. secret lets a worker have more than the record says.
	release, outlive, blind, trusting, secret bool
}

// laneTruth is the bucket of the provider.
type laneTruth struct {
	rate, level, size float64
	at                time.Time
}

// worker is a process. A restart is a new worker with the log of the old one.
type worker struct {
	*fleet
	name    string
	n       int
	folder  string
	offset  time.Duration // of its clock
	speed   float64       // of its clock
	control *admission.Control
	member  *Member
	log     *admission.SpendLog
	leave   func() error
	frozen  chan struct{} // closed on waking; nil if it runs
	since   time.Time     // when it was frozen
	cut     bool          // from the store
	dead    chan struct{}
	agents  chan struct{} // has one value for each agent that ended
	running int
}

// now is the clock of the worker, which stands still while it is frozen. It jumps by what it
// has slept when it wakes.
func (w *worker) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Now()
	if w.frozen != nil {
		at = w.since
	}
	run := at.Sub(w.begun)
	return w.begun.Add(w.offset + time.Duration(float64(run)*w.speed))
}

// held waits while the worker is frozen; false once it is dead.
func (w *worker) held() bool {
	for {
		w.mu.Lock()
		frozen := w.frozen
		w.mu.Unlock()
		if frozen == nil {
			break
		}
		select {
		case <-frozen:
		case <-w.dead:
			return false
		}
	}
	select {
	case <-w.dead:
		return false
	default:
		return true
	}
}

// link is a worker's connection to the store: slow, and cut off at times, before a change
// is made or before its answer arrives.
type link struct {
	*worker
	rng *rand.Rand
}

var errCut = errors.New("no answer")

func (l *link) pass(ctx context.Context) error {
	if !l.held() {
		<-ctx.Done()
		return ctx.Err()
	}
	l.mu.Lock()
	cut := l.cut || !l.quiet && !l.healed && l.rng.IntN(40) == 0
	l.mu.Unlock()
	if cut {
		<-ctx.Done()
		return errCut
	}
	time.Sleep(time.Duration(l.rng.IntN(20)) * time.Millisecond)
	return nil
}

func (l *link) Get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	if err := l.pass(ctx); err != nil {
		return nil, 0, err
	}
	value, revision, err = l.kv.Get(context.Background(), key)
	if err == nil && l.wrong.trusting { // every lease seems to live
		r, _ := decode(value)
		for _, lease := range r.Leases {
			lease.Beat++
		}
		value = r.encode()
	}
	if err == nil {
		err = l.pass(ctx)
	}
	return value, revision, err
}

func (l *link) Create(context.Context, string, []byte) (uint64, error) { panic("not used") }

func (l *link) Update(ctx context.Context, key string, value []byte, revision uint64) (rev uint64, err error) {
	if err := l.pass(ctx); err != nil {
		return 0, err
	}
	if l.wrong.blind {
		_, revision, _ = l.kv.Get(context.Background(), key)
	}
	if l.wrong.release || l.wrong.secret {
		r, _ := decode(value)
		for id, lease := range r.Leases {
			for _, a := range lease.Accounts {
				if lease.Expired || l.wrong.secret && id == l.member.id {
					a.Granted = a.Spent
				}
			}
		}
		value = r.encode()
	}
	if rev, err = l.kv.Update(context.Background(), key, value, revision); err == nil {
		err = l.pass(ctx)
	}
	return rev, err
}

// start begins a process; after a kill with the log of the earlier one.
func (f *fleet) start(name string, was *worker) *worker {
	w := &worker{
		fleet: f, name: name, n: len(f.workers), folder: filepath.Join(f.dir, name), dead: make(chan struct{}), agents: make(chan struct{}, 100),
		offset: time.Duration(f.rng.Int64N(int64(2*time.Hour))) - time.Hour, speed: 0.95 + 0.1*f.rng.Float64(),
	}
	if was != nil {
		w.folder, w.offset, w.speed = was.folder, was.offset, was.speed
	}
	f.mu.Lock()
	f.workers = append(f.workers, w)
	f.mu.Unlock()
	var err error
	if w.log, err = admission.OpenSpendLog(filepath.Join(w.folder, "spend.log")); err != nil {
		f.fail(err)
	}
	pool := &Pool{&link{w, rand.New(rand.NewPCG(f.rng.Uint64(), 1))}, "limits", f.config}
	w.member = pool.Member(Options{Name: name, Now: w.now})
	now := w.now
	if f.wrong.outlive {
		now = func() time.Time { return w.now().Add(-10 * time.Hour) }
	}
	w.control = admission.New(admission.Options{
		Caps: f.config.Caps, Providers: f.config.Limits, Concurrency: 2 + f.rng.IntN(4), Log: w.log, Shared: true, Wanted: w.member.Wanted, Now: now,
	})
	return w
}

// work joins, lets agents send requests and leaves.
func (w *worker) work(ctx context.Context, agents, requests int) {
	w.running = agents
	var err error
	for w.leave == nil && ctx.Err() == nil {
		if w.leave, err = w.member.Join(w.control, w.folder); err != nil {
			time.Sleep(time.Second)
		}
	}
	if !w.alive() {
		w.member.cancel()
		return
	}
	for i := range agents {
		rng := rand.New(rand.NewPCG(w.rng.Uint64(), uint64(i)))
		go func() {
			for range requests {
				w.request(ctx, rng)
			}
			w.agents <- struct{}{}
		}()
	}
}

func (w *worker) alive() bool {
	select {
	case <-w.dead:
		return false
	default:
		return true
	}
}

// request sends a request, with a cost below its worst case.
func (w *worker) request(ctx context.Context, rng *rand.Rand) {
	provider := []string{"p", "q"}[rng.IntN(2)]
	if w.focus == onRates {
		provider = "p"
	}
	worst := admission.Request{Candidate: "c", ID: "", Input: 1 + rng.Int64N(100), Output: rng.Int64N(50), CostNanoUSD: 1 + rng.Int64N(1000)}
	if rng.IntN(10) == 0 {
		worst.CostNanoUSD *= 10
	}
	atWorst := admission.Spend{CostNanoUSD: worst.CostNanoUSD, Tokens: worst.Input + worst.Output, Requests: 1}
	if !w.held() {
		return
	}
	permit, err := w.control.Lane(provider, "key").Acquire(ctx, worst)
	switch {
	case !w.held():
		return
	case errors.Is(err, admission.ErrCapped):
		w.refuse(provider, atWorst, err)
		return
	case err != nil:
		w.count(&w.stuck)
		return
	}
	w.count(&w.sent)
	w.commit(provider, atWorst, admission.Spend{})
	w.take(provider)
	time.Sleep(time.Duration(rng.IntN(15_000)) * time.Millisecond)
	if !w.held() {
		return
	}
	cost, tokens := worst.CostNanoUSD, worst.Input
	if rng.IntN(2) == 0 {
		cost = rng.Int64N(cost + 1)
	}
	w.commit(provider, admission.Spend{CostNanoUSD: cost, Tokens: tokens, Requests: 1}, atWorst)
	permit.Done(admission.Result{Usage: providers.Usage{Reported: true, Input: tokens}, CostNanoUSD: &cost})
}

func (f *fleet) count(n *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
}

// refuse checks that a request was refused with reason.
func (f *fleet) refuse(provider string, worst admission.Spend, err error) {
	f.count(&f.refused)
	f.mu.Lock()
	defer f.mu.Unlock()
	of, all := f.settled[provider].Plus(worst), f.settled["p"].Plus(f.settled["q"]).Plus(worst)
	if f.quiet && !exceeds(f.config.Caps, all) && !exceeds(f.config.Limits[provider].Caps, of) {
		f.fail(fmt.Errorf("refused although %+v of %+v would be spent: %w", all, f.config.Caps, err))
	}
}

// commit replaces one amount by another, and checks the caps.
func (f *fleet) commit(provider string, now, was admission.Spend) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if was.Requests > 0 {
		f.settled[provider] = f.settled[provider].Plus(now)
	}
	s := f.committed[provider]
	f.committed[provider] = admission.Spend{
		CostNanoUSD: s.CostNanoUSD + now.CostNanoUSD - was.CostNanoUSD, Tokens: s.Tokens + now.Tokens - was.Tokens, Requests: s.Requests + now.Requests - was.Requests,
	}
	sum := f.committed["p"].Plus(f.committed["q"])
	for of, over := range map[string]bool{"the run": exceeds(f.config.Caps, sum), provider: exceeds(f.config.Limits[provider].Caps, f.committed[provider])} {
		if over {
			f.fail(fmt.Errorf("the cap of %s is passed: %+v", of, sum))
		}
	}
}

func exceeds(c admission.Caps, s admission.Spend) bool {
	rest := func(limit, n int64) bool { return limit > 0 && n > limit }
	return rest(c.CostNanoUSD, s.CostNanoUSD) || rest(c.Tokens, s.Tokens) || rest(c.Requests, s.Requests)
}

// take takes a request from the provider's bucket. Clocks may be a twentieth fast, and a
// worker whose share is less than one request a minute may send one.
func (f *fleet) take(provider string) {
	rate := float64(f.config.Limits[provider].RequestsPerMinute)
	if rate == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lanes[provider]
	if l == nil {
		l = &laneTruth{rate: rate * 1.06 / 60, level: rate, size: rate, at: f.begun}
		f.lanes[provider] = l
	}
	l.level = min(l.size, l.level+l.rate*time.Since(l.at).Seconds()) - 1
	if l.at = time.Now(); l.level < -float64(len(f.workers)) {
		f.fail(fmt.Errorf("the rate of %s is passed: %.1f requests beyond its bucket", provider, -l.level))
	}
}

func (f *fleet) fail(err error) {
	if f.problem == nil {
		f.problem = err
	}
}
