// Package openai implements the OpenAI Chat Completions wire: it sends a
// providers.Call to POST {base}/chat/completions and returns a normalised reply,
// whole or streamed, or a typed error. The many services with the same wire are
// Dialects: lines of a table with their differences.
package openai

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Version names this codec on cassettes. It changes when requests do.
const Version = "openai-chat/1"

// New makes a model of the provider. It fails with a *fault.Error of kind
// auth when the public address is asked without a key, and of kind
// invalid_request when the base URL is not usable. A custom address needs no
// key, nor does a client with its own transport, which may replay or sign.
func New(o providers.Options) (providers.Model, error) {
	return Factory(Dialect{Name: "openai", Base: "https://api.openai.com/v1", Key: "OPENAI_API_KEY", Searches: true})(o)
}

// Factory returns what makes models that are asked in the dialect. It fails as
// New does, and with kind invalid_request when the dialect has no public address
// and Options.BaseURL is empty.
func Factory(d Dialect) providers.Factory {
	return func(o providers.Options) (providers.Model, error) {
		o.Provider = cmp.Or(o.Provider, d.Name)
		base := d.Base
		if strings.Contains(base, region) {
			base = strings.ReplaceAll(base, region, o.Region)
			if !plainRegion(o.Region) && o.BaseURL == "" {
				return nil, &fault.Error{Kind: fault.InvalidRequest, Provider: o.Provider, Message: "no address: set a region, such as us-east-1, or base_url"}
			}
		}
		name := d.Key
		if d.Keyless {
			name = ""
		}
		return wire.NewModel(wire.Dialect{
			Base: base, KeyName: name, Authorize: d.authorize, RequestID: d.RequestID, Kind: d.kindOf,
		}, o, d.modes(), d.exchange)
	}
}

// plainRegion reports whether a region can be part of a host name.
func plainRegion(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func (d Dialect) exchange(call providers.Call) wire.Exchange {
	body, warnings := newRequest(d, call)
	decoder := newDecoder(d, call.Stream)
	if call.LogProbs {
		decoder.probs = &logProbs{}
	}
	return wire.Exchange{Request: wire.Request{Path: "/chat/completions", Body: body}, Decoder: decoder, Warnings: warnings}
}

func (d Dialect) authorize(h http.Header, key string) {
	if d.KeyHeader != "" {
		h.Set(d.KeyHeader, key)
		return
	}
	h.Set("Authorization", "Bearer "+key)
}
