package sim

import (
	"net/http"
	"slices"
	"time"
)

// wireError is an error in a form that every wire can express.
type wireError struct {
	status int
	kind   string // of fault.Kind; it selects the vendor's code
	text   string
	detail any // of Google, besides
}

// kinds makes the list of classes that a Chaos has; "" means no class.
func kinds(k ...string) []string {
	return slices.DeleteFunc(k, func(kind string) bool { return kind == "" })
}

// refusal is a Chaos that answers with an error before any model is asked.
func refusal(name, does, kind string, wait time.Duration, act func(*fault)) Chaos {
	return Chaos{Name: name, Does: does, Whole: kinds(kind), Stream: kinds(kind), Wait: wait, act: act}
}

// refusals are the failures that come with their own status.
func refusals() []Chaos {
	limited := wireError{status: 429, kind: "rate_limit", text: "Rate limit reached, please slow down."}
	with := func(t wireError, header ...string) func(*fault) {
		return func(m *fault) {
			for i := 0; i+1 < len(header); i += 2 {
				m.w.Header().Set(header[i], header[i+1])
			}
			m.refuse(t)
		}
	}
	text := func(status int, media, body string) func(*fault) {
		return func(m *fault) { m.sendError(status, media, []byte(body)) }
	}
	return []Chaos{
		refusal("rate-limit", "429, Retry-After in seconds", "rate_limit", 2*time.Second, with(limited, "Retry-After", "2")),
		refusal("rate-limit-date", "429, Retry-After as a date, seven seconds after Date", "rate_limit", 7*time.Second,
			with(limited, "Date", "Sun, 01 Nov 2026 00:00:00 GMT", "Retry-After", "Sun, 01 Nov 2026 00:00:07 GMT")),
		refusal("rate-limit-ms", "429, Retry-After-Ms", "rate_limit", 1500*time.Millisecond, with(limited, "Retry-After-Ms", "1500")),
		refusal("rate-limit-vendor", "429 as the vendor tells it: x-ratelimit- or anthropic-ratelimit- headers, Google's RetryInfo, a ThrottlingException", "rate_limit", 0,
			func(m *fault) { m.limit(limited) }),
		refusal("rate-limit-empty", "429 without a body", "rate_limit", 0, text(429, "text/plain", "")),
		refusal("quota", "the vendor's words for a spent quota or an empty account, as 429 where it does so: waiting does not help", "quota", 0,
			func(m *fault) { m.refuse(spent(m.vendor)) }),
		refusal("unauthorized", "401", "auth", 0, with(wireError{401, "auth", "The key is not valid.", nil})),
		refusal("forbidden", "403", "auth", 0, with(wireError{403, "auth", "The key has no access to this resource.", nil})),
		refusal("not-found", "404", "not_found", 0, with(wireError{404, "not_found", "The model does not exist.", nil})),
		refusal("bad-request", "400", "invalid_request", 0, with(wireError{400, "invalid_request", "A field of the request is not valid.", nil})),
		refusal("context-length", "the vendor's words for a prompt that is too long", "context_length", 0,
			func(m *fault) {
				t := wireError{400, "context_length", tooLongTexts[m.vendor], nil}
				if m.vendor == tgi.name {
					t.status = 422
				}
				m.refuse(t)
			}),
		refusal("refused", "400, the vendor's words for a prompt or an answer that its filter blocked", "refused", 0,
			func(m *fault) { m.refuse(wireError{400, "refused", "Output blocked by content filtering policy", nil}) }),
		refusal("request-timeout", "408", "timeout", 0, with(wireError{408, "timeout", "The request took too long to arrive.", nil})),
		refusal("server-error", "500, JSON", "overloaded", 0, with(wireError{500, "overloaded", "The server had an error.", nil})),
		refusal("bad-gateway", "502, a web page", "overloaded", 0,
			text(502, "text/html", "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center></body>\r\n</html>\r\n")),
		refusal("unavailable", "503, plain text", "overloaded", 0, text(503, "text/plain", "upstream connect error or disconnect/reset before headers")),
		refusal("gateway-timeout", "504, a web page", "timeout", 0, text(504, "text/html", "<html><head><title>504 Gateway Time-out</title></head></html>")),
		refusal("overloaded", "529, the vendor's words for overloaded", "overloaded", 0, with(wireError{529, "overloaded", "Overloaded", nil})),
	}
}

