package responses

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// textConfig asks for JSON as the text.
type textConfig struct {
	Format textFormat `json:"format"`
}

type textFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
	Strict *bool           `json:"strict,omitempty"`
}

// tool is an available function. strict is always sent: its default here is true.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// named is the choice of one tool.
type named struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// strict is the subset of JSON Schema that OpenAI enforces with strict: true; it
// refuses anything else there. minLength and maxLength are left out: whether
// they are taken depends on the model (OpenAI guide "Structured Outputs").
var strict = wire.Subset{
	AllRequired: true,
	Keywords: []string{
		"$schema", "$defs", "$ref", "definitions", "title", "description", "type", "enum", "const", "anyOf",
		"properties", "required", "additionalProperties", "items", "minItems", "maxItems", "pattern", "format",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	},
}

// noArguments is the schema of a tool that takes none.
const noArguments = `{"type":"object","properties":{},"required":[],"additionalProperties":false}`

// ask puts a format of the text into the request and says what of it will not hold.
func (r *request) ask(f *providers.Format) []string {
	switch {
	case f == nil:
		return nil
	case f.Mode == providers.JSONObject:
		r.Text = &textConfig{textFormat{Type: "json_object"}}
		r.mentionJSON()
	case f.Mode == providers.JSONSchema:
		problems := strict.Problems(f.Schema)
		fits := len(problems) == 0
		r.Text = &textConfig{textFormat{Type: "json_schema", Name: f.Name, Schema: f.Schema, Strict: &fits}}
		if !fits {
			return []string{"json_schema: sent with strict: false, as the schema is outside of what strict: true takes: " + strings.Join(problems, "; ")}
		}
	}
	return nil
}

// mentionJSON makes the instructions the first message where only they mention
// JSON: json_object is refused unless the input messages do, and the
// instructions do not count (OpenAI guide "Structured Outputs", JSON mode).
func (r *request) mentionJSON() {
	mentions := func(s string) bool { return strings.Contains(strings.ToLower(s), "json") }
	if !mentions(r.Instructions) {
		return
	}
	for _, i := range r.Input {
		for _, p := range i.Content {
			if p.Text != nil && mentions(*p.Text) {
				return
			}
		}
	}
	first := item{Type: "message", Role: "system", Content: []part{textPart("input_text", r.Instructions)}}
	r.Input = append([]item{first}, r.Input...)
	r.Instructions = ""
}

// offer puts the tools and their choice into the request, and says what of them
// will not hold.
func (m *model) offer(r *request, call providers.Call) []string {
	var warnings []string
	choice := call.Choice
	if forced := wire.ForcedTool(call); forced != "" {
		choice = providers.Choice{Kind: providers.ChoiceNamed, Name: forced}
		r.Tools = []tool{{Type: "function", Name: forced, Parameters: call.Format.Schema, Strict: len(strict.Problems(call.Format.Schema)) == 0}}
		if problems := wire.RootProblems(call.Format.Schema); len(problems) > 0 {
			warnings = append(warnings, "forced_tool: the provider may refuse the schema: "+strings.Join(problems, "; "))
		}
	}
	for _, t := range call.Tools {
		one, problems := offered(t)
		r.Tools = append(r.Tools, one)
		warnings = append(warnings, problems...)
	}
	if len(r.Tools) == 0 {
		return warnings
	}
	if call.Serial {
		r.Parallel = new(bool)
	}
	switch choice.Kind {
	case providers.ChoiceNone:
		r.ToolChoice = "none"
	case providers.ChoiceAny:
		r.ToolChoice = "required"
	case providers.ChoiceNamed:
		r.ToolChoice = named{"function", choice.Name}
		if m.unnamed {
			r.ToolChoice = "required"
			if len(r.Tools) > 1 {
				warnings = append(warnings, fmt.Sprintf("tool choice: the server takes no name, so any tool may come, not only %s", choice.Name))
			}
		}
	}
	return warnings
}

// offered makes a tool to send and says what of its schema will not hold.
func offered(t providers.Tool) (tool, []string) {
	one := tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema, Strict: true}
	if len(one.Parameters) == 0 {
		one.Parameters = json.RawMessage(noArguments)
	}
	if problems := wire.RootProblems(one.Parameters); len(problems) > 0 {
		one.Strict = false
		return one, []string{fmt.Sprintf("tool %s: the provider may refuse the schema: %s", t.Name, strings.Join(problems, "; "))}
	}
	if problems := strict.Problems(one.Parameters); len(problems) > 0 {
		one.Strict = false
		return one, []string{fmt.Sprintf("tool %s: sent with strict: false, as the schema is outside of what strict: true takes: %s", t.Name, strings.Join(problems, "; "))}
	}
	return one, nil
}
