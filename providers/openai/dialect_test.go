package openai

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

func dialectOf(t *testing.T, name string) Dialect {
	t.Helper()
	i := slices.IndexFunc(Dialects(), func(d Dialect) bool { return d.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return Dialects()[i]
}

// sent returns the request as JSON, and the warnings.
func sent(t *testing.T, d Dialect, call providers.Call) (string, []string) {
	t.Helper()
	body, warnings := newRequest(d, call)
	text, err := json.Marshal(body)
	require.NoError(t, err)
	return string(text), warnings
}

func TestTheTableOfDialects(t *testing.T) {
	require.NotSame(t, &Dialects()[0], &Dialects()[0])
	before := ""
	for _, d := range Dialects() {
		t.Run(d.Name, func(t *testing.T) {
			require.Greater(t, d.Name, before, "sorted, each once")
			before = d.Name
			require.NotEmpty(t, d.Key)
			m, err := Factory(d)(providers.Options{Key: "k", Region: "eu-west-1"})
			if d.Base == "" {
				var e *fault.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, fault.InvalidRequest, e.Kind)
				m, err = Factory(d)(providers.Options{BaseURL: "http://127.0.0.1:1/v1"})
			}
			require.NoError(t, err)
			require.NotEmpty(t, m.(providers.Formatter).Modes())
			_, err = Factory(d)(providers.Options{Region: "eu-west-1"})
			if d.Keyless {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, d.Name)
			}
			for _, field := range d.Keeps {
				require.Contains(t, []string{keepContent, keepDetails, keepExtra}, field)
			}
			require.Contains(t, []string{"", "max_completion_tokens"}, d.MaxTokens)
			require.Contains(t, []string{"", "random_seed"}, d.Seed)
		})
	}
}

func TestRegions(t *testing.T) {
	for _, region := range []string{"", "evil.test/", "a b", "EU"} {
		_, err := Factory(dialectOf(t, "bedrock-mantle"))(providers.Options{Key: "k", Region: region})
		require.ErrorContains(t, err, "set a region")
	}
	_, err := Factory(dialectOf(t, "bedrock-mantle"))(providers.Options{Key: "k", BaseURL: "http://127.0.0.1:1/v1"})
	require.NoError(t, err)
}

