// Package vertex calls Gemini models on Google Cloud's Vertex AI: it sends a
// providers.Call in the Gemini wire to a project's address with an access token,
// and returns a normalised reply or a typed error.
package vertex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/gemini"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// New makes a model of Vertex AI. The base URL names project and location and
// is demanded, so that a recording says what was asked: its error shows the
// form. The key is an OAuth access token. Without one, and without a transport
// in o.HTTP, Transport finds a token for each request; its own transport
// may replay, or be built on Transport.
func New(o providers.Options) (providers.Model, error) {
	o.Provider = cmp.Or(o.Provider, "vertex")
	if o.BaseURL == "" {
		return nil, &fault.Error{
			Kind: fault.InvalidRequest, Provider: o.Provider,
			Message: "no address: set base_url, such as " + address(cmp.Or(o.Region, "global")),
		}
	}
	if o.Key == "" && (o.HTTP == nil || o.HTTP.Transport == nil) {
		client := http.Client{}
		if o.HTTP != nil {
			client = *o.HTTP
		}
		client.Transport = Transport(http.DefaultTransport)
		o.HTTP = &client
	}
	m, err := gemini.With(wire.Dialect{
		KeyName:   "VERTEX_ACCESS_TOKEN",
		Authorize: func(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) },
	}, o)
	if err != nil {
		return nil, err
	}
	return &model{Model: m}, nil
}

// address is the form of a base URL: see "Locations"
// (cloud.google.com/vertex-ai/generative-ai/docs/learn/locations).
func address(region string) string {
	host := "aiplatform.googleapis.com"
	if region != "global" {
		host = region + "-" + host
	}
	return fmt.Sprintf("https://%s/v1/projects/PROJECT/locations/%s/publishers/google", host, region)
}

// model is a Gemini model that distinguishes missing credentials from a failed
// connection.
type model struct{ providers.Model }

// Call implements providers.Model.
func (m *model) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	reply, err := m.Model.Call(ctx, call)
	var missing *credentialError
	var e *fault.Error
	if errors.As(err, &missing) && errors.As(err, &e) {
		e.Kind = fault.Auth
	}
	return reply, err
}

// Modes implements providers.Formatter.
func (m *model) Modes() []providers.Mode { return m.Model.(providers.Formatter).Modes() }
