// Package parallel does the same to many things at once.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f with 0 to n-1, on all processors.
func Each(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
