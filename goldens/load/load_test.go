package load

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// problemsOf loads a folder and returns what Load reports, line by line.
func problemsOf(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	s, err := Suite(fsys, "s", suitetest.Worlds())
	if err == nil {
		return nil
	}
	require.Nil(t, s)
	return strings.Split(err.Error(), "\n")
}

func TestLoadFileProblems(t *testing.T) {
	deep := strings.Repeat("[", 120) + strings.Repeat("]", 120)
	bomb := "name: demo\na: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'h'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "))
	}
	many := "tasks:\n" + strings.Repeat("  - "+suitetest.Task+"\n", maxTasks+1)
	tests := []struct {
		name string
		fsys fs.FS
		want []string
	}{
		{"no suite.yaml", fstest.MapFS{}, []string{"s/suite.yaml:1: there is no such file"}},
		{"empty", suitetest.Folder(""), []string{"s/suite.yaml:1: the file is empty"}},
		{"only a comment", suitetest.Folder("# nothing\n"), []string{"s/suite.yaml:1: the file is empty"}},
		{"too large", suitetest.Folder("name: demo\n" + strings.Repeat("#", maxFileBytes)), []string{"s/suite.yaml:1: the file is larger than 4 MiB"}},
		{"not YAML", suitetest.Folder("name: demo\ntasks: [\n"), []string{"s/suite.yaml:2: not valid YAML: did not find expected node content"}},
		{"tab", suitetest.Folder("name: demo\n\ttasks: x\n"), []string{"s/suite.yaml:2: not valid YAML: found a tab character that violates indentation"}},
		{"two documents", suitetest.Folder("name: demo\n---\nname: other\n"), []string{"s/suite.yaml:2: a suite file must contain one YAML document, and here another starts"}},
		{"not a mapping", suitetest.Folder("- name\n"), []string{"s/suite.yaml:1: must be a mapping, but is a list"}},
		{"deep", suitetest.Folder("name: demo\ntasks: " + deep + "\n"), []string{"s/suite.yaml:2: nested deeper than 100 levels"}},
		{"alias bomb", suitetest.Folder(bomb), []string{"s/suite.yaml:7: more than 1000000 values once aliases are expanded"}},
		{"alias of itself", suitetest.Folder("name: demo\ntasks: &a [*a]\n"), []string{"s/suite.yaml:2: an alias contains itself"}},
		{"duplicate key", suitetest.Folder(suitetest.Head + "tasks: [" + suitetest.Task + "]\nname: again\n"), []string{"s/suite.yaml:20: name: the key is here already, on line 1"}},
		{"odd key", suitetest.Folder("name: demo\n[a]: b\n"), []string{"s/suite.yaml:1: tasks: is missing", "s/suite.yaml:2: a key must be a word, but is a list"}},
		{"unknown field", suitetest.Folder("name: demo\ntitel: Demo\ntasks: [tasks/*.yaml]\n"), []string{
			"s/suite.yaml:2: titel: unknown field (did you mean title?); allowed: name, title, description, candidates, matrix, judges, tools, defaults, worlds, tasks, injections",
			`s/suite.yaml:3: tasks[0]: no file matches "tasks/*.yaml"`,
		}},
		{"no tasks", suitetest.Folder("name: demo\ntasks: []\n"), []string{"s/suite.yaml:2: tasks: must name at least one task file, such as tasks/*.yaml, or hold a task"}},
		{"pattern leaves the folder", suitetest.Folder("name: demo\ntasks: [../x.yaml]\n"), []string{`s/suite.yaml:2: tasks[0]: "../x.yaml" must be a path below the suite folder, with / between folders and no ..`}},
		{"bad pattern", suitetest.Folder("name: demo\ntasks: ['[a']\n"), []string{`s/suite.yaml:2: tasks[0]: "[a" is not a valid pattern: syntax error in pattern`}},
		{"empty task file", suitetest.Folder("name: demo\ntasks: [t.yaml]\n", "t.yaml", "tasks: []\n"), []string{"s/t.yaml:1: tasks: must contain at least one task"}},
		{"task file without tasks", suitetest.Folder("name: demo\ntasks: [t.yaml]\n", "t.yaml", "tags: [a, a]\n"), []string{`s/t.yaml:1: tags[1]: "a" is in the list already`, "s/t.yaml:1: tasks: is missing"}},
		{"too many tasks", suitetest.Folder("name: demo\ntasks: [t.yaml]\n", "t.yaml", many), []string{"s/t.yaml:1: tasks: a suite may have at most 10000 tasks"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, problemsOf(t, tt.fsys)) })
	}
}

