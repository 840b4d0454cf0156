package admission

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/cupel-eval/cupel/providers"
)

// floor: one allocation, the permit, and two looks at the clock.
func BenchmarkAdmit(b *testing.B) {
	capped := Options{
		Caps:      Caps{CostNanoUSD: 1 << 60, Tokens: 1 << 60, Requests: 1 << 60},
		Providers: map[string]Limits{"p": {Concurrency: 64, RequestsPerMinute: 1 << 40, TokensPerMinute: 1 << 50}},
	}
	done := Result{Usage: providers.Usage{Reported: true, Input: 100, Output: 20}, CostNanoUSD: new(int64)}
	r := Request{Candidate: "a", Input: 4000, Output: 1000, CostNanoUSD: 5000}
	b.Run("uncontended", func(b *testing.B) {
		l := New(capped).Lane("p", "k")
		b.ReportAllocs()
		for b.Loop() {
			p, err := l.Acquire(b.Context(), r)
			if err != nil {
				b.Fatal(err)
			}
			p.Done(done)
		}
	})
	// floor: two writes to a file.
	b.Run("logged", func(b *testing.B) {
		o := capped
		o.Log = openLog(b, filepath.Join(b.TempDir(), "spend.log"))
		l := New(o).Lane("p", "k")
		b.ReportAllocs()
		for b.Loop() {
			p, err := l.Acquire(b.Context(), r)
			if err != nil {
				b.Fatal(err)
			}
			p.Done(done)
		}
		if err := o.Log.Close(); err != nil {
			b.Fatal(err)
		}
	})
	for name, limit := range map[string]int{"64 of 64": 64, "64 of 8": 8} {
		b.Run(name, func(b *testing.B) { // floor of the second: a goroutine woken for each
			l := New(Options{Concurrency: limit}).Lane("p", "k")
			b.ReportAllocs()
			var wg sync.WaitGroup
			for worker := range 64 {
				wg.Go(func() {
					r := r
					r.Candidate = string(rune('a' + worker%5))
					for range b.N/64 + 1 {
						p, err := l.Acquire(b.Context(), r)
						if err != nil {
							b.Error(err)
							return
						}
						p.Done(done)
					}
				})
			}
			wg.Wait()
		})
	}
}
