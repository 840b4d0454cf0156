package ledger

// prefetchBatches is the number of batches of a table in memory: one in use, the others being
// read.
const prefetchBatches = 4

// prefetcher reads a table in a separate goroutine, a few batches ahead, because decoding rows
// is most of the work of a report.
type prefetcher[T any, P record[T]] struct {
	full chan batch[T]
	free chan []T
	last []T
}

type batch[T any] struct {
	rows []T
	err  error
}

// prefetch starts reading the rows.
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

// next returns the next rows, which are valid until the next call. After an error it must not be
// called again.
func (p *prefetcher[T, P]) next() (rows []T, err error) {
	if p.last != nil {
		p.free <- p.last
	}
	b := <-p.full
	p.last = b.rows
	return b.rows, b.err
}

// close ends the goroutine and waits for it.
func (p *prefetcher[T, P]) close() {
	close(p.free)
	for range p.full { // the batches that are still being read
	}
}
