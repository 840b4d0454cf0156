package sim

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// content is a message's content in JSON: a string, or a list of parts of some
// shape.
type content[T any] struct {
	given bool // there was one, not null
	text  *string
	parts []T
}

// UnmarshalJSON takes both forms and null.
func (c *content[T]) UnmarshalJSON(raw []byte) error {
	*c = content[T]{}
	if string(raw) == "null" {
		return nil
	}
	c.given = true
	var text string
	if json.Unmarshal(raw, &text) == nil {
		c.text = &text
		return nil
	}
	if json.Unmarshal(raw, &c.parts) != nil {
		return errContent
	}
	return nil
}

// textPart is a part that can only be text.
type textPart struct {
	Type string  `json:"type"`
	Text *string `json:"text"`
}

// plainText joins parts that must be text; ok is false if one is not.
func plainText(c content[textPart]) (text string, ok bool) {
	if c.text != nil {
		return *c.text, true
	}
	var b strings.Builder
	for _, p := range c.parts {
		if p.Type != "text" || p.Text == nil {
			return "", false
		}
		b.WriteString(*p.Text)
	}
	return b.String(), true
}

var errContent = errors.New("content must be a string or a list of content parts")

// stops is a stop sequence or a list of them.
type stops []string

// UnmarshalJSON takes both forms and null.
func (s *stops) UnmarshalJSON(raw []byte) error {
	var one *string
	if err := json.Unmarshal(raw, &one); err == nil {
		if one != nil {
			*s = stops{*one}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(s))
}

// functionName is a name that a tool may have.
var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// foreign is the first of the names that a body has a member of: a wire says
// which members of the other wires it refuses.
func foreign(body []byte, names ...string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return ""
	}
	for _, name := range names {
		if _, ok := members[name]; ok {
			return name
		}
	}
	return ""
}

// given reports whether raw holds anything but null, false or an empty list: a
// feature the simulation lacks was asked for.
func given(raw json.RawMessage) bool {
	switch strings.TrimSpace(string(raw)) {
	case "", "null", "false", "[]":
		return false
	}
	return true
}

// decodeFailure turns an encoding/json error into a wire's failure.
func decodeFailure(err error) *failure {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) && typeErr.Field != "" {
		return invalid(typeErr.Field, "Invalid type for '%s': got %s.", clip.Runes(typeErr.Field, 80), typeErr.Value)
	}
	if errors.Is(err, errContent) {
		return invalid("messages", "Invalid content: %s.", errContent)
	}
	return invalid("", "We could not parse the JSON body of your request: %s.", clip.Runes(err.Error(), 200))
}
