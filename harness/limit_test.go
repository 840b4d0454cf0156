package harness_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
)

// inProcess sends requests to a handler.
type inProcess struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (h inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(20 * time.Millisecond)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Result(), req.Context().Err()
}

// requestsAtARate are options of a live run of 20 episodes of one request each,
// against a server with a limit.
func requestsAtARate(t *testing.T, provider, limit string) harness.Options {
	t.Helper()
	o := fanOptions(t, fan{wide: 1, deep: 1}, nil)
	o.Mode, o.Trials, o.Runs = recorder.Live, 20, ""
	o.Candidates[0].Provider, o.Candidates[0].BaseURL, o.Candidates[0].Model = provider, "", "sim-strong"
	server := inProcess{sim.Handler(sim.Config{Limit: limit})}
	o.Transport = func(string) http.RoundTripper { return server }
	o.Retry.Sleep = nil
	return o
}

// A run against a provider that has one request a second, and three at first, takes
// hardly longer than that allows, and has no episode without a result. The clock is
// virtual.
func TestARunIsAsFastAsTheLimit(t *testing.T) {
	for _, provider := range []string{"sim-openai", "sim-responses", "sim-anthropic", "sim-gemini"} {
		t.Run(provider, func(t *testing.T) {
			o := requestsAtARate(t, provider, "rpm=60,burst=3")
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				res, err := harness.Run(context.Background(), o)
				require.NoError(t, err)
				took := time.Since(start)
				t.Log(took)
				require.Equal(t, "complete", res.Manifest.Status)
				require.Len(t, res.Rows.Turns, 20)
				for _, turn := range res.Rows.Turns {
					require.Empty(t, turn.ErrorKind)
				}
				require.GreaterOrEqual(t, took, 17*time.Second)
				require.Less(t, took, 22100*time.Millisecond)
			})
		})
	}
}
