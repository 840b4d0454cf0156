package harness_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// answerer is a model that answers immediately.
type answerer struct{}

func (answerer) Call(context.Context, providers.Call) (providers.Reply, error) {
	return providers.Reply{Text: "yes", Finish: providers.FinishStop, Usage: providers.Usage{Reported: true, Input: 9, Output: 1}}, nil
}

// BenchmarkParallelCalls runs an episode of 480 turns with k of them in flight. The live variant
// has a model that answers immediately, so that it measures the driver (plan, goroutine, order,
// row). The other variant replays a cassette. The time of a turn must not grow with k.
func BenchmarkParallelCalls(b *testing.B) {
	for _, mode := range []recorder.Mode{recorder.Live, recorder.Replay} {
		for _, k := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("%s/%d", mode, k), func(b *testing.B) {
				w := newRandomFaults(1)
				w.fails, w.fast = false, true
				o := fanOptions(b, fan{wide: k, deep: 480 / k}, w)
				o.Suite.Tasks[0].Budgets.MaxSteps = 1000
				_, err := harness.Run(context.Background(), o)
				require.NoError(b, err)
				o.Mode, o.Runs = mode, ""
				if mode == recorder.Live {
					o.Providers = map[string]providers.Factory{"openai-compatible": func(providers.Options) (providers.Model, error) { return answerer{}, nil }}
					o.Transport = func(string) http.RoundTripper { return nil }
				}
				b.ReportAllocs()
				for b.Loop() {
					res, err := harness.Run(context.Background(), o)
					require.NoError(b, err)
					require.Len(b, res.Rows.Turns, 480)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/480/float64(b.N), "µs/turn")
			})
		}
	}
}