func TestAzureHeaderAndVersion(t *testing.T) {
	var got *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.Header().Set("Apim-Request-Id", "apim-1")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"ok"}}]}`)
	}))
	defer server.Close()
	m, err := Factory(dialectOf(t, "azure"))(providers.Options{BaseURL: server.URL + "/openai/v1", Key: "k-1", Query: map[string]string{"api-version": "preview"}})
	require.NoError(t, err)
	reply, err := m.Call(context.Background(), providers.Call{Model: "my-deployment"})
	require.NoError(t, err)
	require.Equal(t, "/openai/v1/chat/completions?api-version=preview", got.URL.String())
	require.Equal(t, "k-1", got.Header.Get("Api-Key"))
	require.Empty(t, got.Header.Get("Authorization"))
	require.Equal(t, "apim-1", reply.RequestID)
}

func TestSettingsOfDialects(t *testing.T) {
	zero, seed := 0.0, int64(7)
	call := providers.Call{Model: "some-model", MaxTokens: 9, Temperature: &zero, Seed: &seed, Stop: []string{"X"}}
	for _, c := range []struct {
		dialect, model, want string
		warnings             []string
	}{
		{"vllm", "", `"max_tokens":9,"temperature":0,"seed":7,"stop":["X"]`, nil},
		{"mistral", "", `"max_tokens":9,"temperature":0,"random_seed":7,"stop":["X"]`, nil},
		{"groq", "", `"max_completion_tokens":9,"temperature":0,"seed":7,"stop":["X"]`, nil},
		{"deepseek", "", `"max_tokens":9,"temperature":0,"stop":["X"]`, []string{"seed: not part of deepseek, not sent"}},
		{"deepseek", "deepseek-reasoner", `"max_tokens":9,"stop":["X"]`, []string{"temperature: not taken by reasoning models, not sent", "seed: not part of deepseek, not sent"}},
		{"perplexity", "", `"max_tokens":9,"temperature":0`, []string{"seed: not part of perplexity, not sent", "stop: not part of perplexity, not sent"}},
		{"xai", "grok-4-fast-reasoning", `"max_completion_tokens":9,"temperature":0,"seed":7`, []string{"stop: not taken by reasoning models, not sent"}},
		{"xai", "grok-4-fast-non-reasoning", `"max_completion_tokens":9,"temperature":0,"seed":7,"stop":["X"]`, nil},
		{"openrouter", "openai/o3", `"max_completion_tokens":9,"seed":7`, []string{"temperature: not taken by reasoning models, not sent", "stop: not taken by reasoning models, not sent"}},
	} {
		t.Run(c.dialect+" "+c.model, func(t *testing.T) {
			with := call
			if c.model != "" {
				with.Model = c.model
			}
			got, warnings := sent(t, dialectOf(t, c.dialect), with)
			require.Equal(t, `{"model":"`+with.Model+`","messages":null,`+c.want+`}`, got)
			require.Equal(t, c.warnings, warnings)
		})
	}
}

func TestStreamsAreAskedForWithTheirUsage(t *testing.T) {
	call := providers.Call{Model: "m", Stream: true}
	got, warnings := sent(t, Dialect{}, call)
	require.Equal(t, `{"model":"m","messages":null,"stream":true,"stream_options":{"include_usage":true}}`, got)
	require.Empty(t, warnings)
	got, warnings = sent(t, dialectOf(t, "mistral"), call)
	require.Equal(t, `{"model":"m","messages":null,"stream":true}`, got)
	require.Empty(t, warnings, "its usage comes unasked")
}

func TestModesOfDialects(t *testing.T) {
	for name, want := range map[string][]providers.Mode{
		"deepseek":      {providers.JSONObject, providers.ForcedTool},
		"ollama-compat": {providers.JSONObject, providers.JSONSchema},
		"perplexity":    {providers.JSONSchema},
		"zai":           {providers.JSONObject},
		"groq":          {providers.JSONObject, providers.JSONSchema, providers.ForcedTool},
	} {
		m, err := Factory(dialectOf(t, name))(providers.Options{BaseURL: "http://127.0.0.1:1/v1"})
		require.NoError(t, err)
		require.Equal(t, want, m.(providers.Formatter).Modes(), name)
		for _, mode := range []providers.Mode{providers.JSONObject, providers.JSONSchema, providers.ForcedTool} {
			if !slices.Contains(want, mode) {
				_, err = m.Call(context.Background(), providers.Call{Model: "m", Format: &providers.Format{Mode: mode, Name: "n", Schema: []byte(`{}`)}})
				require.ErrorContains(t, err, "is not part of this wire")
			}
		}
	}
}

func TestToolsAreSent(t *testing.T) {
	const (
		schema = `{"type":"object","properties":{"a":{"type":"string"}}}`
		f      = `{"type":"function","function":{"name":"f","description":"does f","parameters":` + schema + `}}`
		g      = `{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}`
	)
	tools := []providers.Tool{{Name: "f", Description: "does f", Schema: []byte(schema)}, {Name: "g"}}
	for _, c := range []struct {
		name, dialect string
		choice        providers.Choice
		serial        bool
		want          string
		warnings      []string
	}{
		{"auto", "vllm", providers.Choice{}, false, `"tools":[` + f + `,` + g + `]`, nil},
		{"none", "vllm", providers.Choice{Kind: providers.ChoiceNone}, false, `"tools":[` + f + `,` + g + `],"tool_choice":"none"`, nil},
		{"any", "mistral", providers.Choice{Kind: providers.ChoiceAny}, true, `"tools":[` + f + `,` + g + `],"tool_choice":"required","parallel_tool_calls":false`, nil},
		{"named", "vllm", providers.Choice{Kind: providers.ChoiceNamed, Name: "g"}, false, `"tools":[` + f + `,` + g + `],"tool_choice":{"type":"function","function":{"name":"g"}}`, nil},
		{"named where only words are taken", "llamacpp", providers.Choice{Kind: providers.ChoiceNamed, Name: "g"}, false, `"tools":[` + g + `],"tool_choice":"required"`, nil},
		{"none where no choice is taken", "zai", providers.Choice{Kind: providers.ChoiceNone}, false, ``, nil},
		{"no choice and no serial", "ollama-compat", providers.Choice{Kind: providers.ChoiceAny}, true, `"tools":[` + f + `,` + g + `]`, []string{"tool choice: not part of ollama-compat, not sent", "serial: not part of ollama-compat, not sent"}},
		{"no tools", "perplexity", providers.Choice{}, false, ``, []string{"tools: not part of perplexity, not sent"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := sent(t, dialectOf(t, c.dialect), providers.Call{Model: "m", Tools: tools, Choice: c.choice, Serial: c.serial})
			want := `{"model":"m","messages":null`
			if c.want != "" {
				want += "," + c.want
			}
			require.Equal(t, want+"}", got)
			require.Equal(t, c.warnings, warnings)
		})
	}
	_, warnings := sent(t, Dialect{}, providers.Call{Model: "o3", Serial: true, Tools: []providers.Tool{{Name: "h", Schema: []byte(`{"oneOf":[]}`)}}})
	require.Equal(t, []string{`tool h: the provider may refuse the schema: /: type is not "object"; /: keyword oneOf`, "serial: not taken by reasoning models, not sent"}, warnings)
	got, _ := sent(t, dialectOf(t, "llamacpp"), providers.Call{Model: "m", Format: &providers.Format{Mode: providers.ForcedTool, Name: "n", Schema: []byte(schema)}})
	require.Contains(t, got, `"tool_choice":"required"`)
}
