// Package gemini implements the wire of Google's Gemini API: it sends a providers.Call
// to POST {base}/models/{model}:generateContent or :streamGenerateContent and returns
// a normalised reply or a typed error. Vertex AI serves the same wire at other
// addresses: see package vertex.
package gemini

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "gemini/1"

const publicBase = "https://generativelanguage.googleapis.com/v1beta"

// New makes a model of the provider. It fails with a *fault.Error of kind
// auth when the public address is asked without a key, and of kind
// invalid_request when the base URL is not usable. A custom address needs no
// key, nor does a client with its own transport, which may replay or sign.
func New(o providers.Options) (providers.Model, error) {
	return With(wire.Dialect{
		Name: "gemini", Base: publicBase, KeyName: "GEMINI_API_KEY",
		Authorize: func(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) },
	}, o)
}

// With makes a model that speaks this wire in its own dialect: its address
// and its credential. The errors that are common to the wire are filled in.
func With(d wire.Dialect, o providers.Options) (providers.Model, error) {
	d.Kind, d.Fault = kindOf, readFault
	return wire.NewModel(d, o, modes, exchange)
}

func exchange(call providers.Call) wire.Exchange {
	body, warnings := newRequest(call)
	r := wire.Request{Path: path(call.Model) + ":generateContent", Body: body, Framing: framing}
	if call.Stream {
		// Without alt=sse a stream is one JSON array, which is read as well.
		r.Path, r.Query = path(call.Model)+":streamGenerateContent", url.Values{"alt": {"sse"}}
	}
	return wire.Exchange{Request: r, Decoder: &decoder{}, Warnings: warnings}
}

// path is the resource of a model: models/NAME unless the name says its own
// collection, as in tunedModels/NAME.
func path(name string) string {
	collection, rest, ok := strings.Cut(name, "/")
	if !ok || collection != "models" && collection != "tunedModels" {
		collection, rest = "models", name
	}
	return "/" + collection + "/" + url.PathEscape(rest)
}
