// Package all lists the wires: a name goes in, the factory that speaks it comes
// out. A program that imports it links every one of them; tests may rather
// list those they use.
package all

import (
	"maps"
	"slices"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/anthropic"
	"github.com/cupel-eval/cupel/providers/cohere"
	"github.com/cupel-eval/cupel/providers/gemini"
	"github.com/cupel-eval/cupel/providers/bedrock"
	"github.com/cupel-eval/cupel/providers/openai"
	"github.com/cupel-eval/cupel/providers/responses"
	"github.com/cupel-eval/cupel/providers/ollama"
	"github.com/cupel-eval/cupel/providers/openai"
	"github.com/cupel-eval/cupel/providers/responses"
	"github.com/cupel-eval/cupel/providers/tgi"
	"github.com/cupel-eval/cupel/providers/vertex"
)

// simBase is the address recorded for simulated models. No server is there:
// whoever records dials the simulator in its place.
const simBase = "http://sim.localhost/v1"

// entry is one provider.
type entry struct {
	name string
	// key is the environment variable of the credential; empty if it takes none.
	key string
	// version is that of the wire's codec.
	version string
	new     providers.Factory
}

// entries is the list.
func entries() []entry {
	list := []entry{
		{"anthropic", "ANTHROPIC_API_KEY", anthropic.Version, anthropic.New},
		{"gemini", "GEMINI_API_KEY", gemini.Version, gemini.New},
		{"azure-responses", "AZURE_OPENAI_API_KEY", responses.Version, responses.Azure},
		{"bedrock-mantle-responses", "AWS_BEARER_TOKEN_BEDROCK", responses.Version, responses.BedrockMantle},
		{"deepseek-responses", "DEEPSEEK_API_KEY", responses.Version, responses.DeepSeek},
		{"llamacpp-responses", "", responses.Version, responses.LlamaCpp},
		{"bedrock", "AWS_BEARER_TOKEN_BEDROCK", bedrock.Version, bedrock.New},
		{"cohere", "COHERE_API_KEY", cohere.Version, cohere.New},
		{"ollama", "", ollama.Version, ollama.New}, // ollama.com wants one: key_env names it
		{"openai", "OPENAI_API_KEY", openai.Version, openai.New},
		{"openai-compatible", "LLM_API_KEY", openai.Version, compatible},
		{"openai-responses", "OPENAI_API_KEY", responses.Version, responses.New},
		{"openrouter-responses", "OPENROUTER_API_KEY", responses.Version, responses.OpenRouter},
		{"xai-responses", "XAI_API_KEY", responses.Version, responses.XAI},
		{"sim-anthropic", "", anthropic.Version, simulated("sim-anthropic", anthropic.New)},
		{"sim-openai", "", openai.Version, simulated("sim-openai", openai.New)},
		{"vertex-anthropic", "VERTEX_ACCESS_TOKEN", anthropic.Version, anthropic.NewVertex},
		{"vertex", "VERTEX_ACCESS_TOKEN", gemini.Version, vertex.New},
		{"tgi", "HF_TOKEN", tgi.Version, tgi.New},
	}
	for _, d := range openai.Dialects() {
		list = append(list, entry{d.Name, d.Key, openai.Version, openai.Factory(d)})
	}
	return list
}

// Factories returns the factories by provider name, in a fresh map.
func Factories() map[string]providers.Factory {
	m := map[string]providers.Factory{}
	for _, e := range entries() {
		m[e.name] = e.new
	}
	return m
}

// Keys returns the environment variable that holds the key, by provider name,
// in a fresh map. The keys of openai-compatible and vertex are optional; a provider
// that is absent takes none.
func Keys() map[string]string {
	m := map[string]string{}
	for _, e := range entries() {
		if e.key != "" {
			m[e.name] = e.key
		}
	}
	return m
}

// Names returns the provider names, sorted, for messages.
func Names() []string { return slices.Sorted(maps.Keys(Factories())) }

// Versions returns the version of the wire's codec, by provider name, in a fresh map.
func Versions() map[string]string {
	m := map[string]string{}
	for _, e := range entries() {
		m[e.name] = e.version
	}
	return m
}

// compatible speaks the OpenAI wire to an address that must be named.
func compatible(o providers.Options) (providers.Model, error) {
	if o.Provider == "" {
		o.Provider = "openai-compatible"
	}
	if o.BaseURL == "" {
		return nil, &providers.Error{
			Kind: providers.InvalidRequest, Provider: o.Provider,
			Message: "no address: set base_url of the candidate or LLM_API_URL, such as http://127.0.0.1:8080/v1",
		}
	}
	return openai.New(o)
}

// simulated speaks a wire to the simulator's address under a name of its own.
func simulated(name string, wire providers.Factory) providers.Factory {
	return func(o providers.Options) (providers.Model, error) {
		if o.Provider == "" {
			o.Provider = name
		}
		if o.BaseURL == "" {
			o.BaseURL = simBase
		}
		return wire(o)
	}
}
