package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kindOf names the class of a fault where its words say more than its status:
// first by the service's own codes, then by words that many use.
// Order matters: some servers send a precise code under a general status.
func (d Dialect) kindOf(f wire.Fault) fault.Kind {
	for _, code := range []string{f.Code, f.Type} {
		if kind, ok := d.Codes[code]; ok {
			return kind
		}
	}
	switch {
	case spent(f):
		return fault.Quota
	case tooLong(f):
		return fault.ContextLength
	case f.Filtered(), f.Is("invalid_prompt"):
		return fault.Refused
	case f.Status == 429 && f.Says("overloaded", "capacity exceeded", "high traffic", "high demand"),
		f.Is("overloaded_error", "engine_overloaded", "engine_overloaded_error"):
		return fault.Overloaded
	case f.Is("rate_limit_exceeded", "rate_limit_error", "too_many_requests_error", "ratelimitreached", "rate_limit_reached_error"):
		return fault.RateLimit
	case f.Is("model_not_found", "invalid_model", "deploymentnotfound", "not_found_error", "model_not_available", "notfounderror"),
		f.Says("is not a valid model", "model not exist"):
		return fault.NotFound
	case f.Is("invalid_api_key", "authentication_error", "permission_error", "invalid_authentication_error"):
		return fault.Auth
	case f.Status >= 300:
		return "" // the status says the rest
	case f.Is("invalid_request_error", "badrequesterror"):
		return fault.InvalidRequest
	}
	// An error with status 200 and without a known code: mostly a server_error.
	return fault.Overloaded
}

// fault is the error of a choice, nil if it has none: an error object, or the finish
// reason error. The upstream's word for it decides its class.
func (c *choice) fault() *wire.Fault {
	var native string
	if words := texts(c.Native); words != nil {
		native = words[0]
	}
	switch {
	case wire.Given(c.Error):
		f := wire.ReadFault(c.Error)
		f.Type = cmp.Or(f.Type, native)
		return &f
	case c.FinishReason == "error" && !slices.Contains(modelsOwn, strings.ToUpper(native)):
		return &wire.Fault{Code: cmp.Or(native, c.FinishReason), Message: "the provider ended the reply with an error that it does not explain"}
	}
	return nil
}

// modelsOwn are Gemini's words for replies that the model itself got wrong, which
// OpenRouter calls errors.
var modelsOwn = []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"}

// spent reports whether money or an allowance is used up, or a request is larger
// than its limit: waiting a moment does not help. Each vendor has its own words.
func spent(f wire.Fault) bool {
	return f.Is("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "insufficient_credits", "quota_exceeded") ||
		f.Says("insufficient balance", "insufficient credits", "insufficient_quota", "exceeded your current quota", "any credits", "available credits",
			"spending limit", "credit balance is too low", "monthly included credits", "credit limit exceeded", // xAI, Anthropic, Hugging Face, Together
			"calls / month", "per-day", "per day limit exceeded", "daily limit", "limit: 0,", // Cohere, OpenRouter, Cerebras, Google
		) || (f.Status == 429 || f.Status == 413) && f.Says("request too large for") // OpenAI, Groq: over the limit by itself
}

// tooLong reports whether the prompt does not fit, in the words of OpenAI, Mistral,
// DeepSeek, xAI, Text Generation Inference, Cohere, llama.cpp, vLLM, Ollama,
// Google, Anthropic, Bedrock, Databricks, Fireworks, Cerebras and Moonshot.
func tooLong(f wire.Fault) bool {
	return f.Is("context_length_exceeded", "context_window_exceeded", "exceed_context_size_error", "string_above_max_length", "request_too_large") ||
		f.Status != 429 && f.Says(
			"maximum context length", "context window", "context length", "maximum prompt length", "context size",
			"`inputs` must have less than", "`max_new_tokens` must be <=", "too many tokens", "longer than the maximum model length",
			"input token count", "prompt is too long", "input is too long", "input is too large", "exceeds the maximum allowed input length",
			"reduce the length of the messages", "exceeded model token limit", "maximum number of tokens allowed", "exceeds max length",
		)
}
