package sim

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // the formats that all
	_ "image/jpeg" // services take
	_ "image/png"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// content is a message's content in JSON: a string, or a list of parts of some shape.
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
var functionName = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)

// refuseForeign refuses the first of the names that a body has a member of, in words with a
// gap for it: a wire says which members of the other wires it refuses.
func refuseForeign(body []byte, status int, code, words string, names ...string) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(body, &members) // anything but an object has none
	for _, name := range names {
		reject(members[name] != nil, status, code, name, words, name)
	}
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

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func parse[T any](body []byte) (r T) {
	if err := json.Unmarshal(body, &r); err != nil {
		panic(decodeFailure(err))
	}
	return r
}

// decodeFailure turns an encoding/json error into a wire's failure.
func decodeFailure(err error) *failure {
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typeErr.Field != "" {
		field := strings.ToLower(typeErr.Field[:1]) + typeErr.Field[1:]
		return invalid(field, "Invalid type for '%s': got %s.", clip.Runes(field, 80), typeErr.Value)
	}
	if errors.Is(err, errContent) {
		return invalid("messages", "Invalid content: %s.", errContent)
	}
	return invalid("", "We could not parse the JSON body of your request: %s.", clip.Runes(err.Error(), 200))
}

// outputMode is what a request demands of the form of the output.
type outputMode int

const (
	freeText outputMode = iota
	jsonText            // json_object and json_schema: JSON and nothing else
	toolCall            // the arguments of the one tool that must be called
)

// object is the text if it is a JSON object, and an empty one otherwise: what a
// wire that carries arguments as an object makes of arguments that were cut.
func object(text string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &m) != nil || m == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// describesObject reports whether a schema is one of an object.
func describesObject(schema json.RawMessage) bool {
	var m struct{ Type any }
	return json.Unmarshal(schema, &m) == nil && m.Type == "object"
}

// unclosed is the place of an object in a schema that is not closed, or, with required, has properties that
// are not required; empty if there is none. Enforced schemas must have none.
func unclosed(schema json.RawMessage, required bool) string {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return "()"
	}
	return unclosedIn("()", root, required)
}

func unclosedIn(at string, value any, required bool) (found string) {
	list, _ := value.([]any)
	for _, one := range list {
		found = cmp.Or(found, unclosedIn(at, one, required))
	}
	object, ok := value.(map[string]any)
	if !ok {
		return found
	}
	properties, _ := object["properties"].(map[string]any)
	if object["type"] == "object" && (object["additionalProperties"] != false || required && !lists(object["required"], properties)) {
		return at
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		found = cmp.Or(found, unclosedIn("("+name+")", properties[name], required))
	}
	return cmp.Or(found, unclosedIn(at, object["items"], required), unclosedIn(at, object["anyOf"], required))
}

// lists reports whether a list of required names has all properties.
func lists(required any, properties map[string]any) bool {
	names, _ := required.([]any)
	for name := range properties {
		if !slices.Contains(names, any(name)) {
			return false
		}
	}
	return true
}

// picture is an image of a request: its bytes, or where it is.
type picture struct {
	media  string // as the request says it, empty if it does not
	data   []byte
	url    string
	width  int
	height int
}

// imageTokens is what every image counts as, an estimate.
const imageTokens = 85

// pictureOf decodes an image. The bytes must be those of an image, of the kind
// that the request says if it says one.
func pictureOf(media, encoded string) (picture, bool) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return picture{}, false
	}
	return decodePicture(media, data)
}

func decodePicture(media string, data []byte) (picture, bool) {
	p := picture{media: media, data: data}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" { // no decoder for it here
		p.media = "image/webp"
		return p, media == "" || media == p.media
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return picture{}, false
	}
	p.media, p.width, p.height = "image/"+format, config.Width, config.Height
	return p, media == "" || media == p.media || media == "image/jpg" && format == "jpeg"
}

// pictureAt reads a data URL or an address on the web.
func pictureAt(url string) (picture, bool) {
	if rest, ok := strings.CutPrefix(url, "data:"); ok {
		media, encoded, ok := strings.Cut(rest, ";base64,")
		if !ok {
			return picture{}, false
		}
		return pictureOf(media, encoded)
	}
	return picture{url: url}, strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
}

func (p picture) String() string {
	switch {
	case p.url != "":
		return p.url
	case p.width == 0:
		return fmt.Sprintf("%s, %d bytes", p.media, len(p.data))
	}
	return fmt.Sprintf("%s %dx%d, %d bytes", p.media, p.width, p.height, len(p.data))
}
