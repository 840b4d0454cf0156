// Package cohere speaks Cohere's own wire, version 2 of its Chat API: a
// providers.Call goes in, POST {base}/chat is made, a normalised reply or a typed
// error comes out. Replies of version 1, whole and streamed, are read as well. The
// rules are those of "Chat", "Streaming Responses", "Tool Use", "Reasoning" and
// "Errors" in Cohere's documentation (docs.cohere.com/v2/reference/chat).
package cohere

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "cohere-chat/1"

const publicBase = "https://api.cohere.com/v2"

// New makes a model of the provider. It fails with a *fault.Error of kind
// auth when the public address is asked without a key, and of kind
// invalid_request when the base URL is not usable. A custom address needs no
// key, nor does a client with a transport of its own, which may replay or sign.
// What the API has besides, such as thinking or documents, is asked for through
// Options.Extra.
func New(o providers.Options) (providers.Model, error) {
	if o.Provider == "" {
		o.Provider = "cohere"
	}
	client, err := wire.New(wire.Dialect{
		Base: publicBase, KeyName: "COHERE_API_KEY",
		Authorize: func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		RequestID: []string{"X-Debug-Trace-Id"},
		Kind:      kindOf,
	}, o)
	if err != nil {
		return nil, err
	}
	return &model{client}, nil
}

type model struct{ client *wire.Client }

// Modes implements providers.Formatter. A forced tool is the only one on offer.
func (m *model) Modes() []providers.Mode {
	return []providers.Mode{providers.JSONObject, providers.JSONSchema, providers.ForcedTool}
}

// Call implements providers.Model.
func (m *model) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	if err := m.client.Check(call, m.Modes()); err != nil {
		return providers.Reply{}, err
	}
	body, warnings, problem := newRequest(call)
	if problem != "" {
		return providers.Reply{}, m.client.Error(wire.Answer{}, call.Model, fault.InvalidRequest, problem, nil)
	}
	return m.client.Do(ctx, call, wire.Request{Path: "/chat", Body: body, Framing: framing}, &decoder{}, warnings)
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
