package plan

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// Offer is the tool create_task; tools are the names of those that steps may use.
func Offer(tools []string) tool.Spec {
	names := make([]string, len(tools))
	for i, name := range tools {
		names[i] = plainjson.Text(name)
	}
	item := `{"type":"string"}`
	if len(names) > 0 {
		item = `{"type":"string","enum":[` + strings.Join(names, ",") + `]}`
	}
	const text = `{"type":"string"}`
	step := `{"type":"object","properties":{` +
		`"id":{"type":"string","pattern":` + plainjson.Text(idPattern.String()) + `},` +
		`"instructions":` + text + `,` +
		`"depends_on":{"type":"array","items":` + text + `,"description":"ids of steps, or names of inputs"},` +
		`"mode":{"type":"string","enum":["discover","process","aggregate"]},` +
		`"output_schema":{"type":"string","description":"JSON Schema of the result, as JSON text"},` +
		`"per_item_instructions":{"type":"string","description":"with mode process: template with {field} or {item}"},` +
		`"per_item_schema":{"type":"string","description":"with mode process: JSON Schema of the result of one item, as JSON text"},` +
		`"tools":{"type":"array","items":` + item + `,"description":"the only tools of the step; left out means all"}},` +
		`"required":["id","instructions","depends_on"],"additionalProperties":false}`
	return tool.Spec{
		Name: Tool, Description: "Hand in the plan of the task.",
		Schema: json.RawMessage(`{"type":"object","properties":{"title":` + text + `,"steps":{"type":"array","minItems":1,"items":` + step +
			`}},"required":["title","steps"],"additionalProperties":false}`),
	}
}