// spent is how a vendor says that the quota is used up.
func spent(vendor string) wireError {
	t := wireError{status: 402, kind: "quota", text: "You have exceeded your current quota, please check your plan and billing details."}
	switch vendor {
	case "openai", "openai-responses":
		t.status = 429
	case "anthropic":
		t.status, t.text = 400, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."
	case "gemini":
		t.status = 429
		t.detail = []any{obj{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []obj{{
			"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
			"quotaId":     "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "50",
		}}}}
	case "bedrock":
		t.status, t.text = 400, "You have exceeded the service quota of your account."
	case "cohere":
		t.status = 429
		t.text = "You are using a Trial key, which is limited to 1000 API calls / month. You can continue to use the Trial key for free or upgrade to a Production key."
	}
	return t
}

// tooLongTexts are how vendors say that the prompt is too long.
var tooLongTexts = map[string]string{
	"anthropic":        "prompt is too long: 200001 tokens > 200000 maximum",
	"gemini":           "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
	"bedrock":          "Input is too long for requested model.",
	"ollama":           "the input length exceeds the context length",
	"cohere":           "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs. The limit for this model is 128000 tokens.",
	"tgi":              "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`",
	"openai-responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
	"openai":           "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
}

// limit refuses with a vendor's own way to say when to come back.
func (m *fault) limit(t wireError) {
	h := m.w.Header()
	switch m.vendor {
	case "openai", "openai-responses":
		for name, value := range map[string]string{"Limit-Requests": "60", "Limit-Tokens": "150000", "Remaining-Requests": "0", "Remaining-Tokens": "149984", "Reset-Requests": "1s", "Reset-Tokens": "6m0s"} {
			h.Set("X-Ratelimit-"+name, value)
		}
	case "anthropic":
		h.Set("Retry-After", "5")
		for name, value := range map[string]string{"Requests-Limit": "50", "Requests-Remaining": "0", "Requests-Reset": "2026-11-01T00:00:05Z", "Tokens-Limit": "40000", "Tokens-Remaining": "40000", "Tokens-Reset": "2026-11-01T00:00:00Z"} {
			h.Set("Anthropic-Ratelimit-"+name, value)
		}
	case "gemini":
		t.detail = []any{obj{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}}
	}
	m.refuse(t)
}

// refuse answers with an error in the vendor's form.
func (m *fault) refuse(t wireError) {
	if m.vendor == "bedrock" {
		name := vendorWords["bedrock"][t.kind]
		if t.status == http.StatusInternalServerError {
			name = "InternalServerException"
		}
		m.w.Header().Set("X-Amzn-Errortype", name)
	}
	m.sendError(t.status, "application/json", m.errorBody(t))
}

func (m *fault) sendError(status int, media string, body []byte) {
	h := m.w.Header()
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Amzn-Requestid"} {
		h.Set(name, "req_simchaos")
	}
	h.Set("Content-Type", media)
	m.w.WriteHeader(status)
	_, _ = m.w.Write(body)
}

// vendorWords are the types or codes of vendors for a kind of failure.
var vendorWords = map[string]map[string]string{
	"openai": {
		"rate_limit": "rate_limit_exceeded", "quota": "insufficient_quota", "auth": "invalid_api_key", "not_found": "model_not_found",
		"context_length": "context_length_exceeded", "refused": "content_policy_violation", "overloaded": "server_error",
	},
	"anthropic": {
		"rate_limit": "rate_limit_error", "auth": "authentication_error", "not_found": "not_found_error",
		"overloaded": "overloaded_error", "timeout": "timeout_error",
	},
	"gemini": {
		"rate_limit": "RESOURCE_EXHAUSTED", "quota": "RESOURCE_EXHAUSTED", "auth": "PERMISSION_DENIED", "not_found": "NOT_FOUND",
		"overloaded": "UNAVAILABLE", "timeout": "DEADLINE_EXCEEDED",
	},
	"bedrock": {
		"rate_limit": "ThrottlingException", "quota": "ServiceQuotaExceededException", "auth": "AccessDeniedException", "not_found": "ResourceNotFoundException",
		"overloaded": "ServiceUnavailableException", "timeout": "ModelTimeoutException", "context_length": "ValidationException", "invalid_request": "ValidationException", "refused": "ValidationException",
	},
	"tgi": {"overloaded": "overloaded", "context_length": "validation", "invalid_request": "validation"},
}

// errorBody is the body of an error as the wire puts it.
func (m *fault) errorBody(t wireError) []byte {
	vendor := m.wire.name
	if vendor == responses.name {
		vendor = openAI.name
	}
	word := vendorWords[vendor][t.kind]
	f := &failure{status: t.status, kind: word, message: t.text, detail: t.detail}
	switch {
	case vendor == openAI.name:
		f.code = word
		if t.kind != "overloaded" && t.kind != "rate_limit" && t.kind != "quota" {
			f.kind = "invalid_request_error"
		}
	case vendor == tgi.name && word == "": // the proxy wrote the error
		return encodeJSON(obj{"error": t.text})
	}
	return encodeJSON(m.wire.fail(f, "req_simchaos"))
}
