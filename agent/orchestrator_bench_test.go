package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/providers"
)

// BenchmarkOrchestratorTurn is a turn of one of six open conversations, each with a call, in
// an episode of so many turns. What the driver of the test does counts, too.
func BenchmarkOrchestratorTurn(b *testing.B) {
	tools := instanceTools(b)
	for _, turns := range []int{100, 1_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			b.ReportAllocs()
			asked := 0
			start := time.Now()
			for b.Loop() {
				r := orchestrationOf(b, turns)
				r.Tools = tools
				asked += len(r.run().asked)
			}
			b.ReportMetric(float64(time.Since(start).Microseconds())/float64(asked), "µs/turn")
		})
	}
}

// orchestrationOf is an episode in which five builders and the orchestrator take turns.
func orchestrationOf(t testing.TB, turns int) *instanceRun {
	r := &instanceRun{t: t, replies: map[string][]any{}}
	r.Orchestrator = limits.Bounds{Turns: 1_000, BuilderTurns: 1_000, Lifetime: 24 * time.Hour, Memory: limits.Memory{Tokens: 10_000_000}}
	var first providers.Reply
	for i := range 5 {
		first.Calls = append(first.Calls, building(fmt.Sprint(i)).Calls...)
	}
	r.replies[""] = append(r.replies[""], first)
	for i := range turns / 6 {
		for _, id := range []string{"", "bg_1", "bg_2", "bg_3", "bg_4", "bg_5"} {
			r.replies[id] = append(r.replies[id], calling("list-workflows", fmt.Sprintf(`{"query":"%d"}`, i)))
		}
	}
	return r
}
