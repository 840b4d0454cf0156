package load

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	builtin "github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/internal/witness"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/research"
)

// oneTask is a suite with one task; its last line is line 29.
func oneTask(task string) fs.FS {
	return suitetest.Folder(`name: demo
tools:
  - {name: clock, description: Now., uncacheable: true, schema: {type: object, additionalProperties: false}}
  - {name: poll, description: Poll., repeatable: true, schema: {type: object, properties: {id: {type: string}}}}
  - {name: never, description: Never., approve: never, schema: {type: object}}
  - {name: today_range, description: Today., schema: {type: object}}
  - name: get
    description: Counts.
    schema:
      type: object
      properties:
        day: {type: string, pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
        label: {type: string, enum: [angry, praise]}
        limit: {type: integer, minimum: 1, maximum: 20}
        deep: {type: object, properties: {on: {type: boolean}, list: {type: array, items: {enum: [1, 2]}, minItems: 2}}, required: [list]}
        id: {anyOf: [{type: "null"}, {$ref: "#/$defs/id"}]}
      required: [day, label]
      additionalProperties: false
      $defs: {id: {type: string, minLength: 3, maxLength: 3}}
worlds:
  may:
    now: 2026-05-13T12:00:00-04:00
    zone: America/New_York
    kind: counts
    state: {counts: {2026-05-13: {angry: 2, praise: 3}}}
defaults: {world: may, budgets: {max_steps: 10, max_tool_calls: 3, max_seconds: 30}}
tasks:
  - {id: A, request: Hi, ` + task + "}\n")
}

// other is a demand that a conflict names in addition to the one at which it is reported.
var other = regexp.MustCompile(`[\w.\[\] -]+ \(s/suite\.yaml:\d+\)`)

// conflictsOf returns the fields that each conflict of a suite names, without the task.
func conflictsOf(t *testing.T, fsys fs.FS) (out []string) {
	t.Helper()
	for _, p := range problemsOf(t, fsys) {
		where, detail, ok := strings.Cut(p, ": no episode can meet this")
		require.True(t, ok, p)
		_, field, _ := strings.Cut(where, ": ")
		fields := []string{field}
		if named, _, ok := strings.Cut(detail, "): "); ok && !strings.HasPrefix(detail, ":") {
			for _, one := range other.FindAllString(named+")", -1) {
				one = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(one), "and "), "this ")
				fields = append(fields, strings.TrimPrefix(one, "and "))
			}
		}
		for i, f := range fields {
			f, _, _ = strings.Cut(f, " (")
			fields[i] = strings.TrimPrefix(strings.TrimPrefix(f, "tasks[0]."), "expect.")
		}
		out = append(out, strings.Join(fields, " + "))
	}
	return out
}

