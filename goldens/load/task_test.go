package load

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

func TestLoadTaskProblems(t *testing.T) {
	tests := []struct {
		name, task string
		want       []string // without the file
	}{
		{"empty", "{}", []string{"20: tasks[0].id: is missing", "20: tasks[0].request: is missing", "20: tasks[0].expect: is missing"}},
		{"not a mapping", "[]", []string{"20: tasks[0]: must be a mapping, but is a list"}},
		{"unknown field", "{id: A, requst: Hi, expect: {status: answered}}", []string{
			"20: tasks[0].requst: unknown field (did you mean request?); allowed: " + strings.Join(taskFields, ", "),
			"20: tasks[0].request: is missing",
		}},
		{"empty request", "{id: A, request: '', expect: {status: answered}}", []string{"20: tasks[0].request: must not be blank"}},
		{"long request", "{id: A, request: " + strings.Repeat("x", maxRequestBytes+1) + ", expect: {status: answered}}", []string{"20: tasks[0].request: must be at most 64 KiB"}},
		{"id characters", "{id: a/b, request: Hi, expect: {status: answered}}", []string{`20: tasks[0].id: "a/b" may hold only letters, digits, dot, dash and underscore`}},
		{"id dots", "{id: .., request: Hi, expect: {status: answered}}", []string{`20: tasks[0].id: ".." must not begin or end with a dot: it becomes a folder name`}},
		{"id reserved", "{id: Lpt1.x, request: Hi, expect: {status: answered}}", []string{`20: tasks[0].id: "Lpt1.x" is a reserved name on Windows, where it cannot be a folder`}},
		{"id long", "{id: " + strings.Repeat("x", 101) + ", request: Hi, expect: {status: answered}}", []string{`20: tasks[0].id: "` + strings.Repeat("x", 101) + `" is longer than 100 characters`}},
		{"id number", "{id: 7, request: Hi, expect: {status: answered}}", []string{"20: tasks[0].id: must be a string, but is a number: put 7 in quotes"}},
		{"duplicate id", "{id: A, request: Hi, expect: {status: answered}}\n  - {id: a, request: Hi, expect: {status: answered}}", []string{"21: tasks[1]: task id a is taken by the task at s/suite.yaml:20"}},
		{"tools", "{id: A, request: Hi, tools: [get_count, 3, today_range, today_range], expect: {status: answered}}", []string{
			"20: tasks[0].tools[1]: must be a string, but is a number: put 3 in quotes",
			`20: tasks[0].tools[3]: "today_range" is in the list already`,
			`20: tasks[0].tools[0]: the suite has no tool "get_count" (did you mean get_counts?); it has: today_range, get_counts`,
		}},
		{"world name", "{id: A, request: Hi, world: mai, expect: {status: answered}}", []string{`20: tasks[0].world: "mai" is not known (did you mean may?); allowed: may`}},
		{"field of the state", "{id: A, request: Hi, world: {kind: counts, counts: {}}, expect: {status: answered}}", []string{
			"20: tasks[0].world.counts: unknown field; allowed: from, kind, now, zone, state, process, env, clock_step, latency, human",
		}},
		{"words", "{id: A, title: '', tier: 1, tags: x, probes: [''], request: Hi, constraints: [], replies: [1], expect: {status: answered}}", []string{
			"20: tasks[0].title: must not be blank",
			"20: tasks[0].tier: must be a string, but is a number: put 1 in quotes",
			"20: tasks[0].tags: must be a list, but is a string",
			"20: tasks[0].probes[0]: must not be blank",
			"20: tasks[0].constraints: must be a string, but is a list",
			"20: tasks[0].replies[0]: must be a string, but is a number: put 1 in quotes",
		}},
		{"scripted without script", "{id: A, request: Hi, scripted: true, expect: {status: answered}}", []string{"20: tasks[0].script: a scripted task needs at least one model output"}},
		{"script without scripted", "{id: A, request: Hi, script: [{respond: Hi}], expect: {status: answered}}", []string{"20: tasks[0].script: only a task with scripted: true has script"}},
		{"scripted fields", "{id: A, request: Hi, agent: tools, fails: [status], expect: {status: answered}}", []string{
			"20: tasks[0].agent: only a task with scripted: true has agent",
			"20: tasks[0].fails: only a task with scripted: true has fails",
		}},
		{"native script", "{id: A, request: Hi, scripted: true, agent: tools, fails: [], script: [{respond: a}, {calls: x}, {calls: [{a: {}, b: {}}]}, {calls: [{a: {}}, {b: '{'}], cut: 1}, {text: a, tokens: -1, cost_usd: x}], expect: {status: answered}}", []string{
			"20: tasks[0].script[0]: must have exactly one of text, json, calls",
			"20: tasks[0].script[1].calls: must be a list, but is a string",
			"20: tasks[0].script[2].calls[0]: must have exactly one key, the tool's name, with its arguments as value",
			"20: tasks[0].script[3].cut: must be true or false, but is a number",
			"20: tasks[0].script[4].tokens: must be from 0 to 1000000000, but is -1",
			"20: tasks[0].script[4].cost_usd: must be a number, but is a string",
			"20: tasks[0].fails: must name at least one check",
		}},
		{"calls of contract", "{id: A, request: Hi, scripted: true, agent: contracts, script: [{calls: []}], expect: {status: answered}}", []string{
			`20: tasks[0].agent: "contracts" is not known (did you mean contract?); allowed: contract, tools, plan, orchestrator`,
			"20: tasks[0].script[0]: must have exactly one of text, json, call, respond, clarify",
		}},
		{"script", "{id: A, request: Hi, scripted: true, script: [{}, {respond: a, clarify: b}, {call: x}, {call: {a: {}, b: {}}}, {text: 1, rescue: 1}], expect: {status: answered}}", []string{
			"20: tasks[0].script[0]: must have exactly one of text, json, call, respond, clarify",
			"20: tasks[0].script[1]: must have exactly one of text, json, call, respond, clarify",
			"20: tasks[0].script[2].call: must be a mapping, but is a string",
			"20: tasks[0].script[3].call: must have exactly one key, the tool's name, with its arguments as value",
			"20: tasks[0].script[4].text: must be a string, but is a number: put 1 in quotes",
			"20: tasks[0].script[4].rescue: must be true or false, but is a number",
		}},
		{"faults", "{id: A, request: Hi, faults: [{kind: errr, tool: get_count}, {kind: error, tool: get_counts}, {kind: latency, tool: get_counts, code: X, after: 3}, {kind: augment, tool: get_counts, fields: {}}, {kind: replace, tool: get_counts}, {kind: error, tool: get_counts, code: X, status: 42, on_calls: [0, 1, 1]}, {kind: timeout, tool: get_counts, after: 5s, on_calls: []}, {kind: append, tool: get_counts, value: [x]}], expect: {status: answered}}", []string{
			`20: tasks[0].faults[0].tool: the task offers no tool "get_count" (did you mean get_counts?); it offers: today_range, get_counts`,
			`20: tasks[0].faults[0].kind: "errr" is not known (did you mean error?); allowed: error, timeout, latency, replace, augment, append`,
			"20: tasks[0].faults[1].code: is missing: a fault of kind error needs it",
			"20: tasks[0].faults[2].code: has no meaning for a fault of kind latency; it takes: after",
			"20: tasks[0].faults[2].after: must be a duration such as 300ms or 15s",
			"20: tasks[0].faults[3].fields: must be a mapping of the fields to add",
			"20: tasks[0].faults[4].value: is missing: a fault of kind replace needs it",
			"20: tasks[0].faults[5].on_calls[0]: must be from 1 to 10000, but is 0",
			"20: tasks[0].faults[5].on_calls[2]: call 1 is in the list already",
			"20: tasks[0].faults[5].status: must be from 100 to 599, but is 42",
			"20: tasks[0].faults[6].on_calls: must contain at least one call number; leave it out for all calls",
			"20: tasks[0].faults[7].value: must be a string, but is a list",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, prefixed(tt.want), problemsOf(t, suitetest.Folder(suitetest.Head+"tasks:\n  - "+tt.task+"\n")))
		})
	}
}

