package testkit

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Transport is a function as an http.RoundTripper.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f Transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Refuse fails every request with an error.
func Refuse(err error) Transport {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// Handled answers requests by a handler, without a socket.
func Handled(h http.Handler) Transport {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result(), nil
	}
}

// Body answers one request with status 200, no headers and a body.
func Body(body io.Reader) Transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
	}
}

// Reply is an answer to a request whose body is JSON.
func Reply(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

// Server gives all requests the same answer and keeps the last one. Its requests come one after
// the other.
type Server struct {
	Status int // 0 means 200
	Header http.Header
	Body   string
	Got    *http.Request // the last; nil if none came
	Sent   string        // its body
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.Got, s.Sent = r, string(sent)
	resp, err := Body(strings.NewReader(s.Body))(r)
	if s.Status != 0 {
		resp.StatusCode = s.Status
	}
	if s.Header != nil {
		resp.Header = s.Header
	}
	return resp, err
}
