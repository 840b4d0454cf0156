package vertex

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2"
)

// tokenTimeout bounds how long a token is waited for.
const tokenTimeout = 30 * time.Second

// Transport puts an access token of Application Default Credentials on requests
// to Google that carry no Authorization, and sends them with base; nil means
// http.DefaultTransport. The credentials are read when the first such request is
// sent, not before: beneath a recorder a replay never asks for them. Safe for
// concurrent use.
func Transport(base http.RoundTripper) http.RoundTripper {
	return newTransport(base, os.Getenv)
}

func newTransport(base http.RoundTripper, env func(string) string) *transport {
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{base: base, env: env, onGoogle: metadata.OnGCE}
}

type transport struct {
	base http.RoundTripper
	env  func(string) string
	// onGoogle reports whether the machine is one of Google's, with an account.
	onGoogle func() bool

	mu     sync.Mutex
	source oauth2.TokenSource // renews its token by itself
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" || !isGoogle(req) {
		return t.base.RoundTrip(req)
	}
	token, err := t.tokenFor(req.Context())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nothing was sent
		}
		return nil, &credentialError{err}
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return t.base.RoundTrip(req)
}

// isGoogle keeps the token from other hosts: it opens more than a model.
func isGoogle(req *http.Request) bool {
	return req.URL.Scheme == "https" && strings.HasSuffix(req.URL.Hostname(), ".googleapis.com")
}

// tokenFor returns a token, or ctx's error as soon as that ends.
func (t *transport) tokenFor(ctx context.Context) (token string, err error) {
	found := make(chan struct{})
	var of string
	var failed error
	go func() {
		defer close(found)
		of, failed = t.token()
	}()
	select {
	case <-found:
		return of, failed
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// token serves one request at a time: what is read is read once. The source
// outlives the request, and therefore does not hold its context.
func (t *transport) token() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.source == nil {
		client := &http.Client{Transport: t.base, Timeout: tokenTimeout}
		source, err := t.findCredentials(context.WithValue(context.Background(), oauth2.HTTPClient, client))
		if err != nil {
			return "", err
		}
		t.source = source
	}
	token, err := t.source.Token()
	if err != nil {
		return "", err
	}
	return token.AccessToken, nil
}
