// Package anthropic speaks the Anthropic Messages wire: a providers.Call goes
// in, POST {base}/messages is made, a normalised reply or a typed error comes
// out.
package anthropic

import (
	"context"
	"net/http"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "anthropic-messages/1"

const (
	publicBase = "https://api.anthropic.com/v1"
	apiVersion = "2023-06-01"
)

// New makes a model of the provider. It fails with a *providers.Error of kind
// auth when the public address is asked without a key, and of kind
// invalid_request when the base URL is not usable. A custom address needs no
// key, nor does a client with a transport of its own, which may replay or sign.
func New(o providers.Options) (providers.Model, error) {
	if o.Provider == "" {
		o.Provider = "anthropic"
	}
	client, err := wire.New(wire.Dialect{
		Base: publicBase, KeyName: "ANTHROPIC_API_KEY",
		Authorize: func(h http.Header, key string) { h.Set("X-Api-Key", key) },
		Header:    http.Header{"Anthropic-Version": {apiVersion}},
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
	return m.client.Do(ctx, call, wire.Request{Path: "/messages", Body: body}, decoder{}, warnings)
}
