package gemini

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

var modes = []providers.Mode{providers.JSONObject, providers.JSONSchema, providers.ForcedTool}

type tool struct {
	Functions []function `json:"functionDeclarations"`
}

// function takes JSON Schema in its own field: see FunctionDeclaration
// (ai.google.dev/api/caching).
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type toolConfig struct {
	Calling callingConfig `json:"functionCallingConfig"`
}

type callingConfig struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames,omitempty"`
}

// enforced is the subset of JSON Schema that responseJsonSchema lists as
// supported (GenerationConfig, ai.google.dev/api/generate-content).
var enforced = wire.Subset{
	Keywords: []string{
		"$schema", "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems",
		"minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
	},
	Open: true,
}

// offer puts the tools into the request and says what of them is not enforced.
func (r *request) offer(call providers.Call) []string {
	functions := make([]function, 0, len(call.Tools))
	var warnings []string
	for _, t := range call.Tools {
		functions = append(functions, function{Name: t.Name, Description: t.Description, Schema: t.Schema})
		if len(t.Schema) > 0 {
			warnings = append(warnings, loose("tool "+t.Name, t.Schema)...)
		}
	}
	if len(functions) > 0 {
		r.Tools = []tool{{functions}}
	}
	switch call.Choice.Kind {
	case providers.ChoiceNone:
		r.choose("NONE")
	case providers.ChoiceAny:
		r.choose("ANY")
	case providers.ChoiceNamed:
		r.choose("ANY", call.Choice.Name)
	}
	if f := call.Format; wire.ForcedTool(call) != "" {
		r.Tools = []tool{{[]function{{Name: f.Name, Schema: f.Schema}}}}
		r.choose("ANY", f.Name)
		warnings = append(warnings, loose(string(f.Mode), f.Schema)...)
	}
	return warnings
}

func (r *request) choose(mode string, allowed ...string) {
	if len(r.Tools) > 0 || mode != "NONE" { // no tools need no ban
		r.Choice = &toolConfig{callingConfig{mode, allowed}}
	}
}

// ask puts a format into the settings and says what of it may be refused.
func (c *config) ask(call providers.Call) []string {
	f := call.Format
	if f == nil || f.Mode == providers.ForcedTool {
		return nil
	}
	c.MIME = "application/json"
	var warnings []string
	if f.Mode == providers.JSONSchema {
		c.Schema = f.Schema
		warnings = loose(string(f.Mode), f.Schema)
	}
	if len(call.Tools) > 0 && !signs(call.Model) {
		warnings = append(warnings, string(f.Mode)+": models before Gemini 3 refuse it beside tools")
	}
	return warnings
}

// loose says what of a schema is not enforced.
func loose(what string, schema json.RawMessage) []string {
	problems := enforced.Problems(schema)
	if len(problems) == 0 {
		return nil
	}
	return []string{what + ": the provider does not enforce all of the schema: " + strings.Join(problems, "; ")}
}

// signs reports whether a model is of the third generation, which demands the
// signatures of its calls and takes formats beside tools.
func signs(model string) bool { return strings.Contains(model, "gemini-3") }