// Every contradiction is found, and names exactly the fields that contradict each other.
func TestConflicts(t *testing.T) {
	const day = "day: 2026-05-01"
	for _, tt := range []struct{ expect, want string }{
		// The calls.
		{"status: answered, calls: [get: {" + day + ", label: angry}], forbidden: [get: {label: angry, " + day + "}]", "calls[0] + forbidden[0]"},
		{"status: answered, calls: [clock, get], forbidden: [poll, get]", "calls[1] + forbidden[1]"},
		{"status: answered, calls: [get: {" + day + ", label: {$in: [angry]}}], forbidden: [get: {" + day + ", label: {$in: [angry, praise]}}]", "calls[0] + forbidden[0]"},
		{"status: answered, calls: [get: {day: {$regex: '^2026'}, label: angry}], forbidden: [get: {day: {$regex: '^2026'}, label: {$any: true}}]", "calls[0] + forbidden[0]"},
		{"status: answered, calls: [get: {day: {$regex: '^2026'}, label: angry}], forbidden: [{tool: get, executed: true}]", "calls[0] + forbidden[0]"},
		{"status: answered, calls: [get: {" + day + ", label: {$any: true}}], forbidden: [get: {" + day + ", label: angry}, get: {" + day + ", label: praise}]", "calls[0] + forbidden[0] + forbidden[1] + tools[4].schema"},
		{"status: answered, calls: [poll: {id: {$optional: a}}], forbidden: [poll: {id: a}, poll: {}]", "calls[0] + forbidden[0] + forbidden[1]"},
		{"status: answered, calls: [clock], forbidden: [clock: {}]", "calls[0] + forbidden[0] + tools[0].schema"},
		{"status: answered, calls: [get: {" + day + ", label: {$in: [rage, fury]}}]", "calls[0] + tools[4].schema"},
		{"status: answered, calls: [get: {" + day + ", label: {$normalize: rage}}]", "calls[0] + tools[4].schema"},
		{"status: answered, calls: [get: {" + day + ", label: {$regex: '^r'}}]", "calls[0] + tools[4].schema"},
		{"status: answered, calls: [get: {" + day + "}]", "calls[0] + tools[4].schema"},
		{"status: answered, calls: [never]", "calls[0] + tools[2].approve"},
		{"status: answered, calls: [get: {" + day + ", label: angry}, get: {" + day + ", label: praise}], at_most: {tool_calls: 1}", "calls[0] + calls[1] + at_most.tool_calls"},
		{"status: answered, calls: [clock, clock], at_most: {tool_calls: 1}", "calls[0] + calls[1] + at_most.tool_calls"},
		{"status: answered, calls: [get, clock, poll, today_range]", "calls[0] + calls[1] + calls[2] + calls[3] + budgets.max_tool_calls"},
		{"status: answered, calls: [get], signals: {tool_executions: 0}", "calls[0] + signals.tool_executions"},
		{"status: answered, order: strict, calls: [get], signals: {tool_executions: 2}", "order + signals.tool_executions"},
		{"status: answered, order: strict, signals: {dedupe_hits: '>0'}", "order + signals.dedupe_hits"},
		{"status: answered, order: subset, calls: [get], signals: {tool_executions: '>=2'}", "order + signals.tool_executions"},
		{"status: answered, forbidden: [clock, poll, today_range, get], signals: {tool_executions: 1}", "forbidden[0] + forbidden[1] + forbidden[2] + forbidden[3] + signals.tool_executions + tools + tools[2].approve"},
		// The answer.
		{"status: answered, contains_all: [no data], not_contains: [DATA]", "contains_all[0] + not_contains[0]"},
		{"status: answered, contains_all: [x], not_contains: [y, x]", "contains_all[0] + not_contains[1]"},
		{"status: answered, contains_any: [a b, b], not_contains: [b]", "contains_any + not_contains[0]"},
		{"status: answered, contains_any: [a, b], not_contains: [b, a]", "contains_any + not_contains[0] + not_contains[1]"},
		{"status: answered, numbers: [338], not_contains: ['338']", "numbers[0] + not_contains[0]"},
		{"status: answered, numbers: [1, 25.0], not_contains: ['5']", "numbers[1] + not_contains[0]"},
		{"status: answered, numbers: [5], not_numbers: [6, 5.0]", "numbers[0] + not_numbers[1]"},
		{"status: answered, numbers: [5], only_numbers: [4]", "numbers[0] + only_numbers"},
		{"status: answered, numbers: [5], only_numbers: []", "numbers[0] + only_numbers"},
		{"status: answered, near: {Cold Ness: 41}, not_numbers: [41]", "not_numbers[0] + near.Cold Ness"},
		{"status: answered, near: {Cold Ness: 41}, only_numbers: [4]", "only_numbers + near.Cold Ness"},
		{"status: answered, near: {Cold Ness: 41}, not_contains: [ness]", "near.Cold Ness + not_contains[0]"},
		{"status: answered, contains_all: [got 449 of them], not_numbers: [449]", "not_numbers[0] + contains_all[0]"},
		{"status: answered, matches: ['a.c'], not_matches: ['x', 'a.c']", "matches[0] + not_matches[1]"},
		{"status: answered, contains_all: [about 5], not_matches: ['[0-9]']", "contains_all[0] + not_matches[0]"},
		{"status: answered, numbers: [5], not_matches: ['\\d']", "numbers[0] + not_matches[0]"},
		{"status: answered, table_label: angry, order: strict, calls: []", "order + table_label"},
		{"status: answered, table_label: angry, order: subset, calls: []", "order + table_label"},
		{"tools: [], expect: {status: answered, table_label: angry", "table_label + tools"},
		// How the episode ends.
		{"status: stopped, stop_reason: thrash, signals: {thrash: false}", "stop_reason + signals.thrash"},
		{"status: stopped, stop_reason: stall, signals: {stall: false}", "stop_reason + signals.stall"},
		{"status: clarify, stop_reason: stall", "status + stop_reason"},
		{"status: stopped, stop_reason: contract_violation, signals: {violations: 0}", "stop_reason + signals.violations"},
		{"status: stopped, stop_reason: max_seconds, signals: {elapsed_seconds: '<30'}", "stop_reason + signals.elapsed_seconds + budgets.max_seconds"},
		{"budgets: {max_steps: 0}, expect: {status: stopped, stop_reason: max_steps", "stop_reason + budgets.max_steps"},
		{"status: clarify, at_most: {clarifies: 0}", "status + at_most.clarifies"},
		{"status: answered_after_clarify", "status + replies"},
		// The counts.
		{"status: answered, signals: {valid_raw: '<0'}", "signals.valid_raw"},
		{"status: answered, signals: {model_calls: 1.5}", "signals.model_calls"},
		{"status: answered, signals: {elapsed_seconds: '<0'}", "signals.elapsed_seconds"},
		{"status: answered, signals: {model_calls: 2, valid_raw: 3}", "signals.model_calls + signals.valid_raw"},
		{"status: answered, signals: {model_calls: 2, violations: 1, repaired: '>1'}", "signals.model_calls + signals.repaired + signals.violations"},
		{"status: answered, signals: {model_calls: 1, valid_raw: 1, all_turns_valid_json: false}", "signals.all_turns_valid_json + signals.model_calls + signals.valid_raw"},
		{"status: answered, calls: [get], signals: {model_calls: 1}", "status + calls[0] + signals.model_calls"},
		{"status: answered, calls: [get], at_most: {steps: 1}", "status + calls[0] + at_most.steps"},
		{"status: stopped, at_most: {steps: 1}, signals: {reflect_turns: 1, rescue_turns: 1}", "at_most.steps + signals.reflect_turns + signals.rescue_turns"},
		{"status: answered, signals: {dedupe_hits: 1, tool_executions: 0}", "signals.dedupe_hits + signals.tool_executions"},
		{"status: answered, at_most: {tool_calls: 0}, signals: {duration_spikes: 1}", "at_most.tool_calls + signals.duration_spikes"},
		{"status: answered, signals: {reflect_turns: 1, thrash: false}", "signals.reflect_turns + signals.thrash"},
		{"status: answered, signals: {thrash: true, tool_executions: 0}", "signals.thrash + signals.tool_executions"},
		{"status: answered, signals: {cycle_pattern: true, tool_executions: 1}", "signals.cycle_pattern + signals.tool_executions"},
		{"status: answered, signals: {cycle_pattern: true, thrash: false}", "signals.cycle_pattern + signals.thrash"},
		{"status: answered, signals: {circuit_open: 1}", "signals.circuit_open + budgets.max_tool_calls"},
		{"budgets: {max_tool_calls: 0}, expect: {status: answered, signals: {circuit_open: 1, tool_executions: '<4'}", "signals.circuit_open + signals.tool_executions"},
		{"status: answered, signals: {rejected_calls: 1, budget_refusals: 2}", "signals.budget_refusals + signals.rejected_calls"},
	} {
		task := tt.expect
		if !strings.Contains(task, "expect:") {
			task = "expect: {" + task
		}
		t.Run(tt.expect, func(t *testing.T) {
			require.Equal(t, []string{tt.want}, conflictsOf(t, oneTask(task+"}")))
		})
	}
}

