package ledger

// prefetchBatches is how many batches of a table are in memory: one is looked at
// while the others are read.
const prefetchBatches = 4

// prefetcher reads a table in a goroutine of its own, a few batches before they are
// asked for: decoding the rows of a run is most of the work of a report.
type prefetcher[T any, P record[T]] struct {
	full chan batch[T]
	free chan []T
	last []T
}

type batch[T any] struct {
	rows []T
	err  error
}

// prefetch begins to read the rows.
func prefetch[T any, P record[T]](rows *tableReader[T, P]) *prefetcher[T, P] {
	p := &prefetcher[T, P]{full: make(chan batch[T], prefetchBatches), free: make(chan []T, prefetchBatches)}
	for range prefetchBatches {
		p.free <- nil
	}
	go func() {
		defer close(p.full)
		for room := range p.free {
			if room == nil {
				room = make([]T, 0, batchRows)
			}
			rows.batch = room
			list, err := rows.next()
			p.full <- batch[T]{list, err}
			if err != nil {
				return
			}
		}
	}()
	return p
}

// next returns the next rows, which are good until it is called again. An error is
// the last thing it returns.
func (p *prefetcher[T, P]) next() (rows []T, err error) {
	if p.last != nil {
		p.free <- p.last
	}
	b := <-p.full
	p.last = b.rows
	return b.rows, b.err
}

// close waits until nothing is read any more.
func (p *prefetcher[T, P]) close() {
	close(p.free)
	for range p.full { // the batches that are still being read
	}
}
