// Package ollama implements Ollama's own wire: it sends a providers.Call to
// POST {base}/api/chat and returns a normalised reply or a typed error.
// The server streams one JSON document a line. Bodies of /api/generate are read
// as well. The rules are those of "API" and "Thinking" in Ollama's
// documentation (docs.ollama.com/api/chat, docs.ollama.com/capabilities).
package ollama

import (
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "ollama-chat/1"

// localBase is where a server listens by default.
const localBase = "http://127.0.0.1:11434"

// New makes a model of the provider. No key is needed; if there is one it is sent
// as a bearer token, which ollama.com wants. The base URL may end in /api or not.
// It fails with a *fault.Error of kind invalid_request when the base URL is
// not usable. What the API has besides, such as think or keep_alive, is asked for
// through Options.Extra.
func New(o providers.Options) (providers.Model, error) {
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/api")
	return wire.NewModel(wire.Dialect{
		Name:      "ollama",
		Base:      localBase,
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Kind:      kindOf,
	}, o, modes, exchange)
}

// No tool can be forced.
var modes = []providers.Mode{providers.JSONObject, providers.JSONSchema}

func exchange(call providers.Call) wire.Exchange {
	body, warnings, problem := newRequest(call)
	return wire.Exchange{Request: wire.Request{Path: "/api/chat", Body: body, Framing: wire.Lines}, Decoder: &decoder{}, Warnings: warnings, Problem: problem}
}
