package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// liveOptions returns a live run of the built-in suite against simulated models.
func liveOptions(t *testing.T, candidates ...string) harness.Options {
	t.Helper()
	return live(recordOptions(t), candidates...)
}

// liveOver returns liveOptions with another transport.
func liveOver(t *testing.T, transport func(string) http.RoundTripper, candidates ...string) harness.Options {
	t.Helper()
	return live(recordOver(t, transport), candidates...)
}

func live(o harness.Options, candidates ...string) harness.Options {
	o.Mode, o.CassetteDir = recorder.Live, ""
	o.Select.Candidates = candidates
	o.Retry.Sleep = noSleep
	return o
}

// A cap ends the run with a valid partial result: the ledger has the paid episodes, the manifest
// counts those that did not start, and spending is below the cap.
func TestCapsEndARun(t *testing.T) {
	for name, caps := range map[string]admission.Caps{
		"cost": {CostNanoUSD: 100_000_000}, "tokens": {Tokens: 60_000}, "requests": {Requests: 10},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "tokens" {
				testkit.Slow(t)
			}
			o := liveOptions(t, "strong")
			o.Caps, o.Concurrency = caps, 16
			res, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			out := res.Manifest.Outcomes
			require.Equal(t, "partial", res.Manifest.Status)
			require.Contains(t, res.Manifest.Stopped, "cap")
			require.Positive(t, out.BudgetStops+out.Unfinished)
			require.Len(t, unscripted(o.Suite), out.Solved+out.Failed+out.WithoutResult())

			var spent admission.Caps
			rows := rowsOf(t, res)
			for _, turn := range rows.Turns {
				if turn.CostNanoUSD != nil {
					spent.CostNanoUSD += *turn.CostNanoUSD
				}
				if turn.In != nil {
					spent.Tokens += *turn.In + *turn.Out + *turn.CacheRead + *turn.CacheWrite + *turn.Reasoning
				}
				if turn.HTTPStatus != nil {
					spent.Requests += int64(turn.Attempts)
				}
			}
			require.Positive(t, spent.Requests)
			for _, m := range [][2]int64{{spent.CostNanoUSD, caps.CostNanoUSD}, {spent.Tokens, caps.Tokens}, {spent.Requests, caps.Requests}} {
				if m[1] > 0 {
					require.LessOrEqual(t, m[0], m[1])
				}
			}
			for _, e := range rows.Episodes {
				if e.Status == ledger.StatusBudgetStop {
					require.True(t, e.InfraError)
					require.Equal(t, episode.KindRunBudget, e.ErrorKind)
				}
			}

			// Resumed without the cap, it finishes and repeats no request.
			o.Caps, o.Resume = admission.Caps{}, res.Manifest.RunID
			whole, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			require.Equal(t, "complete", whole.Manifest.Status)
			require.Len(t, unscripted(o.Suite), whole.Manifest.Outcomes.Solved+whole.Manifest.Outcomes.Failed)
			require.Empty(t, whole.Manifest.Stopped)
		})
	}
}

// A cap of one provider stops only its candidates.
func TestCapOfOneProvider(t *testing.T) {
	o := liveOptions(t, "strong", "strong-anthropic")
	o.Select.Tasks = []string{"G0*"}
	o.Limits = map[string]admission.Limits{"sim-openai": {Caps: admission.Caps{Requests: 3}}}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	ended := map[string]int{}
	for _, e := range rowsOf(t, res).Episodes {
		if !e.InfraError {
			ended[e.Provider]++
		}
	}
	require.Less(t, ended["sim-openai"], 4)
	require.Equal(t, res.Manifest.Candidates[1].Planned, ended["sim-anthropic"])
	require.Greater(t, res.Manifest.Candidates[0].Planned, 4)
}

func TestCapsNeedWhatTheyCount(t *testing.T) {
	o := liveOptions(t, "strong")
	for i := range o.Suite.Candidates {
		o.Suite.Candidates[i].Model = "nobody-has-priced-this"
	}
	o.Caps.CostNanoUSD = 1
	_, err := harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "max_cost caps its cost, but the price table has no price of model nobody-has-priced-this")
}

