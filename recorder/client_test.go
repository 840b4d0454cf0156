package recorder

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// These tests run a real client against a real server, and then against its recording.

func TestAClientSeesTheSameWithoutTheServer(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		switch req.URL.Path {
		case "/redirect":
			http.Redirect(w, req, "/echo?key=abc", http.StatusTemporaryRedirect)
		case "/error":
			w.Header().Set("Retry-After", "7")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(body)
			_ = z.Close()
		case "/pieces":
			for len(body) > 0 {
				n := min(len(body), 1+rng.Intn(50))
				_, _ = w.Write(body[:n])
				w.(http.Flusher).Flush()
				body = body[n:]
			}
		default:
			_, _ = w.Write(body)
		}
	}))
	defer srv.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	r := newRecording(t, base)

	noise := make([]byte, 3000)
	rng.Read(noise)
	sse := strings.Repeat("event: x\r\ndata: {\"a\":\"é\"}\r\n\r\n", 40)
	type seen struct {
		status, body, retry string
	}
	visit := func(rt http.RoundTripper) (all []seen) {
		client := &http.Client{Transport: rt, Timeout: 10 * time.Second}
		for _, path := range []string{"/echo", "/redirect", "/error", "/nothing", "/gzip", "/pieces"} {
			for _, body := range []string{"", "{\"a\":1}", string(noise), sse} {
				resp, err := client.Post(srv.URL+path, "text/plain", strings.NewReader(body))
				require.NoError(t, err)
				got, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				all = append(all, seen{resp.Status, string(got), resp.Header.Get("Retry-After")})
			}
		}
		resp, err := client.Head(srv.URL + "/echo")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return append(all, seen{status: resp.Status})
	}
	live := visit(r)
	require.Equal(t, seen{"200 OK", sse, ""}, live[3])
	require.Equal(t, seen{"200 OK", string(noise), ""}, live[6], "through the redirect")
	require.Equal(t, seen{"429 Too Many Requests", "slow down\n", "7"}, live[9])
	back := saved(t, r)
	srv.Close()
	require.Equal(t, live, visit(back))
	require.Zero(t, back.Leftover())
}

func TestRandomChunkings(t *testing.T) {
	rng := rand.New(rand.NewSource(6))
	r := newRecording(t, nil)
	var want [][]string
	for range 100 {
		var chunks []string
		for range rng.Intn(20) {
			chunk := make([]byte, 1+rng.Intn(100))
			rng.Read(chunk)
			if rng.Intn(2) == 0 {
				chunk = bytes.ToValidUTF8(chunk, []byte("é"))
			}
			chunks = append(chunks, string(chunk))
		}
		r.o.Base = says(chunks...)
		_, got := ask(t, r, post(t, "https://api.test/", "{}"))
		require.Equal(t, chunks, got)
		want = append(want, chunks)
	}
	back := saved(t, r)
	for i := range want {
		_, got := ask(t, back, post(t, "https://api.test/", "{}"))
		require.Equal(t, want[i], got)
	}
}
