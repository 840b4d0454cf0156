package bedrock

import (
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kinds are the classes of the documented exceptions, in lower case and without
// "Exception" at the end (Bedrock User Guide, "Troubleshooting Amazon Bedrock API
// Error Codes"; API Reference, "Converse" and "ConverseStreamOutput").
var kinds = map[string]providers.Kind{
	"accessdenied": providers.Auth, "unrecognizedclient": providers.Auth, "invalidsignature": providers.Auth,
	"signaturedoesnotmatch": providers.Auth, "incompletesignature": providers.Auth, "missingauthenticationtoken": providers.Auth,
	"invalidclienttokenid": providers.Auth, "expiredtoken": providers.Auth, "requestexpired": providers.Auth,
	"notauthorized": providers.Auth, "optinrequired": providers.Auth,
	"throttling": providers.RateLimit, "toomanyrequests": providers.RateLimit,
	"servicequotaexceeded": providers.Quota,
	"resourcenotfound":     providers.NotFound,
	"modeltimeout":         providers.TimedOut,
	"modelnotready":        providers.Overloaded, // 429: it is being started
	"modelerror":           providers.Overloaded, // 424
	"modelstreamerror":     providers.Overloaded, // 424: "retry your request"
	"internalserver":       providers.Overloaded, "internalfailure": providers.Overloaded, "serviceunavailable": providers.Overloaded,
	"validation": providers.InvalidRequest, "validationerror": providers.InvalidRequest,
}

// kindOf names the class of a fault. Its type stands in a header of the answer,
// or in that of a streamed exception; what a ValidationException is about shows
// only in the message.
func kindOf(f wire.Fault) providers.Kind {
	kind, known := kinds[typeOf(f)]
	vague := !known || kind == providers.InvalidRequest
	switch {
	case f.Says("invalid_payment_instrument"):
		return providers.Quota
	case (kind == providers.RateLimit || !known && f.Status == http.StatusTooManyRequests) && f.Says("per day", "daily"):
		return providers.Quota
	case vague && f.Says("input is too long", "prompt is too long", "too many input tokens",
		"maximum context length", "context limit", "context window", "exceeds the maximum number of tokens", "exceed the model's maximum"):
		return providers.ContextLength
	case vague && f.Says("model identifier is invalid"):
		return providers.NotFound
	case f.Says("blocked by content filtering policy"):
		return providers.Refused
	case known:
		return kind
	case f.Status == http.StatusFailedDependency:
		return providers.Overloaded // ModelErrorException
	case f.Status >= 300:
		return "" // the status says the rest
	}
	return providers.Overloaded // unknown, told in a 200
}

// typeOf is the type of a fault, comparable: the services write
// "ValidationException", "validationException" and
// "com.amazon#ValidationException:http://…" (Smithy, "AWS restJson1 protocol",
// operation error serialization).
func typeOf(f wire.Fault) string {
	word := f.Header.Get("X-Amzn-Errortype")
	for _, other := range []string{f.Type, f.Code} {
		if word == "" {
			word = other
		}
	}
	word, _, _ = strings.Cut(word, ":")
	word = strings.ToLower(word[strings.LastIndexByte(word, '#')+1:])
	return strings.TrimSuffix(word, "exception")
}
