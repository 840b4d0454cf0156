package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// status is the error model of Google's APIs (cloud.google.com/apis/design/errors).
type status struct {
	Error struct {
		Status  json.RawMessage `json:"status"`
		Details json.RawMessage `json:"details"`
	} `json:"error"`
}

// detail is one of the messages of google.rpc.error_details.
type detail struct {
	Type       string `json:"@type"`
	RetryDelay string `json:"retryDelay"`
	Reason     string `json:"reason"`
	Metadata   struct {
		Limit string `json:"quota_limit"`
	} `json:"metadata"`
	Violations []struct {
		ID    string          `json:"quotaId"`
		Value json.RawMessage `json:"quotaValue"`
	} `json:"violations"`
}

// Words of our own for quotas that waiting does not help with.
const (
	dailyQuota = "DAILY_QUOTA"
	zeroQuota  = "ZERO_QUOTA"
)

// readFault reads an error: alone, in a list of one, or as an event. Its type is
// the most precise word in the error.
func readFault(body []byte) wire.Fault {
	if data, ok := bytes.CutPrefix(bytes.TrimSpace(body), []byte("data:")); ok {
		body = data
	}
	f := wire.ReadFault(body)
	s := readStatus(body)
	f.Type = cmp.Or(f.Type, word(s.Error.Status))
	var details []detail
	_ = wire.Unmarshal(s.Error.Details, &details) // what decodes of it
	for _, d := range details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			f.RetryAfter = wait
		}
		// Without a code, only the status determines the class.
		if precise := d.word(); precise != "" && f.Code != "" && f.Type != dailyQuota && f.Type != zeroQuota {
			f.Type = precise
		}
	}
	return f
}

// readStatus looks into a list, too.
func readStatus(body []byte) (s status) {
	if wire.Unmarshal(body, &s) != nil {
		var list []status
		if wire.Unmarshal(body, &list) == nil && len(list) > 0 {
			s = list[0]
		}
	}
	return s
}

// word is what a detail says of the cause.
func (d detail) word() string {
	for _, v := range d.Violations {
		switch {
		case word(v.Value) == "0":
			return zeroQuota
		case daily(v.ID):
			return dailyQuota
		}
	}
	if daily(d.Metadata.Limit) {
		return dailyQuota
	}
	return d.Reason
}

// daily matches the names of quotas for a day, such as
// GenerateRequestsPerDayPerProjectPerModel-FreeTier.
func daily(quota string) bool {
	return strings.Contains(strings.ReplaceAll(strings.ToLower(quota), "_", ""), "perday")
}

// kindOf names the class of a fault where its words say more than its status.
// See "Troubleshooting guide" (ai.google.dev/gemini-api/docs/troubleshooting).
func kindOf(f wire.Fault) fault.Kind {
	switch {
	case f.Is("API_KEY_INVALID"), f.Says("api key not valid", "api key expired", "api key not found"):
		return fault.Auth
	case f.Is(dailyQuota, zeroQuota, "BILLING_DISABLED"), f.Says("per day", "prepayment credits", "spending cap"):
		return fault.Quota
	case f.Says("input token count", "exceeds the maximum number of tokens", "request payload size exceeds"):
		return fault.ContextLength
	case f.Says("responsible ai practices"):
		return fault.Refused
	case f.Status == 499: // cancelled, though not by us
		return fault.Overloaded
	case f.Status >= 300:
		return "" // the status says the rest
	}
	return kindOfStatus(f)
}

// kindOfStatus serves errors without a code, reported with status 200.
func kindOfStatus(f wire.Fault) fault.Kind {
	switch {
	case f.Is("INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"):
		return fault.InvalidRequest
	case f.Is("UNAUTHENTICATED", "PERMISSION_DENIED"):
		return fault.Auth
	case f.Is("NOT_FOUND"):
		return fault.NotFound
	case f.Is("RESOURCE_EXHAUSTED"):
		return fault.RateLimit
	case f.Is("DEADLINE_EXCEEDED"):
		return fault.TimedOut
	}
	return fault.Overloaded
}

// word is the text of a JSON string or the digits of a number, because enums are either. It is ""
// for other values.
func word(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	if raw[0] == '"' {
		var s string
		_ = wire.Unmarshal(raw, &s) // "" then
		return s
	}
	if _, err := strconv.ParseFloat(string(raw), 64); err != nil {
		return ""
	}
	return string(raw)
}
