package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// The API has no mode for any JSON object.
var modes = []providers.Mode{providers.JSONSchema, providers.ForcedTool}

// outputConfig asks for JSON as the text.
type outputConfig struct {
	Format outputFormat `json:"format"`
}

type outputFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// enforced is the subset of JSON Schema of structured outputs. minItems is taken
// with 0 and 1 only and therefore not listed.
var enforced = wire.Subset{
	Keywords: []string{
		"$schema", "$defs", "$ref", "definitions", "title", "description", "default", "type", "enum", "const",
		"anyOf", "allOf", "properties", "required", "additionalProperties", "items", "pattern", "format",
	},
}

// ask puts a format into the request and says what of it may be refused.
func (r *request) ask(f *providers.Format) []string {
	if f == nil {
		return nil
	}
	var problems []string
	switch f.Mode {
	case providers.JSONSchema:
		r.OutputConfig = &outputConfig{outputFormat{Type: "json_schema", Schema: f.Schema}}
		problems = enforced.Problems(f.Schema)
	case providers.ForcedTool:
		r.Tools = []tool{{Name: f.Name, InputSchema: f.Schema}}
		r.ToolChoice = &toolChoice{Type: "tool", Name: f.Name}
		problems = wire.RootProblems(f.Schema)
	}
	if len(problems) == 0 {
		return nil
	}
	return []string{string(f.Mode) + ": the provider may refuse the schema: " + strings.Join(problems, "; ")}
}
