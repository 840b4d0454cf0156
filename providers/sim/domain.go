package sim

import "slices"

// knownTools are the tools that some mind knows.
var knownTools = []string{todayRange, getCounts, getJobStatus, searchTool, openTool, extractTool, compareTool}

func knownTool(name string) bool { return slices.Contains(knownTools, name) }

// think reads a prompt with the mind that knows its tools.
func think(p profile, pr prompt) thinker {
	if pr.tools[searchTool] || pr.tools[extractTool] {
		return newScholar(p, pr)
	}
	return newMind(p, pr)
}

// thinker is a model's mind on one field, which it tells by the tools on offer. It
// has read a prompt, by whatever protocol that came: see prompt.
type thinker interface {
	// acts are what to do next: calls that do not need each other's results, in
	// order, or one answer or question.
	acts() []action
	// misjudge makes a slip of a decision in an action of acts; false if it does not fit.
	misjudge(slip decisionSlip, a action, detail uint64) (action, bool)
	// steps breaks the request into the steps of a plan.
	steps() []planStep
}

// planStep is a step of a plan, as the tool create_task takes it.
type planStep struct {
	ID                  string   `json:"id"`
	Instructions        string   `json:"instructions,omitempty"`
	DependsOn           []string `json:"depends_on"`
	Mode                string   `json:"mode,omitempty"`
	OutputSchema        string   `json:"output_schema,omitempty"`
	PerItemInstructions string   `json:"per_item_instructions,omitempty"`
	PerItemSchema       string   `json:"per_item_schema,omitempty"`
	Tools               []string `json:"tools,omitempty"`
}
