package providertest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

func testDeterministic(t *testing.T, s Subject) {
	bodies := make(chan string, 2)
	m := s.handling(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		bodies <- r.Header.Get("Content-Type") + "\n" + string(text)
		_, _ = io.WriteString(w, s.Encode(whole))
	})
	defer done(m)
	for range 2 {
		_, err := m.Call(context.Background(), call)
		require.NoError(t, err)
	}
	first, second := <-bodies, <-bodies
	require.Equal(t, first, second)
	require.Contains(t, first, `Say <hi> & \"bye\".`, "the prompt must be readable on a cassette")
	require.NotContains(t, first, canary)
}

func testClientRequestID(t *testing.T, s Subject) {
	ids := make(chan []string, 2)
	m := s.handling(t, func(w http.ResponseWriter, r *http.Request) {
		ids <- r.Header.Values("X-Client-Request-Id")
		_, _ = io.WriteString(w, s.Encode(whole))
	})
	defer done(m)
	with := call
	with.RequestID = "01ABC-1"
	for _, c := range []providers.Call{with, call} {
		_, err := m.Call(context.Background(), c)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"01ABC-1"}, <-ids)
	require.Empty(t, <-ids)
}

func testStatuses(t *testing.T, s Subject) {
	for status, kind := range map[int]fault.Kind{
		400: fault.InvalidRequest, 401: fault.Auth, 402: fault.Quota, 403: fault.Auth,
		404: fault.NotFound, 408: fault.TimedOut, 413: fault.ContextLength, 422: fault.InvalidRequest,
		429: fault.RateLimit, 500: fault.Overloaded, 502: fault.Overloaded, 503: fault.Overloaded,
		504: fault.TimedOut, 529: fault.Overloaded,
	} {
		for form, body := range map[string]string{
			"json":      s.Fault("it went wrong"),
			"plain":     "it went wrong",
			"web page":  "<!DOCTYPE html><html><head><title>it went wrong</title></head><body>" + strings.Repeat("x", 4000) + "</body></html>",
			"empty":     "",
			"truncated": s.Fault("it went wrong")[:12],
		} {
			m := s.serving(t, status, "text/plain", body)
			reply, err := m.Call(context.Background(), call)
			done(m)
			e := asError(t, err, kind)
			require.Equal(t, status, e.Status, form)
			require.Equal(t, status, reply.Status, form)
			require.Equal(t, "req-1", e.RequestID, form)
			require.Equal(t, "under-test", e.Provider)
			require.Equal(t, call.Model, e.Model)
			require.NotEmpty(t, e.Message, form)
			require.LessOrEqual(t, utf8.RuneCountInString(e.Message), 300)
			if form == "json" || form == "plain" {
				require.Equal(t, "it went wrong", e.Message)
			}
		}
	}
}

func testMalformed(t *testing.T, s Subject) {
	good := s.Encode(whole)
	for name, body := range map[string]string{
		"empty":         "",
		"blank":         " \n",
		"null":          "null",
		"empty object":  "{}",
		"empty list":    "[]",
		"a number":      "42",
		"web page":      "<html><title>Gateway</title></html>",
		"plain text":    "upstream is resting",
		"cut":           good[:len(good)/2],
		"cut by one":    good[:len(good)-1],
		"trailing":      good + "{}",
		"half a stream": "data: " + good[:len(good)/2] + "\n\n",
		"too long":      `{"pad":"` + strings.Repeat("x", 9<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := s.serving(t, http.StatusOK, "application/json", body)
			defer done(m)
			reply, err := m.Call(context.Background(), call)
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			if e.Kind != fault.Transport || name != "half a stream" { // which a wire with other streams does not know
				requireKind(t, err, fault.Malformed)
			}
			require.Equal(t, http.StatusOK, e.Status)
			require.Equal(t, http.StatusOK, reply.Status)
			if name != "trailing" { // what stood before it may have been read
				require.Empty(t, reply.Text, "of something that is no reply")
			}
			require.Equal(t, "req-1", reply.RequestID)
			require.LessOrEqual(t, utf8.RuneCountInString(e.Message), 300)
			require.NotEmpty(t, e.Message)
		})
	}
}

func testDeadline(t *testing.T, s Subject) {
	release := make(chan struct{})
	for name, before := range map[string]string{"before headers": "", "in the body": `{"id":"x",`} {
		t.Run(name, func(t *testing.T) {
			m := s.handling(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if before != "" {
					_, _ = io.WriteString(w, before)
					w.(http.Flusher).Flush()
				}
				select {
				case <-release:
				case <-r.Context().Done():
				}
			})
			defer done(m)
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			defer cancel()
			_, err := m.Call(ctx, call)
			require.ErrorIs(t, asError(t, err, fault.TimedOut), context.DeadlineExceeded)
		})
	}
	close(release)
}

func testNoConnection(t *testing.T, s Subject) {
	m := s.handling(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := m.Call(context.Background(), call)
	requireKind(t, err, fault.Transport)
	done(m)
	_, err = m.Call(context.Background(), call) // the server is closed
	e := asError(t, err, fault.Transport)
	require.Zero(t, e.Status)
	require.Error(t, e.Err)
}

func testRedirect(t *testing.T, s Subject) {
	m := s.handling(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			_, _ = io.WriteString(w, s.Encode(whole))
			return
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	defer done(m)
	_, err := m.Call(context.Background(), call)
	require.Contains(t, asError(t, err, fault.InvalidRequest).Message, "redirect")
}

func testKey(t *testing.T, s Subject) {
	halves := canary[:9] + "\u200b" + canary[9:]
	for name, body := range map[string]string{
		"in an error object":     s.Fault("your key " + canary + " is wrong"),
		"in plain text":          "your key " + canary + " is wrong",
		"in a web page's title":  "<html><title>" + canary + "</title></html>",
		"across the cut":         s.Fault(strings.Repeat("x", 290) + canary),
		"behind much space":      "." + strings.Repeat(" ", 64<<10-16) + canary, // a cut in the key itself
		"with an invisible rune": s.Fault("key " + halves),
	} {
		for _, status := range []int{200, 401, 500} {
			m := s.handling(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", canary)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			})
			reply, err := m.Call(context.Background(), call)
			done(m)
			require.Error(t, err, name)
			require.NotContains(t, err.Error(), canary, name)
			require.NotContains(t, err.Error(), canary[:12], name)
			require.NotContains(t, reply.RequestID, canary)
		}
	}
}

func testMissingKey(t *testing.T, s Subject) {
	_, err := s.New(providers.Options{Provider: "under-test"})
	require.Contains(t, asError(t, err, fault.Auth).Message, "_API_KEY")
	_, err = s.New(providers.Options{Provider: "under-test", Key: canary + "\n"})
	requireKind(t, err, fault.Auth)
	_, err = s.New(providers.Options{Provider: "under-test", BaseURL: "http://127.0.0.1:1/v1"})
	require.NoError(t, err)
	for _, bad := range []string{"127.0.0.1:8080/v1", "ftp://host/v1", "http://", "http://host/v1?key=x", "http://" + canary + "@host/v1", "http://host/v1#x", "http://[::1"} {
		_, err = s.New(providers.Options{Provider: "under-test", BaseURL: bad, Key: canary})
		requireKind(t, err, fault.InvalidRequest)
	}
}