func prefixed(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, "s/suite.yaml:"+l)
	}
	return out
}

func TestLoadExpectProblems(t *testing.T) {
	tests := []struct {
		name, expect string
		want         []string // without file, line and task
	}{
		{"no status", "{}", []string{"expect.status: is missing"}},
		{"status", "{status: answere}", []string{`expect.status: "answere" is not known (did you mean answered?); allowed: answered, answered_after_clarify, respond_error, clarify, awaiting_input, cannot_proceed, stopped`}},
		{"stop reason", "{status: stopped, stop_reason: tired}", []string{`expect.stop_reason: "tired" is not known; allowed: max_steps, max_seconds, max_tool_calls, thrash, stall, contract_violation, max_tokens, max_cost, max_iterations, final_schema, invalid_plan, failed_step, plan_denied, blocked, silent, max_turns, background_left`}},
		{"numbers", "{status: answered, numbers: [1, 25.0, '1,234', 0x10, true, 1e3]}", []string{
			`expect.numbers[2]: must be a number written in plain digits, such as 1234567 or 25.5, but is "1,234"`,
			`expect.numbers[3]: must be a number written in plain digits, such as 1234567 or 25.5, but is "0x10"`,
			"expect.numbers[4]: must be a number, but is a boolean",
			`expect.numbers[5]: must be a number written in plain digits, such as 1234567 or 25.5, but is "1e3"`,
		}},
		{"texts", "{status: answered, contains_any: x, contains_all: [''], not_contains: [1]}", []string{
			"expect.contains_any: must be a list, but is a string",
			"expect.contains_all[0]: must not be blank",
			"expect.not_contains[0]: must be a string, but is a number: put 1 in quotes",
		}},
		{"order", "{status: answered, order: any}", []string{`expect.order: "any" is not known; allowed: strict, in_order, any_order, subset`}},
		{"empty is no value here", "{status: answered, numbers: , at_most: }", []string{"expect.numbers: must be a list, but is empty", "expect.at_most: must be a mapping, but is empty"}},
		{"at most", "{status: answered, at_most: {step: 3, steps: x}}", []string{
			"expect.at_most.step: unknown field (did you mean steps?); allowed: clarifies, steps, tool_calls",
			"expect.at_most.steps: must be an integer, but is a string",
		}},
		{"signals", "{status: answered, signals: {trash: true, thrash: 1, violations: '~2', stall: [], repaired: '> 1'}}", []string{
			"expect.signals.trash: unknown signal (did you mean thrash?); allowed: " + strings.Join(signalsOfSchema(t), ", "),
			`expect.signals.thrash: must be true or false, but is "1"`,
			`expect.signals.violations: must be a number, alone or after ==, >=, <=, > or <, but is "~2"`,
			"expect.signals.stall: must be a condition, but is a list",
		}},
		{"calls", "{status: answered, calls: [get_counts: , {get_counts: {}, today_range: {}}, 7]}", []string{
			"expect.calls[0].get_counts: must be a mapping of arguments, but is empty; write the tool's name alone for any arguments",
			"expect.calls[1]: must have exactly one key, the tool's name, with its arguments as value",
			"expect.calls[2]: must be a string, but is a number: put 7 in quotes",
		}},
		{"matchers", "{status: answered, calls: [get_counts: {a: {$regex: '('}, b: {$in: []}, c: {$any: false}, d: {$gte: x}, e: {$regx: x}, f: {$gte: 1, $lte: 2}, g: [{h: {$any: maybe}}]}]}", []string{
			"expect.calls[0].get_counts.a.$regex: is not a regular expression of RE2: error parsing regexp: missing closing ): `(`",
			"expect.calls[0].get_counts.b.$in: must contain at least one value",
			"expect.calls[0].get_counts.c.$any: must be true",
			"expect.calls[0].get_counts.d.$gte: must be a number, but is a string",
			"expect.calls[0].get_counts.e.$regx: unknown matcher (did you mean $regex?); allowed: $regex, $in, $any, $gte, $lte, $normalize, $optional",
			"expect.calls[0].get_counts.f.$gte: a mapping with a matcher has other keys; remove them",
			"expect.calls[0].get_counts.f.$lte: a mapping with a matcher has other keys; remove them",
			"expect.calls[0].get_counts.g[0].h.$any: must be true or false, but is a string",
		}},
		{"matcher in a list", "{status: answered, calls: [get_counts: {a: {$in: [1, {$x: 1}]}}]}", []string{
			"expect.calls[0].get_counts.a.$in[1].$x: unknown matcher (did you mean $in?); allowed: $regex, $in, $any, $gte, $lte, $normalize, $optional",
		}},
		{"other matchers", "{status: answered, calls: [get_counts: {a: {$optional: false}, b: {$normalize: {txt: a}}}]}", []string{
			"expect.calls[0].get_counts: args.a.$optional: must be true, a value or a matcher; write {$in: [false]} for the value false",
			"expect.calls[0].get_counts: args.b.$normalize.txt: unknown field; allowed: text, match_case, remove, replace",
			"expect.calls[0].get_counts: args.b.$normalize.text: must be a string, a number, true, false or null",
		}},
		{"operand of optional", "{status: answered, calls: [get_counts: {a: {$optional: {$in: []}}}]}", []string{"expect.calls[0].get_counts.a.$optional.$in: must contain at least one value"}},
		{"call in words", "{status: answered, calls: [{tool: get_counts, args: x, executed: true}, {tool: , arg: {}}, {tool: get_counts, args: {a: {$in: []}}}]}", []string{
			"expect.calls[0].args: must be a mapping, but is a string",
			"expect.calls[0].executed: only a forbidden call has it; leave it out: a required call is one that was made",
			"expect.calls[1].arg: unknown field (did you mean args?); allowed: tool, args, role, executed",
			"expect.calls[1].tool: must be a string, but is empty",
			"expect.calls[2].args.a.$in: must contain at least one value",
		}},
		{"executed is true or false", "{status: answered, forbidden: [{tool: get_counts, executed: 1}]}", []string{"expect.forbidden[0].executed: must be true or false, but is a number"}},
		{"state", "{status: answered, state: [{path: a..b, is: 1}, {is: 1}, {path: a, was: 1}, {path: a}, {path: a, matches: '('}, {path: a, exists: 1, some: {n: {$in: []}}}], unchanged: [a., a, a], state_hash: abc}", []string{
			`expect.state[0]: path "a..b": a key is empty; remove the extra dot, or write \. for a dot of a key`,
			"expect.state[1].path: is missing",
			"expect.state[2].was: unknown field; allowed: path, is, not, count, matches, exists, every, some",
			"expect.state[3]: a: has no operator; add one of is, not, count, matches, exists, every, some",
			"expect.state[4]: matches: error parsing regexp: missing closing ): `(`",
			"expect.state[5].some.n.$in: must contain at least one value",
			`expect.unchanged[2]: "a" is in the list already`,
			`expect.unchanged[0]: path "a.": a key is empty; remove the extra dot, or write \. for a dot of a key`,
			`expect.state_hash: must be the SHA-256 of a state, 64 digits of 0-9 and a-f; the ledger has it in state_after`,
		}},
		{"other numbers", "{status: answered, not_numbers: ['1,2'], only_numbers: [x], near: {A: , B: 1e3, ' ': 1, b: 2}}", []string{
			`expect.not_numbers[0]: must be a number written in plain digits, such as 1234567 or 25.5, but is "1,2"`,
			`expect.only_numbers[0]: must be a number written in plain digits, such as 1234567 or 25.5, but is "x"`,
			"expect.near.A: must be a number, but is empty",
			`expect.near.B: must be a number written in plain digits, such as 1234567 or 25.5, but is "1e3"`,
			"expect.near: a name must not be blank",
		}},
		{"near", "{status: answered, near: {B: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10, k: 11}}", []string{
			"expect.near: has 11 names; at most 10 are allowed",
			`expect.near: "B" and "b" are the same name; case is ignored`,
		}},
		{"expressions", "{status: answered, matches: ['a', '('], not_matches: ['', 'x{1001}', " + strings.Repeat("x", 1001) + "]}", []string{
			"expect.matches[1]: is not a regular expression of RE2: error parsing regexp: missing closing ): `(`",
			"expect.not_matches[0]: must not be blank",
			"expect.not_matches[1]: is not a regular expression of RE2: error parsing regexp: invalid repeat count: `{1001}`",
			"expect.not_matches[2]: is 1001 bytes long; at most 1000 are allowed",
		}},
		{"number out of bounds", "{status: answered, calls: [get_counts: {a: 1e-9999999999}]}", []string{"expect.calls[0].get_counts: args.a: 1e-9999999999 is not a number in bounds"}},
		{"argument twice", "{status: answered, calls: [get_counts: {a: 1, a: 2}]}", []string{"expect.calls[0].get_counts.a: the key is here already, on line 20"}},
		{"alternatives", "{status: answered}, also_accept: [{status: x}, {sttus: clarify}]", []string{
			`also_accept[0].status: "x" is not known; allowed: answered, answered_after_clarify, respond_error, clarify, awaiting_input, cannot_proceed, stopped`,
			"also_accept[1].sttus: unknown field (did you mean status?); allowed: status, stop_reason, numbers, not_numbers, only_numbers, near, contains_any, contains_all, not_contains, matches, not_matches, order, calls, forbidden, before, approvals, bfcl, at_most, state, unchanged, state_hash, workflow, effects, score, judge, signals, table_label, note",
		}},
		{"no alternatives", "{status: answered}, also_accept: []", []string{"also_accept: must contain at least one outcome; remove it if there is no other outcome"}},
		{"label and note", "{status: answered, table_label: '', note: 1}", []string{"expect.table_label: must not be blank", "expect.note: must be a string, but is a number: put 1 in quotes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var want []string
			for _, w := range tt.want {
				want = append(want, "s/suite.yaml:20: tasks[0]."+w)
			}
			require.Equal(t, want, problemsOf(t, suitetest.Folder(suitetest.Head+"tasks:\n  - {id: A, request: Hi, expect: "+tt.expect+"}\n")))
		})
	}
}

// A required capability must be known. It changes no digest, because it changes no result.
func TestRequires(t *testing.T) {
	suite := func(field string) string {
		return "name: s\nworlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC}}\ntasks: [{id: A, request: a, world: w, tools: [], expect: {status: clarify}" + field + "}]"
	}
	plain, err := Suite(fstest.MapFS{SuiteFile: {Data: []byte(suite(""))}}, "s", nil)
	require.NoError(t, err)
	s, err := Suite(fstest.MapFS{SuiteFile: {Data: []byte(suite(", requires: [ask_user]"))}}, "s", nil)
	require.NoError(t, err)
	require.Equal(t, []string{strategy.CanAsk}, s.Tasks[0].Requires)
	require.Equal(t, plain.Digest, s.Digest)
	_, err = Suite(fstest.MapFS{SuiteFile: {Data: []byte(suite(", requires: [ask]"))}}, "s", nil)
	require.ErrorContains(t, err, `"ask" is not known`)
}
