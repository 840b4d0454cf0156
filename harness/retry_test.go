package harness_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// busy refuses every other request.
type busy struct {
	next  http.RoundTripper
	count atomic.Int64
}

func (b *busy) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.count.Add(1)%2 == 0 {
		return b.next.RoundTrip(r)
	}
	_ = r.Body.Close()
	resp := testkit.Reply(r, http.StatusTooManyRequests, `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`)
	resp.Header.Set("Retry-After", "2")
	return resp, nil
}

// Every attempt of a refused request is on the cassette, all count as one turn, and a replay makes
// the same attempts without waiting.
func TestRefusedRequestsAreRetried(t *testing.T) {
	onVirtualClock(t, func(t *testing.T) {
		o := recordOver(t, inMemory, "G01")
		o.Select.Candidates = []string{"strong"}
		o.Concurrency = 1
		transport := o.Transport
		b := &busy{next: transport("")}
		o.Transport = func(string) http.RoundTripper { return b }
		var waits []time.Duration
		o.Retry.Sleep = func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		}
		recorded, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		ep := rowsOf(t, recorded).Episodes[0]
		require.Empty(t, ep.ErrorText)
		require.True(t, ep.Solved)
		require.Len(t, waits, len(rowsOf(t, recorded).Turns))
		for i, turn := range rowsOf(t, recorded).Turns {
			require.EqualValues(t, 2, turn.Attempts)
			require.EqualValues(t, http.StatusOK, *turn.HTTPStatus)
			require.Empty(t, turn.ErrorKind)
			require.GreaterOrEqual(t, waits[i], 2*time.Second, "the advice is heeded")
		}
		o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
		o.Retry.Sleep = nil
		start := time.Now()
		replayed, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Zero(t, time.Since(start), "a replay does not wait")
		require.Equal(t, withoutRun(rowsOf(t, recorded)), withoutRun(rowsOf(t, replayed)))
	})
}

// flaky loses the connection of every other request.
type flaky struct{ busy }

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.count.Add(1)%2 == 0 {
		return f.next.RoundTrip(r)
	}
	_ = r.Body.Close()
	return nil, errors.New("connection reset by peer")
}

// A transport failure is on the cassette like a reply, so that a replay makes as many attempts.
func TestLostConnectionsAreRetried(t *testing.T) {
	o := recordOptions(t, "G01")
	o.Select.Candidates = []string{"strong"}
	f := &flaky{busy{next: o.Transport("")}}
	o.Transport = func(string) http.RoundTripper { return f }
	o.Retry.Sleep = func(context.Context, time.Duration) error { return nil }
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, rowsOf(t, recorded).Episodes[0].ErrorText)
	require.EqualValues(t, 2, rowsOf(t, recorded).Turns[0].Attempts)
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, withoutRun(rowsOf(t, recorded)), withoutRun(rowsOf(t, replayed)))
}

// A provider that always refuses is an infrastructure error with the number of attempts.
func TestRetriesAreBounded(t *testing.T) {
	o := recordOptions(t, "G01")
	o.Mode = recorder.Live
	o.Select.Candidates = []string{"strong"}
	o.Transport = func(string) http.RoundTripper { return always429{} }
	o.Retry.Sleep = func(context.Context, time.Duration) error { return nil }
	onVirtualClock(t, func(t *testing.T) { // it waits as advised, in no time
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		ep := rowsOf(t, res).Episodes[0]
		require.True(t, ep.InfraError)
		require.Equal(t, "rate_limit", ep.ErrorKind)
		require.Contains(t, ep.ErrorText, "after 4 attempts")
		require.EqualValues(t, 4, rowsOf(t, res).Turns[0].Attempts)
	})
}

type always429 struct{}

func (always429) RoundTrip(r *http.Request) (*http.Response, error) {
	b := busy{}
	return b.RoundTrip(r)
}
