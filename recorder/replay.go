package recorder

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

// replay answers from the cassette, without delay unless Options.Speed is set.
func (r *Recorder) replay(req *http.Request) (*http.Response, error) {
	body, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	raw := requested(req, body)
	rs := r.index.find(raw)
	if digest, ok := req.Context().Value(digestKey{}).(string); ok {
		rs = r.index.byDigest[digest]
	}
	i := -1
	if rs != nil {
		r.mu.Lock()
		i = r.index.next(rs)
		r.mu.Unlock()
	}
	if i < 0 {
		return nil, r.miss(raw, rs)
	}
	it := &r.index.data.Interactions[i]
	return serve(req, it, &replayBody{path: r.o.Path, clock: newReplayClock(req.Context(), r.o), exchange: Exchange{Index: i}})
}

// serve answers a request from a recording. b is its body, with the clock and the index to
// report.
func serve(req *http.Request, it *cassette.Interaction, b *replayBody) (*http.Response, error) {
	b.it = it
	b.exchange = Exchange{
		Index: b.exchange.Index, Digest: it.Digest, Status: it.Response.Code,
		FirstByte: it.FirstByte, Duration: it.Response.Duration, Replayed: true,
	}
	b.report = observer(req.Context())
	watch(req.Context()).add(it.Response.Duration)
	if it.Failure != "" && it.Response.Code == 0 {
		err := b.clock.until(it.Response.Duration)
		b.finish()
		if err != nil {
			return nil, err
		}
		return nil, &failure{it.Failure, it.TimedOut}
	}
	// The headers are not copied, because each interaction is replayed once.
	resp := &http.Response{
		Status: it.Response.Status, StatusCode: it.Response.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: it.Response.Headers, Body: b, ContentLength: int64(len(it.Response.Body)), Request: req,
	}
	if it.ClosedEarly || it.Failure != "" {
		resp.ContentLength = -1
	}
	return resp, nil
}

// miss returns the error for a request without an unused recording. used are the recordings
// of equal requests, nil if there are none.
func (r *Recorder) miss(raw cassette.Request, used *sameRequest) error {
	e := &MissError{Path: r.o.Path, Command: r.o.Command}
	if used != nil {
		e.Nearest = used.indexes[len(used.indexes)-1]
		e.Diff = []string{fmt.Sprintf("all %d recordings of this request were already used", len(used.indexes))}
		return e
	}
	e.Nearest, e.Diff = r.index.data.Nearest(raw)
	return e
}

// replayBody serves a recorded body read by read.
type replayBody struct {
	it    *cassette.Interaction
	path  string
	clock *replayClock

	mu       sync.Mutex
	next     int // the recorded read to serve next
	served   int // bytes of that read that were served
	offset   int // bytes of the body that were served
	elapsed  time.Duration
	closed   bool
	report   func(Exchange)
	exchange Exchange
}

// Read never crosses the end of a recorded read. If the recorded transport failed, Read fails
// at the same byte. If the body was closed early while recording, Read ends with
// io.ErrUnexpectedEOF, because the rest is unknown.
func (b *replayBody) Read(p []byte) (int, error) {
	err := b.clock.until(b.due())
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return 0, http.ErrBodyReadAfterClose
	}
	if err != nil {
		b.mu.Unlock()
		b.finish()
		return 0, err
	}
	if b.next < len(b.it.Reads) {
		left := b.it.Reads[b.next].Bytes - b.served
		n := copy(p[:min(len(p), left)], b.it.Response.Body[b.offset:])
		if b.served == 0 {
			b.elapsed += time.Duration(b.it.Reads[b.next].Micros) * time.Microsecond
		}
		b.offset += n
		b.served += n
		if n == left {
			b.next, b.served = b.next+1, 0
		}
		b.mu.Unlock()
		return n, nil
	}
	b.mu.Unlock()
	b.finish()
	if b.it.Failure != "" {
		return 0, &failure{b.it.Failure, b.it.TimedOut}
	}
	if b.it.ClosedEarly {
		return 0, fmt.Errorf("cassette %s: interaction %d was closed here when it was recorded: %w",
			b.path, b.exchange.Index, io.ErrUnexpectedEOF)
	}
	return 0, io.EOF
}

// due is the recorded time of the bytes that the next Read returns, since sending.
func (b *replayBody) due() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.next == len(b.it.Reads):
		return b.it.Response.Duration
	case b.served == 0:
		return b.elapsed + time.Duration(b.it.Reads[b.next].Micros)*time.Microsecond
	}
	return b.elapsed
}

// Elapsed returns the recorded time from sending to the last bytes read.
func (b *replayBody) Elapsed() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.elapsed
}

// Close ends the exchange and interrupts a waiting Read.
func (b *replayBody) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.finish()
	return nil
}

// finish stops the clock and reports the exchange once.
func (b *replayBody) finish() {
	b.clock.end()
	b.mu.Lock()
	report := b.report
	b.report = nil
	b.mu.Unlock()
	if report != nil {
		report(b.exchange)
	}
}
