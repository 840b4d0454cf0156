//go:build unix

package harness_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// known immediately answers a request with its recorded reply.
type known struct {
	replies map[string]*cassette.Interaction // by address and body
	sent    atomic.Int64
}

func newKnown(t testing.TB) *known {
	k := &known{replies: map[string]*cassette.Interaction{}}
	for _, x := range exchangesOf(t) {
		k.replies[x.URL+x.Request.Body] = x
	}
	return k
}

func (k *known) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	x := k.replies[r.URL.String()+string(body)]
	if x == nil {
		return nil, fmt.Errorf("nothing is known of a request to %s of %d bytes", r.URL, len(body))
	}
	k.sent.Add(1)
	return testkit.Reply(r, x.Code, x.Response.Body), nil
}

// BenchmarkLiveOverhead runs 1,000 live episodes with admission and a provider that answers
// immediately: "rows" in memory; "folder" with a synced journal, spend log and ledger; "capped"
// also with caps and limits. Times are per turn. The lower bound is BenchmarkLiveFloor, the same
// requests from a bare client.
func BenchmarkLiveOverhead(b *testing.B) {
	for _, kind := range []string{"rows", "folder", "capped"} {
		for _, concurrency := range []int{1, 16, 64} {
			b.Run(fmt.Sprint(kind, "/", concurrency), func(b *testing.B) {
				o := trialsOptions(b, 1000)
				network := newKnown(b)
				o.Mode, o.Cassettes, o.Concurrency = recorder.Live, nil, concurrency
				o.Transport = func(string) http.RoundTripper { return network }
				if kind == "capped" {
					const much = 1 << 40
					caps := admission.Caps{CostNanoUSD: much, Tokens: much, Requests: much}
					o.Caps, o.Limits = caps, map[string]admission.Limits{
						"sim-openai": {Caps: caps, Concurrency: concurrency, RequestsPerMinute: much, TokensPerMinute: much},
					}
				}
				b.ReportAllocs()
				best, cpu := time.Duration(1<<62), cpuTime(b)
				turns := 0
				for b.Loop() {
					if kind != "rows" {
						b.StopTimer()
						o.Runs = b.TempDir()
						b.StartTimer()
					}
					start := time.Now()
					res, err := harness.Run(context.Background(), o)
					require.NoError(b, err)
					require.Equal(b, "complete", res.Manifest.Status)
					best = min(best, time.Since(start))
					turns = res.Manifest.Turns
				}
				perTurn(b, best, cpuTime(b)-cpu, turns, b.N)
			})
		}
	}
}

// BenchmarkLiveFloor sends the same requests and reads the replies.
func BenchmarkLiveFloor(b *testing.B) {
	list := exchangesOf(b)
	for _, concurrency := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(concurrency), func(b *testing.B) {
			client := &http.Client{Transport: newKnown(b)}
			const turns = 2400
			best, cpu := time.Duration(1<<62), cpuTime(b)
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				var next atomic.Int64
				var wg sync.WaitGroup
				for range concurrency {
					wg.Go(func() {
						for i := next.Add(1); i <= turns; i = next.Add(1) {
							x := list[int(i)%len(list)]
							resp, err := client.Post(x.URL, "application/json", strings.NewReader(x.Request.Body))
							if err == nil {
								_, err = io.Copy(io.Discard, resp.Body)
							}
							if err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
				best = min(best, time.Since(start))
			}
			perTurn(b, best, cpuTime(b)-cpu, turns, b.N)
		})
	}
}

// perTurn reports the time of the fastest round and the processor time of all rounds.
func perTurn(b *testing.B, best, cpu time.Duration, turns, rounds int) {
	b.ReportMetric(float64(best.Nanoseconds())/1e3/float64(turns), "µs/turn")
	b.ReportMetric(float64(cpu.Nanoseconds())/1e3/float64(turns*rounds), "µs-CPU/turn")
}

// The measured episodes are complete: every request has its recorded reply, and an episode makes
// as many requests as its replay.
func TestKnownAnswers(t *testing.T) {
	o := trialsOptions(t, perTrial)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	network := newKnown(t)
	o.Mode, o.Cassettes = recorder.Live, nil
	o.Transport = func(string) http.RoundTripper { return network }
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Equal(t, replayed.Manifest.Turns, res.Manifest.Turns)
	require.Equal(t, replayed.Manifest.Outcomes, res.Manifest.Outcomes)
	require.EqualValues(t, res.Manifest.Turns, network.sent.Load())
}
