package cohere

import (
	"net/http"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kindOf names the class of a fault. Cohere tells no codes, only a status and a
// message (docs.cohere.com/reference/errors); ERROR and TIMEOUT are reasons of an
// ending.
func kindOf(f wire.Fault) providers.Kind {
	switch {
	case f.Says("total number of tokens", "size limit exceeded", "context length", "context window", "prompt is too long"):
		return providers.ContextLength
	case f.Says("blocked input", "blocked output", "content policy"):
		return providers.Refused
	case f.Says("calls / month", "calls per month", "monthly"), f.Says("billing") && f.Status != http.StatusInternalServerError:
		return providers.Quota
	case f.Is("TIMEOUT"):
		return providers.TimedOut
	case f.Status == 498: // invalid token
		return providers.Auth
	case f.Status == 499: // the request was cancelled on its way
		return providers.TimedOut
	case f.Status == http.StatusNotImplemented:
		return providers.InvalidRequest
	case f.Status >= 300:
		return "" // the status says the rest
	case f.Says("invalid api token", "unauthorized"):
		return providers.Auth
	case f.Says("rate limit", "calls / minute"):
		return providers.RateLimit
	case f.Says("invalid request", "not supported"):
		return providers.InvalidRequest
	case f.Says("timeout", "timed out"):
		return providers.TimedOut
	}
	return providers.Overloaded // the provider's own failure, told in a 200
}
