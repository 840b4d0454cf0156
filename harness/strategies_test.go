package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/forecast"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers/price"
)

// chat has the parts of a request in OpenAI's format that the models here read.
type chat struct {
	Model    string
	Messages []struct{ Role, Content string }
}

func (c chat) has(role, text string) bool {
	return slices.ContainsFunc(c.Messages, func(m struct{ Role, Content string }) bool {
		return m.Role == role && strings.Contains(m.Content, text)
	})
}

// calls returns a message with tool calls, from pairs of a name and arguments.
func calls(pairs ...string) string {
	var list []any
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{
			"id": fmt.Sprint("c", i), "type": "function", "function": map[string]string{"name": pairs[i], "arguments": pairs[i+1]},
		})
	}
	text, _ := json.Marshal(map[string]any{"content": nil, "tool_calls": list})
	return string(text)
}

func text(s string) string {
	b, _ := json.Marshal(map[string]string{"content": s})
	return string(b)
}

// toolMind calls two tools in parallel and one that does not exist, then answers.
func toolMind(c chat) string {
	if !c.has("tool", "") {
		return calls("get_job_status", `{"id":"1"}`, "lookup", `{"id":"2"}`, "get_lost", `{}`)
	}
	return text("Job 1 is queued.")
}

// planMind plans three steps, of which two can run in parallel.
func planMind(c chat) string {
	switch {
	case c.has("system", "You are the planner."):
		return calls("create_task", `{"title":"Two jobs","steps":[
{"id":"one","instructions":"Look up job 1.","tools":["get_job_status"],"output_schema":"{\"type\":\"object\"}"},
{"id":"two","instructions":"Look up job 2.","tools":["lookup"],"output_schema":"{\"type\":\"object\"}"},
{"id":"both","instructions":"Say how both are.","depends_on":["one","two"]}]}`)
	case c.has("user", "STEP: both"):
		return text("Both are known.")
	case c.has("tool", ""):
		return calls("finish_step", `{"result":{"status":"done"}}`)
	case c.has("user", "STEP: one"):
		return calls("get_job_status", `{"id":"1"}`)
	}
	return calls("lookup", `{"id":"2"}`)
}

// strategyOptions returns a recording of n tasks with a built-in strategy and a provider with
// random failures.
func strategyOptions(t *testing.T, n int, strategy string, model func(chat) string) (harness.Options, *randomFaults) {
	t.Helper()
	w := newRandomFaults(5)
	w.says = func(request []byte) string {
		var c chat
		if err := json.Unmarshal(request, &c); err != nil {
			return text(err.Error())
		}
		return model(c)
	}
	o := stormOptions(t, n, w)
	o.Strategies, o.Candidates[0].Agent = nil, strategy
	return o, w
}

// The replays of agents tools and plan equal their recordings.
func TestStrategiesReplayAsRecorded(t *testing.T) {
	t.Run("tools", func(t *testing.T) {
		o, _ := strategyOptions(t, 4, "tools", toolMind)
		recorded, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		for _, e := range rowsOf(t, recorded).Episodes {
			require.Equal(t, "answered", e.Status, e.ErrorText)
		}
		one := firstEpisode(t, recorded)
		require.Equal(t, []string{"main/act ", "main/act "}, turnsOf(one))
		require.Equal(t, []string{"call.unknown_tool"}, one.Turns[0].Violations)
		require.Equal(t, []string{"1 get_job_status ok", "1 lookup ok", "1 get_lost rejected"}, callsOf(one))
		requireSameEpisodes(t, recorded, replayed(t, o))
	})
	t.Run("plan", func(t *testing.T) {
		o, _ := strategyOptions(t, 4, "plan", planMind)
		recorded, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		for _, e := range rowsOf(t, recorded).Episodes {
			require.Equal(t, "answered", e.Status, e.ErrorText)
		}
		one := firstEpisode(t, recorded)
		got := turnsOf(one)
		slices.Sort(got)
		require.Equal(t, []string{"planner/plan ", "step/act both", "step/act one", "step/act one", "step/act two", "step/act two"}, got)
		turns := one.Turns
		require.Equal(t, turns[0].ActionID, turns[1].ParentActionID)
		require.Equal(t, turns[0].ActionID, turns[2].ParentActionID)
		require.Equal(t, turns[1].TsStart, turns[2].TsStart, "both steps begin at once")
		for _, c := range one.ToolCalls {
			asked := turns[c.Turn-1]
			require.Equal(t, asked.ActionID, c.ParentActionID)
			require.Equal(t, map[string]string{"get_job_status": "one", "lookup": "two"}[c.ToolName], asked.PlanStep)
		}
		requireSameEpisodes(t, recorded, replayed(t, o))

		o.Select, o.Fork, o.Select.Candidates = harness.Selection{}, &harness.Fork{Task: "S00", Candidate: "blow", Turn: 1}, nil
		forked, err := harness.Run(context.Background(), o)
		require.NoError(t, err, "after the planner nothing is outstanding")
		require.Equal(t, []string{"planner/plan ", "step/act one", "step/act two"}, turnsOf(firstEpisode(t, forked))[:3])
		requireSameEpisodes(t, forked, replayed(t, o))
		o.Fork.Turn = 3
		_, err = harness.Run(context.Background(), o)
		require.ErrorContains(t, err, "its turns 2 to 3 overlap")
		require.ErrorContains(t, err, "keep at most 1")
	})
}

