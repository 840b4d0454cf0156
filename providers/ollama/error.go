package ollama

import (
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kindOf names the class of a fault. The server returns no codes: {"error": text},
// also as a line in the middle of a stream whose status was 200 (docs.ollama.com/api/errors).
func kindOf(f wire.Fault) fault.Kind {
	switch {
	case f.Says("context length", "context size", "context window"):
		return fault.ContextLength
	case f.Says("weekly usage limit", "monthly usage limit", "requires a subscription"):
		return fault.Quota
	case f.Says("usage limit", "too many concurrent requests"):
		return fault.RateLimit
	case f.Status >= 300:
		return "" // the status says the rest
	case f.Says("unauthorized", "forbidden"):
		return fault.Auth
	case f.Says("not found"):
		return fault.NotFound
	case f.Says("does not support", "invalid"):
		return fault.InvalidRequest
	case f.Says("timed out", "timeout"):
		return fault.TimedOut
	}
	return fault.Overloaded // the runner failed, reported with status 200
}
