package agent

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// toolsEpisode is an episode of turns with two calls each, then the answer.
type toolsEpisode struct {
	params  Params
	replies []providers.Reply
	result  tool.Result
}

func newToolsEpisode(t testing.TB, turns int) *toolsEpisode {
	e := &toolsEpisode{
		params: Params{
			Request: "How many angry messages did we get today?", Tools: testTools(t), MaxIterations: turns,
			Budgets: guard.Budgets{MaxSteps: 2 * turns, MaxToolCalls: 2 * turns, MaxTime: time.Hour, MaxTokens: 1 << 40},
		},
		result: tool.Result{Outcome: tool.OK, Value: json.RawMessage(`{"label":"angry","value":449,"start":"2026-05-13","end":"2026-05-13"}`)},
	}
	for i := range turns - 1 {
		e.replies = append(e.replies, calling("search", fmt.Sprintf(`{"query":"query %d"}`, i), "get_job_status", fmt.Sprintf(`{"id":"%d"}`, i)))
	}
	e.replies = append(e.replies, saying("449 angry messages today."))
	for i := range e.replies {
		e.replies[i].Usage = providers.Usage{Reported: true, Input: 100, Output: 10}
	}
	return e
}

// run drives the episode to its end and panics if it is not the answer.
func (e *toolsEpisode) run() {
	m, err := New("tools", e.params, nil)
	if err != nil {
		panic(err)
	}
	at, turn := testStart, 0
	queue := m.Step(Started{At: at}).Commands
	for len(queue) > 0 {
		at = at.Add(time.Millisecond)
		var ev Event
		switch c := queue[0].(type) {
		case CallModel:
			ev = ModelReplied{At: at, ID: c.ID, Reply: e.replies[turn]}
			turn++
		case CallTool:
			ev = ToolReturned{At: at, ID: c.ID, Result: e.result}
		case Finish:
			if c.Status != Answered {
				panic(c)
			}
			return
		}
		queue = append(queue[1:], m.Step(ev).Commands...)
	}
}

// BenchmarkToolsTurn runs episodes of the strategy tools, whose turns call two tools each, on 1, 4 and
// 16 machines in parallel. ns/turn must not grow with the length of episodes or the number of
// machines, which share only the immutable tools. The lower bound of a turn is validating two calls
// and computing their keys (BenchmarkValidate and BenchmarkKey of package tool).
func BenchmarkToolsTurn(b *testing.B) {
	for _, turns := range []int{5, 50} {
		for _, machines := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("turns=%d/machines=%d", turns, machines), func(b *testing.B) {
				e := newToolsEpisode(b, turns)
				b.ReportAllocs()
				for b.Loop() {
					var wg sync.WaitGroup
					for range machines {
						wg.Go(func() { e.run() })
					}
					wg.Wait()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns*machines), "ns/turn")
			})
		}
	}
}

// A turn takes less than 100 µs. The fastest of several episodes counts, because the machine may be
// busy.
func TestToolsTurnIsCheap(t *testing.T) {
	const turns, limit = 50, 100 * time.Microsecond
	e := newToolsEpisode(t, turns)
	best := time.Hour
	for range 20 {
		start := time.Now()
		e.run()
		best = min(best, time.Since(start)/turns)
	}
	if best > limit {
		t.Fatalf("a turn takes %v, more than %v", best, limit)
	}
	t.Logf("a turn takes %v", best)
}
