package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

func TestResolve(t *testing.T) {
	parsed := func(text string) Policy {
		p, err := Parse([]byte(text))
		require.NoError(t, err)
		return p
	}
	for _, c := range []struct {
		name            string
		policy          Policy
		provider, class string
		want            Resolved
	}{
		{"the class's cap under the provider's", Default(), "openai", "action", Resolved{"gpt-4o-mini", 400, 0.1, 5, 5, 30}},
		{"the provider's cap under the class's", Default(), "hf", "reply", Resolved{"mistralai/Mixtral-8x7B-Instruct", 512, 0.2, 5, 5, 30}},
		{"empty names mean the defaults", Default(), "", "", Resolved{"claude-3-5-sonnet-20241022", 400, 0.1, 5, 5, 30}},
		{"a provider without a model", Default(), "sim-openai", "action", Resolved{"", 400, 0.1, 5, 5, 30}},
		{"other defaults", parsed(`{"default_provider":"openai","default_class":"reply"}`), "", "", Resolved{"gpt-4o-mini", 800, 0.2, 5, 5, 30}},
		{"a class without a temperature", parsed(`task_classes: {action: {max_tokens: 10}}`), "openai", "action", Resolved{"gpt-4o-mini", 10, 0.1, 5, 5, 30}},
		{"reply without a temperature is not an action", parsed(`task_classes: {reply: {max_tokens: 10}}`), "openai", "reply", Resolved{"gpt-4o-mini", 10, 0.2, 5, 5, 30}},
		{"a class without a cap falls back to defaults", parsed(`task_classes: {action: {temp: 0}}`), "openai", "action", Resolved{"gpt-4o-mini", 600, 0, 5, 5, 30}},
		{"a custom class", parsed(`task_classes: {compress: {temp: 0.5, max_tokens: 600}}`), "openai", "compress", Resolved{"gpt-4o-mini", 600, 0.5, 5, 5, 30}},
		{"a provider keeps what the file does not name", parsed(`providers: {hf: {model: another}}`), "hf", "reply", Resolved{"another", 512, 0.2, 5, 5, 30}},
		{"a custom provider without a cap", parsed(`providers: {local: {model: llama}}`), "local", "reply", Resolved{"llama", 800, 0.2, 5, 5, 30}},
		{"budgets", parsed(`defaults: {max_steps: 10, max_tool_calls: 9, max_seconds: 0}`), "openai", "action", Resolved{"gpt-4o-mini", 400, 0.1, 10, 9, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.policy.Resolve(c.provider, c.class)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestResolveUnknownNames(t *testing.T) {
	for _, c := range []struct{ provider, class, what, name string }{
		{"Anthropic", "", "provider", "Anthropic"},
		{" openai", "action", "provider", " openai"},
		{"openai", "Reply", "task class", "Reply"},
		{"openai", "compress", "task class", "compress"},
	} {
		_, err := Default().Resolve(c.provider, c.class)
		var unknown *UnknownError
		require.ErrorAs(t, err, &unknown)
		require.Equal(t, c.what, unknown.What)
		require.Equal(t, c.name, unknown.Name)
		require.IsIncreasing(t, unknown.Known)
		require.ErrorContains(t, err, "known: "+strings.Join(unknown.Known, ", "))
	}
	_, err := Policy{}.Resolve("openai", "action")
	require.ErrorContains(t, err, `unknown provider "openai"`)
}

func TestParseReportsEveryProblem(t *testing.T) {
	_, err := Parse([]byte(`default_provider: 5
defaults:
  temp_action: 2.5
  temp_reply: warm
  max_tokens: -1
  max_steps: 1.5
  max_seconds: "30"
  colour: red
providers:
  openai: {model: "", max_tokens: 99999999999999999999, tokens: 1}
  local:
task_classes:
  action: [0.1]
  reply: {temp: .nan}
  reply: {}
<<: {}
policy: 1
`))
	for _, want := range []string{
		"line 1: default_provider: must be text", "line 3: defaults.temp_action", "line 4: defaults.temp_reply", "line 5: defaults.max_tokens",
		"line 6: defaults.max_steps", "line 7: defaults.max_seconds", `line 8: defaults: unknown field "colour"`,
		"line 10: providers.openai.model", "line 10: providers.openai.max_tokens", `line 10: providers.openai: unknown field "tokens"`,
		"line 11: providers.local: must be a mapping", "line 13: task_classes.action: must be a mapping", "line 14: task_classes.reply.temp",
		`line 15: task_classes: field "reply" appears twice`, "line 16: policy: a field name must be plain text", `line 17: policy: unknown field "policy"`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.Len(t, strings.Split(err.Error(), "\n"), 16)
}

func TestParseRefusesWhole(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":                 {"", "the file is empty"},
		"only a comment":        {"# nothing\n", "the file is empty"},
		"a list":                {"- a", "must be a mapping"},
		"broken":                {"defaults: {", "not readable"},
		"two documents":         {"defaults: {}\n---\n{}", "something follows"},
		"an alias":              {"defaults: &d {max_steps: 1}\nproviders: {x: *d}", "providers.x: must be a mapping"},
		"too long":              {"# " + strings.Repeat("x", 1<<20), "more than"},
		"a default that is not": {"default_class: talk", `line 1: default_class: policy: unknown task class "talk"`},
		"no such provider":      {"\ndefault_provider: x", `line 2: default_provider: policy: unknown provider "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestPolicyDigest(t *testing.T) {
	same, err := Parse([]byte(`{"defaults": {"max_steps": 5}, "providers": {"hf": {"max_tokens": 512}}}`))
	require.NoError(t, err)
	require.Equal(t, Default().Digest(), same.Digest(), "content counts, not where it was written")
	other, err := Parse([]byte(`defaults: {max_steps: 6}`))
	require.NoError(t, err)
	require.NotEqual(t, Default().Digest(), other.Digest())
	// The digest changes only with the built-in policy, because recorded runs contain
	// it.
	require.Equal(t, "f354f4db1a2547d18ce67e2425a7677ddb44a401fb8db3b31c854486cf918672", Default().Digest())
}

func TestDefaultIsACopy(t *testing.T) {
	p := Default()
	p.Providers["openai"] = Provider{}
	*p.Classes["action"].MaxTokens = 1
	got, err := Default().Resolve("openai", "action")
	require.NoError(t, err)
	require.Equal(t, "gpt-4o-mini", got.Model)
	require.Equal(t, 400, got.MaxTokens)
}

// The test reads worked cases made by others, if they are available.
func TestPolicyConformance(t *testing.T) {
	type testCase struct {
		ID         string
		InputText  string  `json:"input_text"`
		StaticText *string `json:"static_policy_text"`
		Expect     struct {
			OK     bool
			Error  string
			Policy struct {
				Model        string
				MaxTokens    int `json:"max_tokens"`
				Temperature  float64
				MaxSteps     int `json:"max_steps"`
				MaxToolCalls int `json:"max_tool_calls"`
				MaxSeconds   int `json:"max_seconds"`
			}
		}
	}
	for _, row := range testkit.Conformance[testCase](t, "contract-cases.jsonl", "fn", "policy") {
		t.Run(row.ID, func(t *testing.T) {
			p := Default()
			if row.StaticText != nil {
				var err error
				p, err = Parse([]byte(*row.StaticText))
				require.NoError(t, err)
			}
			var input struct {
				Provider json.RawMessage
				Class    json.RawMessage `json:"task_class"`
			}
			require.NoError(t, json.Unmarshal([]byte(row.InputText), &input))
			got, err := p.Resolve(nameIn(input.Provider), nameIn(input.Class))
			if !row.Expect.OK {
				var unknown *UnknownError
				require.ErrorAs(t, err, &unknown)
				require.Equal(t, row.Expect.Error, "unknown_"+map[string]string{"provider": "provider", "task class": "task_class"}[unknown.What])
				return
			}
			require.NoError(t, err)
			w := row.Expect.Policy
			require.Equal(t, Resolved{w.Model, w.MaxTokens, w.Temperature, w.MaxSteps, w.MaxToolCalls, w.MaxSeconds}, got)
		})
	}
}

// nameIn returns the name in a JSON value. It is empty for null or an absent value, and
// an unknown name for a value that is not a string.
func nameIn(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func FuzzParse(f *testing.F) {
	f.Add(policyFile)
	f.Add([]byte(`{"defaults":{"max_steps":12},"providers":{"x":{"model":"m"}}}`))
	f.Add([]byte("task_classes: {action: {temp: 1e-3}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			return
		}
		require.Len(t, p.Digest(), 64)
		r, err := p.Resolve("", "")
		require.NoError(t, err)
		require.GreaterOrEqual(t, min(r.MaxTokens, r.MaxSteps, r.MaxToolCalls, r.MaxSeconds), 0)
	})
}
