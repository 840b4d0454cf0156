package load

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

func TestCrossCheck(t *testing.T) {
	tests := []struct {
		name, task string
		want       []string // without file, line and task
	}{
		{"stop reason without stop", "{id: A, request: Hi, expect: {status: answered, stop_reason: stall}}", []string{"expect.status: no episode can meet this and tasks[0].expect.stop_reason (s/suite.yaml:20): only status stopped has a stop reason; change one of the two"}},
		{"question without clarifies", "{id: A, request: Hi, expect: {status: clarify, at_most: {clarifies: 0}}}", []string{"expect.status: no episode can meet this and tasks[0].expect.at_most.clarifies (s/suite.yaml:20): clarifies must be at least 1 (status clarify takes a question) and at most 0; change one of the two"}},
		{"inherited cap in an alternative", "{id: A, request: Hi, expect: {status: answered, at_most: {clarifies: 0}}, also_accept: [{status: clarify}]}", []string{"also_accept[0].status: no episode can meet this and tasks[0].also_accept[0].at_most.clarifies (s/suite.yaml:20): clarifies must be at least 1 (status clarify takes a question) and at most 0; change one of the two"}},
		{"nobody answers", "{id: A, request: Hi, expect: {status: answered_after_clarify}}", []string{"expect.status: no episode can meet this and tasks[0].replies (s/suite.yaml:20): the task has no replies: nobody would answer the question; change one of the two"}},
		{"cap above the hard cap", "{id: A, request: Hi, expect: {status: answered, at_most: {steps: 11}}}", []string{"expect.at_most.steps: is 11, above the task's hard cap max_steps of 10"}},
		{"required tool not offered", "{id: A, request: Hi, tools: [today_range], expect: {status: answered, calls: [today_rang, get_counts]}}", []string{
			`expect.calls[0]: the task offers no tool "today_rang" (did you mean today_range?); it offers: today_range`,
			`expect.calls[1]: the task offers no tool "get_counts"; it offers: today_range`,
		}},
		{"call that breaks the schema", "{id: A, request: Hi, expect: {status: answered, calls: [get_counts: {start: 2026-05-01, end_date: 2026-05-01, label: rage}]}}", []string{`expect.calls[0]: no episode can meet this and tools[1].schema (s/suite.yaml:8): call get_counts{"end_date":"2026-05-01","label":"rage","start":"2026-05-01"}: the arguments break the tool's schema: args.start_date:required, args.label:enum, args.start:additional; change one of the two`}},
		{"required and forbidden", "{id: A, request: Hi, expect: {status: answered, calls: [today_range], forbidden: [today_range]}}", []string{"expect.calls[0]: no episode can meet this and tasks[0].expect.forbidden[0] (s/suite.yaml:20): every call today_range is forbidden; change one of the two"}},
		{"forbidden tool unknown", "{id: A, request: Hi, expect: {status: answered, forbidden: [delete_all]}}", nil},
		{"fewer calls than required", "{id: A, request: Hi, expect: {status: answered, calls: [today_range, get_counts], at_most: {tool_calls: 1}}}", []string{"expect.calls[0]: no episode can meet this, tasks[0].expect.calls[1] (s/suite.yaml:20) and tasks[0].expect.at_most.tool_calls (s/suite.yaml:20): the required calls take 2 executions, and tool_executions must be at most 1; change one of them"}},
		{"label not counted", "{id: A, request: Hi, expect: {status: answered, table_label: info}}", []string{`expect.table_label: the state of the task's world has no date with a number of "info"`}},
		{"token stop without a cap", "{id: A, request: Hi, expect: {status: stopped, stop_reason: max_tokens}}", []string{"expect.stop_reason: no episode can meet this and tasks[0].budgets.max_tokens_total (s/suite.yaml:20): the task has no budget max_tokens_total that could stop an episode; change one of the two"}},
		{"cost stop without a cap", "{id: A, request: Hi, budgets: {max_tokens_total: 5}, expect: {status: stopped, stop_reason: max_cost}}", []string{"expect.stop_reason: no episode can meet this and tasks[0].budgets.max_cost_usd (s/suite.yaml:20): the task has no budget max_cost_usd that could stop an episode; change one of the two"}},
		{"more calls than the budget has", "{id: A, request: Hi, budgets: {max_tool_calls: 1}, expect: {status: answered, calls: [get_counts: " + angryDay("01") + ", get_counts: " + angryDay("02") + "]}}", []string{"expect.calls[0]: no episode can meet this, tasks[0].expect.calls[1] (s/suite.yaml:20) and tasks[0].budgets.max_tool_calls (s/suite.yaml:20): the required calls take 2 executions, and tool_executions must be at most 1; change one of them"}},
		{"no turn left for the answer", "{id: A, request: Hi, budgets: {max_steps: 1}, expect: {status: answered, calls: [get_counts: " + angryDay("01") + "]}}", []string{"expect.status: no episode can meet this, tasks[0].expect.calls[0] (s/suite.yaml:20) and tasks[0].budgets.max_steps (s/suite.yaml:20): steps must be at least 2 (the tool calls take a turn and the answer another) and at most 1; change one of them"}},
		{"no turn left after the question", "{id: A, request: Hi, replies: [x], budgets: {max_steps: 1}, expect: {status: answered_after_clarify}}", []string{"expect.status: no episode can meet this and tasks[0].budgets.max_steps (s/suite.yaml:20): steps must be at least 2 (the question takes a turn and the answer another) and at most 1; change one of the two"}},
		{"fewer steps than it takes", "{id: A, request: Hi, expect: {status: answered, at_most: {steps: 0}}}", []string{"expect.status: no episode can meet this and tasks[0].expect.at_most.steps (s/suite.yaml:20): steps must be at least 1 (the answer takes a turn) and at most 0; change one of the two"}},
		{"scripted model with a cost", "{id: A, request: Hi, scripted: true, script: [{respond: a}], budgets: {max_cost_usd: 1}, expect: {status: answered}}", nil},

		{"token and cost stops", "{id: A, request: Hi, budgets: {max_tokens_total: 5, max_cost_usd: 0.01}, expect: {status: stopped, stop_reason: max_tokens}, also_accept: [{stop_reason: max_cost}]}", nil},
		{"the same call twice may be cached", "{id: A, request: Hi, budgets: {max_tool_calls: 1}, expect: {status: answered, calls: [get_counts: " + angryDay("01") + ", get_counts: " + angryDay("01") + "]}}", nil},
		{"a cap of 0 is none", "{id: A, request: Hi, budgets: {max_steps: 0, max_tool_calls: 0}, expect: {status: answered, calls: [get_counts: " + angryDay("01") + "]}}", nil},
		{"matcher instead of a value", "{id: A, request: Hi, expect: {status: answered, calls: [get_counts: {start_date: {$regex: '^2026-'}, end_date: {$any: true}, label: {$in: [angry, praise]}}]}}", nil},
		{"subset of more calls", "{id: A, request: Hi, expect: {status: answered, order: subset, calls: [today_range, get_counts], at_most: {tool_calls: 1}}}", nil},
		{"script names any tool", "{id: A, request: Hi, scripted: true, script: [{call: {rm: {}}}], expect: {status: answered, forbidden: [rm]}}", nil},
		{"forbidden arguments of a required tool", "{id: A, request: Hi, expect: {status: answered, calls: [get_counts], forbidden: [get_counts: {label: praise}]}}", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var want []string
			for _, w := range tt.want {
				want = append(want, "s/suite.yaml:20: tasks[0]."+w)
			}
			require.Equal(t, want, problemsOf(t, suitetest.Folder(suitetest.Head+"tasks:\n  - "+tt.task+"\n")))
		})
	}
}

