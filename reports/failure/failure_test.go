package failure

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// sample is an episode with short names for the fields that cases set.
type sample struct {
	ledger.Episode
	Turns []ledger.Turn
	Calls []ledger.ToolCall
}

// rows makes an answered episode of one turn, changed by edit.
func rows(edit func(*sample)) ledger.EpisodeRows {
	r := sample{Episode: ledger.Episode{Status: "answered", ExpectedStatus: "answered"}}
	edit(&r)
	for i := range r.Calls {
		r.Calls[i].Seq = int32(i + 1)
		if r.Calls[i].Turn == 0 {
			r.Calls[i].Turn = int32(i + 1)
		}
	}
	if r.Turns == nil {
		r.Turns = turns("ok")
	}
	for i := range r.Turns {
		r.Turns[i].Turn = int32(i + 1)
	}
	return ledger.EpisodeRows{Episode: r.Episode, Turns: r.Turns, ToolCalls: r.Calls}
}

// turns makes turns from words: ok, thrash, rescue, compress, failed (no reply), or a
// violation. A word in parentheses is a repaired turn.
func turns(words ...string) (list []ledger.Turn) {
	for _, w := range words {
		t := ledger.Turn{Role: "main", Kind: "act", Actionable: true, NextActionType: "tool"}
		switch {
		case w == "ok":
		case w == "thrash":
			t.Thrash, t.NextActionName = true, "get_counts"
		case w == "rescue":
			t.Role, t.Kind, t.Actionable, t.Violations = "rescue", "rescue", false, []string{"not_object"}
		case w == "compress":
			t.Role, t.Kind, t.Actionable = "compress", "compress", false
		case w == "failed":
			t.Actionable, t.ErrorKind = false, "overloaded"
		case w[0] == '(':
			t.Actionable, t.Repaired, t.Violations = false, true, []string{w[1 : len(w)-1]}
		default:
			t.Actionable, t.Violations = false, []string{w, "later"}
		}
		list = append(list, t)
	}
	return list
}

// as makes turns of a role.
func as(role string, words ...string) []ledger.Turn {
	list := turns(words...)
	for i := range list {
		list[i].Role = role
	}
	return list
}

func call(tool, outcome, code string) ledger.ToolCall {
	return ledger.ToolCall{ToolName: tool, Outcome: outcome, ErrorCode: code}
}

func calls(list ...ledger.ToolCall) []ledger.ToolCall { return list }

// checks fails all of the given checks, after one that passed.
func checks(failed ...ledger.Check) []ledger.Check {
	return append([]ledger.Check{{Name: "max_tool_calls", Passed: true}}, failed...)
}

func check(name, detail string) ledger.Check { return ledger.Check{Name: name, Detail: detail} }

type failureCase struct {
	name string
	edit func(*sample)
	want string // the signature
}

