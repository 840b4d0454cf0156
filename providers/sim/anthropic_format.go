package sim

import "encoding/json"

// form reads what a request demands of the output, and the name of the tool it
// forces. Of native tools the simulation has this one form.
func (r anthropicRequest) form() (outputMode, string, *failure) {
	if given(r.Tools) || given(r.ToolChoice) {
		name, f := r.forced()
		return toolCall, name, f
	}
	if !given(r.OutputConfig) {
		return freeText, "", nil
	}
	var config struct {
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	}
	switch err := json.Unmarshal(r.OutputConfig, &config); {
	case err != nil || config.Format == nil:
		return freeText, "", invalid("output_config", "output_config: the simulation takes 'format' alone")
	case config.Format.Type != "json_schema":
		return freeText, "", invalid("output_config", "output_config.format.type: Input should be 'json_schema'")
	case !describesObject(config.Format.Schema):
		return freeText, "", invalid("output_config", "output_config.format.schema: the simulation takes schemas of 'object' type")
	}
	if at, ok := open(config.Format.Schema, false); !ok {
		return freeText, "", invalid("output_config", "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false: %s", clip(at, 80))
	}
	return jsonText, "", nil
}

// forced reads the one tool that must be called.
func (r anthropicRequest) forced() (string, *failure) {
	var tools []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	var choice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	unsupported := invalid("tools", "tools: the simulation takes one custom tool that tool_choice names")
	if json.Unmarshal(r.Tools, &tools) != nil || json.Unmarshal(r.ToolChoice, &choice) != nil {
		return "", unsupported
	}
	switch {
	case len(tools) != 1 || choice.Type != "tool" || choice.Name == "" || tools[0].Name != choice.Name,
		tools[0].Type != "" && tools[0].Type != "custom":
		return "", unsupported
	case given(r.OutputConfig):
		return "", invalid("output_config", "output_config: the simulation takes output_config or tools, not both")
	case !describesObject(tools[0].InputSchema):
		return "", invalid("tools", "tools.0.custom.input_schema.type: Input should be 'object'")
	}
	return choice.Name, nil
}

// content writes what was said as content blocks. Input is an object on this
// wire: arguments that were cut leave an empty one.
func (c completion) content() []anthropicBlock {
	if c.tool == "" {
		return []anthropicBlock{{Type: "text", Text: &c.text}}
	}
	return []anthropicBlock{{Type: "tool_use", ID: c.draws.id("toolu_sim"), Name: c.tool, Input: object(c.text)}}
}
