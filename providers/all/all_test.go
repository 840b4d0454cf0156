package all

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
)

func TestNamesAgree(t *testing.T) {
	require.Subset(t, Names(), []string{"anthropic", "bedrock", "cohere", "gemini", "groq", "huggingface", "ollama", "openai", "openai-compatible", "openai-responses", "tgi", "vertex"})
	require.Len(t, entries(), len(Names()), "two entries have one name")
	require.Equal(t, Names(), slices.Sorted(maps.Keys(Versions())))
	for name, version := range Versions() {
		require.Contains(t, version, "/", name)
	}
	for name := range Keys() {
		require.Contains(t, Names(), name)
	}
	for _, name := range Names() {
		_, err := policy.Default().Resolve(name, "action")
		require.NoError(t, err, "the default policy has no dials for %s", name)
		require.False(t, KeyOptional(name) && Keys()[name] == "", "%s has no key that could be optional", name)
	}
	for name := range policy.Default().Providers {
		if name != "hf" { // the oldest name in policies, kept because some still have it
			require.Contains(t, Names(), name)
		}
	}
	require.True(t, KeyOptional("openai-compatible"))
	require.False(t, KeyOptional("openai"))
	require.False(t, KeyOptional("nobody"))
}

// Every priced provider exists, and the APIs of one service have the same prices.
func TestPricedProvidersExist(t *testing.T) {
	prices, err := price.Default()
	require.NoError(t, err)
	for _, e := range prices.All() {
		require.Contains(t, Names(), e.Provider)
	}
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for name, model := range map[string]string{
		"openai-responses": "gpt-4o", "google-compat": "gemini-2.5-pro", "vertex-anthropic": "claude-opus-4-7", "xai-responses": "grok-4.3",
		"openrouter-responses": "anthropic/claude-opus-4.5", "bedrock-mantle": "openai.gpt-oss-120b-1:0", "deepseek-responses": "deepseek-v3.2",
	} {
		_, ok := prices.Lookup(name, model, day)
		require.True(t, ok, "%s %s has no price", name, model)
	}
}

// TestKeysAndAddresses checks that a missing key or address is reported immediately,
// under the name of the provider. With both, every provider can be opened.
func TestKeysAndAddresses(t *testing.T) {
	for name, make := range Factories() {
		t.Run(name, func(t *testing.T) {
			_, err := make(providers.Options{BaseURL: "http://127.0.0.1:8080/v1", Key: "k", Region: "eu-west-1"})
			require.NoError(t, err)
			_, err = make(providers.Options{})
			if err == nil {
				require.True(t, Keys()[name] == "" || KeyOptional(name), "it opens without a required key")
				return
			}
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.ErrorContains(t, err, name+":")
			switch e.Kind {
			case fault.Auth:
				require.ErrorContains(t, err, Keys()[name])
			case fault.InvalidRequest:
				require.Regexp(t, "base_url|region|LLM_API_URL", e.Message)
			default:
				t.Fatal(err)
			}
		})
	}
}

func TestEachWireGoesToItsOwnAddressUnderItsOwnName(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic":         "https://api.anthropic.com/v1/messages",
		"openai":            "https://api.openai.com/v1/chat/completions",
		"openai-compatible": "http://127.0.0.1:1/x/chat/completions",
		"azure":             "http://127.0.0.1:1/x/chat/completions",
		"bedrock-mantle":    "https://bedrock-mantle.eu-west-1.api.aws/v1/chat/completions",
		"groq":              "https://api.groq.com/openai/v1/chat/completions",
		"mistral":           "https://api.mistral.ai/v1/chat/completions",
		"perplexity":        "https://api.perplexity.ai/chat/completions",
		"zai":               "https://api.z.ai/api/paas/v4/chat/completions",
		"vllm":              "http://127.0.0.1:8000/v1/chat/completions",
		"sim-anthropic":     "http://sim.localhost/v1/messages",
		"sim-bedrock":       "http://sim.localhost/model/m/converse",
		"sim-cohere":        "http://sim.localhost/v2/chat",
		"sim-gemini":        "http://sim.localhost/v1beta/models/m:generateContent",
		"sim-ollama":        "http://sim.localhost/api/chat",
		"sim-openai":        "http://sim.localhost/v1/chat/completions",
		"sim-responses":     "http://sim.localhost/v1/responses",
		"sim-tgi":           "http://sim.localhost/models/m/generate",
		"vertex-anthropic":  "http://127.0.0.1:1/x/models/m:rawPredict",
	} {
		seen := &testkit.Server{Status: http.StatusUnauthorized}
		o := providers.Options{Region: "eu-west-1", HTTP: &http.Client{Transport: seen}}
		if name == "openai-compatible" || name == "azure" || name == "vertex-anthropic" {
			o.BaseURL = "http://127.0.0.1:1/x"
		}
		m, err := Factories()[name](o)
		require.NoError(t, err)
		_, err = m.Call(context.Background(), providers.Call{Model: "m"})
		require.ErrorContains(t, err, name+": model m: auth (HTTP 401)")
		require.Equal(t, want, seen.Got.URL.String())
		require.Contains(t, []string{"", "Bearer simulated"}, seen.Got.Header.Get("Authorization"))
		require.Empty(t, seen.Got.Header.Get("X-Api-Key"))
	}
}
