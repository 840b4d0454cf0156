package sim

import (
	"encoding/json"
	"errors"
	"strings"
)

// content is a message's text: a string, or a list of text blocks, in JSON.
type content string

// UnmarshalJSON takes both forms and refuses blocks that are not text.
func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		*c = content(text)
		return nil
	}
	var blocks []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return errContent
	}
	var b strings.Builder
	for _, block := range blocks {
		if block.Type != "text" || block.Text == nil {
			return errContent
		}
		b.WriteString(*block.Text)
	}
	*c = content(b.String())
	return nil
}

var errContent = errors.New("content must be a string or a list of text blocks")

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
		return invalid(typeErr.Field, "Invalid type for '%s': got %s.", clip(typeErr.Field, 80), typeErr.Value)
	}
	if errors.Is(err, errContent) {
		return invalid("messages", "Invalid content: %s.", errContent)
	}
	return invalid("", "We could not parse the JSON body of your request: %s.", clip(err.Error(), 200))
}
