// Package anthropic implements the Anthropic Messages wire: it sends a
// providers.Call to POST {base}/messages and returns a normalised reply or a typed
// error. Claude on Vertex AI has the same bodies at another address. Replies of
// the older Text Completions API are read, too.
package anthropic

import (
	"net/http"
	"net/url"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "anthropic-messages/1"

const (
	publicBase = "https://api.anthropic.com/v1"
	apiVersion = "2023-06-01"
	// vertexVersion is in the body: "Claude on Vertex AI", docs.claude.com.
	vertexVersion = "vertex-2023-10-16"
)

// New makes a model of the provider. It fails with a *fault.Error of kind
// auth when the public address is asked without a key, and of kind
// invalid_request when the base URL is not usable. A custom address needs no
// key, nor does a client with its own transport, which may replay or sign.
func New(o providers.Options) (providers.Model, error) {
	return wire.NewModel(wire.Dialect{
		Name: "anthropic", Base: publicBase, KeyName: "ANTHROPIC_API_KEY",
		Authorize: func(h http.Header, key string) { h.Set("X-Api-Key", key) },
		Header:    http.Header{"Anthropic-Version": {apiVersion}},
		Kind:      kindOf,
	}, o, modes, func(call providers.Call) wire.Exchange { return exchange(call, false) })
}

// NewVertex makes a model of Claude on Vertex AI. The base URL is required and
// ends in /projects/{project}/locations/{region}/publishers/anthropic; the key
// is an access token. It fails like New.
func NewVertex(o providers.Options) (providers.Model, error) {
	return wire.NewModel(wire.Dialect{
		Name:      "vertex-anthropic",
		KeyName:   "VERTEX_ACCESS_TOKEN",
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Kind:      kindOf,
	}, o, modes, func(call providers.Call) wire.Exchange { return exchange(call, true) })
}

func exchange(call providers.Call, vertex bool) wire.Exchange {
	body, warnings := newRequest(call)
	path := "/messages"
	if vertex {
		path = body.forVertex()
	}
	return wire.Exchange{Request: wire.Request{Path: path, Body: body}, Decoder: &decoder{}, Warnings: warnings}
}

// forVertex moves the model from the body to the path, which it returns.
func (r *request) forVertex() string {
	method := ":rawPredict"
	if r.Stream {
		method = ":streamRawPredict"
	}
	path := "/models/" + url.PathEscape(r.Model) + method
	r.Version, r.Model = vertexVersion, ""
	return path
}
