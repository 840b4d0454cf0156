package harness_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// drainedAt closes a channel at the first request.
type drainedAt struct {
	http.RoundTripper
	close func()
}

func (d drainedAt) RoundTrip(req *http.Request) (*http.Response, error) {
	d.close()
	return d.RoundTripper.RoundTrip(req)
}

// A drained run starts nothing new, does not wait for admission, and keeps the episodes that end
// within a second.
func TestDrain(t *testing.T) {
	refuse := status(http.StatusTooManyRequests)
	for name, test := range map[string]struct {
		network http.RoundTripper
		kept    int
		within  time.Duration
	}{
		"a request that ends":         {slowly{300 * time.Millisecond}, 1, time.Second},
		"a request that does not end": {slowly{time.Minute}, 0, 1500 * time.Millisecond},
		"a pause between attempts":    {refuse, 0, 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			drain := make(chan struct{})
			network := drainedAt{test.network, sync.OnceFunc(func() { close(drain) })}
			o := fanOptions(t, fan{wide: 1, deep: 1}, network)
			o.Mode, o.Trials, o.Concurrency, o.Drain = recorder.Live, 3, 1, drain
			o.Retry.Sleep, o.Retry.Base = nil, time.Hour
			start := time.Now()
			res, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			require.Less(t, time.Since(start), test.within)
			require.True(t, res.Interrupted)
			require.Equal(t, "partial", res.Manifest.Status)
			require.Equal(t, "interrupted", res.Manifest.Stopped)
			require.Equal(t, test.kept, res.Manifest.Episodes)
			require.Equal(t, 3-test.kept, res.Manifest.Outcomes.Unfinished)
		})
	}
}

// slowly answers after a delay.
type slowly struct{ after time.Duration }

func (s slowly) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(s.after):
		w := newRandomFaults(1)
		w.fails, w.fast = false, true
		return w.RoundTrip(req)
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}
