//go:build unix

package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// diligent answers immediately with every strategy. It calls a tool with new arguments each time,
// and then answers.
type diligent struct{ strategy string }

const (
	diligentTurns = 16 // of an episode, or steps of a plan
	diligentUsage = 100
)

func (d diligent) Call(_ context.Context, c providers.Call) (providers.Reply, error) {
	done := 0
	for _, m := range c.Messages {
		if m.Role == providers.RoleTool {
			done++
		}
	}
	r := providers.Reply{Finish: providers.FinishStop, Usage: providers.Usage{Reported: true, Input: diligentUsage, Output: 10}}
	call := func(name, args string) {
		r.Calls = append(r.Calls, providers.ToolCall{ID: fmt.Sprintf("call_%d_%d", done, len(r.Calls)), Name: name, Args: args})
		r.Finish = providers.FinishTools
	}
	switch {
	case d.strategy == "tools" && done < 2*(diligentTurns-1):
		call("get_job_status", fmt.Sprintf(`{"id":"%d"}`, done))
		call("get_job_status", fmt.Sprintf(`{"id":"%d"}`, done+1))
	case d.strategy == "plan" && len(c.Tools) == 1 && c.Tools[0].Name == "create_task":
		call("create_task", diligentPlan())
	case d.strategy == "plan" && done == 0 && len(c.Tools) > 0:
		call("get_job_status", fmt.Sprintf(`{"id":%q}`, c.Messages[0].Text[len("STEP: "):][:3]))
	default:
		r.Text = "it is done"
	}
	return r, nil
}

// diligentPlan has independent steps and one that depends on all of them.
func diligentPlan() string {
	type step struct {
		ID           string   `json:"id"`
		Instructions string   `json:"instructions"`
		DependsOn    []string `json:"depends_on"`
		Tools        []string `json:"tools"`
	}
	all := step{ID: "all", Instructions: "Bring the results together.", DependsOn: []string{}, Tools: []string{}}
	var steps []step
	for i := range diligentTurns {
		s := step{ID: fmt.Sprintf("s%02d", i), Instructions: "Look the job up.", DependsOn: []string{}, Tools: []string{"get_job_status"}}
		steps, all.DependsOn = append(steps, s), append(all.DependsOn, s.ID)
	}
	text, err := json.Marshal(map[string]any{"title": "t", "steps": append(steps, all)})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// diligentOptions returns a live run of n episodes of a strategy in memory.
func diligentOptions(t testing.TB, strategy string, n, concurrency int) harness.Options {
	t.Helper()
	o := stormOptions(t, n, nil)
	o.Strategies, o.Runs, o.Concurrency, o.Mode = nil, "", concurrency, recorder.Live
	o.Candidates = []goldens.Candidate{{Name: strategy, Agent: strategy, Provider: "openai-compatible", Model: "m", BaseURL: "http://models.test/v1", MaxIterations: 2 * diligentTurns}}
	o.Providers = map[string]providers.Factory{"openai-compatible": func(providers.Options) (providers.Model, error) { return diligent{strategy}, nil }}
	o.Transport = func(string) http.RoundTripper { return nil }
	return o
}

var diligentEpisode = map[string]int{"tools": diligentTurns, "plan": 2 + 2*diligentTurns}

// The measured episodes are complete.
func TestDiligentEpisodes(t *testing.T) {
	for strategy, turns := range diligentEpisode {
		res, err := harness.Run(context.Background(), diligentOptions(t, strategy, 4, 4))
		require.NoError(t, err)
		require.Len(t, res.Rows.Turns, 4*turns, strategy)
		for _, e := range res.Rows.Episodes {
			require.Equal(t, "answered", e.Status, "%s: %s %s", strategy, e.StopReason, e.ErrorText)
		}
		for _, turn := range res.Rows.Turns {
			require.True(t, turn.ContractValid, strategy)
		}
	}
}

// BenchmarkStrategies runs complete live episodes in parallel, with models that answer immediately,
// so that it measures the machine, its tools, the driver and the rows. A turn of tools calls two
// tools; a plan has 16 steps of two turns each, four of them in parallel. The lower bound is the
// machine alone: BenchmarkToolsTurn and BenchmarkPlan of package agent.
func BenchmarkStrategies(b *testing.B) {
	for _, strategy := range []string{"tools", "plan"} {
		for _, concurrency := range []int{1, 4, 16} {
			b.Run(fmt.Sprint(strategy, "/", concurrency), func(b *testing.B) {
				o := diligentOptions(b, strategy, 64, concurrency)
				turns := 64 * diligentEpisode[strategy]
				b.ReportAllocs()
				best, cpu := time.Hour, cpuTime(b)
				for b.Loop() {
					start := time.Now()
					res, err := harness.Run(context.Background(), o)
					require.NoError(b, err)
					require.Len(b, res.Rows.Turns, turns)
					best = min(best, time.Since(start))
				}
				perTurn(b, best, cpuTime(b)-cpu, turns, b.N)
			})
		}
	}
}
