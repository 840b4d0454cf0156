package harness_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/admission/shared"
)

// Runs that share a cap stay below it together, and give back what they have not used.
func TestRunsShareACap(t *testing.T) {
	kv := shared.Memory()
	caps := admission.Caps{Requests: 40}
	pool, err := shared.Create(t.Context(), kv, "night", shared.Config{Identity: "plan", Caps: caps})
	require.NoError(t, err)
	var wg sync.WaitGroup
	results, errs := make([]harness.Result, 3), make([]error, 3)
	for i := range results {
		o := liveOptions(t, "strong")
		o.Caps, o.Concurrency, o.Runs = pool.Config().Caps, 8, t.TempDir()
		o.Sharing = pool.Member(shared.Options{Name: "worker"})
		wg.Go(func() { results[i], errs[i] = harness.Run(context.Background(), o) })
	}
	wg.Wait()
	sent := int64(0)
	for i, res := range results {
		require.NoError(t, errs[i])
		require.Equal(t, "partial", res.Manifest.Status)
		// The cap named is the provider's share, or the run's own where one run sends all requests.
		require.Regexp(t, "the cap on spending is reached: requests of (provider|the run)", res.Manifest.Stopped)
		for _, e := range spent(t, res) {
			sent += e.Requests
		}
	}
	s, err := pool.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.Spent, s.Granted, "everything is given back")
	require.Equal(t, sent, s.Spent.Requests)
	require.LessOrEqual(t, sent, caps.Requests)
	require.Greater(t, sent, caps.Requests-4)
}

// spent is the spending by provider in the log of a partial run.
func spent(t *testing.T, res harness.Result) map[string]admission.Spend {
	log, err := admission.OpenSpendLog(res.Dir + "/journal/spend.log")
	require.NoError(t, err)
	defer func() { require.NoError(t, log.Close()) }()
	return log.Spent()
}
