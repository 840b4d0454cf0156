package tgi

import (
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kindOf names the class of a fault by its error_type, which the server sends beside
// a message, also as an event of a stream whose status was 200. Its status for an
// overload is 429, for its own failure 424.
func kindOf(f wire.Fault) fault.Kind {
	switch {
	case f.Says("`inputs` must have less than", "`inputs` tokens + `max_new_tokens`", "inputs tokens + max_new_tokens", "maximum context length"):
		return fault.ContextLength
	case f.Is("overloaded"), f.Says("model is overloaded", "is currently loading"):
		return fault.Overloaded
	case f.Says("included credits", "exceeded your monthly"):
		return fault.Quota
	case f.Is("validation", "template_error", "missing_template_variable", "tool_error"):
		return fault.InvalidRequest
	case f.Is("generation", "incomplete_generation", "incomplete_generation_stream", "unhealthy"), f.Status == 424:
		return fault.Overloaded
	case f.Says("token seems invalid"):
		return fault.Auth
	case f.Status >= 300:
		return "" // the status says the rest
	case f.Says("rate limit"):
		return fault.RateLimit
	case f.Says("validation error"):
		return fault.InvalidRequest
	case f.Says("timed out", "timeout"):
		return fault.TimedOut
	}
	return fault.Overloaded // the server failed, reported with status 200
}
