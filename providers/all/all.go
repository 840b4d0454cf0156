// Package all maps the names of wires to their factories. A program that imports it
// links all of them; tests may instead list those that they use.
package all

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/anthropic"
	"github.com/cupel-eval/cupel/providers/bedrock"
	"github.com/cupel-eval/cupel/providers/cohere"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/gemini"
	"github.com/cupel-eval/cupel/providers/ollama"
	"github.com/cupel-eval/cupel/providers/openai"
	"github.com/cupel-eval/cupel/providers/responses"
	"github.com/cupel-eval/cupel/providers/tgi"
	"github.com/cupel-eval/cupel/providers/vertex"
)

// entry is one provider.
type entry struct {
	name string
	// key is the environment variable of the credential; empty if it takes none.
	key string
	// optional reports that it may go without.
	optional bool
	// version is that of the wire's codec.
	version string
	new     providers.Factory
}

// entries is the list: the wires by name, their dialects, and the simulated
// models behind each wire.
func entries() []entry {
	list := []entry{
		{name: "anthropic", key: "ANTHROPIC_API_KEY", version: anthropic.Version, new: anthropic.New},
		{name: "azure-responses", key: "AZURE_OPENAI_API_KEY", version: responses.Version, new: responses.Azure},
		{name: "bedrock", key: "AWS_BEARER_TOKEN_BEDROCK", optional: true, version: bedrock.Version, new: bedrock.New},
		{name: "bedrock-mantle-responses", key: "AWS_BEARER_TOKEN_BEDROCK", version: responses.Version, new: responses.BedrockMantle},
		{name: "cohere", key: "COHERE_API_KEY", version: cohere.Version, new: cohere.New},
		{name: "deepseek-responses", key: "DEEPSEEK_API_KEY", version: responses.Version, new: responses.DeepSeek},
		{name: "gemini", key: "GEMINI_API_KEY", version: gemini.Version, new: gemini.New},
		{name: "llamacpp-responses", version: responses.Version, new: responses.LlamaCpp},
		{name: "ollama", key: "OLLAMA_API_KEY", optional: true, version: ollama.Version, new: ollama.New},
		{name: "openai", key: "OPENAI_API_KEY", version: openai.Version, new: openai.New},
		{name: "openai-compatible", key: "LLM_API_KEY", optional: true, version: openai.Version, new: compatible},
		{name: "openai-responses", key: "OPENAI_API_KEY", version: responses.Version, new: responses.New},
		{name: "openrouter-responses", key: "OPENROUTER_API_KEY", version: responses.Version, new: responses.OpenRouter},
		{name: "tgi", key: "HF_TOKEN", optional: true, version: tgi.Version, new: tgi.New},
		{name: "vertex", key: "VERTEX_ACCESS_TOKEN", optional: true, version: gemini.Version, new: vertex.New},
		{name: "vertex-anthropic", key: "VERTEX_ACCESS_TOKEN", optional: true, version: anthropic.Version, new: anthropic.NewVertex},
		{name: "xai-responses", key: "XAI_API_KEY", version: responses.Version, new: responses.XAI},
	}
	for _, d := range openai.Dialects() {
		list = append(list, entry{name: d.Name, key: d.Key, optional: d.Keyless, version: openai.Version, new: openai.Factory(d)})
	}
	for _, s := range []struct {
		name, path, version string
		wire                providers.Factory
	}{
		{"sim-anthropic", "/v1", anthropic.Version, anthropic.New},
		{"sim-bedrock", "", bedrock.Version, bedrock.New},
		{"sim-cohere", "/v2", cohere.Version, cohere.New},
		{"sim-gemini", "/v1beta", gemini.Version, gemini.New},
		{"sim-ollama", "", ollama.Version, ollama.New},
		{"sim-openai", "/v1", openai.Version, openai.New},
		{"sim-responses", "/v1", responses.Version, responses.New},
		{"sim-tgi", "", tgi.Version, eachAtItsAddress},
	} {
		list = append(list, entry{name: s.name, version: s.version, new: simulated(s.name, simHost+s.path, s.wire)})
	}
	return list
}

// simHost is the address recorded for simulated models. No server is there:
// whoever records dials the simulator in its place.
const simHost = "http://sim.localhost"

// Factories returns the factories by provider name, in a fresh map.
func Factories() map[string]providers.Factory {
	m := map[string]providers.Factory{}
	for _, e := range entries() {
		m[e.name] = e.new
	}
	return m
}

// Keys returns the environment variable that holds the key, by provider name,
// in a fresh map. A provider that is absent takes none; see KeyOptional.
func Keys() map[string]string {
	m := map[string]string{}
	for _, e := range entries() {
		if e.key != "" {
			m[e.name] = e.key
		}
	}
	return m
}

// KeyOptional reports whether a provider may be asked without a key: a server of
// a custom server, or one that finds credentials elsewhere.
func KeyOptional(provider string) bool {
	return slices.ContainsFunc(entries(), func(e entry) bool { return e.name == provider && e.optional })
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
	o.Provider = cmp.Or(o.Provider, "openai-compatible")
	if o.BaseURL == "" {
		return nil, &fault.Error{
			Kind: fault.InvalidRequest, Provider: o.Provider,
			Message: "no address: set base_url of the candidate or LLM_API_URL, such as http://127.0.0.1:8080/v1",
		}
	}
	return openai.New(o)
}

// simulated speaks a wire to the simulator's address under its own name.
func simulated(name, base string, wire providers.Factory) providers.Factory {
	return func(o providers.Options) (providers.Model, error) {
		o.Provider = cmp.Or(o.Provider, name)
		o.BaseURL = cmp.Or(o.BaseURL, base)
		if o.Key == "" && name == "sim-bedrock" {
			o.Key = "simulated" // without one it would look for AWS credentials to sign with
		}
		return wire(o)
	}
}

// eachAtItsAddress speaks the TGI wire, which names no model, to simulated models
// that have an address each, as the servers of real ones do.
func eachAtItsAddress(o providers.Options) (providers.Model, error) {
	m, err := tgi.New(o)
	if err != nil || o.BaseURL != simHost {
		return m, err
	}
	return addressed{m.(providers.Formatter), o}, nil
}

type addressed struct {
	providers.Formatter
	options providers.Options
}

// Call implements providers.Model.
func (a addressed) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	o := a.options
	o.BaseURL += "/models/" + url.PathEscape(call.Model)
	m, err := tgi.New(o)
	if err != nil {
		return providers.Reply{}, err
	}
	return m.Call(ctx, call)
}
