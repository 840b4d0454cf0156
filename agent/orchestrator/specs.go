// Package orchestrator has what agent orchestrator offers and says: its tools, what their
// arguments must be, its prompts, and what is wrong with a turn of its. The packages beneath
// it have its state machines.
package orchestrator

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/agent/orchestrator/build"
	"github.com/cupel-eval/cupel/agent/orchestrator/role"
	"github.com/cupel-eval/cupel/agent/tool"
)

// The tools of the strategy itself.
const (
	Plan         = "plan"
	UpdateTasks  = "update-tasks"
	delegateTool = "delegate"
	buildTool    = "build-workflow-with-agent"
	cancelTool   = "cancel-background-task"
	correctTool  = "correct-background-task"
	verdictTool  = "report-verification-verdict"
)

// Tools of worlds that the strategy knows.
const (
	submitTool = "build-workflow"        // saves a workflow
	submitFile = "submit-workflow"       // the same, from a file of the sandbox
	verifyTool = "verify-built-workflow" // runs one with pinned data
	AskUser    = "ask-user"
	webSearch  = "web-search"
)

// bounds of arguments.
const (
	maxDelegateTools = 20
	maxChecklist     = 100
)

func spec(name, description, properties, required string) tool.Spec {
	return tool.Spec{
		Name: name, Description: description, Group: role.Orchestration, Uncacheable: true,
		Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, properties, required)),
	}
}

// ownSpecs are the tools of the strategy where the task has those tools. A world without
// workflows has nothing to build.
func ownSpecs(tools *tool.Set) []tool.Spec {
	const text = `{"type":"string"}`
	out := []tool.Spec{
		spec(Plan, "Proposes a plan of at least two tasks that depend on each other. The user reviews it first; nothing runs before. For a single task do the work directly.",
			`"tasks":{"type":"array","description":"Each task has id, title, kind (delegate, build-workflow, manage-data-tables, research or checkpoint), spec (what to do, complete in itself), deps (ids of tasks that must succeed first), of kind delegate tools, and of kind build-workflow the workflowId of an existing workflow.","items":{}}`, `"tasks"`),
		spec(UpdateTasks, "Replaces the checklist that the user sees.",
			`"tasks":{"type":"array","maxItems":`+fmt.Sprint(maxChecklist)+`,"items":{"type":"object","properties":{"id":`+text+`,"description":`+text+`,"status":{"enum":["todo","in_progress","done","failed","cancelled"]}},"required":["id","description","status"],"additionalProperties":false}}`, `"tasks"`),
		spec(delegateTool, "Hands work to a sub-agent that knows nothing but what you write, has only the tools you name, and returns its result.",
			`"role":`+text+`,"instructions":`+text+`,"tools":{"type":"array","items":`+text+`},"briefing":`+text+`,"artifacts":{"description":"Values the sub-agent needs."},"conversationContext":`+text,
			`"role","instructions","tools","briefing"`),
		spec(cancelTool, "Cancels a background task.", `"taskId":`+text, `"taskId"`),
		spec(correctTool, "Tells a running background task what the user wants changed.", `"taskId":`+text+`,"correction":`+text, `"taskId","correction"`),
	}
	if !tools.Has(submitTool) {
		return out
	}
	return append(out,
		spec(buildTool, "Starts a sub-agent in the background that builds or changes one workflow. It returns at once; you are told when it has ended.",
			`"task":`+text+`,"workflowId":`+text+`,"conversationContext":`+text, `"task"`),
		spec(verdictTool, "Reports what verifying a built workflow showed, and says what to do next.",
			`"workItemId":`+text+`,"verdict":`+text+`,"failureSignature":`+text+`,"failedNodeName":`+text+`,"patch":`+text+`,"diagnosis":`+text, `"workItemId","verdict"`),
	)
}

// isOwn reports that a tool is one of the strategy's own.
func isOwn(name string) bool {
	return slices.Contains([]string{Plan, UpdateTasks, delegateTool, buildTool, cancelTool, correctTool, verdictTool}, name)
}

// verdictArgs are the arguments of a verdict.
type verdictArgs struct {
	WorkItemID       string `json:"workItemId"`
	Verdict          string `json:"verdict"`
	FailureSignature string `json:"failureSignature"`
	FailedNodeName   string `json:"failedNodeName"`
	Patch            string `json:"patch"`
	Diagnosis        string `json:"diagnosis"`
}

// Known reports a verdict that there is.
func (v verdictArgs) Known() bool { return slices.Contains(build.Verdicts, v.Verdict) }
