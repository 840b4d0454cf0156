package responses

import (
	"strings"

	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kindOf names the class of a fault where its words say more than its status.
// Order matters: some servers send a precise code under a general status. The
// codes are those of the OpenAI guide "Error codes" and of the error object of a
// response; some come in the body of a 200 only.
func kindOf(f wire.Fault) fault.Kind {
	switch {
	case f.Is("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "insufficient_credits"),
		f.Says("insufficient balance", "insufficient credits", "exceeded your current quota"),
		f.Status == 429 && f.Says("request too large", "per day"): // no better in a minute
		return fault.Quota
	case f.Is("context_length_exceeded", "context_window_exceeded", "exceed_context_size_error"),
		f.Status < 429 && f.Says("maximum context length", "context window", "context length", "exceeds the available context size", "maximum prompt length"):
		return fault.ContextLength
	case f.Filtered(), f.Is("invalid_prompt") && f.Says("usage policy", "usage policies", "safety"):
		return fault.Refused
	case f.Status == 429 && f.Says("overloaded"), f.Is("overloaded_error", "engine_overloaded", "engine_overloaded_error", "server_overloaded", "slow_down"):
		return fault.Overloaded
	case f.Is("rate_limit_exceeded", "rate_limit_error", "too_many_requests", "too_many_requests_error", "ratelimitreached"):
		return fault.RateLimit
	case f.Is("model_not_found", "invalid_model", "deploymentnotfound", "not_found_error"),
		f.Status < 429 && f.Says("is not a valid model", "model not found"):
		return fault.NotFound
	case f.Is("invalid_api_key", "authentication_error", "permission_error"):
		return fault.Auth
	case f.Status >= 300:
		return "" // the status says the rest
	case strings.HasPrefix(f.Code, "invalid_"), strings.HasPrefix(f.Type, "invalid_"), strings.Contains(f.Code, "image"):
		return fault.InvalidRequest
	}
	// An error with status 200, such as server_error, without a more precise code.
	return fault.Overloaded
}