// headCase is a suite without tasks, and the problems that Load reports.
type headCase struct {
	name, text string
	want       []string
}

func TestLoadSuiteProblems(t *testing.T) {
	tests := []headCase{
		{"suite name", "name: A b\n", []string{`s/suite.yaml:1: name: "A b" may hold only a-z, 0-9, dot, dash and underscore`}},
		{"suite name type", "name: 3\n", []string{"s/suite.yaml:1: name: must be a string, but is a number: put 3 in quotes"}},
		{"suite name blank", "name: ' '\n", []string{"s/suite.yaml:1: name: must not be blank"}},
		{"title type", "name: demo\ntitle: [x]\ndescription: {}\n", []string{"s/suite.yaml:2: title: must be a string, but is a list", "s/suite.yaml:3: description: must be a string, but is a mapping"}},
		{"candidates", "name: demo\ncandidates:\n  - {name: .x, provider: p, model: m}\n  - {name: CON, provider: p, model: m}\n  - {name: con.v1, provider: p, model: m}\n  - {name: a}\n  - {name: a, provider: p, model: m, base_url: 'ftp://x', key_env: 'sk-1'}\n", []string{
			`s/suite.yaml:3: candidates[0].name: ".x" must not begin or end with a dot: it becomes a folder name`,
			`s/suite.yaml:4: candidates[1].name: "CON" may hold only a-z, 0-9, dot, dash and underscore`,
			`s/suite.yaml:5: candidates[2].name: "con.v1" is a reserved name on Windows, where it cannot be a folder`,
			"s/suite.yaml:6: candidates[3].provider: is missing",
			"s/suite.yaml:6: candidates[3].model: is missing",
			"s/suite.yaml:7: candidates[4].base_url: must be an http or https address without a user name",
			"s/suite.yaml:7: candidates[4].key_env: must be the name of an environment variable, never the key itself",
			"s/suite.yaml:7: candidates[4].name: candidate a is defined already, on line 6",
		}},
		{"candidate numbers", "name: demo\ncandidates:\n  - {name: a, provider: p, model: m, max_tokens: 0, temperature: 3}\n  - {name: b, provider: p, model: m, max_tokens: lots, temperature: .nan}\n", []string{
			"s/suite.yaml:3: candidates[0].max_tokens: must be from 1 to 1000000, but is 0",
			"s/suite.yaml:3: candidates[0].temperature: must be a number from 0 to 2, but is 3",
			"s/suite.yaml:4: candidates[1].max_tokens: must be an integer, but is a string",
			"s/suite.yaml:4: candidates[1].temperature: must be a number from 0 to +Inf, but is .nan",
		}},
		{"tools", "name: demo\ntools:\n  - {name: a b, description: x, schema: {type: object}}\n  - {name: a, description: '', schema: {type: thing}}\n  - {name: a, description: x, schema: {}}\n  - {name: c, schema: [1], repeatable: maybe}\n", []string{
			`s/suite.yaml:3: tools[0].name: "a b" may hold only letters, digits, dash and underscore`,
			"s/suite.yaml:4: tools[1].description: must not be blank",
			"s/suite.yaml:4: tools[1].schema: not a valid JSON Schema: /type: got string, want array; /type: value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'",
			"s/suite.yaml:5: tools[2].name: tool a is defined already, on line 4",
			"s/suite.yaml:6: tools[3].description: is missing",
			"s/suite.yaml:6: tools[3].schema: not a valid JSON Schema: not a JSON object",
			"s/suite.yaml:6: tools[3].repeatable: must be true or false, but is a string",
		}},
		{"schema values", "name: demo\ntools:\n  - name: a\n    description: x\n    schema: {minimum: 0x10, maximum: .inf, const: !!binary aGk=, 1: x}\n", []string{
			"s/suite.yaml:5: tools[0].schema.minimum: 0x10 is not a JSON number; write it in decimal, or in quotes if it is a string",
			"s/suite.yaml:5: tools[0].schema.maximum: .inf is not a JSON number; write it in decimal, or in quotes if it is a string",
			"s/suite.yaml:5: tools[0].schema.const: must be a JSON value, but is tagged !!binary",
			"s/suite.yaml:5: tools[0].schema.1: a key must be a string, but is a number: put it in quotes",
		}},
		{"schema too large", "name: demo\ntools:\n  - name: a\n    description: x\n    schema: {description: " + strings.Repeat("x", (64<<10)) + "}\n", []string{"s/suite.yaml:5: tools[0].schema: must be at most 64 KiB of JSON"}},
		{"defaults", "name: demo\ndefaults: {world: may, tools: [x], tier: '', constraints: 1, budgets: {max_step: 3, max_steps: -1, max_seconds: 1.5, max_tool_calls: 99999999999999999999, max_tokens_total: -5, max_cost_usd: 1e9}}\n", []string{
			`s/suite.yaml:2: defaults.world: "may" is not known; allowed: none`,
			`s/suite.yaml:2: defaults.tools[0]: the suite has no tool "x"; it has: none`,
			"s/suite.yaml:2: defaults.tier: must not be blank",
			"s/suite.yaml:2: defaults.constraints: must be a string, but is a number: put 1 in quotes",
			"s/suite.yaml:2: defaults.budgets.max_step: unknown field (did you mean max_steps?); allowed: max_steps, max_tool_calls, max_seconds, max_tokens_total, max_cost_usd",
			"s/suite.yaml:2: defaults.budgets.max_steps: must be from 0 to 1000, but is -1",
			"s/suite.yaml:2: defaults.budgets.max_tool_calls: must be from 0 to 10000, but is 99999999999999999999",
			"s/suite.yaml:2: defaults.budgets.max_seconds: must be a decimal integer, but is 1.5",
			"s/suite.yaml:2: defaults.budgets.max_tokens_total: must be from 0 to 1000000000, but is -5",
			"s/suite.yaml:2: defaults.budgets.max_cost_usd: must be a number from 0 to 10000, but is 1e9",
		}},
		{"cost budgets", "name: demo\ndefaults:\n  budgets:\n    max_cost_usd: 0.0000000004\n    max_tokens_total: 2000000000\n", []string{
			"s/suite.yaml:4: defaults.budgets.max_cost_usd: must be at least 1e-09, a nano-dollar, or 0 for no cap, but is 4e-10",
			"s/suite.yaml:5: defaults.budgets.max_tokens_total: must be from 0 to 1000000000, but is 2000000000",
		}},
		{"cost of another kind", "name: demo\ndefaults: {budgets: {max_cost_usd: 5 dollars, max_tokens_total: 1.5}}\n", []string{
			"s/suite.yaml:2: defaults.budgets.max_tokens_total: must be a decimal integer, but is 1.5",
			"s/suite.yaml:2: defaults.budgets.max_cost_usd: must be a number, but is a string",
		}},
	}
	loadHeads(t, tests)
}

