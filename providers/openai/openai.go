// Package openai speaks the OpenAI Chat Completions wire: a providers.Call goes
// in, POST {base}/chat/completions is made, a normalised reply or a typed error
// comes out. Compatible servers (vLLM, Ollama, Groq, OpenRouter, …) are reached
// through Options.BaseURL; the fields they add are read where they carry
// reasoning, cache or error details.
package openai

import (
	"context"
	"net/http"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "openai-chat/1"

const publicBase = "https://api.openai.com/v1"

// New makes a model of the provider. It fails with a *providers.Error of kind
// auth when the public address is asked without a key, and of kind
// invalid_request when the base URL is not usable. A custom address needs no
// key, nor does a client with a transport of its own, which may replay or sign.
func New(o providers.Options) (providers.Model, error) {
	if o.Provider == "" {
		o.Provider = "openai"
	}
	client, err := wire.New(wire.Dialect{
		Base: publicBase, KeyName: "OPENAI_API_KEY",
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Kind:      kindOf,
	}, o)
	if err != nil {
		return nil, err
	}
	return &model{client}, nil
}

type model struct{ client *wire.Client }

// Call implements providers.Model.
func (m *model) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	if err := m.client.Check(call, m.Modes()); err != nil {
		return providers.Reply{}, err
	}
	body, warnings := newRequest(call)
	return m.client.Do(ctx, call, wire.Request{Path: "/chat/completions", Body: body}, decoder{}, warnings)
}