// A suite loads if it has an apparent or only possible contradiction.
func TestNoFalseConflict(t *testing.T) {
	for _, expect := range []string{
		"status: answered, calls: [get: {day: 2026-05-01, label: angry}], forbidden: [get: {day: 2026-05-01, label: praise}]",
		"status: answered, calls: [get], forbidden: [get: {label: angry}, get: {day: 2026-05-01, label: angry}]",
		"status: answered, calls: [get: {day: {$regex: '^2026'}, label: angry}], forbidden: [get: {day: {$regex: '-01$'}, label: angry}]",
		"status: answered, calls: [get: {day: {$regex: '-0[1-9]$'}, label: {$regex: 'ra'}, limit: {$gte: 5}, deep: {$optional: true}, id: {$any: true}}]",
		"status: answered, calls: [get: {day: {$regex: '^(?:\\d{4}-){1}\\d{2}-31\\b'}, label: {$normalize: ANGRY}, limit: {$lte: 1}, deep: {on: {$any: true}, list: [{$any: true}, 2]}, id: {$regex: '^.b'}}]",
		"status: answered, calls: [get: {day: 2026-05-01, label: angry}, get: {day: 2026-05-01, label: angry}], at_most: {tool_calls: 1}",
		"status: answered, calls: [get, get: {day: 2026-05-01, label: angry}], at_most: {tool_calls: 1}, signals: {dedupe_hits: 1}",
		"status: stopped, stop_reason: max_steps, signals: {model_calls: '<=9'}", // a plan stops before turns that together would pass the budget
		"status: answered, calls: [poll: {id: {$regex: a}}, poll: {id: {$regex: b}}], at_most: {tool_calls: 2}",
		"status: answered, order: subset, calls: [get, clock], at_most: {tool_calls: 0}",
		"status: answered, order: subset, calls: [get, today_range], table_label: angry, forbidden: [clock]",
		"status: answered, order: strict, calls: [get, get], signals: {dedupe_hits: 2, tool_executions: 2}",
		"status: answered, signals: {tool_executions: 3, dedupe_hits: '>=1', rejected_calls: 2, budget_refusals: 1}",
		"status: answered, forbidden: [clock, poll, today_range], signals: {tool_executions: 1}",
		"status: answered, numbers: [1234567], not_contains: ['1234567']",
		"status: answered, numbers: [1234567], not_contains: ['1234567', '1,234,567']",
		"status: answered, numbers: [5], not_matches: ['^5$', '(?i)sorry', '\\b6\\b']",
		"status: answered, numbers: [5], not_matches: ['^[^€]*$']",
		"status: answered, contains_all: ['2026'], only_numbers: [5]",
		"status: answered, contains_any: [a, b], not_contains: [a]",
		"status: answered, matches: ['^The answer is \\d+\\.$'], numbers: [5]",
		"status: answered, matches: ['(?i)^(yes|no)$'], contains_any: [yes, no]",
		"status: answered, matches: ['x{3,}[^a-z]\\pL+$']",
		"status: answered, near: {Cold Ness: 41, Grey Point: 38}, only_numbers: [38, 41], numbers: [41]",
		"status: answered, table_label: angry, not_contains: [2026-05-13, '2']",
		"status: answered, contains_all: [\"a\\nb\", '; ', '|'], not_contains: [\"\\n;\"]",
		"status: stopped, stop_reason: max_seconds, signals: {elapsed_seconds: '>=30'}",
		"status: stopped, at_most: {steps: 0}",
		"status: clarify, at_most: {steps: 1}, calls: [get]",
		"status: answered, signals: {violations: '<=2', elapsed_seconds: '0.5', repaired: '<1', all_turns_valid_json: false, stall: true}",
		"status: answered, signals: {valid_raw: '>1e300', elapsed_seconds: '>1e300'}",
		"status: answered, signals: {tool_executions: '>=1000000'}",
	} {
		t.Run(expect, func(t *testing.T) {
			task := "expect: {" + expect + "}"
			if strings.Contains(expect, "1000000") {
				task = "budgets: {max_tool_calls: 0}, " + task
			}
			require.Empty(t, problemsOf(t, oneTask(task)))
		})
	}
}

