package secrets

import (
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/internal/credential"
	"github.com/cupel-eval/cupel/recorder/internal/canonical"
)

// minLearned is the length in bytes from which the value of a request's header or parameter is a
// credential. Shorter ones are placeholders, such as "simulated".
const minLearned = 16

// Learn adds the credentials of a request, because a client library may have found them without
// cupel.
func (s *Finder) Learn(req *http.Request) {
	var found []string
	for name, values := range req.Header {
		if !carriesCredential(strings.ToLower(name)) {
			continue
		}
		for _, v := range values {
			found = append(found, credentialOf(v))
		}
	}
	if req.URL.User != nil {
		password, _ := req.URL.User.Password()
		found = append(found, password)
	}
	for part := range strings.SplitSeq(req.URL.RawQuery, "&") {
		if !credential.Param(canonical.ParamName(part)) {
			continue
		}
		_, v, _ := strings.Cut(part, "=")
		found = append(found, unescapePercent(v))
	}
	for _, v := range found {
		if len(v) >= minLearned {
			s.Add(v)
		}
	}
}

// credentialOf returns the credential in a header's value, without the scheme. A signature
// contains none.
func credentialOf(v string) string {
	scheme, rest, ok := strings.Cut(v, " ")
	if !ok {
		return v
	}
	if strings.HasPrefix(scheme, "AWS4-") {
		return ""
	}
	return strings.TrimSpace(rest)
}

// carriesCredential reports whether a request header has a credential, by its name in lower case.
func carriesCredential(name string) bool {
	switch name {
	case "x-idempotency-key", "idempotency-key", "sec-websocket-key":
		return false
	case "cookie", "api-key", "x-amz-security-token":
		return true
	}
	if canonical.HeaderKept(name) {
		return false
	}
	for _, part := range []string{"auth", "secret", "password", "api-key", "apikey", "subscription-key"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return strings.HasSuffix(name, "-token") || strings.HasSuffix(name, "-key")
}

// Watch returns a RoundTripper that learns the credentials of the requests to base. A Recorder
// does so itself; Watch is for transports below it that sign requests. nil means
// http.DefaultTransport.
func (s *Finder) Watch(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return watched{base, s}
}

type watched struct {
	base    http.RoundTripper
	secrets *Finder
}

// RoundTrip implements http.RoundTripper.
func (w watched) RoundTrip(req *http.Request) (*http.Response, error) {
	w.secrets.Learn(req)
	return w.base.RoundTrip(req)
}
