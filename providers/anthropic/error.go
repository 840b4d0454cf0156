package anthropic

import (
	"net/http"

	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kindOf names the class of a fault by its documented type. Two classes hide
// under invalid_request_error and show only in the message.
func kindOf(f wire.Fault) fault.Kind {
	switch {
	case f.Is("billing_error"), f.Says("credit balance is too low", "specified api usage limits", "extra usage is required"):
		return fault.Quota
	case f.Is("request_too_large"), f.Is("invalid_request_error") && f.Says("prompt is too long", "input is too long", "context limit", "context window"):
		return fault.ContextLength
	case f.Says("blocked by content filtering policy"):
		return fault.Refused
	case f.Is("authentication_error", "permission_error"):
		return fault.Auth
	case f.Is("not_found_error"):
		return fault.NotFound
	case f.Is("rate_limit_error"):
		return fault.RateLimit
	case f.Is("timeout_error"):
		return fault.TimedOut
	case f.Is("overloaded_error"):
		return fault.Overloaded
	case f.Is("invalid_request_error") && (f.Status < 300 || f.Status == http.StatusBadRequest):
		return fault.InvalidRequest
	case f.Status >= 300:
		return "" // the status says the rest
	}
	return fault.Overloaded // api_error and what is unknown, reported with status 200
}