// Several conflicts of one outcome are several problems. Inherited ones of an alternative are not
// reported again.
func TestConflictsAreReportedOnce(t *testing.T) {
	require.Equal(t, []string{"numbers[0] + not_contains[0]", "signals.valid_raw", "also_accept[1].status + also_accept[1].replies"},
		slices.Collect(func(yield func(string) bool) {
			for _, c := range conflictsOf(t, oneTask("expect: {status: answered, numbers: [7], not_contains: ['7'], signals: {valid_raw: '<0'}}, also_accept: [{status: cannot_proceed}, {status: answered_after_clarify, numbers: , signals: }]")) {
				yield(strings.ReplaceAll(c, "+ replies", "+ also_accept[1].replies"))
			}
		}))
}

// A very large outcome is not proved, and the number of reported contradictions is bounded.
func TestProofIsBounded(t *testing.T) {
	many := func(n int) string {
		var words []string
		for i := range n {
			words = append(words, fmt.Sprintf("word%d.", i))
		}
		list := strings.Join(words, ", ")
		return "expect: {status: answered, contains_all: [" + list + "], not_contains: [" + list + "]}"
	}
	require.Len(t, conflictsOf(t, oneTask(many(100))), maxConflicts)
	require.Empty(t, problemsOf(t, oneTask(many(maxDemands/2))))
	suite := suitetest.Head + "tasks:\n"
	for i := range 2 * maxProblems {
		suite += fmt.Sprintf("  - {id: T%d, request: Hi, expect: {status: stopped, stop_reason: thrash, signals: {thrash: false}}}\n", i)
	}
	require.Len(t, problemsOf(t, suitetest.Folder(suite)), maxProblems+1)
}

