package recorder

import (
	"net/http"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

// ForkDigest names, in Header.Digests, the SHA-256 hex of the cassette whose
// beginning a fork's cassette begins with.
const ForkDigest = "fork"

// Past is the http.RoundTripper of the recorded beginning of a fork's episode. It answers
// from the source's cassette, never from a network; a recording stores its answers as if
// they were new. It is safe for concurrent use.
type Past struct{ source, next *Recorder }

// NewPast returns the past of next: source, a Recorder in replay, answers the requests.
// While next records, the exchanges count as new there; otherwise their index is that in
// source.
func NewPast(source, next *Recorder) *Past { return &Past{source, next} }

// Live is always false: see Recorder.Live.
func (p *Past) Live() bool { return false }

// RoundTrip answers one request like a Recorder in replay.
func (p *Past) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.next.o.Mode != Record {
		return p.source.RoundTrip(req)
	}
	p.next.mu.Lock()
	t := p.next.begin(req)
	p.next.mu.Unlock()
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

// adopt completes a recording with a recorded interaction.
func (r *Recorder) adopt(t *recording, it *cassette.Interaction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.it, t.done = *it, true
}
