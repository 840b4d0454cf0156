package harness_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/recorder"
)

// counting counts episodes between their first request and their last reply, and requests in
// flight, by host.
type counting struct {
	next http.RoundTripper

	mu                         sync.Mutex
	open                       map[string]int // requests that an episode has still to make
	requests                   map[string]int
	mostEpisodes, mostRequests int
}

func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	episode, _, _ := strings.Cut(req.Header.Get("X-Client-Request-Id"), "-")
	host := req.URL.Host
	c.mu.Lock()
	if _, ok := c.open[episode]; !ok {
		c.open[episode] = 8
	}
	c.requests[host]++
	c.mostEpisodes, c.mostRequests = max(c.mostEpisodes, len(c.open)), max(c.mostRequests, c.requests[host])
	c.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests[host]--
		if c.open[episode]--; c.open[episode] == 0 {
			delete(c.open, episode)
		}
	}()
	return c.next.RoundTrip(req)
}

// Concurrency bounds the episodes of all providers that run in parallel, independently of their
// requests. LaneConcurrency bounds the requests of a lane.
func TestConcurrencyBoundsEpisodes(t *testing.T) {
	for _, test := range []struct {
		name               string
		concurrency, lane  int
		limits             map[string]admission.Limits
		episodes, requests int
	}{
		{"three episodes", 3, 0, nil, 3, 8},
		{"one episode", 1, 0, nil, 1, 4},
		{"one request per lane", 3, 1, nil, 3, 1},
		{"one request to a provider", 5, 0, map[string]admission.Limits{"openai-compatible": {Concurrency: 1}}, 5, 1},
		{"default: as many as requests, of each lane", 0, 2, nil, 4, 2},
		{"default of a provider with limits", 0, 0, map[string]admission.Limits{"openai-compatible": {Concurrency: 3}}, 6, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newRandomFaults(1)
			w.fails, w.slow = false, 0
			c := &counting{next: w, open: map[string]int{}, requests: map[string]int{}}
			o := fanOptions(t, fan{wide: 4, deep: 2}, w)
			o.Mode, o.Trials, o.Runs = recorder.Live, 8, ""
			o.Transport = func(string) http.RoundTripper { return c }
			other := o.Candidates[0]
			other.Name, other.BaseURL = "other", "http://other.test/v1"
			o.Candidates = append(o.Candidates, other)
			o.Concurrency, o.LaneConcurrency, o.Limits = test.concurrency, test.lane, test.limits
			res, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			require.Equal(t, "complete", res.Manifest.Status)
			require.Equal(t, test.episodes, c.mostEpisodes)
			require.LessOrEqual(t, c.mostRequests, test.requests)
			require.Greater(t, c.mostRequests, test.requests/2)
		})
	}
	t.Run("nonsense", func(t *testing.T) {
		o := fanOptions(t, fan{wide: 1, deep: 1}, newRandomFaults(1))
		o.Concurrency = -1
		_, err := harness.Run(context.Background(), o)
		require.ErrorContains(t, err, "concurrency -1, lane concurrency 0: must be 0, for the default, or more")
	})
}
