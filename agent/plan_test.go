package agent

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

// planScenario is one episode of strategy plan with scripted replies.
type planScenario struct {
	name    string
	params  func(*Params)
	replies map[string][]any
}

const (
	stepA    = `{"id":"a","instructions":"find a","depends_on":[]}`
	stepB    = `{"id":"b","instructions":"use a","depends_on":["a"],"output_schema":"{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\"}}}"}`
	stepList = `{"id":"list","instructions":"find them","depends_on":[],"mode":"discover"}`
	stepEach = `{"id":"each","instructions":"tell","depends_on":["list"],"mode":"process","per_item_instructions":"tell of {item}","per_item_schema":{"type":"number"}}`
	stepSum  = `{"id":"sum","instructions":"add","depends_on":["each"],"mode":"aggregate"}`
)

func cutOff(r providers.Reply) providers.Reply { r.Finish = providers.FinishLength; return r }

var planScenarios = []planScenario{
	{"one_step", nil, map[string][]any{"": {reply("", planCall(stepA))}, "a": {reply("", `search {"query":"x"}`), "<think>hm</think>301"}}},
	{"two_steps", nil, map[string][]any{"": {reply("", planCall(stepA, stepB))}, "a": {"seven"}, "b": {reply("", finishCall(`{"n":7}`))}}},
	{"fan_out", nil, map[string][]any{
		"":        {reply("", planCall(stepList, stepEach, stepSum))},
		"list":    {reply("", `search {"query":"all"}`), reply("", finishCall(`["x","y","z","u","v"]`))},
		"each[1]": {reply("", finishCall(`1`))}, "each[2]": {reply("", `search {"query":"y"}`), reply("", finishCall(`2`))},
		"each[3]": {reply("", finishCall(`3`))}, "each[4]": {reply("", finishCall(`4`))}, "each[5]": {reply("", finishCall(`5`))},
		"sum": {"15"},
	}},
	{"fan_out_over_nothing", nil, map[string][]any{"": {reply("", planCall(stepList, stepEach, stepSum))}, "list": {reply("", finishCall(`[]`))}, "sum": {"0"}}},
	{"list_is_the_answer", nil, map[string][]any{"": {reply("", planCall(stepList, stepEach))}, "list": {reply("", finishCall(`["x"]`))}, "each[1]": {reply("", finishCall(`1`))}}},
	{"two_sinks", nil, map[string][]any{
		"":  {reply("", planCall(stepA, `{"id":"c","instructions":"find c","depends_on":[]}`))},
		"a": {"1"}, "c": {"2"}, "aggregate": {reply("", `search {"query":"more"}`), "3"},
	}},
	{"input", func(p *Params) { p.Inputs = []strategy.Input{{Name: "lights", Value: json.RawMessage(`["x","y"]`)}} }, map[string][]any{
		"":        {reply("", planCall(strings.ReplaceAll(stepEach, `"list"`, `"lights"`)))},
		"each[1]": {reply("", finishCall(`1`))}, "each[2]": {reply("", finishCall(`2`))},
	}},
	{"plan_in_text", nil, map[string][]any{"": {"<think>{}</think>My plan:\n```json\n" + strings.TrimPrefix(planCall(stepA), "create_task ") + "\n```"}, "a": {"1"}}},
	{"bad_plans_then_a_good_one", nil, map[string][]any{
		"":  {reply("", planCall(), `search {"query":"x"}`), "I would search.", reply("", planCall(stepA))},
		"a": {"1"},
	}},
	{"invalid_plan", nil, map[string][]any{"": {reply("", planCall(stepB)), reply("", `create_task {"title":`), cutOff(reply("", `create_task {"ti`))}}},
	{"planner_says_nothing", func(p *Params) { p.Plan.Attempts = 1 }, map[string][]any{"": {""}}},
	{"planner_calls_another_tool", func(p *Params) { p.Plan.Attempts = 1 }, map[string][]any{"": {reply("", `search {"query":"x"}`)}}},
	{"planner_is_cut_off", func(p *Params) { p.Plan.Attempts = 1 }, map[string][]any{"": {cutOff(reply("First I would"))}}},
	{"plan_beside_another_call", nil, map[string][]any{"": {reply("", `search {"query":"x"}`, planCall(stepA), planCall(stepA))}, "a": {"1"}}},
	{"planner_fails", nil, map[string][]any{"": {errors.New("down")}}},
	{"planner_fails_and_the_fallback_goes_on", func(p *Params) { p.Fallback = true }, map[string][]any{"": {refused{errors.New("full")}, reply("", planCall(stepA))}, "a": {refused{errors.New("full")}, "1"}}},
	{"both_fail", func(p *Params) { p.Fallback = true }, map[string][]any{"": {refused{errors.New("full")}, refused{errors.New("full, too")}}}},
	{"step_fails_for_good", nil, map[string][]any{"": {reply("", planCall(stepA))}, "a": {refused{errors.New("full")}}}},
	{"failed_step", func(p *Params) { p.MaxIterations = 1 }, map[string][]any{
		"":  {reply("", planCall(stepA, stepB, `{"id":"other","instructions":"independent","depends_on":[]}`, `{"id":"last","instructions":"all","depends_on":["b","other"]}`))},
		"a": {reply("", `search {"query":"x"}`)}, "other": {reply("", finishCall("1")), "2"},
	}},
	{"item_fails", func(p *Params) { p.MaxIterations, p.Plan.Concurrency = 1, 1 }, map[string][]any{
		"": {reply("", planCall(stepList, stepEach, stepSum))}, "list": {reply("", finishCall(`["x","y","z"]`))},
		"each[1]": {reply("", finishCall(`1`))}, "each[2]": {reply("", `search {"query":"y"}`)},
	}},
	{"template_field_missing", nil, map[string][]any{
		"":     {reply("", planCall(`{"id":"list","instructions":"find","depends_on":[],"output_schema":{"type":"array","items":{}}}`, `{"id":"each","instructions":"about {name}","depends_on":["list"],"mode":"process"}`))},
		"list": {reply("", finishCall(`[{"name":"x"},{"title":"y"}]`))},
	}},
	{"not_a_list_after_all", nil, map[string][]any{
		"":     {reply("", planCall(`{"id":"list","instructions":"find","depends_on":[],"output_schema":{"type":["array","null"]}}`, strings.ReplaceAll(stepEach, "tell of {item}", "tell")))},
		"list": {reply("", finishCall(`null`))},
	}},
	{"results_do_not_fit_the_list", nil, map[string][]any{
		"":     {reply("", planCall(stepList, `{"id":"each","instructions":"{item}","depends_on":["list"],"mode":"process","output_schema":{"type":"array","items":{"type":"number"},"minItems":2}}`))},
		"list": {reply("", finishCall(`["x"]`))}, "each[1]": {reply("", finishCall(`1`))},
	}},
	{"finish_wrong_then_right", nil, map[string][]any{
		"": {reply("", planCall(stepA, stepB))}, "a": {"seven"},
		"b": {
			reply("", finishCall(`{"n":"seven"}`)), reply("", `finish_step {}`), reply("", `finish_step [`), "seven", `{"status":"completed"}`,
			"```json\n{\"status\":\"completed\",\"result\":{\"n\":7}}\n```",
		},
	}},
	{"finish_beside_other_calls", nil, map[string][]any{"": {reply("", planCall(stepA, stepB, `{"id":"c","instructions":"i","depends_on":["b"]}`))}, "a": {"seven"}, "b": {reply("", `search {"query":"x"}`, finishCall(`{"n":7}`), `nonsense {}`)}, "c": {"8"}}},
	{"bare_object_as_text", nil, map[string][]any{"": {reply("", planCall(stepA, stepB))}, "a": {"seven"}, "b": {`It is {"n":7}.`}}},
	{"null_as_a_result", nil, map[string][]any{"": {reply("", planCall(`{"id":"a","instructions":"i","depends_on":[],"output_schema":{"type":["number","null"]}}`))}, "a": {reply("", finishCall(`null`))}}},
	{"never_finishes", func(p *Params) { p.MaxIterations = 2 }, map[string][]any{"": {reply("", planCall(`{"id":"b","instructions":"i","depends_on":[],"output_schema":{"type":"number"}}`))}, "b": {"soon", "soon"}}},
	{"tool_outside_the_restriction", nil, map[string][]any{
		"":  {reply("", planCall(`{"id":"a","instructions":"i","depends_on":[],"tools":["search"]}`))},
		"a": {reply("", `today_range {}`, `search {"query":"x"}`), "1"},
	}},
	{"restriction_to_no_tools", nil, map[string][]any{"": {reply("", planCall(`{"id":"a","instructions":"i","depends_on":[],"tools":[]}`))}, "a": {reply("", `search {"query":"x"}`), "1"}}},
	{"answer_schema", func(p *Params) {
		p.AnswerSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`)
	}, map[string][]any{"": {reply("", planCall(stepA))}, "a": {reply("", finishCall(`{"n":"x"}`)), reply("", finishCall(`{"n":7}`))}}},
	{"final_schema", func(p *Params) { p.AnswerSchema, p.FinalRetries = json.RawMessage(`{"type":"number"}`), new(0) },
		map[string][]any{"": {reply("", planCall(stepA))}, "a": {"seven"}}},
	{"respond_error", func(p *Params) { p.Request = "Angry on 2026-02-30?" }, map[string][]any{"": {reply("", planCall(stepA))}, "a": {"The start date is not valid."}}},
	{"max_steps", func(p *Params) { p.Budgets.MaxSteps = 3 }, map[string][]any{
		"":  {reply("", planCall(stepA, `{"id":"c","instructions":"find c","depends_on":[]}`))},
		"a": {"1"}, "c": {reply("", `search {"query":"x"}`)},
	}},
	{"max_steps_before_the_plan_begins", func(p *Params) { p.Budgets.MaxSteps = 2 }, map[string][]any{
		"": {reply("", planCall(stepA, `{"id":"c","instructions":"find c","depends_on":[]}`))}, "a": {"1"},
	}},
	{"max_steps_while_planning", func(p *Params) { p.Budgets.MaxSteps = 1 }, map[string][]any{"": {"no plan"}}},
	{"max_seconds", func(p *Params) { p.Budgets.MaxTime = 2 * time.Second }, map[string][]any{"": {reply("", planCall(stepA))}, "a": {reply("", `search {"query":"x"}`)}}},
	{"max_seconds_while_planning", func(p *Params) { p.Budgets.MaxTime = time.Second }, map[string][]any{"": {reply("", planCall(stepA))}}},
	{"max_tokens", func(p *Params) { p.Budgets.MaxTokens = 20 }, map[string][]any{"": {reply("", planCall(stepA))}, "a": {reply("", `search {"query":"x"}`)}}},
	{"max_cost", func(p *Params) { p.Budgets.MaxCostNanoUSD = 15 }, map[string][]any{"": {reply("", planCall(stepA))}, "a": {reply("", `search {"query":"x"}`)}}},
	{"max_tool_calls", func(p *Params) { p.Budgets.MaxToolCalls = 1 }, map[string][]any{"": {reply("", planCall(stepA))}, "a": {reply("", `search {"query":"x"}`, `search {"query":"y"}`), "1"}}},
	{"contract_violation", nil, map[string][]any{"": {reply("", planCall(stepA, stepB))}, "a": {"", "", ""}}},
	{"thrash", nil, map[string][]any{"": {reply("", planCall(stepA))}, "a": {reply("", `search {"query":"x"}`), reply("", `search {"query":"x"}`), reply("", `search {"query":"x"}`)}}},
}

func planParams(t testing.TB) Params {
	return Params{Request: "How many?", Constraints: "be exact", Tools: testTools(t), MaxTokens: 400, Temperature: 0.1, Budgets: guard.Budgets{MaxSteps: 30, MaxToolCalls: 30, MaxTime: time.Minute}}
}

// TestPlanScenarios compares the complete trace of every stop condition and error path.
// Rewrite the traces with: go test ./agent -run TestPlanScenarios -update
func TestPlanScenarios(t *testing.T) {
	seen := map[string]bool{}
	for _, sc := range planScenarios {
		t.Run(sc.name, func(t *testing.T) {
			p := planParams(t)
			if sc.params != nil {
				sc.params(&p)
			}
			m, err := New("plan", p, nil)
			require.NoError(t, err)
			s := newStage(t, sc.replies)
			f := s.run(m)
			seen[string(f.Status)+" "+string(f.StopReason)] = true
			testkit.Golden(t, filepath.Join("testdata", "plan", sc.name+".trace"), s.trace.String())
		})
	}
	for _, end := range []string{
		"answered ", "respond_error ", "error ", "stopped invalid_plan", "stopped failed_step", "stopped final_schema",
		"stopped max_steps", "stopped max_seconds", "stopped max_tokens", "stopped max_cost",
	} {
		require.True(t, seen[end], "no scenario ends with %q", end)
	}
	files, err := filepath.Glob("testdata/plan/*.trace")
	require.NoError(t, err)
	require.Len(t, files, len(planScenarios), "a trace without its scenario")
}