// The planner's model makes the plan and nothing else. Its turns cost what that model costs, in the
// rows, in the worst case and in what past runs let one expect.
func TestReasoningModelPlans(t *testing.T) {
	var mu sync.Mutex // steps ask in parallel
	asked := map[string]int{}
	o, w := strategyOptions(t, 1, "plan", func(c chat) string {
		mu.Lock()
		defer mu.Unlock()
		asked[fmt.Sprint(c.Model, " plans ", c.has("system", "You are the planner."))]++
		return planMind(c)
	})
	w.fails = false
	o.Candidates[0].Plan.ReasoningModel = "big"
	prices, err := price.Parse([]byte(`{version: 2026-05-01, prices: [
		{provider: openai-compatible, models: [m], input: "1", output: "1", source: test},
		{provider: openai-compatible, models: [big], input: "100", output: "100", source: test}]}`))
	require.NoError(t, err)
	o.Prices = prices
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"big plans true": 1, "m plans false": 5}, asked)
	require.Equal(t, "big", recorded.Manifest.Candidates[0].PlannerModel)
	one := firstEpisode(t, recorded)
	require.Equal(t, "answered", one.Episode.Status, one.Episode.ErrorText)
	for _, turn := range one.Turns {
		require.Equal(t, map[string]int64{"planner": 1_000_000, "step": 10_000}[turn.Role], *turn.CostNanoUSD, "10 tokens")
	}
	require.Equal(t, int64(1_050_000), *one.Episode.CostNanoUSD)
	requireSameEpisodes(t, recorded, replayed(t, o))
	expected, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, int64(1_050_000), *expected.Total.CostNanoUSD.Expected)
}

func firstEpisode(t *testing.T, res harness.Result) ledger.EpisodeRows {
	t.Helper()
	for rows, err := range ledger.Scan(res.Dir) {
		require.NoError(t, err)
		return rows
	}
	return ledger.EpisodeRows{}
}

func turnsOf(rows ledger.EpisodeRows) (list []string) {
	for _, turn := range rows.Turns {
		list = append(list, turn.Role+"/"+turn.Kind+" "+turn.PlanStep)
	}
	return list
}

func callsOf(rows ledger.EpisodeRows) (list []string) {
	for _, c := range rows.ToolCalls {
		list = append(list, fmt.Sprint(c.Turn, " ", c.ToolName, " ", c.Outcome))
	}
	return list
}

// The fallback model of a candidate is called, priced and forecast like the first one.
func TestFallbackIsCalledAndPriced(t *testing.T) {
	o, w := strategyOptions(t, 1, "tools", func(c chat) string {
		if c.Model == "gpt-4o-mini" {
			return "no message at all" // which no wire can read
		}
		return text("Here I am.")
	})
	w.fails, o.Retry.Attempts, o.Caps.CostNanoUSD = false, 1, 10e9
	with := func(fallback string) harness.Options {
		o := o
		o.Candidates = []goldens.Candidate{{Name: "blow", Agent: "tools", Provider: "openai", Model: "gpt-4o-mini", Fallback: fallback}}
		return o
	}
	res, err := harness.Run(context.Background(), with("gpt-4o"))
	require.NoError(t, err)
	one := firstEpisode(t, res)
	require.Equal(t, "answered", one.Episode.Status, one.Episode.ErrorText)
	require.Equal(t, []string{"main/act ", "fallback/act "}, turnsOf(one))
	require.NotEmpty(t, one.Turns[0].ErrorKind)
	require.Equal(t, int64(9*2500+1*10000), *one.Turns[1].CostNanoUSD, "at the fallback's price")
	require.True(t, one.Episode.Solved)
	requireSameEpisodes(t, res, replayed(t, with("gpt-4o")))

	require.Nil(t, one.Episode.CostNanoUSD, "what cannot be read may have been billed")

	var highs []int64
	for _, fallback := range []string{"", "gpt-4o", "gpt-4"} {
		o := with(fallback)
		o.Runs = "" // nothing to learn from
		out, err := forecast.Make(o)
		require.NoError(t, err)
		highs = append(highs, *out.Candidates[0].CostNanoUSD.High)
	}
	require.Less(t, highs[0], highs[1], "at the dearest model that may be asked")
	require.Less(t, highs[1], highs[2])
	_, err = harness.Run(context.Background(), with("nobody-knows-it"))
	require.ErrorContains(t, err, "no price of model nobody-knows-it")
}
