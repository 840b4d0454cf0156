package s3store

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/store"
	"github.com/cupel-eval/cupel/harness/store/storetest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// open opens a bucket of a server of the test.
func open(t *testing.T, s *server, address string, more map[string]string) (store.Store, error) {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	env := map[string]string{
		"AWS_ENDPOINT_URL_S3": web.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": "secret-of-the-test",
		"AWS_SHARED_CREDENTIALS_FILE": "absent",
	}
	for k, v := range more {
		env[k] = v
	}
	return Open(address, Options{
		Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
}

func TestContract(t *testing.T) {
	for name, address := range map[string]string{"a bucket": "s3://runs", "a prefix": "s3://runs/nightly/2026/"} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) func() store.Store {
				s := &server{objects: map[string]object{}}
				s.objects["another/program's: file"] = object{}
				one, err := open(t, s, address, nil)
				require.NoError(t, err)
				require.NoError(t, store.Probe(t.Context(), one))
				return func() store.Store { return one }
			})
		})
	}
}

// TestRealServer runs the contract on the bucket that CUPEL_TEST_S3 names, with the variables
// of the AWS tools: make s3.
func TestRealServer(t *testing.T) {
	address := os.Getenv("CUPEL_TEST_S3")
	if address == "" {
		t.Skip("CUPEL_TEST_S3 is not set to s3://BUCKET")
	}
	n := 0
	storetest.Run(t, func(t *testing.T) func() store.Store {
		n++
		s, err := Open(address+"/"+time.Now().Format("150405.000000")+strings.Repeat("x", n), Options{Lookup: os.LookupEnv})
		require.NoError(t, err)
		require.NoError(t, store.Probe(t.Context(), s))
		return func() store.Store { return s }
	})
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"s3:///x", "http://runs", "runs", "s3://key:secret@runs/x", "s3://runs?a=b", "s3://runs/a/../b", "s3://runs/.x"} {
		_, err := open(t, &server{}, address, nil)
		require.Error(t, err, address)
		require.NotContains(t, err.Error(), "key:secret")
	}
	_, err := open(t, &server{}, "s3://runs", map[string]string{"AWS_ENDPOINT_URL_S3": "localhost:9000"})
	require.ErrorContains(t, err, "AWS_ENDPOINT_URL_S3 must be like https://HOST:PORT")
	_, err = open(t, &server{}, "s3://runs", map[string]string{"AWS_ACCESS_KEY_ID": ""})
	require.ErrorIs(t, err, store.ErrDenied)
	require.ErrorContains(t, err, "there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
}

// Each failure of a server has a kind, a message and, if it may pass, further attempts.
func TestFailures(t *testing.T) {
	answer := func(status int, code string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool { fail(w, status, code); return true }
	}
	for name, c := range map[string]struct {
		before   func(http.ResponseWriter, *http.Request) bool
		kind     error
		text     string
		requests int64
	}{
		"overloaded":    {answer(503, "SlowDown"), store.ErrUnavailable, "repeat the command later", 4},
		"an accident":   {answer(500, "InternalError"), store.ErrUnavailable, "InternalError", 4},
		"no answer":     {func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }, store.ErrUnavailable, "the store does not answer", 4},
		"no space":      {answer(507, "XMinioStorageFull"), store.ErrFull, "make room", 1},
		"a quota":       {answer(403, "QuotaExceeded"), store.ErrFull, "the store is full", 1},
		"a wrong key":   {answer(403, "InvalidAccessKeyId"), store.ErrDenied, "check AWS_ACCESS_KEY_ID", 1},
		"a wrong one":   {answer(403, "SignatureDoesNotMatch"), store.ErrDenied, "check AWS_ACCESS_KEY_ID", 1},
		"no such key":   {answer(404, "XAdminUserNotFound"), store.ErrDenied, "check AWS_ACCESS_KEY_ID", 1},
		"wrong clock":   {answer(403, "RequestTimeTooSkewed"), store.ErrDenied, "set the clock of this machine", 1},
		"no permission": {answer(403, "AccessDenied"), store.ErrDenied, "what they are allowed", 1},
		"no conditions": {answer(501, "NotImplemented"), nil, "such as conditional puts", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			s, err := open(t, &server{objects: map[string]object{}, before: func(w http.ResponseWriter, r *http.Request) bool {
				requests.Add(1)
				return c.before(w, r)
			}}, "s3://runs/x", nil)
			require.NoError(t, err)
			check := func(operation string, err error) {
				t.Helper()
				require.ErrorContains(t, err, operation+" s3://runs/x/")
				require.ErrorContains(t, err, c.text)
				require.NotContains(t, err.Error(), "secret-of-the-test")
				if c.kind != nil {
					require.ErrorIs(t, err, c.kind)
				}
			}
			_, err = s.Put(t.Context(), "a", strings.NewReader("x"), store.None)
			check("put", err)
			require.Equal(t, c.requests, requests.Load())
			_, _, err = s.Get(t.Context(), "a")
			check("get", err)
			check("delete", s.Delete(t.Context(), "a"))
			for _, err := range s.List(t.Context(), "") {
				check("list", err)
			}
		})
	}
	role := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(role.Close)
	s, err := open(t, &server{}, "s3://runs", map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": role.URL})
	require.NoError(t, err)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", role.URL) // which the library reads
	_, _, err = s.Get(t.Context(), "a")
	require.ErrorIs(t, err, store.ErrDenied)
	require.ErrorContains(t, err, "this machine has no role")
	require.ErrorContains(t, err, "set AWS_ACCESS_KEY_ID")
	s, err = open(t, &server{}, "s3://other", nil)
	require.NoError(t, err)
	_, _, err = s.Get(t.Context(), "a")
	require.ErrorContains(t, err, "there is no bucket other")
	require.NotErrorIs(t, err, store.ErrNotFound)
}