func TestLoadWorldProblems(t *testing.T) {
	tests := []headCase{
		{"worlds", "name: demo\nworlds:\n  A: {}\n  b: {now: noon, zone: Mars/Base}\n  c: {now: 2026-03-09T12:00:00-05:00, zone: America/New_York}\n  d: {from: e}\n  e: {from: d}\n  f: {from: bb}\n  g: {zone: Local}\n", []string{
			`s/suite.yaml:3: worlds.A: "A" may hold only a-z, 0-9, dot, dash and underscore`,
			`s/suite.yaml:4: worlds.b.zone: "Mars/Base" is not a time zone; write one such as America/New_York or UTC`,
			`s/suite.yaml:4: worlds.b.now: must be a time with its offset, such as 2026-05-13T12:00:00-04:00, but is "noon"`,
			"s/suite.yaml:5: worlds.c.now: the offset in America/New_York at that time is -04:00: write 2026-03-09T13:00:00-04:00, or give the time in Z",
			"s/suite.yaml:7: worlds.e.from: world d starts from itself",
			`s/suite.yaml:8: worlds.f.from: "bb" is not known (did you mean b?); allowed: A, b, c, d, e, f, g`,
			`s/suite.yaml:9: worlds.g.zone: "Local" is not a time zone; write one such as America/New_York or UTC`,
		}},
		{"counts", "name: demo\nworlds:\n  a:\n    kind: counts\n    state:\n     counts:\n      2026-02-30: {angry: 1}\n      2026-5-1: {angry: 1}\n      2026-05-01: {angry: -1, praise: 1.5, info: x}\n      2026-05-03: 7\n     job_status: []\n     jobs: 1\n", []string{
			`s/suite.yaml:7: worlds.a.state.counts.2026-02-30: "2026-02-30" is not a date of the calendar`,
			`s/suite.yaml:8: worlds.a.state.counts.2026-5-1: "2026-5-1" is not written YYYY-MM-DD`,
			"s/suite.yaml:9: worlds.a.state.counts.2026-05-01.angry: must be a whole number from 0 to 9007199254740991",
			"s/suite.yaml:9: worlds.a.state.counts.2026-05-01.info: must be a whole number from 0 to 9007199254740991",
			"s/suite.yaml:9: worlds.a.state.counts.2026-05-01.praise: must be a whole number from 0 to 9007199254740991",
			"s/suite.yaml:10: worlds.a.state.counts.2026-05-03: must map labels to numbers",
			"s/suite.yaml:11: worlds.a.state.job_status: must be a list of at least one status",
			"s/suite.yaml:12: worlds.a.state.jobs: unknown field; allowed: counts, job_status",
		}},
		{"world extras", "name: demo\nworlds:\n  a: {clock_step: 15, latency: {x: 1h, y: -1s}}\n", []string{
			"s/suite.yaml:3: worlds.a.clock_step: must be a duration such as 300ms or 15s",
			`s/suite.yaml:3: worlds.a.latency.x: the suite has no tool "x"; it has: none`,
			`s/suite.yaml:3: worlds.a.latency.y: the suite has no tool "y"; it has: none`,
			"s/suite.yaml:3: worlds.a.latency.y: must be more than 0 and at most 24h0m0s, in whole microseconds, but is -1s",
		}},
	}
	loadHeads(t, tests)
}

