package loopback

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A request in flight sees its context end, and its answer still arrives.
func TestCloseEndsRequests(t *testing.T) {
	asked := make(chan bool)
	s, err := Start(t.Context(), ":0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		_, _ = io.WriteString(w, "closing")
	}), false)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(s.URL(), "http://127.0.0.1:"), s.URL())
	answered := make(chan string)
	go func() {
		text := "no answer"
		transport := &http.Transport{DisableKeepAlives: true}
		if resp, err := (&http.Client{Transport: transport}).Get(s.URL()); err == nil {
			body, _ := io.ReadAll(resp.Body) // an error leaves it empty
			_ = resp.Body.Close()
			text = string(body)
		}
		answered <- text
	}()
	<-asked
	require.NoError(t, s.Close())
	require.Equal(t, "closing", <-answered)
	require.NoError(t, s.Close(), "a second Close is harmless")
}

// A client that has connected and says nothing holds nobody up.
func TestCloseHangsUpOnTheSilent(t *testing.T) {
	s, err := Start(t.Context(), "", http.NotFoundHandler(), false)
	require.NoError(t, err)
	for range 3 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		require.NoError(t, err)
		defer conn.Close() //nolint:errcheck // it is only to be there
	}
	time.Sleep(20 * time.Millisecond) // for the server to accept them
	begin := time.Now()
	require.NoError(t, s.Close())
	require.Less(t, time.Since(begin), 4*time.Second)
}

func TestListenAddress(t *testing.T) {
	cases := []struct {
		addr   string
		remote bool
		want   string
	}{
		{"", false, "127.0.0.1:0"},
		{":8177", false, "127.0.0.1:8177"},
		{":8177", true, ":8177"},
		{"localhost:1", false, "localhost:1"},
		{"[::1]:1", false, "[::1]:1"},
		{"0.0.0.0:1", true, "0.0.0.0:1"},
	}
	for _, c := range cases {
		got, err := complete(c.addr, c.remote)
		require.NoError(t, err, c.addr)
		require.Equal(t, c.want, got, c.addr)
	}
}

func TestStartRefuses(t *testing.T) {
	for addr, want := range map[string]string{
		"0.0.0.0:0": "not loopback", "[::]:0": "not loopback", "example.com:80": "not loopback", "10.0.0.1:80": "not loopback", "127.0.0.1": "missing port",
	} {
		_, err := Start(t.Context(), addr, http.NotFoundHandler(), false)
		require.ErrorContains(t, err, want, addr)
	}
}