// angryDay are arguments of get_counts.
func angryDay(day string) string {
	return "{start_date: 2026-05-" + day + ", end_date: 2026-05-" + day + ", label: angry}"
}

// The suite's caps on tokens and cost do not apply to scripted tasks, unless the script reports usage.
func TestScriptedTasksHaveNoCost(t *testing.T) {
	s := loadFull(t)
	for _, task := range s.Tasks {
		require.Equal(t, task.Scripted, task.Budgets.MaxTokens == 0, task.ID)
		require.Equal(t, task.Scripted, task.Budgets.MaxCostNanoUSD == 0, task.ID)
		if !task.Scripted {
			require.Equal(t, int64(5000), task.Budgets.MaxTokens)
			require.Equal(t, int64(50_000_000), task.Budgets.MaxCostNanoUSD)
		}
	}
}

func TestLint(t *testing.T) {
	text := `name: demo
tools:
  - {name: get_weather, description: Weather., schema: {type: object}}
  - {name: today_range, description: Today., schema: {type: object}}
worlds:
  used: {now: 2026-05-13T12:00:00Z, zone: UTC}
  base: {zone: UTC}
  built_on: {from: base, now: 2026-05-13T12:00:00Z}
  idle: {zone: UTC}
defaults: {world: used}
tasks:
  - {id: A, request: Hi, tools: [get_weather], expect: {status: answered}}
  - {id: B, request: Hi, tools: [], world: built_on, expect: {status: answered}}
`
	s, err := Suite(suitetest.Folder(text), "s", suitetest.Worlds())
	require.NoError(t, err, "a suite may bring its own tools")
	require.EqualError(t, s.Lint(), `s/suite.yaml:3: tools[0]: nothing implements tool get_weather of task A: it has no http, no Go function has its name (cmd.App.Tools), and the task's world has no kind
s/suite.yaml:4: tools[1]: no task offers tool today_range
s/suite.yaml:9: worlds.idle: no task uses world idle`)
	require.EqualError(t, s.Lint("get_weather", "today_range"), `s/suite.yaml:4: tools[1]: no task offers tool today_range
s/suite.yaml:9: worlds.idle: no task uses world idle`, "a Go function implements it")

	s, err = Suite(suitetest.Folder(suitetest.Head+"tasks: ["+suitetest.Task+"]\n"), "s", suitetest.Worlds())
	require.NoError(t, err)
	require.NoError(t, s.Lint())
}

