package agent

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
)

// modePrompt is the output mode in which the prompt alone asks for JSON.
const modePrompt = "prompt"

// modes are the output modes there are.
var modes = []string{modePrompt, string(providers.JSONObject), string(providers.JSONSchema), string(providers.ForcedTool)}

// formatName names the schema, or the tool, of a turn's output.
const formatName = "contract_turn"

// newFormat is how the turns of an episode ask for structured output; nil in
// the mode prompt.
func newFormat(p Params) (*providers.Format, error) {
	switch mode := providers.Mode(p.Mode); mode {
	case "", modePrompt:
		return nil, nil
	case providers.JSONObject:
		return &providers.Format{Mode: mode}, nil
	case providers.JSONSchema, providers.ForcedTool:
		schema, err := contractSchema(p.Tools)
		if err != nil {
			return nil, fmt.Errorf("output mode %s: %w", mode, err)
		}
		return &providers.Format{Mode: mode, Name: formatName, Schema: []byte(schema)}, nil
	}
	return nil, fmt.Errorf("unknown output mode %q; known: %s", p.Mode, strings.Join(modes, ", "))
}
