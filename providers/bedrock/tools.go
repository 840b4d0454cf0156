package bedrock

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// The API has no mode for any JSON object.
var modes = []providers.Mode{providers.JSONSchema, providers.ForcedTool}

// toolConfig offers tools (API Reference, "ToolConfiguration").
type toolConfig struct {
	Tools  []tool      `json:"tools"`
	Choice *toolChoice `json:"toolChoice,omitempty"`
}

type tool struct {
	Spec toolSpec `json:"toolSpec"`
}

type toolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema struct {
		JSON json.RawMessage `json:"json"`
	} `json:"inputSchema"`
}

// toolChoice has one field set; none is auto.
type toolChoice struct {
	Any  *struct{}  `json:"any,omitempty"`
	Tool *namedTool `json:"tool,omitempty"`
}

type namedTool struct {
	Name string `json:"name"`
}

// noArguments is the schema of a tool that takes none.
const noArguments = `{"type":"object","properties":{}}`

func newTool(name, description string, schema json.RawMessage) tool {
	t := tool{toolSpec{Name: name, Description: description}}
	t.Spec.InputSchema.JSON = schema
	if len(schema) == 0 {
		t.Spec.InputSchema.JSON = json.RawMessage(noArguments)
	}
	return t
}

// offer puts the tools into the request. The API has no choice "none", and
// demands tools as soon as the messages have calls or results of any.
func (r *request) offer(call providers.Call) {
	tools := make([]tool, 0, len(call.Tools))
	for _, t := range call.Tools {
		tools = append(tools, newTool(t.Name, t.Description, t.Schema))
		if len(t.Schema) > 0 {
			if problems := wire.RootProblems(t.Schema); len(problems) > 0 {
				r.warn("tool %s: the provider may refuse the schema: %s", t.Name, strings.Join(problems, "; "))
			}
		}
	}
	used := usedTools(call.Messages)
	switch {
	case wire.ForcedTool(call) != "": // it is the only one: see ask
	case call.Choice.Kind == providers.ChoiceNone && len(used) == 0:
		tools = nil
	case call.Choice.Kind == providers.ChoiceNone && len(tools) > 0:
		r.warn("tool choice none: not part of the Converse API; the tools are sent anyway, as the messages have calls")
	case len(tools) == 0 && len(used) > 0:
		for _, name := range used {
			tools = append(tools, newTool(name, "", nil))
		}
		r.warn("tools: none is on offer, but the messages have calls: the API demands tools, the names called are sent")
	}
	if len(tools) == 0 {
		return
	}
	r.ToolConfig = &toolConfig{Tools: tools}
	switch call.Choice.Kind {
	case providers.ChoiceAny:
		r.ToolConfig.Choice = &toolChoice{Any: &struct{}{}}
	case providers.ChoiceNamed:
		r.ToolConfig.Choice = &toolChoice{Tool: &namedTool{call.Choice.Name}}
	}
}

// usedTools are the names called in a conversation, each once.
func usedTools(messages []providers.Message) []string {
	var names []string
	note := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, m := range messages {
		for _, c := range m.Calls {
			note(c.Name)
		}
		if m.Role == providers.RoleTool {
			note(m.Name)
		}
	}
	return names
}

// outputConfig asks for JSON as the text (User Guide, "Get validated JSON results
// from models").
type outputConfig struct {
	TextFormat textFormat `json:"textFormat"`
}

type textFormat struct {
	Type      string `json:"type"`
	Structure struct {
		JSONSchema jsonSchema `json:"jsonSchema"`
	} `json:"structure"`
}

// jsonSchema holds the schema as a text, not as an object.
type jsonSchema struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// enforced is the subset of JSON Schema that is compiled into a grammar; other
// keywords are answered with 400. minItems is taken with 0 and 1 only and
// therefore not listed.
var enforced = wire.Subset{
	Keywords: []string{
		"$schema", "$defs", "$ref", "definitions", "title", "description", "default", "type", "enum", "const",
		"anyOf", "allOf", "properties", "required", "additionalProperties", "items", "pattern", "format",
	},
}

// ask puts a format into the request and says what of it may be refused.
func (r *request) ask(f *providers.Format) {
	if f == nil {
		return
	}
	var problems []string
	switch f.Mode {
	case providers.JSONSchema:
		format := textFormat{Type: "json_schema"}
		format.Structure.JSONSchema = jsonSchema{Schema: string(f.Schema), Name: f.Name}
		r.OutputConfig = &outputConfig{format}
		problems = enforced.Problems(f.Schema)
	case providers.ForcedTool:
		r.ToolConfig = &toolConfig{
			Tools:  []tool{newTool(f.Name, "", f.Schema)},
			Choice: &toolChoice{Tool: &namedTool{f.Name}},
		}
		problems = wire.RootProblems(f.Schema)
	}
	if len(problems) > 0 {
		r.warn("%s: the provider may refuse the schema: %s", f.Mode, strings.Join(problems, "; "))
	}
}
