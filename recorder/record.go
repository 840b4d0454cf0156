package recorder

import (
	"fmt"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/internal/canonical"
)

// recording is one exchange being recorded. Its recordingBody writes it; once done it does
// not change.
type recording struct {
	index int // in starting order
	place int // of its context, see Ordered
	nth   int // within its place
	// number is the number of its record in the journal.
	number int64
	it     cassette.Interaction
	body   []byte
	done   bool
	err    error // the reason why it cannot be in a cassette
}

// addRead adds one read and the time since the previous one.
func (t *recording) addRead(p []byte, since time.Duration) {
	if t.err != nil {
		return
	}
	if len(t.body)+len(p) > cassette.MaxBytes {
		t.err = fmt.Errorf("the response is larger than %d bytes", cassette.MaxBytes)
		return
	}
	t.body = append(t.body, p...)
	if n := len(t.it.Reads); n == cassette.MaxReads {
		t.it.Reads[n-1].Bytes += len(p)
		return
	}
	t.it.Reads = append(t.it.Reads, cassette.BodyRead{Bytes: len(p), Micros: since.Microseconds()})
}

// record sends a request and records the exchange, or answers it from the continued
// journal.
func (r *Recorder) record(req *http.Request) (*http.Response, error) {
	body, failed := requestBody(req)
	digest := ""
	if failed == nil {
		digest = requested(req, body).Digest()
	}
	only := onlyJournaled(req.Context())
	r.mu.Lock()
	if rec, ok := r.left.use(r.next(placeOf(req.Context())), digest); ok {
		t, it := r.begin(req), &rec.one.Interactions[0]
		t.it, t.number, t.done = *it, rec.number, true
		r.mu.Unlock()
		if only != nil {
			only(it.Request.Headers)
		}
		played := *it
		played.Response.Headers = it.Response.Headers.Clone() // because the caller may change them
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
	t.it.Request.Headers, t.it.Request.Body, t.it.Digest = canonical.KeptHeaders(req.Header), body, digest
	return r.send(req, body, &recordingBody{r: r, rec: t, exchange: Exchange{Index: t.index, Digest: digest}})
}

// live sends a request without recording it. It reads the body only if an observer needs
// its digest.
func (r *Recorder) live(req *http.Request) (*http.Response, error) {
	if observer(req.Context()) == nil {
		return r.o.Base.RoundTrip(req)
	}
	body, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	digest := requested(req, body).Digest()
	return r.send(req, body, &recordingBody{r: r, exchange: Exchange{Index: -1, Digest: digest}})
}

// send sends a request and wraps the body of the response in a recordingBody.
func (r *Recorder) send(req *http.Request, body string, t *recordingBody) (*http.Response, error) {
	t.ctx, t.report, t.watch = req.Context(), observer(req.Context()), watch(req.Context())
	t.start = r.o.Now()
	t.watch.begin(t.start, r.o.Now)
	resp, err := r.o.Base.RoundTrip(withBody(req, body))
	if err != nil {
		t.end(t.now(true), err)
		return nil, err
	}
	t.exchange.Status = resp.StatusCode
	t.timeless = resp.Header.Get(canonical.Batched) != ""
	if t.rec != nil {
		to := &t.rec.it.Response
		to.Status, to.Code, to.Headers = resp.Status, resp.StatusCode, canonical.KeptHeaders(resp.Header)
	}
	t.body, t.length = resp.Body, resp.ContentLength
	if req.Method == http.MethodHead {
		t.length = 0
	}
	out := *resp
	out.Body, out.Request = t, req
	return &out, nil
}
