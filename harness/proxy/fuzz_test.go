package proxy

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/gateway"
)

// FuzzServe: no bytes on a connection reach a model without a token, or without a secret and
// what identifies the episode, or with another host than this machine.
func FuzzServe(f *testing.F) {
	const token, secret, trace = "0123456789abcdef0123456789abcdef", "stablestablestable", "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, request := range []string{
		"POST /e/" + token + "/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: 14\r\n\r\n{\"model\": \"m\"}",
		"POST /s/" + secret + "/v1/messages HTTP/1.1\r\nHost: localhost\r\nTraceparent: 00-" + trace + "-00f067aa0ba902b7-01\r\nContent-Length: 2\r\n\r\n{}",
		"GET /s/" + secret + "/v1/models?key=" + token + " HTTP/1.1\r\nHost: [::1]:9\r\n\r\n",
		"POST http://127.0.0.1/e/" + token + "/v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}",
		"POST /e/../e//v1/messages HTTP/1.0\r\n\r\n",
		"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nProxy-Authorization: Basic OjAxMjM=\r\n\r\n",
	} {
		f.Add(request)
	}
	s, err := Start(f.Context(), Options{})
	require.NoError(f, err)
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			return
		}
		asked := false
		h, err := s.Open(Session{Token: token, Secret: secret, TraceID: trace, Model: func(context.Context, gateway.Request) (*http.Response, error) {
			asked = true
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), ContentLength: 2}, nil
		}})
		require.NoError(t, err)
		w := httptest.NewRecorder()
		s.serve(w, r)
		h.Close(t.Context())
		s.mu.Lock()
		delete(s.ended, token) // so that the next session may have it
		s.order = s.order[:0]
		s.mu.Unlock()
		require.NotZero(t, w.Code)
		if !asked {
			return
		}
		require.True(t, strings.Contains(raw, token) || strings.Contains(raw, secret) && strings.Contains(raw, trace), raw)
		require.True(t, s.knowsHost(r.Host), r.Host)
		require.Empty(t, r.URL.Host)
	})
}
