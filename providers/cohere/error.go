package cohere

import (
	"net/http"

	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kindOf names the class of a fault. Cohere returns no codes, only a status and a
// message (docs.cohere.com/reference/errors); ERROR and TIMEOUT are reasons of an
// ending.
func kindOf(f wire.Fault) fault.Kind {
	switch {
	case f.Says("total number of tokens", "size limit exceeded", "context length", "context window", "prompt is too long"):
		return fault.ContextLength
	case f.Says("blocked input", "blocked output", "content policy"):
		return fault.Refused
	case f.Says("calls / month", "calls per month", "monthly"), f.Says("billing") && f.Status != http.StatusInternalServerError:
		return fault.Quota
	case f.Is("TIMEOUT"):
		return fault.TimedOut
	case f.Status == 498: // invalid token
		return fault.Auth
	case f.Status == 499: // the request was cancelled on its way
		return fault.TimedOut
	case f.Status == http.StatusNotImplemented:
		return fault.InvalidRequest
	case f.Status >= 300:
		return "" // the status says the rest
	case f.Says("invalid api token", "unauthorized"):
		return fault.Auth
	case f.Says("rate limit", "calls / minute"):
		return fault.RateLimit
	case f.Says("invalid request", "not supported"):
		return fault.InvalidRequest
	case f.Says("timeout", "timed out"):
		return fault.TimedOut
	}
	return fault.Overloaded // the provider's own failure, reported with status 200
}
