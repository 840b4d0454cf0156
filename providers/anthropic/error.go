package anthropic

import (
	"net/http"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kindOf names the class of a fault by its documented type. Two classes hide
// under invalid_request_error and show only in the message.
func kindOf(f wire.Fault) providers.Kind {
	switch {
	case f.Is("billing_error"), f.Says("credit balance is too low", "specified api usage limits", "extra usage is required"):
		return providers.Quota
	case f.Is("request_too_large"), f.Is("invalid_request_error") && f.Says("prompt is too long", "input is too long", "context limit", "context window"):
		return providers.ContextLength
	case f.Says("blocked by content filtering policy"):
		return providers.Refused
	case f.Is("authentication_error", "permission_error"):
		return providers.Auth
	case f.Is("not_found_error"):
		return providers.NotFound
	case f.Is("rate_limit_error"):
		return providers.RateLimit
	case f.Is("timeout_error"):
		return providers.TimedOut
	case f.Is("overloaded_error"):
		return providers.Overloaded
	case f.Is("invalid_request_error") && (f.Status < 300 || f.Status == http.StatusBadRequest):
		return providers.InvalidRequest
	case f.Status >= 300:
		return "" // the status says the rest
	}
	return providers.Overloaded // api_error and what is unknown, told in a 200
}
