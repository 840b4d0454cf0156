package anthropic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type toolChoice struct {
	Type   string `json:"type"`
	Name   string `json:"name,omitempty"`
	Serial bool   `json:"disable_parallel_tool_use,omitempty"`
}

// offer puts the tools and the choice into the request and says what of the
// schemas it leaves out.
func (r *request) offer(call providers.Call) []string {
	var warnings []string
	for _, t := range call.Tools {
		schema, problems := inputSchema(t.Schema)
		r.Tools = append(r.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: schema})
		for _, p := range problems {
			warnings = append(warnings, fmt.Sprintf("tool %s: %s", t.Name, p))
		}
	}
	if len(r.Tools) > 0 { // a choice without tools is refused
		r.choose(call)
	}
	return warnings
}

// choose sets the choice of tools. auto is the default; none takes no more fields.
func (r *request) choose(call providers.Call) {
	if r.ToolChoice == nil {
		switch call.Choice.Kind {
		case providers.ChoiceAny:
			r.ToolChoice = &toolChoice{Type: "any"}
		case providers.ChoiceNamed:
			r.ToolChoice = &toolChoice{Type: "tool", Name: call.Choice.Name}
		case providers.ChoiceNone:
			r.ToolChoice = &toolChoice{Type: "none"}
			return
		case providers.ChoiceAuto:
			if !call.Serial {
				return
			}
			r.ToolChoice = &toolChoice{Type: "auto"}
		}
	}
	r.ToolChoice.Serial = call.Serial
}

// noArguments is the schema of a tool that takes none.
const noArguments = `{"type":"object","properties":{}}`

// propertyName is what the API takes as the name of an argument.
var propertyName = lazyregexp.New(`^[a-zA-Z0-9_.-]{1,64}$`)

// inputSchema is a schema in the form the API takes: of type object, without a
// choice at its top level. It says what was changed or may be refused.
func inputSchema(schema json.RawMessage) (json.RawMessage, []string) {
	var fields map[string]json.RawMessage
	if wire.Unmarshal(schema, &fields) != nil || len(fields) == 0 {
		return json.RawMessage(noArguments), nil
	}
	var problems []string
	changed := false
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		if _, ok := fields[word]; ok {
			delete(fields, word)
			changed = true
			problems = append(problems, word+" at the top of the schema is not taken, not sent")
		}
	}
	if str(fields["type"]) != "object" {
		if len(fields["type"]) > 0 {
			problems = append(problems, "the schema must be of type object, sent as such")
		}
		fields["type"] = json.RawMessage(`"object"`)
		changed = true
	}
	var properties map[string]json.RawMessage
	_ = wire.Unmarshal(fields["properties"], &properties) // an error leaves properties empty
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !propertyName.MatchString(name) {
			problems = append(problems, fmt.Sprintf("the provider may refuse the schema: property %.80q", name))
		}
	}
	if !changed {
		return schema, problems
	}
	text, _ := plainjson.Marshal(fields) // they were decoded
	return text, problems
}
