// Package tgi speaks the wire of Hugging Face's Text Generation Inference: a
// providers.Call goes in, POST {base}/generate or {base}/generate_stream is made, a
// normalised reply or a typed error comes out. The rules are those of its API
// documentation (huggingface.github.io/text-generation-inference).
//
// The API completes a prompt; it knows no messages. The prompt is made by a plain
// template (see newPrompt), not by the one a model was trained with: chat templates
// are the server's business, and the chat endpoint, which the wire openai speaks,
// is the better choice wherever there is one. Tools are not part of the API.
package tgi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
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
// transport of its own, which may replay or sign.
func New(o providers.Options) (providers.Model, error) {
	if o.Provider == "" {
		o.Provider = "tgi"
	}
	public := o.BaseURL == ""
	for _, path := range []string{"/generate_stream", "/generate"} {
		o.BaseURL = strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), path)
	}
	client, err := wire.New(wire.Dialect{
		Base: publicBase, KeyName: "HF_TOKEN",
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Kind:      kindOf,
	}, o)
	if err != nil {
		return nil, err
	}
	return &model{client, public}, nil
}

type model struct {
	client *wire.Client
	public bool
}

// Modes implements providers.Formatter. The server's grammars know no JSON without
// a schema.
func (m *model) Modes() []providers.Mode { return []providers.Mode{providers.JSONSchema} }

// Call implements providers.Model.
func (m *model) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	if err := m.client.Check(call, m.Modes()); err != nil {
		return providers.Reply{}, err
	}
	body, warnings, problem := newRequest(call)
	if problem != "" {
		return providers.Reply{}, m.client.Error(wire.Answer{}, call.Model, fault.InvalidRequest, problem, nil)
	}
	path := "/generate"
	switch {
	case m.public:
		body.Stream = call.Stream
		path = "/models/" + strings.ReplaceAll(url.PathEscape(call.Model), "%2F", "/")
	case call.Stream:
		path = "/generate_stream"
	}
	return m.client.Do(ctx, call, wire.Request{Path: path, Body: body}, &decoder{}, warnings)
}
