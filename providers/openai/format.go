package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// modes are those of the dialect.
func (d Dialect) modes() (modes []providers.Mode) {
	if !d.lacks(ObjectMode) {
		modes = append(modes, providers.JSONObject)
	}
	if !d.lacks(SchemaMode) {
		modes = append(modes, providers.JSONSchema)
	}
	if !d.lacks(Tools) && !d.lacks(ToolChoice) {
		modes = append(modes, providers.ForcedTool)
	}
	return modes
}

// responseFormat asks for JSON as the text.
type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// tool is an available function.
type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// strict is the subset of JSON Schema that OpenAI enforces with strict: true; it
// refuses anything else there. minLength and maxLength are left out: whether
// they are taken depends on the model.
var strict = wire.Subset{
	AllRequired: true,
	Keywords: []string{
		"$schema", "$defs", "$ref", "definitions", "title", "description", "type", "enum", "const", "anyOf",
		"properties", "required", "additionalProperties", "items", "minItems", "maxItems", "pattern", "format",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	},
}

// ask puts a format into the request and says what of it will not hold.
func (r *draft) ask(f *providers.Format) {
	if f == nil {
		return
	}
	switch f.Mode {
	case providers.JSONObject:
		r.ResponseFormat = &responseFormat{Type: "json_object"}
	case providers.JSONSchema:
		problems := strict.Problems(f.Schema)
		r.ResponseFormat = &responseFormat{Type: "json_schema", JSONSchema: &jsonSchema{Name: f.Name, Schema: f.Schema, Strict: len(problems) == 0}}
		if len(problems) > 0 {
			r.warn("json_schema: sent with strict: false, as the schema is outside of what strict: true takes: %s", strings.Join(problems, "; "))
		}
	case providers.ForcedTool:
		r.Tools = []tool{{Type: "function", Function: function{Name: f.Name, Parameters: f.Schema}}}
		r.force(f.Name)
		if problems := wire.RootProblems(f.Schema); len(problems) > 0 {
			r.warn("forced_tool: the provider may refuse the schema: %s", strings.Join(problems, "; "))
		}
	}
}

// force demands a call of the tool. A service that takes only words is offered
// this tool alone.
func (r *draft) force(name string) {
	if !r.dialect.lacks(NamedChoice) {
		r.ToolChoice = &tool{Type: "function", Function: function{Name: name}}
		return
	}
	r.Tools = slices.DeleteFunc(r.Tools, func(t tool) bool { return t.Function.Name != name })
	r.ToolChoice = "required"
}

// noArguments is the schema of a tool that takes none: some services demand one.
const noArguments = `{"type":"object","properties":{}}`

// offer puts the tools into the request.
func (r *draft) offer(call providers.Call) {
	if len(call.Tools) == 0 || !r.takes(Tools) {
		return
	}
	if call.Choice.Kind == providers.ChoiceNone && r.dialect.lacks(ToolChoice) {
		return // an unavailable tool is not called
	}
	for _, t := range call.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(noArguments)
		}
		if problems := wire.RootProblems(schema); len(problems) > 0 {
			r.warn("tool %s: the provider may refuse the schema: %s", t.Name, strings.Join(problems, "; "))
		}
		r.Tools = append(r.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: schema}})
	}
	if call.Choice.Kind != providers.ChoiceAuto && r.takes(ToolChoice) {
		switch call.Choice.Kind {
		case providers.ChoiceNone:
			r.ToolChoice = "none"
		case providers.ChoiceAny:
			r.ToolChoice = "required"
		case providers.ChoiceNamed:
			r.force(call.Choice.Name)
		}
	}
	if call.Serial && r.takes(Serial) {
		r.ParallelToolCalls = new(bool)
	}
}
