package shared

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// newFleet draws caps and rates, and makes the pool.
func newFleet(t *testing.T, seed uint64, dir string, w wrong) *fleet {
	rng := rand.New(rand.NewPCG(seed, 23))
	f := &fleet{t: t, rng: rng, kv: Memory(), dir: dir, wrong: w, begun: time.Now(), committed: map[string]admission.Spend{}, settled: map[string]admission.Spend{}, lanes: map[string]*laneTruth{}}
	f.quiet = w == wrong{} && rng.IntN(5) == 0
	perMinute := int64(0)
	draw := func(most int64) int64 { return max(0, rng.Int64N(2*most)-most/2) }
	if rng.IntN(3) > 0 {
		perMinute = 4 + rng.Int64N(12)
	}
	f.config = Config{
		Identity: "plan", Caps: admission.Caps{CostNanoUSD: draw(40_000), Tokens: draw(8_000), Requests: draw(60)},
		Limits: map[string]admission.Limits{"p": {RequestsPerMinute: perMinute}, "q": {Caps: admission.Caps{CostNanoUSD: draw(20_000)}}},
	}
	switch f.focus = rng.IntN(6); f.focus {
	case onRates:
		f.config.Caps, f.config.Limits = admission.Caps{}, map[string]admission.Limits{"p": {RequestsPerMinute: 6 + rng.Int64N(12)}}
	case onKills:
		f.config.Caps = admission.Caps{CostNanoUSD: 10_000 + rng.Int64N(10_000)}
		f.config.Limits = nil
	}
	pool, err := Create(t.Context(), f.kv, "limits", f.config)
	require.NoError(t, err)
	f.config = pool.Config()
	return f
}

// run runs one case: workers that send requests, and faults at random times. After the last
// fault everything heals, and every request must end.
func (f *fleet) run() {
	const agents = 3
	requests, patient := 3+f.rng.IntN(6), 40*time.Minute
	if f.focus == onRates {
		requests, patient = 2*requests, 2*time.Hour
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	for i := range 2 + f.rng.IntN(3) {
		name := fmt.Sprint("w", i)
		if err := os.MkdirAll(filepath.Join(f.dir, name), 0o777); err != nil {
			f.fail(err)
		}
		f.start(name, nil).work(ctx, agents, requests)
		f.wait(2000)
	}
	faults := f.rng.IntN(6)
	if f.quiet {
		faults = 0
	}
	for range faults {
		f.fault(ctx, agents, requests)
		f.wait(40_000)
	}
	f.mu.Lock()
	f.healed = true
	f.mu.Unlock()
	for _, w := range f.workers {
		w.connect(true)
		w.wake()
	}
	for _, w := range f.workers {
		if w.alive() {
			for range w.running {
				<-w.agents
			}
			if err := w.leave(); err != nil {
				f.fail(err)
			}
		}
	}
	cancel()
	time.Sleep(time.Minute) // until the requests of killed workers have ended
	synctest.Wait()
	if f.stuck > 0 {
		f.fail(fmt.Errorf("%d requests neither sent nor refused", f.stuck))
	}
	f.settle()
}

// settle compares the pool with the truth at the end.
func (f *fleet) settle() {
	s, err := (&Pool{f.kv, "limits", f.config}).State(context.Background())
	if err != nil {
		f.fail(err)
		return
	}
	truth := f.committed["p"].Plus(f.committed["q"])
	r, _, _ := read(context.Background(), f.kv, "limits")
	total := func(_ *lease, a *account) admission.Spend { return a.total() }
	for name, c := range map[string]admission.Caps{"": f.config.Caps, "p": f.config.Limits["p"].Caps, "q": f.config.Limits["q"].Caps} {
		spent, counted := f.committed[name], r.sum(name, "", total)
		if name == "" {
			spent = truth
		}
		// What no cap bounds is leased by no one, so a killed worker may have spent more of it.
		if spent = each(spent, admission.Spend(c), func(n, limit int64) int64 { return min(n, n*limit) }); !fits(spent, counted) {
			f.fail(fmt.Errorf("counted %+v of %+v of %q", counted, spent, name))
		}
	}
	if f.quiet && (s.Spent != truth || s.Granted != truth) {
		f.fail(fmt.Errorf("without faults, counted %+v and %+v of %+v", s.Spent, s.Granted, truth))
	}
	for _, w := range f.workers {
		_ = w.log.Close()
	}
}

func (f *fleet) wait(most int) { time.Sleep(time.Duration(f.rng.IntN(most)) * time.Millisecond) }

// fault kills, restarts, freezes, wakes, cuts off or heals a worker, or starts another one.
func (f *fleet) fault(ctx context.Context, agents, requests int) {
	w := f.workers[f.rng.IntN(len(f.workers))]
	kind := f.rng.IntN(6)
	switch f.focus {
	case onRates: // stopped and cut off for long
		kind = 2 + f.rng.IntN(4)
	case onKills:
		kind = f.rng.IntN(3)
	}
	switch kind {
	case 0, 1:
		if !w.alive() {
			return
		}
		w.kill()
		if f.focus != onKills && f.rng.IntN(2) == 0 { // it starts again on the same machine
			f.wait(60_000)
			f.start(w.name, w).work(ctx, agents, requests)
		}
	case 2:
		w.freeze()
	case 3:
		w.wake()
	case 4:
		w.connect(w.cut)
	case 5:
		f.wait(5 * 60_000)
	}
}

// kill ends a process at once: whatever it does afterwards has no effect.
func (w *worker) kill() {
	close(w.dead)
	w.member.cancel()
	w.control.Allot(func(admission.Snapshot) admission.Allotment { return admission.Allotment{} })
}

func (w *worker) connect(to bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = !to
}

func (w *worker) freeze() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.frozen == nil {
		w.since, w.frozen = time.Now(), make(chan struct{})
	}
}

