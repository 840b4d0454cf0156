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

// The progress of a resumed run counts what its earlier processes did.
func TestResumedProgress(t *testing.T) {
	drain := make(chan struct{})
	o := fanOptions(t, fan{wide: 1, deep: 1}, slowly{0})
	o.Mode, o.Trials, o.Concurrency, o.Drain = recorder.Live, 3, 1, drain
	ended := 0
	o.Progress = func(harness.Progress) {
		if ended++; ended == 2 {
			close(drain)
		}
	}
	first, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, 2, first.Manifest.Episodes)

	var at []harness.Progress
	o.Drain, o.Resume, o.Progress = nil, first.Manifest.RunID, nil
	o.Watch = func(p harness.Progress) { at = append(at, p) }
	o.Progress = o.Watch
	last, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	began, over := at[0], at[len(at)-1]
	require.Equal(t, []int{2, 2, 3}, []int{began.Done, began.Resumed, began.Total})
	require.Equal(t, first.Manifest.Outcomes.Solved+first.Manifest.Outcomes.Failed, began.Outcomes.Solved+began.Outcomes.Failed)
	require.Zero(t, began.Last.TaskID, "none has ended since")
	require.Positive(t, began.Requests)
	require.Equal(t, last.Manifest.Outcomes, over.Outcomes)
	require.Equal(t, over.Requests, 3*began.Requests/2)
	require.Equal(t, over.Tokens, 3*began.Tokens/2)
}
