package bedrock

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// kinds are the classes of the documented exceptions, in lower case and without
// "Exception" at the end (Bedrock User Guide, "Troubleshooting Amazon Bedrock API
// Error Codes"; API Reference, "Converse" and "ConverseStreamOutput").
var kinds = map[string]fault.Kind{
	"accessdenied": fault.Auth, "unrecognizedclient": fault.Auth, "invalidsignature": fault.Auth,
	"signaturedoesnotmatch": fault.Auth, "incompletesignature": fault.Auth, "missingauthenticationtoken": fault.Auth,
	"invalidclienttokenid": fault.Auth, "expiredtoken": fault.Auth, "requestexpired": fault.Auth,
	"notauthorized": fault.Auth, "optinrequired": fault.Auth,
	"throttling": fault.RateLimit, "toomanyrequests": fault.RateLimit,
	"servicequotaexceeded": fault.Quota,
	"resourcenotfound":     fault.NotFound,
	"modeltimeout":         fault.TimedOut,
	"modelnotready":        fault.Overloaded, // 429: it is being started
	"modelerror":           fault.Overloaded, // 424
	"modelstreamerror":     fault.Overloaded, // 424: "retry your request"
	"internalserver":       fault.Overloaded, "internalfailure": fault.Overloaded, "serviceunavailable": fault.Overloaded,
	"validation": fault.InvalidRequest, "validationerror": fault.InvalidRequest,
}

// kindOf names the class of a fault. Its type is in a header of the answer,
// or in that of a streamed exception; what a ValidationException is about shows
// only in the message.
func kindOf(f wire.Fault) fault.Kind {
	kind, known := kinds[typeOf(f)]
	vague := !known || kind == fault.InvalidRequest
	switch {
	case f.Says("invalid_payment_instrument"):
		return fault.Quota
	case (kind == fault.RateLimit || !known && f.Status == http.StatusTooManyRequests) && f.Says("per day", "daily"):
		return fault.Quota
	case vague && f.Says("input is too long", "prompt is too long", "too many input tokens",
		"maximum context length", "context limit", "context window", "exceeds the maximum number of tokens", "exceed the model's maximum"):
		return fault.ContextLength
	case vague && f.Says("model identifier is invalid"):
		return fault.NotFound
	case f.Says("blocked by content filtering policy"):
		return fault.Refused
	case known:
		return kind
	case f.Status == http.StatusFailedDependency:
		return fault.Overloaded // ModelErrorException
	case f.Status >= 300:
		return "" // the status says the rest
	}
	return fault.Overloaded // unknown, reported with status 200
}

// typeOf is the type of a fault, comparable: the services write
// "ValidationException", "validationException" and
// "com.amazon#ValidationException:http://…" (Smithy, "AWS restJson1 protocol",
// operation error serialization).
func typeOf(f wire.Fault) string {
	word, _, _ := strings.Cut(cmp.Or(f.Header.Get("X-Amzn-Errortype"), f.Type, f.Code), ":")
	word = strings.ToLower(word[strings.LastIndexByte(word, '#')+1:])
	return strings.TrimSuffix(word, "exception")
}
