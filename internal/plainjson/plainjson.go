// Package plainjson writes JSON as services and people write it: on one line, and without
// the escapes that encoding/json adds for HTML.
package plainjson

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal without escapes for HTML.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// Text is Marshal of a value that always has JSON, such as a text or what was JSON before.
// It returns "null" for another.
func Text(v any) string {
	text, err := Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}
