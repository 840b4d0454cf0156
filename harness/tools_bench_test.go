package harness_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// tenTurns is a model that calls two tools in each of nine turns and then answers.
type tenTurns struct{}

func (tenTurns) Call(_ context.Context, c providers.Call) (providers.Reply, error) {
	r := providers.Reply{Finish: providers.FinishStop, Usage: providers.Usage{Reported: true, Input: 9, Output: 1}}
	turn := len(c.Messages) / 3 // a request, then two results and the calls they answer
	if turn == 9 {
		r.Text = "done"
		return r, nil
	}
	for i := range 2 {
		r.Calls = append(r.Calls, providers.ToolCall{ID: fmt.Sprint("c", i), Name: "get_job_status", Args: fmt.Sprintf(`{"id":"%d-%d"}`, turn, i)})
	}
	return r, nil
}

// BenchmarkToolsOverhead measures cupel's own time per turn: plan, machine, prompt, world, rows and
// checks. It runs 200 episodes of strategy tools in parallel, with ten turns of two calls and
// models that answer immediately. The lower bound is BenchmarkToolsTurn in package agent, the
// machine alone.
func BenchmarkToolsOverhead(b *testing.B) {
	for _, concurrency := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(concurrency), func(b *testing.B) {
			o := stormOptions(b, 1, nil)
			o.Strategies, o.Candidates = nil, []goldens.Candidate{{Name: "ten", Agent: "tools", Provider: "openai-compatible", Model: "m", BaseURL: "http://models.test/v1"}}
			o.Mode, o.Runs, o.Trials, o.Concurrency = recorder.Live, "", 200, concurrency
			o.Providers = map[string]providers.Factory{"openai-compatible": func(providers.Options) (providers.Model, error) { return tenTurns{}, nil }}
			o.Transport = func(string) http.RoundTripper { return nil }
			b.ReportAllocs()
			for b.Loop() {
				res, err := harness.Run(context.Background(), o)
				require.NoError(b, err)
				require.Len(b, res.Rows.Turns, 2000)
				require.Len(b, res.Rows.ToolCalls, 3600)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/2000/float64(b.N), "µs/turn")
		})
	}
}
