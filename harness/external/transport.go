package external

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/cupel-eval/cupel/harness/admission"
)

// sending is the transport of a request of an agent, below the recorder.
type sending struct {
	body   []byte
	base   http.RoundTripper
	permit *admission.Permit // nil if there is none
	// ended ends once nothing waits for the reply any more.
	ended context.Context
}

// RoundTrip implements http.RoundTripper. It sends its body in place of the recorded one. The
// end of the episode is a failure of its requests in flight, a timeout, so that they are
// recorded.
func (s *sending) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(s.ended, cancel)
	out := req.Clone(ctx)
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(s.body)), int64(len(s.body))
	resp, err := s.base.RoundTrip(out)
	body := &sentBody{s: s, end: func() { stop(); cancel() }}
	if err != nil {
		body.end()
		return nil, body.failure(err)
	}
	if s.permit != nil {
		s.permit.Header(resp.Header)
	}
	body.ReadCloser, resp.Body = resp.Body, body
	return resp, nil
}

// sentBody is the body of a reply.
type sentBody struct {
	io.ReadCloser
	s   *sending
	end func()
}

// Read implements io.Reader.
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.failure(err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *sentBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

func (b *sentBody) failure(err error) error {
	if b.s.ended.Err() != nil {
		return endedError{}
	}
	return err
}

// endedError is the failure of an exchange that the end of its episode cut off. It is a
// net.Error.
type endedError struct{}

// Error implements error.
func (endedError) Error() string { return "the episode ended before the reply" }

// Timeout reports that the error is a timeout.
func (endedError) Timeout() bool { return true }

// Temporary is deprecated and always false.
func (endedError) Temporary() bool { return false }
