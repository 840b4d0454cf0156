package proxy

import (
	"context"
	"net/http"
)

// originalName finds the request of WithOriginal in a context.
type originalName struct{}

// WithOriginal returns the context of a request that is recorded and matched in place of
// another: Originals sends what original returns. It is called only if a request is sent, so
// that a replay needs no provider.
func WithOriginal(ctx context.Context, original func(context.Context) (*http.Request, error)) context.Context {
	return context.WithValue(ctx, originalName{}, original)
}

// Originals returns the transport beneath a recorder whose requests have the context of
// WithOriginal: it sends the originals with base. A request without one goes as it is.
func Originals(base http.RoundTripper) http.RoundTripper { return originals{base} }

type originals struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (o originals) RoundTrip(req *http.Request) (*http.Response, error) {
	make, _ := req.Context().Value(originalName{}).(func(context.Context) (*http.Request, error))
	if make == nil {
		return o.base.RoundTrip(req)
	}
	if req.Body != nil {
		_ = req.Body.Close() // it was recorded already
	}
	original, err := make(req.Context())
	if err != nil {
		return nil, err
	}
	return o.base.RoundTrip(original)
}
