package recorder

import (
	"fmt"
	"net/http"
	"time"
)

// take is one exchange being recorded. Its tap writes it; once done it does
// not change.
type take struct {
	index int // in the order they were begun
	place int // of its context, see Ordered
	nth   int // of those of one place
	// number is that of its record in the journal.
	number int64
	it     interaction
	body   []byte
	done   bool
	err    error // why it cannot go on a cassette
}

// frame keeps one read: what came, and the time since the read before.
func (t *take) frame(p []byte, since time.Duration) {
	if t.err != nil {
		return
	}
	if len(t.body)+len(p) > maxBytes {
		t.err = fmt.Errorf("the response is larger than %d bytes", maxBytes)
		return
	}
	t.body = append(t.body, p...)
	if n := len(t.it.frames); n == maxFrames {
		t.it.frames[n-1].bytes += len(p)
		return
	}
	t.it.frames = append(t.it.frames, frame{len(p), since.Microseconds()})
}

// record sends a request and keeps the exchange, or answers it from the journal that
// is continued.
func (r *Recorder) record(req *http.Request) (*http.Response, error) {
	body, failed := requestBody(req)
	digest := ""
	if failed == nil {
		digest = requestDigest(method(req), canonicalURL(req.URL), body)
	}
	only := onlyJournaled(req.Context())
	r.mu.Lock()
	if rec, ok := r.left.take(r.next(placeOf(req.Context())), digest); ok {
		t, it := r.begin(req), &rec.one.interactions[0]
		t.it, t.number, t.done = *it, rec.number, true
		r.mu.Unlock()
		if only != nil {
			only(it.Request.Headers)
		}
		played := *it
		played.Response.Headers = it.Response.Headers.Clone() // the caller may change them
		return serve(req, &played, &replayBody{path: r.o.Path, exchange: Exchange{Index: t.index}})
	}
	if only != nil {
		r.mu.Unlock()
		return nil, ErrNotJournaled
	}
	t := r.begin(req)
	t.err, t.done = failed, failed != nil
	r.mu.Unlock()
	if failed != nil {
		return nil, failed
	}
	t.it.Request.Headers, t.it.Request.Body, t.it.digest = keptHeaders(req.Header), body, digest
	return r.send(req, body, &tap{r: r, take: t, exchange: Exchange{Index: t.index, Digest: digest}})
}

// live sends a request and keeps nothing. Its body is read only for one who
// wants to know its digest.
func (r *Recorder) live(req *http.Request) (*http.Response, error) {
	if observer(req.Context()) == nil {
		return r.o.Base.RoundTrip(req)
	}
	body, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	digest := requestDigest(method(req), canonicalURL(req.URL), body)
	return r.send(req, body, &tap{r: r, exchange: Exchange{Index: -1, Digest: digest}})
}

// send passes a request on and puts the tap on the response.
func (r *Recorder) send(req *http.Request, body string, t *tap) (*http.Response, error) {
	t.ctx, t.report, t.watch = req.Context(), observer(req.Context()), watch(req.Context())
	t.start = r.o.Now()
	t.watch.begin(t.start, r.o.Now)
	resp, err := r.o.Base.RoundTrip(withBody(req, body))
	if err != nil {
		t.end(t.now(true), err)
		return nil, err
	}
	t.exchange.Status = resp.StatusCode
	if t.take != nil {
		to := &t.take.it.Response
		to.Status, to.Code, to.Headers = resp.Status, resp.StatusCode, keptHeaders(resp.Header)
	}
	t.body, t.length = resp.Body, resp.ContentLength
	if req.Method == http.MethodHead {
		t.length = 0
	}
	out := *resp
	out.Body, out.Request = t, req
	return &out, nil
}