// A server that takes seconds, and refuses a third of the requests because it is overloaded, is waited
// for: operations succeed, and none is carried out twice.
func TestSlowServer(t *testing.T) {
	testkit.Slow(t)
	var requests atomic.Int64
	server := &server{objects: map[string]object{}, before: func(w http.ResponseWriter, _ *http.Request) bool {
		if requests.Add(1)%3 == 1 {
			fail(w, http.StatusServiceUnavailable, "SlowDown")
			return true
		}
		time.Sleep(1500 * time.Millisecond)
		return false
	}}
	s, err := open(t, server, "s3://runs/x", nil)
	require.NoError(t, err)
	revision, err := s.Put(t.Context(), "a", strings.NewReader("one"), store.None)
	require.NoError(t, err)
	_, err = s.Put(t.Context(), "a", strings.NewReader("two"), store.None)
	require.ErrorIs(t, err, store.ErrChanged)
	_, err = s.Put(t.Context(), "a", strings.NewReader("two"), revision)
	require.NoError(t, err)
	text, _, err := store.ReadAll(t.Context(), s, "a", 10)
	require.NoError(t, err)
	require.Equal(t, "two", string(text))
	for o, err := range s.List(t.Context(), "") {
		require.NoError(t, err)
		require.Equal(t, "a", o.Name)
	}
	require.NoError(t, s.Delete(t.Context(), "a"))
	require.Empty(t, server.objects)
}

// A put whose answer is lost is repeated, and finds what it has written.
func TestLostAnswers(t *testing.T) {
	for _, was := range []store.Revision{store.None, store.Any, "known"} {
		lose := false
		server := &server{objects: map[string]object{}}
		server.after = func(http.ResponseWriter, *http.Request) bool {
			if lose {
				lose = false
				panic(http.ErrAbortHandler)
			}
			return false
		}
		s, err := open(t, server, "s3://runs", nil)
		require.NoError(t, err)
		if was == "known" {
			was, err = s.Put(t.Context(), "a", strings.NewReader("old"), store.None)
			require.NoError(t, err)
		}
		lose = true
		rev, err := s.Put(t.Context(), "a", strings.NewReader("new"), was)
		require.NoError(t, err)
		text, o, err := store.ReadAll(t.Context(), s, "a", 10)
		require.NoError(t, err)
		require.Equal(t, "new", string(text))
		require.Equal(t, rev, o.Revision)
	}
	// Another writer came between the two attempts.
	server := &server{objects: map[string]object{}}
	server.after = func(http.ResponseWriter, *http.Request) bool {
		server.after = nil
		server.objects["a"] = object{[]byte("theirs"), "e", time.Now()}
		panic(http.ErrAbortHandler)
	}
	s, err := open(t, server, "s3://runs", nil)
	require.NoError(t, err)
	_, err = s.Put(t.Context(), "a", strings.NewReader("ours"), store.None)
	require.ErrorIs(t, err, store.ErrChanged)
}

// A server that ignores conditions is found out.
func TestProbe(t *testing.T) {
	s, err := open(t, &server{objects: map[string]object{}, before: func(_ http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("If-Match")
		r.Header.Del("If-None-Match")
		return false
	}}, "s3://runs", nil)
	require.NoError(t, err)
	require.ErrorContains(t, store.Probe(t.Context(), s), "ignores the conditions of puts")
}

// A body that ends early is an error, and never a shorter object.
func TestCutOffBody(t *testing.T) {
	s, err := open(t, &server{before: func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Length", "10")
		w.Header().Set("ETag", `"e"`)
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte("half"))
		return true
	}}, "s3://runs", nil)
	require.NoError(t, err)
	_, _, err = store.ReadAll(t.Context(), s, "a", 100)
	require.Error(t, err)
	require.True(t, errors.Is(err, store.ErrUnavailable), err)
}
