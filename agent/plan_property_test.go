package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// drawnPlan is a random valid plan with the dependencies of each step.
type drawnPlan struct {
	args string
	deps map[string][]string
}

// drawPlan is any graph without a cycle, its steps in any order and of any mode.
func drawPlan(t *rapid.T) drawnPlan {
	n := rapid.IntRange(1, 8).Draw(t, "steps")
	p := drawnPlan{deps: map[string][]string{}}
	lists := map[string]bool{}
	var steps []string
	for i := range n {
		id := fmt.Sprint("s", i)
		step := map[string]any{"id": id, "instructions": "do " + id}
		deps := []string{}
		if i > 0 {
			for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 3), rapid.ID[int]).Draw(t, "deps") {
				deps = append(deps, fmt.Sprint("s", d))
			}
		}
		fromLists := slices.DeleteFunc(slices.Clone(deps), func(d string) bool { return !lists[d] })
		switch rapid.IntRange(0, 3).Draw(t, "mode") {
		case 0:
			step["mode"], lists[id] = "discover", true
		case 1:
			step["output_schema"] = map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "number"}}}
		case 2:
			if len(fromLists) == 1 {
				step["mode"], step["per_item_instructions"], lists[id] = "process", "tell of {item}", true
				step["per_item_schema"] = map[string]any{"type": "string"}
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "tools") == 0 {
			step["tools"] = []string{"search"}
		}
		step["depends_on"] = deps
		p.deps[id] = deps
		text, err := json.Marshal(step)
		require.NoError(t, err)
		steps = append(steps, string(text))
	}
	p.args = planCall(rapid.Permutation(steps).Draw(t, "order")...)
	return p
}

// oracle replies depending on the request and its number of repetitions, but not on the time.
type oracle struct {
	seed  uint64
	plan  string
	wild  bool // anything may be said; otherwise steps come to their end
	turns map[string]int
}

func (o *oracle) pick(key string, of int) int {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, o.seed, key)
	return int(h.Sum64() >> 24 % uint64(of)) // its low bits hardly mix
}

func (o *oracle) model(c CallModel) (providers.Reply, error) {
	n := o.turns[c.Step]
	o.turns[c.Step]++
	key := fmt.Sprint(c.Step, " ", n)
	if c.Role == turn.RolePlanner {
		if o.wild && o.pick(key, 4) == 0 {
			return reply("", "create_task {}"), nil
		}
		return reply("", o.plan), nil
	}
	if o.wild {
		switch o.pick(key+"w", 12) {
		case 0:
			return reply(hostileReplies[o.pick(key, len(hostileReplies))]), nil
		case 1:
			return reply("", finishCall(`{"no":1}`), `search {"query":"x"}`), nil
		case 2:
			return reply("", `nonsense {`, `search {"q":1}`), nil
		case 3:
			if o.pick(key+"f", 8) == 0 {
				return providers.Reply{}, refused{errors.New("full")}
			}
		}
	}
	if n < 2 && o.pick(key, 2) == 0 {
		return reply("", fmt.Sprintf(`search {"query":%q}`, key), `search {"query":"both"}`), nil
	}
	return o.finish(c, key), nil
}

// finish ends a step with a result that fits.
func (o *oracle) finish(c CallModel, key string) providers.Reply {
	for _, t := range c.Call.Tools {
		if t.Name != "finish_step" {
			continue
		}
		switch schema := string(t.Schema); {
		case strings.Contains(schema, `"result":{"type":"array"`):
			items := []string{"x", "y", "z", "u", "v", "w"}[:o.pick(key+"n", 7)]
			text, _ := json.Marshal(items)
			if len(items) == 0 {
				text = []byte("[]")
			}
			return reply("", finishCall(string(text)))
		case strings.Contains(schema, `"n":`):
			return reply("", finishCall(fmt.Sprintf(`{"n":%d}`, o.pick(key+"r", 100))))
		}
		return reply("", finishCall(fmt.Sprintf(`"result %d"`, o.pick(key+"r", 100))))
	}
	return reply(fmt.Sprintf("text %d", o.pick(key+"r", 100)))
}

// drawStage returns a stage with random durations.
func drawStage(t *rapid.T, o *oracle) *stage {
	times := rapid.SliceOfN(rapid.IntRange(0, 5000), 16, 16).Draw(t, "times")
	n := 0
	return &stage{
		t: t, model: o.model,
		tool: func(c CallTool) tool.Result {
			return tool.Result{Outcome: tool.OK, Value: c.Call.Args}
		},
		took: func(Command) time.Duration {
			n++
			return time.Duration(times[n%len(times)]) * time.Millisecond
		},
	}
}

// watcher checks every event of a random episode.
type watcher struct {
	t      *rapid.T
	p      Params
	plan   drawnPlan
	done   map[string]bool // steps
	open   map[int]Command
	lastID int
}