// The extra body of a candidate must not raise the worst case of a request.
func TestCapsRefuseABodyThatLengthensAnswers(t *testing.T) {
	for want, body := range map[string]map[string]any{
		"":                                 {"top_p": 0.5, "metadata": map[string]any{"names": []any{"n"}}},
		"n":                                {"n": 4},
		"max_completion_tokens":            {"max_completion_tokens": 99999},
		"generationConfig.maxOutputTokens": {"generationConfig": map[string]any{"maxOutputTokens": 1}},
		"list.best_of":                     {"list": []any{1, map[string]any{"best_of": 2}}},
	} {
		o := liveOptions(t, "strong")
		o.Select.Tasks, o.Caps.CostNanoUSD = []string{"G01"}, 1_000_000_000
		o.Candidates = append([]goldens.Candidate(nil), o.Suite.Candidates...)
		for i := range o.Candidates {
			o.Candidates[i].Body = body
		}
		_, err := harness.Run(context.Background(), o)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "its body sets "+want+", ")
		o.Caps.CostNanoUSD = 0
		_, err = harness.Run(context.Background(), o)
		require.NoError(t, err, "without a cap it may")
	}
}

// half answers 429 to half of the requests and forwards the others.
type half struct {
	next http.RoundTripper
	mu   sync.Mutex
	rng  *rand.Rand
	busy atomic.Int32
}

func (h *half) RoundTrip(req *http.Request) (*http.Response, error) {
	h.mu.Lock()
	refuse := h.rng.IntN(2) == 0
	h.mu.Unlock()
	if refuse {
		h.busy.Add(1)
		return status(http.StatusTooManyRequests).RoundTrip(req)
	}
	return h.next.RoundTrip(req)
}

// Every episode ends, each request is retried until it succeeds, and the history of the limits
// shows how the run slowed down.
func TestProviderThatRefusesHalf(t *testing.T) {
	onVirtualClock(t, func(t *testing.T) {
		o := liveOver(t, inMemory, "strong", "strong-anthropic")
		server := o.Transport("")
		network := &half{next: server, rng: rand.New(rand.NewPCG(1, 2))}
		o.Transport = func(string) http.RoundTripper { return network }
		o.Concurrency, o.Retry.Attempts, o.Retry.Budget = 16, 40, time.Hour
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, "complete", res.Manifest.Status)
		require.Equal(t, 2*len(unscripted(o.Suite)), res.Manifest.Outcomes.Solved+res.Manifest.Outcomes.Failed)
		require.Greater(t, network.busy.Load(), int32(100))
		extra := 0
		for _, turn := range rowsOf(t, res).Turns {
			extra += int(turn.Attempts) - 1
		}
		require.EqualValues(t, network.busy.Load(), extra, "every refusal is accounted for")

		f, err := os.Open(filepath.Join(res.Dir, "limits.jsonl"))
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Close()) }()
		slowed := 0
		for in := bufio.NewScanner(f); in.Scan(); {
			var c admission.Change
			require.NoError(t, json.Unmarshal(in.Bytes(), &c))
			require.LessOrEqual(t, c.Limit, 16)
			if c.Why == admission.RateLimit {
				slowed++
			}
		}
		require.Positive(t, slowed)
	})
}

// paying is a network that refuses a call at first and then answers slowly.
type paying struct {
	next    http.RoundTripper
	refused atomic.Int32
}

func (p *paying) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.refused.Add(1) == 1 {
		resp, err := status(http.StatusTooManyRequests).RoundTrip(req)
		resp.Header.Set("Retry-After", "1")
		return resp, err
	}
	return p.next.RoundTrip(req)
}

// Waiting does not count towards an episode's time budget: a wait of a second does not end an
// episode with a budget of half a second.
func TestWaitingDoesNotCountTowardsTheTimeBudget(t *testing.T) {
	onVirtualClock(t, func(t *testing.T) {
		o := liveOver(t, inMemory, "strong")
		o.Select.Tasks = []string{"G01"}
		taskNamed(t, o.Suite, "G01").Budgets.MaxTime = 900 * time.Millisecond
		network := &paying{next: o.Transport("")}
		o.Transport = func(string) http.RoundTripper { return network }
		o.Retry.Sleep, o.Retry.Base = nil, time.Millisecond
		start := time.Now()
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(start), time.Second, "it waited as it was told")
		e := rowsOf(t, res).Episodes[0]
		require.Equal(t, "answered", e.Status, e.ErrorText)
		require.Less(t, *e.ElapsedUs, int64(900_000))
	})
}
