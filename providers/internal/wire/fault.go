package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/providers/fault"
)

// Fault is an error as a provider reports it. Every field may be empty.
type Fault struct {
	// Status is the HTTP status, or the one named in the body of a 200.
	Status int
	// Type and Code are the provider's words for it; Message is for people.
	Type, Code, Message string
	// Detail is what the provider passes on from its upstream, unchanged. It decides the
	// class and is not quoted.
	Detail string
	// RequestID is the one named in the body.
	RequestID string
	// RetryAfter is read from the body; a header's value has priority.
	RetryAfter time.Duration
	// Permanent reports that trying again does not help, although the kind suggests it.
	Permanent bool
	// Header is that of the answer, for Dialect.Kind: some providers name the type
	// only there.
	Header http.Header
}

// Error makes a fault an error, for a Decoder to return.
func (f *Fault) Error() string { return "provider says: " + cmp.Or(f.Message, f.Code, f.Type) }

// Is reports whether the type or the code is one of words, regardless of the case.
func (f Fault) Is(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(f.Type, w) || strings.EqualFold(f.Code, w) })
}

// Says reports whether the message or the detail contains one of the lower-case phrases.
func (f Fault) Says(phrases ...string) bool {
	for _, text := range []string{strings.ToLower(f.Message), strings.ToLower(f.Detail)} {
		for _, p := range phrases {
			if strings.Contains(text, p) {
				return true
			}
		}
	}
	return false
}

// Filtered reports whether a filter of content refused the prompt or the reply, in the
// words of many providers.
func (f Fault) Filtered() bool {
	return f.Is("content_filter", "content_policy_violation", "image_content_policy_violation", "responsibleaipolicyviolation", "cyber_policy_violation",
		"moderation_blocked", "data_inspection_failed", "safety", "prohibited_content", "blocklist", "recitation", "spii", "image_safety", "refusal", "sensitive") ||
		f.Says("content filter", "content_filter", "content-filter", "content management policy", "content policy", "content_policy", "content moderation",
			"prohibited content", "prohibited_content", "safety filter", "safety system", "safety polic", "blocked for safety", "content exists risk",
			"violates usage guidelines", "flagged as potentially violating", "requires moderation")
}

// ReadFault reads the body of a failed exchange: an error object, an error
// string, the fields at top level, a "detail", a list of any of these, an event
// with any of these, a web page or plain text.
func ReadFault(body []byte) Fault {
	trimmed := bytes.TrimSpace(body)
	if startsEvents(trimmed, true) {
		_ = cutEvents(bytes.NewReader(trimmed), len(trimmed)+4<<10, func(f Frame) error {
			trimmed = []byte(f.Data)
			return errStop
		})
	}
	f, ok := readFault(trimmed, 0)
	if !ok && len(trimmed) > 0 {
		return Fault{Message: plain(trimmed)}
	}
	return f
}

// maxNesting bounds how deep an error is looked for.
const maxNesting = 4

func readFault(raw []byte, depth int) (Fault, bool) {
	if len(raw) == 0 || depth > maxNesting {
		return Fault{}, false
	}
	switch raw[0] {
	case '"':
		text := scalar(raw)
		return Fault{Message: text}, text != ""
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
			return Fault{}, false
		}
		return readFault(list[0], depth+1)
	case '{':
		return readObject(raw, depth)
	}
	return Fault{}, false
}

func readObject(raw []byte, depth int) (Fault, bool) {
	var o struct {
		Error     json.RawMessage `json:"error"`
		Errors    json.RawMessage `json:"errors"`
		Type      json.RawMessage `json:"type"`
		ErrorType json.RawMessage `json:"error_type"`
		Code      json.RawMessage `json:"code"`
		Message   json.RawMessage `json:"message"`
		Msg       json.RawMessage `json:"msg"`
		Metadata  json.RawMessage `json:"metadata"` // OpenRouter's
		Detail    json.RawMessage `json:"detail"`
		RequestID json.RawMessage `json:"request_id"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return Fault{}, false
	}
	own := Fault{Type: cmp.Or(scalar(o.Type), scalar(o.ErrorType)), Code: scalar(o.Code), Message: cmp.Or(scalar(o.Message), scalar(o.Msg)), RequestID: scalar(o.RequestID), Detail: string(o.Metadata[:min(len(o.Metadata), 4<<10)])}
	for _, inner := range []json.RawMessage{o.Error, o.Errors, o.Detail} {
		f, ok := readFault(inner, depth+1)
		if !ok {
			continue
		}
		f.Code = cmp.Or(f.Code, own.Code)
		f.Type = cmp.Or(f.Type, scalar(o.ErrorType))
		f.Message = cmp.Or(f.Message, own.Message)
		f.RequestID = cmp.Or(f.RequestID, own.RequestID)
		return f, true
	}
	return own, own.Type != "" || own.Code != "" || own.Message != ""
}

// scalar is the text of a JSON string or number, "" for anything else.
func scalar(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	case c == '-' || c >= '0' && c <= '9':
		return string(raw)
	}
	return ""
}

// plain makes one line of a body that is not JSON; of a web page, its title.
func plain(body []byte) string {
	text := string(body)
	lower := strings.ToLower(text)
	if !strings.HasPrefix(lower, "<") || len(lower) != len(text) {
		return text
	}
	if _, rest, ok := strings.Cut(lower, "<title"); ok {
		from := len(lower) - len(rest)
		if open := strings.IndexByte(rest, '>'); open >= 0 {
			if end := strings.Index(rest[open:], "</title"); end >= 0 {
				return "a web page titled " + strings.TrimSpace(text[from+open+1:from+open+end])
			}
		}
	}
	return "a web page"
}

// KindOfStatus is the class of an HTTP status without further knowledge. A
// provider's own failure counts as overloaded: the advice is to try later.
func KindOfStatus(status int) fault.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return fault.Auth
	case http.StatusPaymentRequired:
		return fault.Quota
	case http.StatusNotFound, http.StatusGone:
		return fault.NotFound
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return fault.TimedOut
	case http.StatusRequestEntityTooLarge:
		return fault.ContextLength
	case http.StatusTooManyRequests:
		return fault.RateLimit
	}
	switch {
	case status >= 500:
		return fault.Overloaded
	case status >= 300:
		return fault.InvalidRequest
	}
	return fault.Malformed
}
