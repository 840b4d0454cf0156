package cohere

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// responseFormat asks for JSON as the text.
type responseFormat struct {
	Type       string          `json:"type"`
	JSONSchema json.RawMessage `json:"json_schema,omitempty"`
}

// tool is an available function.
type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// noArguments is the schema of a tool that takes none.
const noArguments = `{"type":"object","properties":{}}`

// enforced is the subset of JSON Schema of structured outputs ("Structured
// Outputs", unsupported schema features). Objects may stay open.
var enforced = wire.Subset{
	Keywords: []string{
		"$schema", "$defs", "$ref", "definitions", "title", "description", "default", "type", "enum", "const", "anyOf",
		"properties", "required", "additionalProperties", "items", "uniqueItems", "pattern", "format",
	},
}

// ask puts a format into the request and says what of it may be refused.
func (r *request) ask(f *providers.Format) []string {
	if f == nil {
		return nil
	}
	var problems []string
	switch f.Mode {
	case providers.JSONObject:
		r.ResponseFormat = &responseFormat{Type: "json_object"}
	case providers.JSONSchema:
		r.ResponseFormat = &responseFormat{Type: "json_object", JSONSchema: f.Schema}
		problems = slices.DeleteFunc(enforced.Problems(f.Schema), func(p string) bool {
			return strings.HasSuffix(p, ": additionalProperties is not false")
		})
	case providers.ForcedTool:
		r.Tools = []tool{{Type: "function", Function: function{Name: f.Name, Parameters: f.Schema}}}
		r.ToolChoice = "REQUIRED"
		problems = wire.RootProblems(f.Schema)
	}
	if len(problems) == 0 {
		return nil
	}
	return []string{string(f.Mode) + ": the provider may refuse the schema: " + strings.Join(problems, "; ")}
}

// offer puts the tools into the request. The API can demand a call, but not name
// the tool: then it is the only available one.
func (r *request) offer(call providers.Call) (warnings []string) {
	if len(call.Tools) == 0 {
		return nil
	}
	for _, t := range call.Tools {
		if call.Choice.Kind == providers.ChoiceNamed && t.Name != call.Choice.Name {
			continue
		}
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(noArguments)
		}
		r.Tools = append(r.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: schema}})
		if problems := wire.RootProblems(schema); len(problems) > 0 {
			warnings = append(warnings, "tool "+t.Name+": the provider may refuse the schema: "+strings.Join(problems, "; "))
		}
	}
	switch call.Choice.Kind {
	case providers.ChoiceNone:
		r.ToolChoice = "NONE"
	case providers.ChoiceAny:
		r.ToolChoice = "REQUIRED"
	case providers.ChoiceNamed:
		r.ToolChoice = "REQUIRED"
		if len(r.Tools) < len(call.Tools) {
			warnings = append(warnings, "tool choice: the Chat API cannot name a tool, "+call.Choice.Name+" is the only one sent")
		}
	}
	if call.Serial {
		warnings = append(warnings, "serial tool calls: not part of the Chat API, not sent")
	}
	return warnings
}
