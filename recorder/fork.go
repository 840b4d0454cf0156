package recorder

import (
	"net/http"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

// ForkDigest names, in Header.Digests, the SHA-256 hex of the cassette whose
// beginning a fork's cassette begins with.
const ForkDigest = "fork"

// Past is the http.RoundTripper of the beginning of an episode that goes on from
// a recorded one: it answers from that one's cassette, never from a network, and
// a recording that goes on keeps what it answered as if it had just been made.
// Safe for concurrent use.
type Past struct{ source, next *Recorder }

// NewPast returns the past of next: requests are answered by source, a Recorder
// in replay. While next records, its exchanges count there as if they had just been
// made; otherwise their index is that in source.
func NewPast(source, next *Recorder) *Past { return &Past{source, next} }

// Live is always false: see Recorder.Live.
func (p *Past) Live() bool { return false }

// RoundTrip answers one request, as a Recorder in replay does.
func (p *Past) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.next.o.Mode != Record {
		return p.source.RoundTrip(req)
	}
	t := p.next.reserve(req)
	report := observer(req.Context())
	ctx := Observe(req.Context(), func(x Exchange) {
		p.next.adopt(t, &p.source.index.data.Interactions[x.Index])
		if x.Index = t.index; report != nil {
			report(x)
		}
	})
	resp, err := p.source.RoundTrip(req.WithContext(ctx))
	if err == nil {
		resp.Request = req
	}
	return resp, err
}

// adopt puts a recorded interaction there.
func (r *Recorder) adopt(t *recording, it *cassette.Interaction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.it, t.done = *it, true
}