func cases() []failureCase {
	type E = *sample
	ok, slow := call("get_counts", "ok", ""), call("get_counts", "timeout", "E_TIMEOUT")
	numbers := check("answer_numbers", `want 7, found 1, 449 in "1 of 449"`)
	stop := func(r E, why string) { r.Status, r.StopReason = "stopped", why }
	return []failureCase{
		{"harness error", func(r E) { r.Status, r.ErrorKind, r.InfraError = "harness_error", "cassette_stale", true }, "harness: cassette_stale"},
		{"harness error without a kind", func(r E) { r.Status = "harness_error" }, "harness: no error kind"},
		{"cap of the run", func(r E) { r.Status, r.ErrorKind, r.InfraError = "budget_stop", "run_budget", true }, "harness: cut off by a cap of the run"},
		{"interruption", func(r E) { r.Status = "cancelled" }, "harness: cut off by an interruption"},
		{"error without an owner", func(r E) { r.Status = "error" }, "harness: error without a cause"},
		{"simulated user", func(r E) { r.UserFaults = "left the persona; disclosed a fact unasked: order" }, "user: simulated user: left the persona"},
		{"simulated user, with a fact", func(r E) { stop(r, "thrash"); r.UserFaults = "disclosed a fact unasked: order_17" }, "user: simulated user: disclosed a fact unasked"},
		{"provider", func(r E) {
			r.Status, r.InfraError, r.ErrorKind, r.Turns = "infra_error", true, "overloaded", turns("ok", "failed")
		}, "infrastructure: overloaded"},
		{"provider, by the column alone", func(r E) { r.InfraError = true }, "infrastructure: no error kind"},
		{"provider of the compressor", func(r E) {
			r.Status, r.InfraError, r.ErrorKind, r.Turns = "infra_error", true, "timeout", turns("ok", "compress")
		}, "infrastructure: timeout, model of role compress"},
		{"contract", func(r E) {
			stop(r, "contract_violation")
			r.Turns, r.Calls = turns("ok", "not_json", "not_json", "truncated", "compress"), calls(slow)
		}, "contract: unusable outputs (truncated)"},
		{"contract after the rescue turn", func(r E) { stop(r, "contract_violation"); r.Turns = turns("not_json", "not_json", "rescue") }, "contract: unusable outputs (not_object), the rescue turn's too"},
		{"contract without a turn", func(r E) { stop(r, "contract_violation"); r.Turns = []ledger.Turn{} }, "contract: unusable outputs (no violation)"},
		{"plan", func(r E) {
			stop(r, "invalid_plan")
			r.Turns = as("planner", "plan.no_call", "plan.depends_on.cycle")
		}, "contract: no valid plan (plan.depends_on.cycle)"},
		{"plan without a turn", func(r E) { stop(r, "invalid_plan") }, "contract: no valid plan (no violation)"},
		{"form of the answer", func(r E) {
			stop(r, "final_schema")
			r.Turns = turns("ok", "final.not_json", "final.schema", "compress")
		}, "contract: no final answer of the form asked for (final.schema)"},
		{"step not finished", func(r E) {
			stop(r, "failed_step")
			r.Turns, r.Calls = append(as("planner", "plan.empty", "ok"), as("step", "step.no_finish", "step.schema")...), calls(ok)
		}, "contract: a step was not finished (step.schema)"},
		{"item of a step not finished", func(r E) {
			stop(r, "failed_step")
			r.Turns = as("step", "ok", "step.no_finish", "step.schema", "ok")
			for i, s := range []string{"find", "read[1]", "read[2]", "read[1]"} {
				r.Turns[i].PlanStep = s
			}
		}, "contract: an item of a step was not finished (step.schema)"},
		{"step that found its way back", func(r E) {
			stop(r, "failed_step")
			r.Turns, r.Calls = as("step", "step.no_finish", "ok"), calls(slow)
		}, "tool handling: timeout of get_counts, until failed_step"},
		{"step failed otherwise", func(r E) { stop(r, "failed_step"); r.Turns = as("step", "ok") }, "trajectory: stopped: failed_step"},
		{"iterations", func(r E) { stop(r, "max_iterations"); r.Turns = turns("call.args", "ok", "ok") }, "budget: max_iterations, after unusable outputs (call.args)"},
		{"provider, a turn of a step", func(r E) {
			r.Status, r.InfraError, r.ErrorKind, r.Turns = "infra_error", true, "overloaded", as("step", "failed")
		}, "infrastructure: overloaded, turn of role step"},
		{"provider, of the second model", func(r E) {
			r.Status, r.InfraError, r.ErrorKind, r.Turns = "infra_error", true, "overloaded", as("fallback", "failed")
		}, "infrastructure: overloaded, model of role fallback"},
		{"tool, gave up", func(r E) {
			r.Status, r.Checks, r.Calls = "cannot_proceed", checks(check("status", "")), calls(ok, slow)
		}, "tool handling: timeout of get_counts, gave up"},
		{"tool, asked", func(r E) {
			r.Status, r.Checks, r.Calls = "clarify", checks(check("status", "")), calls(call("get_counts", "error", "E_UNAVAILABLE"))
		}, "tool handling: error E_UNAVAILABLE of get_counts, asked the user"},
		{"tool, made it up", func(r E) { r.Checks, r.Calls = checks(numbers), calls(call("get_counts", "error", "E_RATE")) }, "tool handling: error E_RATE of get_counts, answered all the same"},
		{"tool, blamed the input", func(r E) {
			r.Status, r.Checks, r.Calls = "respond_error", checks(check("trajectory.required", "")), calls(call("get_counts", "rejected", "E_ARGS"))
		}, "tool handling: rejected E_ARGS of get_counts, blamed the input"},
		{"tool, until a guard", func(r E) { stop(r, "stall"); r.Calls = calls(slow) }, "tool handling: timeout of get_counts, until stall"},
		{"tool, other ending", func(r E) { r.Status, r.Checks, r.Calls = "dreamt", checks(numbers), calls(slow) }, "tool handling: timeout of get_counts, ended as dreamt"},
		{"tool, coped later", func(r E) { r.Checks, r.Calls = checks(numbers), calls(slow, ok) }, "answer: answer_numbers: wrong number"},
		{"tool, coped with effort", func(r E) { r.Checks, r.Calls = checks(check("max_steps", "")), calls(slow) }, "budget: max_steps of the task, after timeout of get_counts"},
		{"steps", func(r E) { stop(r, "max_steps") }, "budget: max_steps"},
		{"steps, invalid outputs", func(r E) { stop(r, "max_steps"); r.Turns = turns("not_json", "ok", "(truncated)") }, "budget: max_steps, after unusable outputs (not_json)"},
		{"steps, mostly failed calls", func(r *sample) {
			stop(r, "max_steps")
			r.Turns, r.Calls = turns("not_json", "thrash", "ok"), calls(slow, call("today_range", "error", ""), ok)
		}, "budget: max_steps, after timeout of get_counts"},
		{"steps, an output without a violation", func(r *sample) { stop(r, "max_steps"); r.Turns = []ledger.Turn{{Role: "main"}} }, "budget: max_steps, after unusable outputs (no violation)"},
		{"steps, repetition", func(r E) { stop(r, "max_steps"); r.Turns, r.Calls = turns("ok", "thrash"), calls(ok) }, "budget: max_steps, after repeated calls of get_counts"},
		{"seconds, failed call", func(r E) { stop(r, "max_seconds"); r.Calls = calls(slow, ok) }, "budget: max_seconds, after timeout of get_counts"},
		{"tool calls", func(r E) {
			r.Status, r.Checks = "cannot_proceed", checks(check("status", ""))
			r.Calls = calls(ok, call("get_counts", "rejected", "E_BUDGET"))
		}, "budget: max_tool_calls"},
		{"thrash", func(r E) {
			stop(r, "thrash")
			r.Turns, r.Calls = turns("ok", "thrash", "thrash"), calls(ok, call("today_range", "ok", ""))
		}, "trajectory: stopped: thrash of today_range"},
		{"stall", func(r E) { stop(r, "stall") }, "trajectory: stopped: stall"},
		{"stopped for nothing", func(r E) { stop(r, "") }, "trajectory: stopped: no reason"},
		{"asked", func(r E) {
			r.Status, r.Checks, r.Calls = "clarify", checks(check("status", ""), numbers), calls(ok)
		}, "trajectory: ended as clarify, not answered"},
		{"asked at once", func(r E) { r.Status, r.Checks = "clarify", checks(numbers, check("status", "")) }, "trajectory: ended as clarify, not answered, no tool called"},
		{"the other ending that is accepted", func(r E) { r.Checks, r.Calls = checks(check("stop_reason", "")), calls(ok) }, "trajectory: ended as answered"},
		{"other arguments", func(r E) {
			r.Calls = calls(ok)
			r.Checks = checks(numbers, check("trajectory.required", `missing: get_counts{"label":"info"}, b; got get_counts{}`))
		}, "trajectory: other arguments of get_counts, wrong answer"},
		{"missing call", func(r E) {
			r.Checks, r.Calls = checks(check("trajectory.required", `missing: today_range, b; got get_counts{}`)), calls(ok)
		}, "trajectory: no call of today_range"},
		{"missing call without a name", func(r E) {
			r.Checks, r.Calls = checks(check("trajectory.required", "the expectation is broken")), calls(ok)
		}, "trajectory: required call missing"},
		{"no call", func(r E) { r.Checks = checks(check("trajectory.required", "missing: b{}; got none"), numbers) }, "trajectory: no tool called, wrong answer"},
		{"forbidden call", func(r E) {
			r.Calls = calls(ok)
			r.Checks = checks(check("trajectory.forbidden", `want no drop{"t":1}, got drop{"t":1}`))
		}, "trajectory: forbidden call of drop"},
		{"wrong state", func(r E) {
			r.Calls = calls(ok)
			r.Calls[0].Changes = new(int32(2))
			r.Checks = checks(check("state", `orders.O7.status: want "refunded", got "open"`), check("answer_numbers", ""))
		}, "trajectory: wrong final state, wrong answer"},
		{"nothing changed", func(r E) {
			r.Calls = calls(ok)
			r.Calls[0].Changes = new(int32(0))
			r.Checks = checks(check("state_hash", ""))
		}, "trajectory: nothing changed"},
		{"a change that must not be", func(r E) {
			r.Calls = calls(ok)
			r.Checks = checks(check("unchanged", ""), check("state", ""))
		}, "trajectory: change where nothing may change"},
		{"function calls", func(r E) { r.Checks = checks(check("function_calls", "wrong value: n: want one of [1], got 2")) }, "trajectory: function calls: wrong value"},
		{"nothing done", func(r E) { r.Checks = checks(check("state", "")) }, "trajectory: no tool called"},
		{"no number", func(r E) { r.Checks = checks(check("answer_numbers", `want 7, found no number in "found 7"`)) }, "answer: answer_numbers: no number"},
		{"text", func(r E) { r.Checks = checks(check("answer_contains_any", "")) }, "answer: answer_contains_any: text missing"},
		{"forbidden text", func(r E) { r.Checks = checks(check("answer_not_contains", "")) }, "answer: answer_not_contains: text that must not be there"},
		{"text that matches", func(r E) { r.Checks = checks(check("answer_not_matches", "")) }, "answer: answer_not_matches: text that must not be there"},
		{"text that does not match", func(r E) { r.Checks = checks(check("answer_matches", "")) }, "answer: answer_matches: no match"},
		{"forbidden number", func(r E) { r.Checks = checks(check("answer_not_numbers", "")) }, "answer: answer_not_numbers: number that must not be there"},
		{"another number", func(r E) { r.Checks = checks(check("answer_only_numbers", "")) }, "answer: answer_only_numbers: number that must not be there"},
		{"number of another name", func(r E) { r.Checks = checks(check("answer_near", "")) }, "answer: answer_near: wrong number"},
		{"table", func(r E) { r.Checks = checks(check("answer_table", "")) }, "answer: answer_table: wrong day or count"},
		{"own check", func(r E) { r.Checks = checks(check("value_2_equals", "")) }, "answer: value_#_equals"},
		{"check without a name", func(r E) { r.Checks = checks(check("", "")) }, "answer: a check without a name"},
		{"circle", func(r E) {
			r.Turns, r.Calls, r.Checks = turns("ok", "thrash"), calls(ok), checks(check("max_steps", ""))
		}, "trajectory: repeated calls of get_counts"},
		{"questions", func(r E) { r.Checks = checks(check("max_clarifies", "")) }, "trajectory: more questions than allowed"},
		{"order", func(r E) { r.Checks = checks(check("trajectory.order", ""), check("max_steps", "")) }, "trajectory: calls out of order or too many"},
		{"signal of the way", func(r E) { r.Checks = checks(check("signal.dedupe_hits", "")) }, "trajectory: signal.dedupe_hits"},
		{"limit", func(r E) { r.Checks = checks(check("max_tool_calls", ""), check("signal.repaired", "")) }, "budget: max_tool_calls of the task"},
		{"limit, invalid outputs", func(r E) {
			r.Turns, r.Checks = turns("truncated", "ok"), checks(check("max_steps", "want at most 2 steps, got 3"))
		}, "budget: max_steps of the task, after unusable outputs (truncated)"},
		{"validity", func(r E) { r.Checks = checks(check("signal.all_turns_valid_json", "")) }, "contract: signal.all_turns_valid_json"},
		{"no outcome accepted", func(r E) { r.Checks = checks(check("expect", "")) }, "harness: the task accepts no outcome"},
		{"nothing failed", func(r E) { r.Checks = checks() }, "harness: no failing check"},
	}
}

func TestOf(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Of(rows(c.edit))
			require.True(t, ok)
			require.Equal(t, c.want, got.Signature)
			require.Contains(t, Kinds(), got.Kind)
			require.Equal(t, string(got.Kind)+": ", got.Signature[:len(got.Kind)+2])
		})
	}
}

func TestOfASolvedEpisode(t *testing.T) {
	c, ok := Of(rows(func(r *sample) { r.Solved = true }))
	require.False(t, ok)
	require.Zero(t, c)
}
