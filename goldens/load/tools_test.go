package load

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

func TestLoadTools(t *testing.T) {
	const list = `- {name: a, description: A., schema: {type: object}, repeatable: true}
- {name: b, description: B., schema: {type: object}, uncacheable: true}
`
	for _, c := range []struct{ name, text string }{
		{"a list", list},
		{"JSON", `[{"name":"a","description":"A.","schema":{"type":"object"},"repeatable":true},
	{"name":"b","description":"B.","schema":{"type":"object"},"uncacheable":true}]`},
		{"a suite of which only the tools are read", "name: 3\ntasks: [nowhere/*.yaml]\ntools:\n" + list},
	} {
		t.Run(c.name, func(t *testing.T) {
			specs, err := Tools(fstest.MapFS{"t.yaml": {Data: []byte(c.text)}}, "t.yaml", "dir", nil)
			require.NoError(t, err)
			require.Len(t, specs, 2)
			require.Equal(t, "a", specs[0].Name)
			require.Equal(t, "B.", specs[1].Description)
			require.JSONEq(t, `{"type":"object"}`, string(specs[0].Schema))
			require.True(t, specs[0].Repeatable && !specs[0].Uncacheable && specs[1].Uncacheable)
		})
	}
}

// An invalid schema is rejected with file, line and reason; the line is that inside the schema if it
// is known.
func TestLoadToolsProblems(t *testing.T) {
	head := "- name: get\n  description: Gets.\n  schema:\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"no such file", "", []string{"dir/t.yaml:1: the file is empty"}},
		{"a word", "tools", []string{"dir/t.yaml:1: must be a list, but is a string"}},
		{"a mapping without tools", "name: x\n", []string{"dir/t.yaml:1: tools: is missing"}},
		{"a mapping of something else", "functions: []\n", []string{
			"dir/t.yaml:1: functions: unknown field; allowed: " + strings.Join(suiteFields, ", "), "dir/t.yaml:1: tools: is missing"}},
		{"cut JSON", `[{"name":"a"`, []string{"dir/t.yaml:1: not valid YAML: did not find expected ',' or '}'"}},
		{"the same name twice", "- {name: a, description: A., schema: {}}\n- {name: a, description: A., schema: {}}\n", []string{"dir/t.yaml:2: [1].name: tool a is defined already, on line 1"}},
		{"required but not declared", head + "    type: object\n    required: [a, b]\n    properties: {a: {}}\n    additionalProperties: false\n", []string{
			`dir/t.yaml:3: [0].schema: no call could satisfy this: required names "b", which is not in properties while additionalProperties is false`}},
		{"arguments that are no object", head + "    type: [string, 'null']\n", []string{
			"dir/t.yaml:3: [0].schema: no call could satisfy this: its type must be object, as arguments always are"}},
		{"empty enum", head + "    properties:\n      a:\n        type: string\n      label:\n        enum: []\n", []string{
			"dir/t.yaml:7: [0].schema.properties.label: no call could satisfy this: enum is empty, so that no value is allowed"}},
		{"two contradictions", head + "    properties:\n      a: {enum: []}\n      b:\n        anyOf:\n          - type: string\n          - {type: integer, const: x}\n", []string{
			"dir/t.yaml:5: [0].schema.properties.a: no call could satisfy this: enum is empty, so that no value is allowed",
			"dir/t.yaml:9: [0].schema.properties.b.anyOf[1]: no call could satisfy this: const does not satisfy the keywords beside it"}},
		{"not RE2", head + "    properties:\n      a: {pattern: '^(?!x)'}\n", []string{
			"dir/t.yaml:3: [0].schema: not a valid JSON Schema: /properties/a/pattern: '^(?!x)' is not valid regex: error parsing regexp: invalid or unsupported Perl syntax: `(?!`"}},
		{"a list of things as schema", "- {name: a, description: A., schema: [x]}\n", []string{"dir/t.yaml:1: [0].schema: not a valid JSON Schema: not a JSON object"}},
		{"an unknown reference", head + "    properties:\n      a: {$ref: '#/$defs/x'}\n", []string{
			`dir/t.yaml:3: [0].schema: not a valid JSON Schema: compile: json-pointer in "tool:///args.json#/$defs/x" not found`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			specs, err := Tools(fstest.MapFS{"t.yaml": {Data: []byte(c.text)}}, "t.yaml", "dir", nil)
			require.EqualError(t, err, strings.Join(c.want, "\n"))
			require.Nil(t, specs)
			var p *yamlfile.Problem
			require.ErrorAs(t, err, &p)
		})
	}
	_, err := Tools(fstest.MapFS{}, "t.yaml", "dir", nil)
	require.EqualError(t, err, "dir/t.yaml:1: there is no such file")
}

// The loader of suites reports the same contradictions.
func TestLoadSuiteNamesContradictions(t *testing.T) {
	text := strings.Replace(suitetest.Head, "label: {enum: [angry, praise]}", "label: {enum: []}", 1) + "tasks: [" + suitetest.Task + "]\n"
	require.Equal(t, []string{"s/suite.yaml:9: tools[1].schema.properties.label: no call could satisfy this: enum is empty, so that no value is allowed"},
		problemsOf(t, suitetest.Folder(text)))
}
