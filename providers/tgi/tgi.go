// Package tgi implements the wire of Hugging Face's Text Generation Inference: it
// sends a providers.Call to POST {base}/generate or {base}/generate_stream and returns
// a normalised reply or a typed error. The rules are those of its API
// documentation (huggingface.github.io/text-generation-inference).
//
// The API completes a prompt; it has no messages. The prompt is made by a plain
// template (see newPrompt), not by the one a model was trained with: chat templates
// are the server's business, and the chat endpoint, which the wire openai speaks,
// is the better choice wherever there is one. Tools are not part of the API.
package tgi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "tgi-generate/1"

// publicBase is Hugging Face's own inference. It names the model in the path and
// has one endpoint for both ways to reply.
const publicBase = "https://router.huggingface.co/hf-inference"

// New makes a model of the provider. The base URL is the server's address; without
// one Hugging Face's inference is asked. New fails with a *fault.Error of kind
// auth when that is asked without a key, and of kind invalid_request when the base
// URL is not usable. A custom address needs no key, nor does a client with a
// custom transport, which may replay or sign.
func New(o providers.Options) (providers.Model, error) {
	public := o.BaseURL == ""
	for _, path := range []string{"/generate_stream", "/generate"} {
		o.BaseURL = strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), path)
	}
	return wire.NewModel(wire.Dialect{
		Name: "tgi", Base: publicBase, KeyName: "HF_TOKEN",
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Kind:      kindOf,
	}, o, modes, func(call providers.Call) wire.Exchange { return exchange(call, public) })
}

// The server's grammars do not support JSON without a schema.
var modes = []providers.Mode{providers.JSONSchema}

func exchange(call providers.Call, public bool) wire.Exchange {
	body, warnings, problem := newRequest(call)
	path := "/generate"
	switch {
	case public:
		body.Stream = call.Stream
		path = "/models/" + strings.ReplaceAll(url.PathEscape(call.Model), "%2F", "/")
	case call.Stream:
		path = "/generate_stream"
	}
	return wire.Exchange{Request: wire.Request{Path: path, Body: body}, Decoder: &decoder{}, Warnings: warnings, Problem: problem}
}
