package wire

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// TestHeadersThatMislead checks that a body is read correctly with wrong headers.
func TestHeadersThatMislead(t *testing.T) {
	const refused = `{"error":"no"}`
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		kind   fault.Kind // the kind of the error, if there is one
	}{
		{"time to wait beside a reply", 200, http.Header{"Retry-After": {"30"}}, whole, ""},
		{"time to wait beside a stream", 200, http.Header{"Retry-After": {"30"}}, stream, ""},
		{"unpacked on the way, gzip", 200, http.Header{"Content-Encoding": {"gzip"}}, whole, ""},
		{"unpacked on the way, br", 200, http.Header{"Content-Encoding": {"br"}, "Content-Length": {"7"}}, stream, ""},
		{"an error as an event stream", 400, http.Header{"Content-Type": {"text/event-stream"}}, refused, fault.InvalidRequest},
		{"an error as text", 400, http.Header{"Content-Type": {"text/plain"}}, refused, fault.InvalidRequest},
		{"a stream as JSON", 200, http.Header{"Content-Type": {"application/json"}}, stream, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, asked := range []bool{false, true} {
				a := &testkit.Server{Status: c.status, Header: c.header, Body: c.body}
				client, err := New(Dialect{Base: "https://service.test", Kind: plainly, Fault: ReadFault}, providers.Options{HTTP: &http.Client{Transport: a}})
				require.NoError(t, err)
				got, err := client.Do(context.Background(), providers.Call{Stream: asked}, Request{Path: "/x", Body: struct{}{}}, notes{}, nil)
				if c.kind == "" {
					require.NoError(t, err)
					require.Equal(t, "ab", got.Text)
					continue
				}
				var e *fault.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, c.kind, e.Kind)
				require.Equal(t, "no", e.Message)
			}
		})
	}
}

// TestCompressedReplies checks that the transport requests gzip and decompresses it, a
// stream piece by piece.
func TestCompressedReplies(t *testing.T) {
	for name, body := range map[string]string{"document": whole, "stream": stream} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if r.Header.Get("Accept-Encoding") != "gzip" {
					w.WriteHeader(http.StatusNotAcceptable)
					return
				}
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				for i := range body {
					_, _ = z.Write([]byte{body[i]})
					if i%20 == 0 {
						_ = z.Flush()
						_ = http.NewResponseController(w).Flush()
					}
				}
				_ = z.Close()
			}))
			defer server.Close()
			client, err := New(Dialect{Base: server.URL, Kind: plainly}, providers.Options{})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			got, err := client.Do(ctx, providers.Call{Stream: true}, Request{Path: "/x", Body: struct{}{}}, notes{}, nil)
			require.NoError(t, err)
			require.Equal(t, "ab", got.Text)
		})
	}
}