func (w *watcher) look(ev Event, ready Ready) {
	id := eventID(ev)
	asked, isModel := w.open[id].(CallModel)
	delete(w.open, id)
	_, replied := ev.(ModelReplied)
	require.Equal(w.t, replied && isModel && asked.Kind != turn.KindCompress, ready.Judgement != nil)
	b := w.p.Budgets
	require.True(w.t, b.MaxSteps == 0 || ready.Used.Steps <= b.MaxSteps)
	require.True(w.t, b.MaxToolCalls == 0 || ready.Used.ToolCalls <= b.MaxToolCalls)
	for _, u := range ready.Updates {
		switch u.Status {
		case statusSuccess:
			w.done[u.Phase] = true
		case statusStarted:
			for _, d := range w.plan.deps[u.Phase] {
				require.True(w.t, w.done[d], "%s began before %s was done", u.Phase, d)
			}
		}
	}
	for _, c := range ready.Commands {
		if _, ok := c.(Finish); ok {
			return
		}
		require.Greater(w.t, commandID(c), w.lastID)
		w.lastID = commandID(c)
		w.open[w.lastID] = c
		require.False(w.t, b.OutOfTime(ready.Used), "a command after time was up")
	}
	w.checkOpen(ready.Used)
}

// checkOpen checks that the outstanding commands exceed no budget and no limit on parallel items.
func (w *watcher) checkOpen(used guard.Used) {
	items := map[string]int{}
	for _, c := range w.open {
		switch c := c.(type) {
		case CallModel:
			used.Steps++
			if step, _, isItem := strings.Cut(c.Step, "["); isItem {
				items[step]++
			}
		case CallTool:
			if c.Given == nil {
				used.ToolCalls++
			}
		}
	}
	require.True(w.t, w.p.Budgets.MaxSteps == 0 || used.Steps <= w.p.Budgets.MaxSteps)
	require.True(w.t, w.p.Budgets.MaxToolCalls == 0 || used.ToolCalls <= w.p.Budgets.MaxToolCalls)
	for step, n := range items {
		require.LessOrEqual(w.t, n, max(w.p.Plan.Concurrency, 1), step)
	}
}

// With random plans, replies and durations, every episode ends, no step starts before its
// dependencies are done, no budget is exceeded, and the number of parallel items is bounded.
func TestRandomPlans(t *testing.T) {
	tools := testTools(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := Params{
			Request: "r", Tools: tools, Fallback: rapid.Bool().Draw(rt, "fallback"),
			MaxIterations: rapid.IntRange(1, 4).Draw(rt, "iterations"),
			Plan:          strategy.PlanBounds{Concurrency: rapid.IntRange(1, 5).Draw(rt, "concurrency")},
			Budgets: guard.Budgets{
				MaxSteps:       rapid.SampledFrom([]int{0, 2, 10, 40}).Draw(rt, "max_steps"),
				MaxToolCalls:   rapid.SampledFrom([]int{0, 2, 10}).Draw(rt, "max_tool_calls"),
				MaxTime:        time.Duration(rapid.SampledFrom([]int{0, 5, 60}).Draw(rt, "max_seconds")) * time.Second,
				MaxTokens:      int64(rapid.SampledFrom([]int{0, 0, 100}).Draw(rt, "max_tokens")),
				MaxCostNanoUSD: int64(rapid.SampledFrom([]int{0, 0, 100}).Draw(rt, "max_cost")),
			},
		}
		drawn := drawPlan(rt)
		o := &oracle{seed: rapid.Uint64().Draw(rt, "seed"), plan: drawn.args, wild: true, turns: map[string]int{}}
		m, err := New("plan", p, nil)
		require.NoError(rt, err)
		s := drawStage(rt, o)
		w := &watcher{t: rt, p: p, plan: drawn, done: map[string]bool{}, open: map[int]Command{}}
		s.look = w.look
		f := s.run(m)
		require.Equal(rt, f.Status == Stopped, f.StopReason != "")
		require.Equal(rt, f.Status == Failed, f.Err != nil)
		switch f.Status {
		case Answered, respondError:
			for id := range drawn.deps {
				require.True(rt, w.done[id], "%s was not done", id)
			}
		case Stopped:
			require.Contains(rt, []StopReason{stoppedInvalidPlan, stoppedFailedStep, MaxSteps, MaxSeconds, MaxTokens, MaxCost}, f.StopReason)
		case Failed:
		default:
			rt.Fatalf("status %s", f.Status)
		}
	})
}

// The same replies in another order give the same answer and results of steps; the same order gives
// the same trace.
func TestPlansDoNotDependOnScheduling(t *testing.T) {
	tools := testTools(t)
	rapid.Check(t, func(rt *rapid.T) {
		drawn := drawPlan(rt)
		seed := rapid.Uint64().Draw(rt, "seed")
		run := func(s *stage, concurrency int) (Finish, map[string]string) {
			m, err := New("plan", Params{Request: "r", Tools: tools, Plan: strategy.PlanBounds{Concurrency: concurrency}}, nil)
			require.NoError(rt, err)
			f := s.run(m)
			results := map[string]string{}
			for id, result := range m.(*planMachine).results {
				results[id] = string(result)
			}
			return f, results
		}
		fresh := func() *oracle { return &oracle{seed: seed, plan: drawn.args, turns: map[string]int{}} }
		first, results := run(drawStage(rt, fresh()), 1)
		require.Equal(rt, Answered, first.Status)
		other, others := run(drawStage(rt, fresh()), rapid.IntRange(1, 6).Draw(rt, "concurrency"))
		require.Equal(rt, first, other)
		require.Equal(rt, results, others)

		a, b := newStage(rt, nil), newStage(rt, nil)
		a.model, b.model = fresh().model, fresh().model
		_, _ = run(a, 3)
		_, _ = run(b, 3)
		require.Equal(rt, a.trace.String(), b.trace.String())
	})
}
