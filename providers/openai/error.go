package openai

import (
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kindOf names the class of a fault where its words say more than its status.
// Order matters: some servers send a precise code under a general status.
func kindOf(f wire.Fault) providers.Kind {
	switch {
	case f.Is("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "insufficient_credits"),
		f.Says("insufficient balance", "insufficient credits", "exceeded your current quota"):
		return providers.Quota
	case f.Is("context_length_exceeded", "context_window_exceeded"),
		f.Status < 429 && f.Says("maximum context length", "context window", "context length"):
		return providers.ContextLength
	case f.Is("content_filter", "content_policy_violation", "responsibleaipolicyviolation"):
		return providers.Refused
	case f.Status == 429 && f.Says("overloaded"), f.Is("overloaded_error", "engine_overloaded", "engine_overloaded_error"):
		return providers.Overloaded
	case f.Is("rate_limit_exceeded", "rate_limit_error", "too_many_requests_error", "ratelimitreached"):
		return providers.RateLimit
	case f.Is("model_not_found", "invalid_model", "deploymentnotfound", "not_found_error"), f.Says("is not a valid model"):
		return providers.NotFound
	case f.Is("invalid_api_key", "authentication_error", "permission_error"):
		return providers.Auth
	case f.Status >= 300:
		return "" // the status says the rest
	case f.Is("invalid_request_error"):
		return providers.InvalidRequest
	case f.Is("server_error", "api_error", "internal_error", "internal_server_error"):
		return providers.Overloaded
	}
	// An error told in a 200 without a word that is known.
	return providers.Overloaded
}