func (w *worker) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.frozen != nil {
		close(w.frozen)
		w.frozen = nil
	}
}

// runCase returns what went wrong in one case.
func runCase(t *testing.T, seed uint64, dir string, w wrong) (f *fleet) {
	synctest.Test(t, func(t *testing.T) {
		f = newFleet(t, seed, filepath.Join(dir, fmt.Sprint(seed)), w)
		f.run()
	})
	_ = os.RemoveAll(f.dir)
	return f
}

// logs are in memory where the system has such a folder, because each log is synced.
func logs(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "cupel")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// No interleaving of workers, stopped processes, crashes and partitions passes a cap or a
// rate, and every request is sent or refused once the store can be reached.
func TestNoCapIsPassed(t *testing.T) {
	dir := logs(t)
	sent, refused, quiet := 0, 0, 0
	for seed := range uint64(testkit.Long(40, 10_000)) {
		f := runCase(t, seed, dir, wrong{})
		require.NoError(t, f.problem, "seed %d: %+v", seed, f.config)
		sent, refused = sent+f.sent, refused+f.refused
		if f.quiet {
			quiet++
		}
	}
	t.Logf("%d requests sent, %d refused; %d cases without faults", sent, refused, quiet)
	require.Positive(t, quiet)
	require.Greater(t, sent, refused)
	require.Greater(t, refused, sent/20, "caps matter")
}

// The test above finds each of these mistakes. It begins with a case that does.
func TestMistakesAreFound(t *testing.T) {
	dir := logs(t)
	for name, c := range map[string]struct {
		wrong
		first uint64
		slow  bool
	}{
		"an expired lease is released":    {wrong{release: true}, 1, false},
		"a lease is used after its end":   {wrong{outlive: true}, 264, true},
		"the record is replaced blindly":  {wrong{blind: true}, 109, false},
		"no lease is taken for expired":   {wrong{trusting: true}, 1, true},
		"a worker has more than recorded": {wrong{secret: true}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.slow {
				testkit.Slow(t)
			}
			for seed := range uint64(400) {
				if f := runCase(t, c.first+seed, dir, c.wrong); f.problem != nil {
					t.Logf("seed %d: %v", c.first+seed, f.problem)
					return
				}
			}
			t.Error("not found")
		})
	}
}
