// Package plainjson writes JSON as services and people write it: on one line, and without
// the escapes that encoding/json adds for HTML. It also merges JSON.
package plainjson

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Marshal is json.Marshal without escapes for HTML.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// Merge lays a patch over a value as RFC 7396 says: null takes a member away. Both are as
// encoding/json decodes them, and stay as they are.
func Merge(base, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := map[string]any{}
	if members, ok := base.(map[string]any); ok {
		maps.Copy(out, members)
	}
	for name, v := range changes {
		if v == nil {
			delete(out, name)
		} else {
			out[name] = Merge(out[name], v)
		}
	}
	return out
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
