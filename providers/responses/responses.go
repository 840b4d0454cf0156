// Package responses implements the OpenAI Responses wire: it sends a
// providers.Call to POST {base}/responses and returns a normalised reply, whole or
// streamed, or a typed error. Azure, xAI, OpenRouter, DeepSeek, llama.cpp and Amazon
// Bedrock serve the same wire; where they differ is data, see dialect.
package responses

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "openai-responses/1"

// dialect describes how one server of this wire differs from another.
type dialect struct {
	// name is the provider's unless the options give one; it marks what a reply
	// wants back, which other servers cannot read.
	name string
	// base is the public address and key the setting that holds the credential;
	// either may be empty.
	base, key string
	// keyHeader carries the key as it is; empty means Authorization: Bearer.
	keyHeader string
	// requestID names a separate header for the id of the exchange.
	requestID string
	modes     []providers.Mode
	// sealed reports whether reasoning of a model comes encrypted, to be put back.
	sealed func(model string) bool
	// minOutput is the least max_output_tokens it takes.
	minOutput int
	// unnamed reports that a tool cannot be chosen by name.
	unnamed bool
	// toolImages reports that the answer to a call may hold images.
	toolImages bool
}

// allModes are the modes of the wire.
func allModes() []providers.Mode {
	return []providers.Mode{providers.JSONObject, providers.JSONSchema, providers.ForcedTool}
}

// New makes a model of OpenAI itself (OpenAI API reference, "Create a model
// response"). It fails with a *fault.Error of kind auth when the public
// address is asked without a key, and of kind invalid_request when the base URL
// is not usable. A custom address needs no key, nor does a client with a
// custom transport, which may replay or sign.
func New(o providers.Options) (providers.Model, error) {
	return open(dialect{
		name: "openai-responses", base: "https://api.openai.com/v1", key: "OPENAI_API_KEY",
		modes: allModes(), sealed: reasons, minOutput: 16, toolImages: true,
	}, o)
}

// Azure makes a model of an Azure OpenAI resource. The address must be named, up
// to /openai/v1; the model is the deployment's name (learn.microsoft.com, "Use
// the Azure OpenAI Responses API"). Errors are those of New.
func Azure(o providers.Options) (providers.Model, error) {
	return open(dialect{
		name: "azure-responses", key: "AZURE_OPENAI_API_KEY", keyHeader: "Api-Key", requestID: "Apim-Request-Id",
		modes: allModes(), sealed: reasons, minOutput: 16, toolImages: true,
	}, o)
}

// XAI makes a model of xAI (docs.x.ai, "Responses API"). Errors are those of New.
func XAI(o providers.Options) (providers.Model, error) {
	return open(dialect{
		name: "xai-responses", base: "https://api.x.ai/v1", key: "XAI_API_KEY", modes: allModes(),
		sealed: func(model string) bool { return !strings.Contains(model, "non-reasoning") },
	}, o)
}

// OpenRouter makes a model of OpenRouter (openrouter.ai/docs, "Responses API
// Beta"). Errors are those of New.
func OpenRouter(o providers.Options) (providers.Model, error) {
	return open(dialect{
		name: "openrouter-responses", base: "https://openrouter.ai/api/v1", key: "OPENROUTER_API_KEY", modes: allModes(),
		sealed:     func(model string) bool { return reasons(model) || !strings.HasPrefix(model, "openai/") },
		toolImages: true,
	}, o)
}

// DeepSeek makes a model of DeepSeek, whose reasoning comes and goes back as
// plain text (api-docs.deepseek.com, "Using the Responses API"). Errors are those
// of New.
func DeepSeek(o providers.Options) (providers.Model, error) {
	return open(dialect{name: "deepseek-responses", base: "https://api.deepseek.com", key: "DEEPSEEK_API_KEY", modes: allModes()}, o)
}

// LlamaCpp makes a model of llama.cpp's server, at its usual address and without
// a key unless the options say otherwise. The server turns requests into chat
// completions and leaves out text.format and the name of a chosen tool
// (llama.cpp, tools/server). Errors are those of New.
func LlamaCpp(o providers.Options) (providers.Model, error) {
	return open(dialect{
		name: "llamacpp-responses", base: "http://127.0.0.1:8080/v1",
		modes: []providers.Mode{providers.ForcedTool}, unnamed: true,
	}, o)
}

// region is what an AWS region looks like.
var region = lazyregexp.New(`^[a-z0-9-]{1,40}$`)

// BedrockMantle makes a model of Amazon Bedrock's endpoint for this wire, in the
// region of the options and with a Bedrock API key. Some models are served under
// /openai/v1 instead: name the address then (docs.aws.amazon.com, Bedrock user
// guide, "Responses API"). Errors are those of New; without a region and an
// address the kind is invalid_request.
func BedrockMantle(o providers.Options) (providers.Model, error) {
	d := dialect{
		name: "bedrock-mantle-responses", key: "AWS_BEARER_TOKEN_BEDROCK", requestID: "X-Amzn-Requestid",
		modes: allModes(), sealed: reasons,
	}
	if region.MatchString(o.Region) {
		d.base = "https://bedrock-mantle." + o.Region + ".api.aws/v1"
	}
	return open(d, o)
}

// open makes a model of a dialect.
func open(d dialect, o providers.Options) (providers.Model, error) {
	o.Provider = cmp.Or(o.Provider, d.name)
	at := wire.Dialect{Base: d.base, KeyName: d.key, Kind: kindOf, Authorize: func(h http.Header, key string) {
		if d.keyHeader != "" {
			h.Set(d.keyHeader, key)
			return
		}
		h.Set("Authorization", "Bearer "+key)
	}}
	if d.requestID != "" {
		at.RequestID = []string{d.requestID}
	}
	client, err := wire.New(at, o)
	if err != nil {
		return nil, err
	}
	return &model{client, d}, nil
}

type model struct {
	client *wire.Client
	dialect
}

// Call implements providers.Model.
func (m *model) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	if err := m.client.Check(call, m.modes); err != nil {
		return providers.Reply{}, err
	}
	body, warnings := m.newRequest(call)
	return m.client.Do(ctx, call, wire.Request{Path: "/responses", Body: body}, &decoder{from: m.name}, warnings)
}

// Modes implements providers.Formatter.
func (m *model) Modes() []providers.Mode { return slices.Clone(m.modes) }

// reasons reports whether a model is of OpenAI's reasoning families, o1, o3, o4,
// gpt-5 and codex, chat variants excepted: those refuse a temperature, and only
// those give encrypted reasoning. A vendor in front, as in openai/o3 and
// openai.gpt-5, is overlooked.
func reasons(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	name = strings.TrimPrefix(name, "openai.")
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "codex"} {
		rest, ok := strings.CutPrefix(name, family)
		if ok && (rest == "" || rest[0] == '-' || rest[0] == '.') {
			return !strings.Contains(rest, "-chat")
		}
	}
	return false
}
