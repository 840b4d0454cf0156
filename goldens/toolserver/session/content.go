package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"

	"github.com/cupel-eval/cupel/internal/plainjson"
)

// describe replaces the bytes of images, sounds and binary resources in the content of a
// result by their length and digest: models get texts, and a cassette stays readable. Content
// without any is returned as the server wrote it.
func describe(content json.RawMessage) (json.RawMessage, error) {
	var parts []map[string]json.RawMessage
	if err := json.Unmarshal(content, &parts); err != nil {
		return nil, err
	}
	changed := false
	for _, part := range parts {
		changed = strip(part, "data") || changed
		var resource map[string]json.RawMessage
		if part["resource"] == nil || json.Unmarshal(part["resource"], &resource) != nil || !strip(resource, "blob") {
			continue
		}
		text, err := plainjson.Marshal(resource)
		if err != nil {
			return nil, err
		}
		part["resource"], changed = text, true
	}
	if !changed {
		return content, nil
	}
	return plainjson.Marshal(parts)
}

// strip replaces a field of base64.
func strip(part map[string]json.RawMessage, field string) bool {
	var text string
	if part[field] == nil || json.Unmarshal(part[field], &text) != nil {
		return false
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		data = []byte(text)
	}
	sum := sha256.Sum256(data)
	delete(part, field)
	part["bytes"], _ = json.Marshal(len(data))
	part["sha256"], _ = json.Marshal(hex.EncodeToString(sum[:]))
	return true
}
