package gateway

import (
	"encoding/json"
	"net/http"
)

// Failure is the reply to a request that is refused with a status, in the form that its API
// gives errors, so that an SDK shows message. A wire that is not known has the form of
// OpenAI's. x-should-retry tells SDKs not to repeat it, unless the provider could not be
// reached (5xx): they then do as they would without cupel.
func Failure(wire string, status int, message string) (http.Header, []byte) {
	h := http.Header{"Content-Type": {"application/json"}}
	kind := map[int]string{
		http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large", http.StatusForbidden: "permission_error",
	}[status]
	switch {
	case status >= http.StatusInternalServerError:
		kind = "api_error"
	case kind == "":
		kind = "invalid_request_error"
	}
	if status < http.StatusInternalServerError {
		h.Set("X-Should-Retry", "false")
	}
	type fields map[string]any
	var body fields
	switch wire {
	case "anthropic-messages":
		body = fields{"type": "error", "error": fields{"type": kind, "message": message}}
	case "gemini":
		body = fields{"error": fields{"code": status, "message": message, "status": map[bool]string{true: "NOT_FOUND", false: "INVALID_ARGUMENT"}[status == http.StatusNotFound]}}
	case "bedrock-converse":
		h.Set("X-Amzn-Errortype", "ValidationException")
		body = fields{"message": message}
	case "ollama-chat":
		body = fields{"error": message}
	case "cohere-chat":
		body = fields{"message": message}
	case "tgi-generate":
		body = fields{"error": message, "error_type": "validation"}
	default:
		body = fields{"error": fields{"message": message, "type": kind, "param": nil, "code": "cupel"}}
	}
	text, _ := json.Marshal(body) // of strings and numbers, this cannot fail
	return h, text
}
