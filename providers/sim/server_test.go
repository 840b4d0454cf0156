package sim

import (
	"context"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client returns a client with its own connections, which are closed when the test
// ends.
func client(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func TestStartServesUntilClosed(t *testing.T) {
	s, err := Start(context.Background(), "", Config{Seed: 1})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(s.URL(), "http://127.0.0.1:"), s.URL())

	c := client(t)
	resp, err := c.Post(s.URL()+"/v1/chat/completions", "application/json", strings.NewReader(openAIBody(t, "sim-strong", countPrompt("angry on 2026-05-03?"), "")))
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, string(body), "chatcmpl-sim")
	require.Empty(t, resp.Header.Get("Date"), "a reply depends on no clock")

	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "a second Close is harmless")
	_, err = c.Get(s.URL() + "/healthz")
	require.Error(t, err)
}

func TestContextEndsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s, err := Start(ctx, "", Config{})
	require.NoError(t, err)
	cancel()
	require.NoError(t, s.Close())
	_, err = client(t).Get(s.URL() + "/healthz")
	require.Error(t, err)
}

func TestStartRefuses(t *testing.T) {
	cases := []struct {
		name, addr string
		cfg        Config
		want       string
	}{
		{"all interfaces", "0.0.0.0:0", Config{}, "not loopback"},
		{"all interfaces, v6", "[::]:0", Config{}, "not loopback"},
		{"a host name", "example.com:80", Config{}, "not loopback"},
		{"a private address", "10.0.0.1:80", Config{}, "not loopback"},
		{"no port", "127.0.0.1", Config{}, "missing port"},
		{"negative latency", "", Config{Latency: -1}, "latency"},
		{"infinite latency", "", Config{Latency: math.Inf(1)}, "latency"},
		{"latency not a number", "", Config{Latency: math.NaN()}, "latency"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Start(context.Background(), c.addr, c.cfg)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestStartNamesABusyPort(t *testing.T) {
	s, err := Start(context.Background(), "", Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, err = Start(context.Background(), strings.TrimPrefix(s.URL(), "http://"), Config{})
	require.ErrorContains(t, err, "sim: listen:")
}

// TestLatencyIsSleptAndInterruptible checks that a request with a latency of about a
// quarter of an hour ends when its client disconnects, and does not delay Close.
func TestLatencyIsSleptAndInterruptible(t *testing.T) {
	s, err := Start(context.Background(), "", Config{Seed: 1, Latency: 1000})
	require.NoError(t, err)
	body := openAIBody(t, "sim-strong", countPrompt("angry on 2026-05-03?"), "")

	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/v1/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	_, err = client(t).Do(r)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	pending := make(chan error, 1)
	go func() {
		resp, err := client(t).Post(s.URL()+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err == nil {
			err = resp.Body.Close()
		}
		pending <- err
	}()
	time.Sleep(50 * time.Millisecond) // the request is waiting, or not yet accepted; Close ends both
	require.NoError(t, s.Close())
	if err := <-pending; err != nil {
		t.Logf("pending request: %v", err) // a 503 and a lost connection are both accepted
	}
}

func TestLatencyDistribution(t *testing.T) {
	p, _ := profileFor("sim-strong")
	require.Zero(t, p.Latency.Draw(1, 100, 0))
	require.Equal(t, 900*time.Millisecond+100*8*time.Millisecond, p.Latency.Draw(0, 100, 1))
	require.Equal(t, (900*time.Millisecond+100*8*time.Millisecond)/2, p.Latency.Draw(0, 100, 0.5))
	require.Equal(t, time.Hour, p.Latency.Draw(3, 1, 1e12))

	// The latencies are drawn from a seeded log-normal distribution, so half of them
	// are below the median.
	const n = 4000
	below := 0
	for i := range n {
		d := drawsFor(1, p.Name, "", []byte{byte(i), byte(i >> 8)})
		require.LessOrEqual(t, math.Abs(d.normal), 3.0)
		if p.Latency.Draw(d.normal, 0, 1) < p.Latency.Median {
			below++
		}
	}
	require.InDelta(t, n/2, below, 4*math.Sqrt(n)/2)
}
