package harness_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
)

// inProcess sends requests to a handler.
type inProcess struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (h inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(20 * time.Millisecond)
	resp, _ := testkit.Handled(h)(req)
	return resp, req.Context().Err()
}

// A run of 20 requests against a limit of one per second with a burst of three takes hardly longer
// than the limit requires, and none of them fails. The same is true of a limit with a used burst
// of a minute. The clock is virtual.
func TestRunIsAsFastAsTheLimit(t *testing.T) {
	for provider, path := range map[string]string{
		"sim-openai": "/v1/chat/completions", "sim-responses": "/v1/responses", "sim-anthropic": "/v1/messages",
	} {
		for limit, used := range map[string]int{"rpm=60,burst=3": 0, "rpm=60": 57} {
			t.Run(provider+" "+limit, func(t *testing.T) {
				o := fanOptions(t, fan{wide: 1, deep: 1}, nil)
				o.Mode, o.Trials, o.Runs = recorder.Live, 20, ""
				o.Candidates[0].Provider, o.Candidates[0].BaseURL, o.Candidates[0].Model = provider, "", "sim-strong"
				o.Retry.Sleep = nil
				onVirtualClock(t, func(t *testing.T) {
					server := sim.Handler(sim.Config{Limit: limit})
					for range used { // by others; what is refused counts, too
						server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}")))
					}
					o.Transport = func(string) http.RoundTripper { return inProcess{server} }
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
}
