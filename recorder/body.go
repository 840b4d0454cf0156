package recorder

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// recordingBody is a live response body. It passes every read through immediately and logs
// its size and time, plus its bytes when recording.
type recordingBody struct {
	r      *Recorder
	ctx    context.Context // of the request
	body   io.ReadCloser
	length int64 // as announced; -1 if unknown
	start  time.Time
	rec    *recording // nil if the exchange is not recorded
	watch  *Watch
	// timeless is set for a reply from a batch: all its times are 0.
	timeless bool

	mu       sync.Mutex
	ended    bool
	read     int64
	last     time.Duration // from start to the last read that brought bytes
	report   func(Exchange)
	exchange Exchange
}

// Read reads from the network.
func (t *recordingBody) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	at := t.now(err != nil)
	if n > 0 {
		t.saw(p[:n], at)
	}
	if err != nil {
		t.end(at, err)
	}
	return n, err
}

// Close closes the network's body. An exchange closed before its end is recorded as closed
// early, unless the announced length has arrived.
func (t *recordingBody) Close() error {
	err := t.body.Close()
	t.end(t.now(true), nil)
	return err
}

// now reads the clock; over marks the end of the exchange.
func (t *recordingBody) now(over bool) time.Time {
	if over {
		return t.watch.end(t.r.o.Now)
	}
	return t.r.o.Now()
}

// Elapsed is the time from sending to the last read that brought bytes.
func (t *recordingBody) Elapsed() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

func (t *recordingBody) saw(p []byte, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	since := t.since(at)
	if t.read == 0 {
		t.exchange.FirstByte = since
	}
	if t.rec != nil {
		t.rec.addRead(p, since-t.last)
	}
	t.read += int64(len(p))
	t.last = since
}

// since is the time from sending, in whole microseconds; it never decreases.
func (t *recordingBody) since(at time.Time) time.Duration {
	if t.timeless {
		return 0
	}
	return max(t.last, at.Sub(t.start).Truncate(time.Microsecond))
}

// end finishes the exchange, once: with io.EOF at its end, nil when closed,
// anything else on failure.
func (t *recordingBody) end(at time.Time, err error) {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return
	}
	t.ended = true
	t.exchange.Duration = t.since(at)
	if t.rec != nil {
		t.keep(err)
	}
	t.mu.Unlock()
	if t.report != nil {
		t.report(t.exchange)
	}
}

// keep completes the recording and adds it to the journal, before observers or Save can see
// it.
func (t *recordingBody) keep(err error) {
	k := t.rec
	switch {
	case k.err != nil || err == nil || t.body != nil && errors.Is(err, io.EOF): // without a body an EOF means a lost connection
	case t.ctx.Err() != nil:
		k.err = err // the caller cancelled, which is not the provider's failure
	default:
		k.it.Failure, k.it.TimedOut = failureOf(err)
	}
	k.it.ClosedEarly = err == nil && t.read != t.length
	k.it.FirstByte, k.it.Response.Duration = t.exchange.FirstByte, t.exchange.Duration
	k.it.Response.Body = string(k.body)
	k.body = nil
	t.r.recheck()
	t.r.journal.keep(t.r.o, k)
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	k.done = true
}
