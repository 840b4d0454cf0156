package openai

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Modes implements providers.Formatter.
func (m *model) Modes() []providers.Mode {
	return []providers.Mode{providers.JSONObject, providers.JSONSchema, providers.ForcedTool}
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

// tool is a function on offer.
type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
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
func (r *request) ask(f *providers.Format) []string {
	if f == nil {
		return nil
	}
	switch f.Mode {
	case providers.JSONObject:
		r.ResponseFormat = &responseFormat{Type: "json_object"}
	case providers.JSONSchema:
		problems := strict.Problems(f.Schema)
		r.ResponseFormat = &responseFormat{Type: "json_schema", JSONSchema: &jsonSchema{Name: f.Name, Schema: f.Schema, Strict: len(problems) == 0}}
		if len(problems) > 0 {
			return []string{"json_schema: sent with strict: false, as the schema is outside of what strict: true takes: " + strings.Join(problems, "; ")}
		}
	case providers.ForcedTool:
		r.Tools = []tool{{Type: "function", Function: function{Name: f.Name, Parameters: f.Schema}}}
		r.ToolChoice = &tool{Type: "function", Function: function{Name: f.Name}}
		if problems := wire.RootProblems(f.Schema); len(problems) > 0 {
			return []string{"forced_tool: the provider may refuse the schema: " + strings.Join(problems, "; ")}
		}
	}
	return nil
}

// toolCall is a call as servers write it.
type toolCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// readCalls reads the tool calls of a reply. Arguments are text; of servers that
// parse them, the JSON as it came.
func readCalls(b *wire.Builder, list json.RawMessage) {
	var calls []toolCall
	if json.Unmarshal(list, &calls) != nil {
		return
	}
	for _, c := range calls {
		args := string(c.Function.Arguments)
		if args == "null" {
			args = ""
		}
		if strings.HasPrefix(args, `"`) {
			_ = json.Unmarshal(c.Function.Arguments, &args) // it is a string: it has been parsed before
		}
		b.Call("", c.ID, c.Function.Name).Args(args)
	}
}
