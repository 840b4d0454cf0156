// Package cohere implements version 2 of Cohere's Chat API: it sends a
// providers.Call to POST {base}/chat and returns a normalised reply or a typed
// error. Replies of version 1, whole and streamed, are read as well. The
// rules are those of "Chat", "Streaming Responses", "Tool Use", "Reasoning" and
// "Errors" in Cohere's documentation (docs.cohere.com/v2/reference/chat).
package cohere

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "cohere-chat/1"

const publicBase = "https://api.cohere.com/v2"

// New makes a model of the provider. It fails with a *fault.Error of kind
// auth when the public address is asked without a key, and of kind
// invalid_request when the base URL is not usable. A custom address needs no
// key, nor does a client with its own transport, which may replay or sign.
// What the API has besides, such as thinking or documents, is asked for through
// Options.Extra.
func New(o providers.Options) (providers.Model, error) {
	return wire.NewModel(wire.Dialect{
		Name: "cohere", Base: publicBase, KeyName: "COHERE_API_KEY",
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		RequestID: []string{"X-Debug-Trace-Id"},
		Kind:      kindOf,
	}, o, modes, exchange)
}

// A forced tool is the only available one.
var modes = []providers.Mode{providers.JSONObject, providers.JSONSchema, providers.ForcedTool}

func exchange(call providers.Call) wire.Exchange {
	body, warnings, problem := newRequest(call)
	return wire.Exchange{Request: wire.Request{Path: "/chat", Body: body, Framing: framing}, Decoder: &decoder{}, Warnings: warnings, Problem: problem}
}

// framing takes server-sent events, and the lines that version 1 of the API sends
// instead: they begin with is_finished or event_type, as no whole reply does.
var framing = wire.Framing{
	Media: wire.Events.Media,
	Starts: func(head []byte, asked bool) bool {
		return wire.Events.Starts(head, asked) || startsLines(head)
	},
	Cut: func(r io.Reader, limit int, f func(wire.Frame) error) error {
		ahead := bufio.NewReader(r)
		for {
			c, err := ahead.Peek(1)
			switch {
			case err == nil && strings.Contains(" \t\r\n", string(c)):
				_, _ = ahead.Discard(1)
			case err == nil && c[0] == '{':
				return wire.Lines.Cut(ahead, limit, f)
			default:
				return wire.Events.Cut(ahead, limit, f)
			}
		}
	},
}

func startsLines(head []byte) bool {
	return bytes.HasPrefix(head, []byte(`{"is_`)) || bytes.HasPrefix(head, []byte(`{"eve`))
}