// FuzzProve checks that the proof of any outcome ends, and that a conflict names places of the file.
func FuzzProve(f *testing.F) {
	f.Add("status: answered, calls: [get: {day: {$regex: '^(a|b)*$'}, label: {$in: [angry, {$any: true}]}}], forbidden: [{tool: get, args: {day: {$normalize: {text: a, remove: b}}}}]")
	f.Add("status: answered, numbers: [1, -2.50], near: {a b: 3}, only_numbers: [], not_numbers: [1e5], matches: ['(?i)x{2,}$'], not_matches: ['\\b[^\\d]']")
	f.Add("status: stopped, stop_reason: max_steps, order: subset, calls: [poll: {id: {$optional: {$gte: 5}}}], signals: {dedupe_hits: '>1', elapsed_seconds: 1e99}, at_most: {tool_calls: 1}")
	f.Add("status: answered, table_label: angry, order: strict, calls: [today_range, {tool: clock, args: {}}], signals: {circuit_open: 4, model_calls: '<3.7'}")
	f.Fuzz(func(t *testing.T, expect string) {
		s, err := Suite(oneTask("expect: {"+expect+"}"), "s", suitetest.Worlds())
		if err == nil {
			witnessesOf(s, func(_ goldens.Task, _ int, _ *witness.Goal, _ goldens.Outcome, bad *witness.Obstacle) {
				require.False(t, bad != nil && bad.Sure)
			})
			return
		}
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			var p *yamlfile.Problem
			require.ErrorAs(t, e, &p)
			require.Positive(t, p.Line)
		}
	})
}

// witnessesOf builds the witness of every accepted outcome of a suite.
func witnessesOf(s *goldens.Suite, each func(t goldens.Task, i int, g *witness.Goal, o goldens.Outcome, bad *witness.Obstacle)) {
	set, _ := tool.NewSet(s.Tools)
	l := &loader{tools: &offer{places: map[string]yamlfile.Place{}}}
	trees := map[string]tool.JSON{}
	for _, spec := range s.Tools {
		l.tools.places[spec.Name] = yamlfile.Place{}
		trees[spec.Name], _, _ = tool.ParseJSON(string(spec.Schema))
	}
	for _, t := range s.Tasks {
		for i, e := range t.Expect {
			g := witness.Prover{Task: t, Tools: set, Trees: trees}.Goal(slices.Concat(demandsOf(yamlfile.Object{}, e), l.givenDemands(s, t, yamlfile.Object{})))
			o, bad := g.Witness()
			each(t, i, g, o, bad)
		}
	}
}

// Every outcome of the built-in suites has a witness that passes, with calls that its tools accept.
func TestBuiltInsHaveWitnesses(t *testing.T) {
	for name, fsys := range map[string]fs.FS{"counts": builtin.FS, "research": research.FS, "first": os.DirFS("../../cmd/scaffold/suites/first")} {
		s, err := Suite(fsys, name, suitetest.Worlds())
		require.NoError(t, err)
		set, err := tool.NewSet(s.Tools)
		require.NoError(t, err)
		witnessesOf(s, func(task goldens.Task, i int, g *witness.Goal, o goldens.Outcome, bad *witness.Obstacle) {
			at := fmt.Sprintf("%s %s outcome %d", name, task.ID, i)
			require.Nil(t, bad, at)
			solved, checks := goldens.Score(g.Task, o)
			require.True(t, solved, "%s %+v", at, checks)
			require.Equal(t, task.AnswerSchema, g.Task.AnswerSchema)
			require.Equal(t, task.Expect[i].Trajectory, g.Expect.Trajectory)
			for _, c := range o.Calls {
				require.Contains(t, task.Tools, c.Call.Name, at)
				require.Empty(t, set.Validate(c.Call), at)
			}
		})
	}
}

// BenchmarkProve measures the proof of a task: about a tenth of a millisecond.
func BenchmarkProve(b *testing.B) {
	s, err := Suite(builtin.FS, "builtin:counts", suitetest.Worlds())
	require.NoError(b, err)
	for b.Loop() {
		witnessesOf(s, func(_ goldens.Task, _ int, g *witness.Goal, o goldens.Outcome, _ *witness.Obstacle) { g.Empty(o) })
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(s.Tasks)), "us/task")
}
