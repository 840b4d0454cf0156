package load

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/settings"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
)

func compiledSchema(t *testing.T) *jsonschema.Schema { return compiled(t, goldens.Schema()) }

func compiled(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

// asJSON converts YAML text like the loader, with dates as strings.
func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal(text, &n))
	src := &yamlfile.Source{Found: &yamlfile.Findings{}}
	out := yamlfile.Place{Src: src, Node: n.Content[0]}.JSON()
	require.Empty(t, src.Found.List)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	require.NoError(t, err)
	return v
}

// signalsOfSchema returns the sorted signals of the schema.
func signalsOfSchema(t *testing.T) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(schemaOf(t)["signals"].Properties))
}

// definition is one of the schema's definitions.
type definition struct {
	Properties map[string]struct {
		Enum       []any
		Properties map[string]any
	}
}

func schemaOf(t *testing.T) map[string]definition {
	t.Helper()
	var doc struct {
		Defs map[string]definition `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(goldens.Schema(), &doc))
	return doc.Defs
}

// The schema has the same fields as the loader.
func TestSchemaHasTheFieldsOfTheLoader(t *testing.T) {
	defs := schemaOf(t)
	for name, fields := range map[string][]string{
		"suite": suiteFields, "task_file": taskFileFields, "candidate": candidateFields, "matrix": matrixFields, "exclusion": axisNames[:], "inclusion": inclusionFields, "tool": toolFields, "defaults": defaultsFields,
		"budgets": budgetFields, "world": worldFields, "task": taskFields, "dataset": datasetFields, "fault": faultFields, "injection": injectionFields, "user": userFields, "fact": factFields, "user_model": userModelFields, "into": intoFields, "emit": emitFields,
		"candidate.memory": settings.Names(reflect.TypeFor[goldens.Memory]()), "candidate.batch": settings.Names(reflect.TypeFor[strategy.Batch]()), "candidate.plan": settings.Names(reflect.TypeFor[strategy.PlanBounds]()), "candidate.orchestrator": settings.Names(reflect.TypeFor[limits.Bounds]()), "service": settings.Names(reflect.TypeFor[external.HTTP]()),
		"http": httpFields, "header_env": settings.Names(reflect.TypeFor[world.HTTPHeader]()), "server": settings.Names(reflect.TypeFor[toolserver.Server]()), "server_tool": settings.Names(reflect.TypeFor[toolserver.Mark]()),
	} {
		if def, field, inner := strings.Cut(name, "."); inner {
			require.ElementsMatch(t, fields, slices.Collect(maps.Keys(defs[def].Properties[field].Properties)), name)
			continue
		}
		require.ElementsMatch(t, fields, slices.Collect(maps.Keys(defs[name].Properties)), name)
	}
	var kinds []any
	for _, kind := range faultKinds {
		kinds = append(kinds, kind)
	}
	require.ElementsMatch(t, kinds, defs["fault"].Properties["kind"].Enum)
}

func TestSchemaAcceptsShippedSuites(t *testing.T) {
	s := compiledSchema(t)
	files := 0
	require.NoError(t, fs.WalkDir(os.DirFS(".."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") || d.Name() == playbook.File || strings.Contains(path, "cassettes/") || strings.Contains(path, "testdata/") {
			return err
		}
		text, err := os.ReadFile(filepath.Join("..", path))
		require.NoError(t, err)
		require.NoError(t, s.Validate(asJSON(t, text)), path)
		files++
		return nil
	}))
	require.GreaterOrEqual(t, files, 10)
	for _, text := range []string{suiteMatrix, full, taskOne, taskTwo, suitetest.Head + "tasks: [" + suitetest.Task + "]\n"} {
		require.NoError(t, s.Validate(asJSON(t, []byte(text))))
	}
}

// The schema rejects texts that an editor should underline.
func TestSchemaRefuses(t *testing.T) {
	s := compiledSchema(t)
	for name, text := range map[string]string{
		"unknown field":         "name: demo\ntasks: [x]\nnam: x\n",
		"no tasks":              "name: demo\n",
		"candidate's name":      "name: demo\ntasks: [x]\ncandidates: [{name: A, provider: p, model: m}]\n",
		"matrix's model":        "name: demo\ntasks: [x]\nmatrix: {provider: {a: []}}\n",
		"matrix's name":         "name: demo\ntasks: [x]\nmatrix: {provider: a, model: b, name: c}\n",
		"exclude nothing":       "name: demo\ntasks: [x]\nmatrix: {provider: a, model: b, exclude: [{}]}\n",
		"world's state":         "name: demo\ntasks: [x]\nworlds: {a: {kind: counts, state: [1]}}\n",
		"task without id":       "tasks: [{request: Hi, expect: {status: answered}}]\n",
		"no status":             "tasks: [{id: A, request: Hi, expect: {}}]\n",
		"status":                "tasks: [{id: A, request: Hi, expect: {status: fine}}]\n",
		"signal":                "tasks: [{id: A, request: Hi, expect: {status: answered, signals: {x: 1}}}]\n",
		"signal's type":         "tasks: [{id: A, request: Hi, expect: {status: answered, signals: {thrash: 1}}}]\n",
		"http without url":      "name: demo\ntasks: [x]\ntools: [{name: a, description: b, schema: {}, http: {method: GET}}]\n",
		"approve":               "name: demo\ntasks: [x]\ntools: [{name: a, description: b, schema: {}, approve: maybe}]\n",
		"approvals":             "tasks: [{id: A, request: Hi, approvals: [yes], expect: {status: answered}}]\n",
		"two forms":             "tasks: [{id: A, request: Hi, script: [{text: a, respond: b}], expect: {status: answered}}]\n",
		"duration":              "tasks: [{id: A, request: Hi, faults: [{tool: a, kind: latency, after: 3}], expect: {status: answered}}]\n",
		"executed in calls":     "tasks: [{id: A, request: Hi, expect: {status: answered, calls: [{tool: a, executed: true}]}}]\n",
		"executed alone":        "tasks: [{id: A, request: Hi, expect: {status: answered, forbidden: [{executed: true}]}}]\n",
		"empty expression":      "tasks: [{id: A, request: Hi, expect: {status: answered, matches: ['']}}]\n",
		"near without a number": "tasks: [{id: A, request: Hi, expect: {status: answered, near: {a: [1]}}}]\n",
		"two tools in call":     "tasks: [{id: A, request: Hi, expect: {status: answered, calls: [{a: {}, b: {}}]}}]\n",
	} {
		require.Error(t, s.Validate(asJSON(t, []byte(text))), name)
	}
}

// The schema accepts the built-in playbooks and rejects texts that an editor should underline.
// Package playbook tests that it has the fields of the reader.
func TestPlaybookSchema(t *testing.T) {
	s := compiled(t, playbook.Schema())
	shipped, err := filepath.Glob("../*/" + playbook.File)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(shipped), 2)
	for _, path := range shipped {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, s.Validate(asJSON(t, text)), path)
	}
	for name, text := range map[string]string{
		"another field": "playbook: {}\nplays: {}\n",
		"no steps":      "playbook: {A: []}\n",
		"two kinds":     "playbook: {A: [{answer: a, ask: b}]}\n",
		"unknown field": "playbook: {A: [{call: a, arg: {}}]}\n",
		"each alone":    "playbook: {A: [{each: a}]}\n",
		"a number":      "playbook: {A: [{answer: 5}]}\n",
		"a name":        "playbook: {A: [{call: a, as: a-b}]}\n",
		"retry":         "playbook: {A: [{call: a, retry: 9}]}\n",
		"no reason":     "playbook: {A: [{answer: a}]}\nequivalent: {A: [{mutant: x}]}\n",
	} {
		require.Error(t, s.Validate(asJSON(t, []byte(text))), name)
	}
}

func TestSchemaIsTheCallers(t *testing.T) {
	text := goldens.Schema()
	text[0] = 'x'
	require.Equal(t, byte('{'), goldens.Schema()[0])
}
