package recorder

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/internal/canonical"
)

// requestBody reads a request's body of at most cassette.MaxBytes, and closes it, as a
// RoundTripper must.
func requestBody(req *http.Request) (string, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return "", nil
	}
	defer func() { _ = req.Body.Close() }() // harmless after reading
	var b strings.Builder
	var from io.Reader = req.Body
	if n := req.ContentLength; n > 0 && n <= cassette.MaxBytes {
		b.Grow(int(n))
	} else {
		from = io.LimitReader(req.Body, cassette.MaxBytes+1)
	}
	if _, err := io.Copy(&b, from); err != nil {
		return "", fmt.Errorf("read request body: %w", err)
	}
	if b.Len() > cassette.MaxBytes {
		return "", fmt.Errorf("request body is larger than %d bytes", cassette.MaxBytes)
	}
	return b.String(), nil
}

// withBody returns a copy of a request whose body was read, with that body again. It copies,
// because a RoundTripper must not change its request.
func withBody(req *http.Request, body string) *http.Request {
	out := req.WithContext(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return out
	}
	if req.GetBody != nil {
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	}
	out.Body = io.NopCloser(strings.NewReader(body))
	return out
}

type roleKey struct{}

// InRole returns a context whose requests are made in a role other than the candidate's, such
// as judge. A recording keeps the role, and a replay answers a request only with a recording
// of its own role. An empty role is the candidate's.
func InRole(ctx context.Context, role string) context.Context {
	return context.WithValue(ctx, roleKey{}, role)
}

// requested is a request as it is matched.
func requested(req *http.Request, body string) cassette.Request {
	role, _ := req.Context().Value(roleKey{}).(string)
	return cassette.Request{Role: role, Method: method(req), URL: canonical.URL(req.URL), Body: body}
}

func method(req *http.Request) string { return cmp.Or(req.Method, http.MethodGet) }