func loadHeads(t *testing.T, tests []headCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tasks := "tasks: [{id: A, request: Hi, expect: {status: answered}, world: {now: 2026-01-01T00:00:00Z, zone: UTC}}]\n"
			require.Equal(t, tt.want, problemsOf(t, suitetest.Folder(tt.text+tasks)))
		})
	}
}

func TestEveryProblemIsAProblem(t *testing.T) {
	_, err := Suite(suitetest.Folder("name: 3\nnam: x\n"), "suites/demo", suitetest.Worlds())
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	require.Len(t, joined.Unwrap(), 3)
	var p *yamlfile.Problem
	require.ErrorAs(t, joined.Unwrap()[2], &p)
	require.Equal(t, yamlfile.Problem{File: "suites/demo/suite.yaml", Line: 2, Field: "nam", Detail: "unknown field (did you mean name?); allowed: " + strings.Join(suiteFields, ", ")}, *p)
}

// brokenFS cannot read what it lists.
type brokenFS struct{ fstest.MapFS }

func (b brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("disk on fire")}
}

func TestLoadReadError(t *testing.T) {
	_, err := Suite(brokenFS{}, "s", suitetest.Worlds())
	require.EqualError(t, err, "s/suite.yaml:1: cannot open the file: open suite.yaml: disk on fire")
}
