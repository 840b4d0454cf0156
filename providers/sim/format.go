package sim

import (
	"encoding/json"
	"maps"
	"slices"
)

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

// open is the place of an object in a schema that is not closed, or, with
// required, has properties that are not required. Enforced schemas must have
// none; ok is false if there is one.
func open(schema json.RawMessage, required bool) (at string, ok bool) {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return "()", false
	}
	return openIn("()", root, required)
}

func openIn(at string, value any, required bool) (string, bool) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			if at, ok := openIn(at, one, required); !ok {
				return at, false
			}
		}
	case map[string]any:
		properties, _ := v["properties"].(map[string]any)
		if v["type"] == "object" && (v["additionalProperties"] != false || required && !lists(v["required"], properties)) {
			return at, false
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if at, ok := openIn("("+name+")", properties[name], required); !ok {
				return at, false
			}
		}
		for _, key := range []string{"items", "anyOf"} {
			if at, ok := openIn(at, v[key], required); !ok {
				return at, false
			}
		}
	}
	return "", true
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
