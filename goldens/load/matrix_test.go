package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// matrixOf reads the matrix in the text of a file.
func matrixOf(t testing.TB, text string, beside ...goldens.Candidate) ([]goldens.Candidate, error) {
	t.Helper()
	var file struct {
		Base   yaml.Node `yaml:"base"`
		Matrix yaml.Node `yaml:"matrix"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(text), &file))
	return Matrix("cupel.yaml", &file.Matrix, beside)
}

func matrixNames(candidates []goldens.Candidate) []string {
	var out []string
	for _, c := range candidates {
		out = append(out, c.Name)
	}
	return out
}

func TestMatrixNames(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"one of each", "matrix: {provider: openai, model: gpt-5}", []string{"openai-gpt-5"}},
		{"product", "matrix: {provider: [a, b], model: [x, y], mode: [prompt, json_object]}", []string{
			"a-x", "a-x-json_object", "a-y", "a-y-json_object", "b-x", "b-x-json_object", "b-y", "b-y-json_object",
		}},
		{"models of providers", "matrix: {provider: {b: [x, y], a: z}, profile: [seed, schema]}", []string{
			"b-x", "b-x-schema", "b-y", "b-y-schema", "a-z", "a-z-schema",
		}},
		{"model names become folder names", "matrix: {provider: hf, model: [meta-llama/Llama-3.3-70B, 'us.claude:0', 'Größe']}", []string{
			"hf-meta-llama-llama-3.3-70b", "hf-us.claude-0", "hf-gr--e",
		}},
		{"only what is no default is in a name", "matrix: {agent: [contract, react], provider: a, model: x, mode: prompt, profile: seed}", []string{"a-x", "a-x-react"}},
		{"exclude", "matrix: {provider: [a, b], model: [x, y], exclude: [{provider: a, model: y}, {model: [x], provider: [b]}]}", []string{"a-x", "b-y"}},
		{"exclude a default", "matrix: {provider: a, model: x, mode: [prompt, json_object], exclude: [{mode: prompt}]}", []string{"a-x-json_object"}},
		{"include a candidate", "matrix: {provider: a, model: x, include: [{name: own, provider: b, model: z}]}", []string{"a-x", "own"}},
		{"aliases", "base: &models [x, y]\nmatrix: {provider: a, model: *models}", []string{"a-x", "a-y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := matrixOf(t, c.text)
			require.NoError(t, err)
			require.Equal(t, c.want, matrixNames(out))
		})
	}
}

// Common settings come first, then the included ones in order.
func TestMatrixSettings(t *testing.T) {
	out, err := matrixOf(t, `
matrix:
  provider: {a: [x, y]}
  mode: json_object
  stream: true
  max_tokens: 100
  headers: {X-Team: eval}
  include:
    - {model: y, max_tokens: 200, stream: false}
    - {provider: a, model: [x, y], temperature: 0, headers: {X-Other: b}}
    - {name: own, provider: b, model: z, profile: schema, body: {n: 1}, rescue: zz}
`)
	require.NoError(t, err)
	hundred, two, zero := 100, 200, 0.0
	require.Equal(t, []goldens.Candidate{
		{Name: "a-x-json_object", Agent: "contract", Provider: "a", Model: "x", Mode: "json_object", Profile: "seed", Stream: true, MaxTokens: &hundred, Temperature: &zero, Headers: map[string]string{"X-Other": "b"}},
		{Name: "a-y-json_object", Agent: "contract", Provider: "a", Model: "y", Mode: "json_object", Profile: "seed", MaxTokens: &two, Temperature: &zero, Headers: map[string]string{"X-Other": "b"}},
		{Name: "own", Agent: "contract", Provider: "b", Model: "z", Mode: "prompt", Profile: "schema", Stream: true, MaxTokens: &hundred, Headers: map[string]string{"X-Team": "eval"}, Body: map[string]any{"n": 1.0}, Rescue: "zz"},
	}, out)
	out[0].Headers["X-Other"] = "changed"
	require.Equal(t, "b", out[1].Headers["X-Other"], "candidates share no maps")
}

func TestMatrixProblems(t *testing.T) {
	long := strings.Repeat("m", 100)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"none", "matrix:\n", []string{"1: matrix: must be a mapping, but is empty"}},
		{"empty", "matrix: {}\n", []string{"1: matrix.provider: is missing", "1: matrix.model: is missing"}},
		{"slips", "matrix:\n  providr: a\n  model: []\n  mode: [1, prompt, prompt]\n  max_tokens: 0\n  base_url: x\n  name: n\n", []string{
			"2: matrix.providr: unknown field (did you mean provider?); allowed: agent, provider, model, mode, profile, rescue, rescue_on_contradiction, compress, base_url, key_env, region, stream, headers, query, body, system, fallback, max_iterations, final_retries, no_images, memory, batch, plan, orchestrator, max_tokens, temperature, exec, http, n8n, proxy, models, ignore, replace, correlate, exclude, include",
			"2: matrix.provider: is missing",
			"3: matrix.model: must have at least one value",
			"4: matrix.mode[0]: must be a string, but is a number: put 1 in quotes",
			`4: matrix.mode[2]: "prompt" is in the list already`,
			"5: matrix.max_tokens: must be from 1 to 1000000, but is 0",
			"6: matrix.base_url: must be an http or https address without a user name",
			"7: matrix.name: unknown field; allowed: agent, provider, model, mode, profile, rescue, rescue_on_contradiction, compress, base_url, key_env, region, stream, headers, query, body, system, fallback, max_iterations, final_retries, no_images, memory, batch, plan, orchestrator, max_tokens, temperature, exec, http, n8n, proxy, models, ignore, replace, correlate, exclude, include",
		}},
		{"settings", "matrix: {provider: a, model: x, base_url: x, include: [{model: x, key_env: '-'}]}", []string{
			"1: matrix.base_url: must be an http or https address without a user name",
			"1: matrix.include[0].key_env: must be the name of an environment variable, never the key itself",
		}},
		{"two places for models", "matrix:\n  provider: {a: x}\n  model: y\n", []string{"3: matrix.model: the models are already listed below their providers; remove model"}},
		{"no providers", "matrix: {provider: {}}", []string{"1: matrix.provider: must have at least one provider"}},
		{"provider without models", "matrix: {provider: {a: []}}", []string{"1: matrix.provider.a: must have at least one value"}},
		{"exclude what is not there", "matrix:\n  provider: {openai: x, b: y}\n  exclude:\n    - {provider: openia}\n    - {provider: openai, model: y}\n    - {}\n    - {mode: json, stream: true}\n", []string{
			`4: matrix.exclude[0].provider: "openia" is not in the provider axis of the matrix (did you mean openai?); it has: openai, b`,
			"6: matrix.exclude[2]: must have at least one of: agent, provider, model, mode, profile",
			"7: matrix.exclude[3].stream: unknown field; allowed: agent, provider, model, mode, profile",
			`7: matrix.exclude[3].mode: "json" is not in the mode axis of the matrix; it has: prompt`,
		}},
		{"entries that do nothing", "matrix:\n  provider: {a: x, b: y}\n  exclude:\n    - {provider: a, model: y}\n  include:\n    - {provider: b, model: x, stream: true}\n", []string{
			"4: matrix.exclude[0]: matches no combination",
			"6: matrix.include[0]: matches no combination; to add a separate candidate, give it a name",
		}},
		{"include", "matrix:\n  provider: {a: x}\n  include:\n    - {provider: a}\n    - {name: A, provider: [a, b], model: x}\n    - {name: b}\n", []string{
			"4: matrix.include[0]: sets nothing; to add a separate candidate, give it a name",
			`5: matrix.include[1].name: "A" may hold only a-z, 0-9, dot, dash and underscore`,
			"5: matrix.include[1].provider: must be a string, but is a list",
			"6: matrix.include[2].provider: is missing",
			"6: matrix.include[2].model: is missing",
		}},
		{"no lists", "matrix: {provider: a, model: x, exclude: {}, include: 1}", []string{"1: matrix.exclude: must be a list, but is a mapping", "1: matrix.include: must be a list, but is a number"}},
		{"one name for two", "matrix: {provider: a, model: [X, x], include: [{name: a-x, provider: b, model: z}]}", []string{
			"1: matrix.provider: provider a, model X and provider a, model x would both be named a-x: exclude one, and include it with another name",
			"1: matrix.include[0]: provider a, model x and include[0] would both be named a-x: exclude one, and include it with another name",
		}},
		{"names that are no folders", "matrix: {provider: a, model: [x., " + long + "]}", []string{
			`1: matrix.provider: provider a, model x.: the name "a-x." must not begin or end with a dot: it becomes a folder name; exclude it, and include it with a name`,
			`1: matrix.provider: provider a, model ` + long + `: the name "a-` + long + `" is longer than 100 characters; exclude it, and include it with a name`,
		}},
		{"names of other candidates", "matrix: {provider: a, model: x, include: [{name: taken, provider: b, model: z}]}", []string{"1: matrix: candidate taken of the matrix is also one of candidates"}},
		{"rescue missing", "matrix: {provider: a, model: [x, y], rescue_on_contradiction: true}", []string{"1: matrix.rescue_on_contradiction: needs a rescue model to ask"}},
		{"nothing left", "matrix: {provider: a, model: x, exclude: [{provider: a}]}", []string{"1: matrix.provider: nothing is left of the matrix: exclude less"}},
		{"too large", "matrix: {provider: [" + numbered(40) + "], model: [" + numbered(26) + "]}", []string{"1: matrix.provider: the matrix has more than 1000 combinations"}},
		{"far too large", "matrix: {agent: [" + numbered(999) + "], provider: [" + numbered(999) + "], model: [" + numbered(999) + "], mode: [" + numbered(999) + "], profile: [" + numbered(999) + "]}", []string{"1: matrix.provider: the matrix has more than 1000 combinations"}},
		{"lists too long", "matrix: {provider: {a: [" + numbered(1001) + "]}, mode: [" + numbered(1001) + "]}", []string{"1: matrix.mode: may have at most 1000 values", "1: matrix.provider.a: may have at most 1000 values"}},
		{"alias bomb", bomb(), []string{"1: matrix: more than 1000000 values once aliases are expanded"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := matrixOf(t, c.text, goldens.Candidate{Name: "taken"})
			require.Nil(t, out)
			require.Error(t, err)
			for i := range c.want {
				c.want[i] = "cupel.yaml:" + c.want[i]
			}
			require.Equal(t, c.want, strings.Split(err.Error(), "\n"))
			var problem *yamlfile.Problem
			require.True(t, errors.As(err, &problem))
		})
	}
}

func numbered(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("v%d", i))
	}
	return strings.Join(out, ", ")
}

// bomb is a small text that is large once its aliases are expanded.
func bomb() string {
	text := "base: [&l0 x"
	for i := range 7 {
		text += fmt.Sprintf(", &l%d [%s]", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i), 10), ", "))
	}
	return text + "]\nmatrix: {provider: a, model: [*l7]}\n"
}

// A body is read once for all candidates, because reading a large one a thousand times takes half a
// minute. Each candidate has a copy of its first level.
func TestMatrixReadsBodiesOnce(t *testing.T) {
	out, err := matrixOf(t, "matrix: {provider: a, model: ["+numbered(1000)+"], body: {x: [1, 2]}}")
	require.NoError(t, err)
	require.Len(t, out, 1000)
	first, last := out[0].Body["x"].([]any), out[999].Body["x"].([]any)
	require.Same(t, &first[0], &last[0])
	out[0].Body["x"] = "changed"
	require.Equal(t, []any{1.0, 2.0}, out[999].Body["x"])
}

// Every combination that is not excluded appears once, in the order of the axes. A candidate keeps
// its name when the matrix grows.
func TestMatrixIsTheProduct(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := matrix{set: func(*goldens.Candidate) {}}
		for axis := range axes {
			for i := range 1 + r.IntN(4) {
				m.values[axis] = append(m.values[axis], fmt.Sprintf("%s%d", axisNames[axis], i))
			}
		}
		for range r.IntN(3) {
			var p region
			for axis := range axes {
				if r.IntN(2) == 0 {
					p[axis] = m.values[axis][:1+r.IntN(len(m.values[axis]))]
				}
			}
			m.exclude = append(m.exclude, p)
		}
		if m.size() > maxCandidates {
			continue
		}
		out, _ := m.expand()
		var want []string
		for i := range m.size() { // i counts through the axes, the last fastest
			var at combination
			for axis, rest := axes-1, i; axis >= 0; axis-- {
				at[axis], rest = m.values[axis][rest%len(m.values[axis])], rest/len(m.values[axis])
			}
			if !slices.ContainsFunc(m.exclude, func(p region) bool { return p.matches(at) }) {
				want = append(want, strings.Join(at[:], " "))
			}
		}
		var got []string
		for _, c := range out {
			got = append(got, strings.Join([]string{c.Agent, c.Provider, c.Model, c.Mode, c.Profile}, " "))
			require.Empty(t, yamlfile.LowerName.Fault(c.Name))
		}
		require.Equal(t, want, got, "seed %d", seed)

		grown := m
		axis := r.IntN(axes)
		grown.values[axis] = append([]string{"new"}, m.values[axis]...)
		bigger, _ := grown.expand()
		if grown.size() <= maxCandidates {
			require.Subset(t, matrixNames(bigger), matrixNames(out), "seed %d", seed)
		}
	}
}

func TestMatrixFieldsAreTheCandidates(t *testing.T) {
	require.ElementsMatch(t, candidateFields, inclusionFields)
}

func FuzzMatrix(f *testing.F) {
	for _, seed := range []string{
		"provider: {a: [x, y], b: z}\nmode: [prompt, json_object]\nexclude: [{provider: b}]\ninclude: [{name: n, provider: c, model: m}, {model: x, stream: true}]",
		"provider: [a]\nmodel: &m [x]\nprofile: *m\nmax_tokens: 5", "provider: a\nmodel: 1", "[]", "exclude: [[]]", "provider: {a: {b: c}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var node yaml.Node
		if len(text) > 4<<10 || yaml.Unmarshal(text, &node) != nil || len(node.Content) == 0 {
			return
		}
		out, err := Matrix("f", node.Content[0], nil)
		if err != nil {
			require.Nil(t, out)
			for _, line := range strings.Split(err.Error(), "\n") {
				require.NotEmpty(t, line)
			}
			return
		}
		require.NotEmpty(t, out)
		seen := map[string]bool{}
		for _, c := range out {
			require.NoError(t, c.Validate())
			require.False(t, seen[c.Name], c.Name)
			seen[c.Name] = true
		}
		again, err := Matrix("f", node.Content[0], nil)
		require.NoError(t, err)
		require.Equal(t, out, again)
	})
}

const suiteMatrix = `name: demo
candidates: [{name: own, provider: a, model: m}]
matrix:
  provider: {a: [x, y], b: z}
  mode: [prompt, json_object]
  max_tokens: 50
  exclude: [{provider: b, mode: [json_object]}]
  include: [{name: extra, provider: c, model: m, mode: json_schema}, {model: x, stream: true, headers: {A: b}}]
tools: []
tasks: [{id: A, request: Hi, tools: [], expect: {status: answered}, world: {now: 2026-05-13T12:00:00Z, zone: UTC}}]
`

// A suite may have a matrix in addition to candidates, with the same rules.
func TestSuiteMatrix(t *testing.T) {
	s, err := Suite(suitetest.Folder(suiteMatrix), "s", suitetest.Worlds())
	require.NoError(t, err)
	require.Equal(t, []string{"own", "a-x", "a-x-json_object", "a-y", "a-y-json_object", "b-z", "extra"}, matrixNames(s.Candidates))
	_, err = Suite(suitetest.Folder(strings.Replace(suiteMatrix, "name: extra", "name: own", 1)), "s", suitetest.Worlds())
	require.EqualError(t, err, "s/suite.yaml:3: matrix: candidate own of the matrix is also one of candidates")
}