// TestWarnings checks tasks that accept too much, and tasks that need no warning.
func TestWarnings(t *testing.T) {
	const empty = "an empty answer passes, without any tool call; add a check of the answer, such as numbers, contains_any or matches, or of calls"
	for _, tt := range []struct {
		task string
		want []string
	}{
		{"expect: {status: answered}", []string{"expect: " + empty}},
		{"replies: [x], expect: {status: answered_after_clarify, forbidden: [get], not_contains: [x], not_numbers: [1], only_numbers: [], not_matches: [x], at_most: {steps: 3}}", []string{"expect: " + empty}},
		{"expect: {status: answered, numbers: [1]}, also_accept: [{numbers: , contains_all: []}, {status: clarify}]", []string{"also_accept[0]: " + empty}},
		{"expect: {status: answered, contains_any: [a]}", nil},
		{"expect: {status: answered, matches: ['\\S']}", nil},
		{"expect: {status: answered, matches: ['^']}", []string{"expect: " + empty}},
		{"expect: {status: answered, near: {a: 1}}", nil},
		{"expect: {status: answered, calls: [get]}", nil},
		{"expect: {status: answered, order: subset, calls: [get]}", []string{"expect: " + empty}},
		{"expect: {status: answered, signals: {tool_executions: '>0'}}", nil},
		{"answer_schema: {type: object}, expect: {status: answered}", nil},
		{"expect: {status: respond_error}, also_accept: [{status: cannot_proceed}, {status: clarify}, {status: stopped}]", nil},
		{"scripted: true, script: [{respond: a}], expect: {status: answered, forbidden: [gett], signals: {violations: '>=0'}}", nil},
		{"expect: {status: clarify, signals: {violations: '>=0', valid_raw: '>-1', repaired: '>=-0.5', elapsed_seconds: '>=0', rejected_calls: '<=5', thrash: false}}", []string{
			"expect.signals.elapsed_seconds: every", "expect.signals.repaired: every", "expect.signals.valid_raw: every", "expect.signals.violations: every",
		}},
		{"expect: {status: clarify, forbidden: [gett, get, delete_all]}", []string{`expect.forbidden[0]: the suite has no tool "gett" (did you mean get?)`}},
	} {
		t.Run(tt.task, func(t *testing.T) {
			s, err := Suite(oneTask(tt.task), "s", suitetest.Worlds())
			require.NoError(t, err)
			require.Len(t, s.Warnings, len(tt.want))
			for i, w := range s.Warnings {
				require.Contains(t, w.Error(), "s/suite.yaml:")
				require.True(t, strings.HasPrefix(w.Field+": "+w.Detail, "tasks[0]."+tt.want[i]), "%s", w)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(suitetest.Head+"tasks: ["+suitetest.Task+"]\n", "")
	f.Add("name: demo\ntasks: [t.yaml]\n", "tags: [a]\ntasks:\n  - &a "+suitetest.Task+"\n  - *a\n")
	f.Add("name: demo\ntasks: &a [*a]\n", "\t")
	f.Add("\r0", "\u2028\u0085[")
	f.Add("name: s\nworlds:\n  a: {kind: documents, state: t.yaml}\n  b: {from: a, state: {documents: {x: null, y: {title: 1}}}}\ntasks: [{id: A, request: Hi, world: b, expect: {status: answered}}]\n", `{"documents":{"x":{}}}`)
	f.Add(suitetest.Head+"tasks:\n  - {id: A, request: Hi, expect: {status: answered, calls: [get_counts: {a: {$regex: '('}}]}}\n", "? [x]\n: y\n")
	f.Add("name: !!binary aGk=\ntasks: [{}, ~, 1, [], 't.yaml']\nworlds: {a: {from: a}}\n", "tasks: [")
	f.Add(suitetest.Head+"candidates: [{name: a, agent: tools, provider: p, model: m, batch: {size: 2, delay: 1s}, memory: {off: true}}]\ntasks:\n  - {id: A, session: s, request: 'Do {a}', inputs: {b: [{a: 1}, {}]}, each: b, images: [t.yaml], answer_schema: {type: [array, 'null']}, expect: {status: answered}}\n", "")
	f.Fuzz(func(t *testing.T, suite, tasks string) {
		fsys := fstest.MapFS{SuiteFile: {Data: []byte(suite)}, "t.yaml": {Data: []byte(tasks)}}
		s, err := Suite(fsys, "s", suitetest.Worlds())
		if err == nil {
			require.NotEmpty(t, s.Digest)
			for _, task := range s.Tasks {
				require.NotNil(t, task.World.Zone)
				require.NotEmpty(t, task.Expect)
				if task.AnswerSchema != nil {
					_, checks := goldens.Score(goldens.Task{AnswerSchema: task.AnswerSchema, Each: task.Each, Inputs: task.Inputs, Expect: []goldens.Expect{{Status: "answered"}}}, goldens.Outcome{Status: "answered", Answer: "{}"})
					require.NotContains(t, checks[1].Detail, "broken")
				}
				for _, e := range task.Expect {
					require.NoError(t, e.Validate(), "what loads can be scored")
				}
			}
			return
		}
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			var p *yamlfile.Problem
			require.ErrorAs(t, e, &p)
			require.Contains(t, []string{"s/suite.yaml", "s/t.yaml"}, p.File)
			require.Positive(t, p.Line)
			require.LessOrEqual(t, p.Line, 1+max(len(yamlfile.YamlBreak.FindAllString(suite, -1)), len(yamlfile.YamlBreak.FindAllString(tasks, -1))))
			require.NotEmpty(t, p.Detail)
		}
	})
}

// There are warnings about checks that an episode without changes passes, and about missing paths.
func TestStateWarnings(t *testing.T) {
	const holds = "holds in the initial state: an episode that changes nothing passes; add an assertion that requires a change, or write unchanged where nothing may change"
	for expect, want := range map[string][]string{
		"numbers: [1], state: [{path: orders.O7.status, is: refunded}]":                             nil,
		"numbers: [1], state: [{path: orders.O7.status, is: open}]":                                 {"expect.state: " + holds},
		"numbers: [1], state: [{path: orders.O7.status, is: open}, {path: refunds, count: 1}]":      nil,
		"numbers: [1], state: [{path: refunds, count: 0}, {path: refunds, every: {amount: 1}}]":     {"expect.state: " + holds},
		"numbers: [1], state: [{path: refunds, count: 0}], state_hash: " + strings.Repeat("0a", 32): nil,
		"numbers: [1], unchanged: [orders, .]":                                                      nil,
		"numbers: [1], unchanged: [ordrs.O7]":                                                       {"expect.unchanged[0]: the initial state has no ordrs.O7; correct the path, or assert {exists: false} under state if nothing may appear there"},
		"unchanged: [.]":                                                                            {"expect: an empty answer passes"},
		"state: [{path: orders.O7.status, is: refunded}]":                                           nil,
		"state: [{path: orders.O7.status, is: open}]":                                               {"expect: an empty answer passes", "expect.state: " + holds},
	} {
		t.Run(expect, func(t *testing.T) {
			text := stateSuite("  a: {kind: any, state: {orders: {O7: {status: open}}, refunds: []}}", "a")
			s, err := Suite(suitetest.Folder(strings.Replace(text, "status: answered", "status: answered, "+expect, 1)), "s", someKinds)
			require.NoError(t, err)
			require.Len(t, s.Warnings, len(want), "%v", s.Warnings)
			for i, w := range s.Warnings {
				require.True(t, strings.HasPrefix(w.Field+": "+w.Detail, "tasks[0]."+want[i]), "%s", w)
			}
		})
	}
}

// A suite that is read without the proof equals the one that Suite reads, with its other problems.
func TestProved(t *testing.T) {
	suite, err := Suite(counts.FS, "counts", counts.Worlds())
	require.NoError(t, err)
	proved, err := Proved(counts.FS, "counts", counts.Worlds())
	require.NoError(t, err)
	require.Equal(t, suite.Digest, proved.Digest)
	require.Equal(t, suite.Advice, proved.Advice)
	require.Len(t, proved.Tasks, len(suite.Tasks))
	require.Empty(t, proved.Warnings)

	impossible := oneTask("expect: {status: answered, stop_reason: stall}")
	_, err = Suite(impossible, "s", suitetest.Worlds())
	require.ErrorContains(t, err, "no episode can meet this")
	_, err = Proved(impossible, "s", suitetest.Worlds())
	require.NoError(t, err)
	_, err = Proved(oneTask("expect: {status: answered, calls: [gett]}"), "s", suitetest.Worlds())
	require.ErrorContains(t, err, "the task offers no tool")
}
