package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	json1 "github.com/go-json-experiment/json/v1"
)

// lenient reads as encoding/json does, in less than half the time. Version 2 alone
// would take stop_reason for stopReason.
var lenient = json2.JoinOptions(
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
	json2.MatchCaseInsensitiveNames(true), json1.MatchCaseSensitiveDelimiter(true),
)

// Unmarshal reads JSON of a server as encoding/json does, its errors included: of
// a name that comes twice the last counts, text that is not UTF-8 comes with U+FFFD
// in its place, and a value of the wrong type leaves the others.
func Unmarshal(text []byte, v any) error {
	if json2.Unmarshal(text, v, lenient) == nil {
		return nil
	}
	return json.Unmarshal(text, v)
}

// Unquote is the text of a JSON string, such as a part of what Unmarshal has read.
func Unquote(raw []byte) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) && len(raw) > 1 && raw[0] == '"' && raw[len(raw)-1] == '"' {
		return string(raw[1 : len(raw)-1]), nil
	}
	if text, err := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw); err == nil {
		return string(text), nil
	}
	var s string // a broken character represents one
	err := json.Unmarshal(raw, &s)
	return s, err
}
