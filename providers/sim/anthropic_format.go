package sim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/cupel-eval/cupel/internal/clip"
)

type anthropicTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type anthropicChoice struct {
	Type                   string `json:"type"`
	Name                   string `json:"name"`
	DisableParallelToolUse bool   `json:"disable_parallel_tool_use"`
}

func (r anthropicRequest) offer(q *modelRequest) {
	for i, t := range r.Tools {
		if t.Type != "" && t.Type != "custom" {
			continue // a tool of the service itself, which no model here uses
		}
		refuseIf(!functionName.MatchString(t.Name), "tools", "tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		refuseIf(slices.Contains(q.tools, t.Name), "tools", "tools: Tool names must be unique.")
		refuseIf(!given(t.InputSchema), "tools", "tools.%d.custom.input_schema: Field required", i)
		refuseIf(!describesObject(t.InputSchema), "tools", "tools.%d.custom.input_schema.type: Input should be 'object'", i)
		q.offer(t.Name, t.InputSchema)
	}
	if r.ToolChoice == nil {
		return
	}
	q.serial = r.ToolChoice.DisableParallelToolUse
	switch c := r.ToolChoice; {
	case c.Type == "none":
		q.choice = choiceNone
	case len(r.Tools) == 0:
		refuse("tool_choice", "tool_choice: tool_choice may only be specified while providing tools.")
	case c.Type == "auto":
	case c.Type == "any":
		q.choice = choiceAny
	case c.Type == "tool" && slices.Contains(q.tools, c.Name):
		q.choice, q.tool = choiceNamed, c.Name
	case c.Type == "tool":
		refuse("tool_choice", "tool_choice: Tool '%s' not found in provided tools", clip.Runes(c.Name, 64))
	default:
		refuse("tool_choice", "tool_choice: Input tag '%s' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'", clip.Runes(c.Type, 40))
	}
}

func (r anthropicRequest) form(q *modelRequest) {
	if !given(r.OutputConfig) {
		return
	}
	var config struct {
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	}
	refuseIf(json.Unmarshal(r.OutputConfig, &config) != nil, "output_config", "output_config: Input should be an object")
	if config.Format == nil {
		return
	}
	refuseIf(config.Format.Type != "json_schema", "output_config", "output_config.format.type: Input should be 'json_schema'")
	refuseIf(!describesObject(config.Format.Schema), "output_config", "output_config.format.schema: the simulation takes schemas of 'object' type")
	if at := unclosed(config.Format.Schema, false); at != "" {
		refuse("output_config", "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false: %s", clip.Runes(at, 80))
	}
	q.bind(formatSchema)
}

// content writes what was said as content blocks. Input is an object on this
// wire: arguments that were cut leave an empty one.
func (c completion) content() []obj {
	blocks := []obj{}
	if c.reasoning != "" {
		blocks = append(blocks, obj{"type": "thinking", "thinking": c.reasoning, "signature": signature(c.reasoning)})
	}
	if !c.silent() {
		blocks = append(blocks, obj{"type": "text", "text": c.text})
	}
	for _, t := range c.identify("toolu_sim") {
		blocks = append(blocks, obj{"type": "tool_use", "id": t.ID, "name": t.Name, "input": object(t.Args)})
	}
	return blocks
}

// signature signs reasoning, so that it can be seen whether it came back as it was.
func signature(reasoning string) string {
	d := drawsFor(0, "", "", []byte(reasoning))
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "sim%s", d.hash("signature")))
}

// anthropicCount counts the tokens of a request to the Messages wire: as many as the
// usage of its reply tells.
var anthropicCount = wire{
	name:      anthropic.name,
	requestID: anthropic.requestID,
	instant:   true,
	decode:    decodeAnthropicCount,
	encode:    func(_ modelRequest, c completion) any { return obj{"input_tokens": c.in} },
	fail:      failAnthropic,
}

// decodeAnthropicCount reads a request without what only an answer needs.
func decodeAnthropicCount(req *http.Request, body []byte) modelRequest {
	refuseForeign(body, 400, "", extraInputs, "max_tokens", "stream", "temperature", "stop_sequences", "metadata", "top_p", "top_k", "service_tier", "thread")
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) == nil && members != nil {
		members["max_tokens"] = json.RawMessage("1")
		body = encodeJSON(members)
	}
	return decodeAnthropic(req, body)
}
