package ledger

// aheadBatches is how many batches of a table are in memory: one is looked at
// while the others are read.
const aheadBatches = 4

// ahead reads a table in a goroutine of its own, a few batches before they are
// asked for: decoding the rows of a run is most of the work of a report.
type ahead[T any, P record[T]] struct {
	full chan batch[T]
	free chan []T
	last []T
}

type batch[T any] struct {
	rows []T
	err  error
}

func readAhead[T any, P record[T]](rows *tableReader[T, P]) *ahead[T, P] {
	a := &ahead[T, P]{full: make(chan batch[T], aheadBatches), free: make(chan []T, aheadBatches)}
	for range aheadBatches {
		a.free <- nil
	}
	go func() {
		defer close(a.full)
		for room := range a.free {
			if room == nil {
				room = make([]T, 0, batchRows)
			}
			rows.batch = room
			list, err := rows.next()
			a.full <- batch[T]{list, err}
			if err != nil {
				return
			}
		}
	}()
	return a
}

// next returns the next rows, which are good until it is called again. An error is
// the last thing it returns.
func (a *ahead[T, P]) next() (rows []T, err error) {
	if a.last != nil {
		a.free <- a.last
	}
	b := <-a.full
	a.last = b.rows
	return b.rows, b.err
}

// close waits until nothing is read any more.
func (a *ahead[T, P]) close() {
	close(a.free)
	for range a.full { // what is under way
	}
}
