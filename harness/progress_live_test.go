package harness_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
)

// The reported progress agrees with the result, also with a provider that refuses half of the
// requests.
func TestLiveProgress(t *testing.T) {
	o := liveOptions(t, "strong")
	network := &half{next: o.Transport(""), rng: rand.New(rand.NewPCG(1, 2))}
	o.Transport = func(string) http.RoundTripper { return network }
	o.Concurrency, o.Retry.Attempts, o.Retry.Budget = 16, 40, time.Hour
	var began, last harness.Progress
	watched, ended := 0, 0
	why := map[admission.Why]int{}
	o.Watch = func(p harness.Progress) {
		if watched++; watched == 1 {
			began = p
		}
		if p.Change != nil {
			why[p.Change.Why]++
		}
	}
	o.Progress = func(p harness.Progress) {
		ended++
		require.Equal(t, ended, p.Done)
		require.Nil(t, p.Change)
		require.LessOrEqual(t, p.InFlight, 16)
		require.GreaterOrEqual(t, p.CostNanoUSD, last.CostNanoUSD)
		last = p
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, harness.Progress{RunID: res.Manifest.RunID, Dir: res.Dir, Total: len(unscripted(o.Suite))}, withoutAdmission(began))
	require.Len(t, unscripted(o.Suite), ended)
	require.Zero(t, last.InFlight)
	require.Equal(t, res.Manifest.Outcomes, last.Outcomes)
	require.Positive(t, why[admission.Start])
	require.Positive(t, why[admission.RateLimit]+why[admission.Overloaded])
	require.Positive(t, why[admission.Recovered])

	requests := int64(0)
	for _, turn := range rowsOf(t, res).Turns {
		requests += int64(turn.Attempts)
	}
	require.Equal(t, requests, last.Requests)
	require.EqualValues(t, network.busy.Load(), last.Retries)
	require.Equal(t, last.Requests, last.Admission.Spent.Requests)
	require.Equal(t, last.CostNanoUSD, last.Admission.Spent.CostNanoUSD, "refusals cost nothing")
	require.Positive(t, last.Tokens)
}

func withoutAdmission(p harness.Progress) harness.Progress {
	p.Admission = admission.Snapshot{}
	return p
}
