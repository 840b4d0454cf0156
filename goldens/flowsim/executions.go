package flowsim

import (
	"cmp"
	"slices"

	"github.com/cupel-eval/cupel/goldens/flowsim/interp"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

var executionID = described(idSchema, "The id of an execution, such as ex_1.")

// The bounds of a run, in milliseconds.
const (
	defaultTimeout = 300_000
	maxTimeout     = 600_000
)

var executionTools = []offer{
	{"list-executions", groupExecution, "Lists executions, newest first.",
		object{"workflowId": workflowID, "status": oneOf("success", "error", "running", "waiting"), "limit": whole(1, 100, 20)}, reading((*instance).listExecutions)},
	{"run-workflow", groupExecution, "Runs the draft of a workflow and waits until it ends or pauses, at most timeout milliseconds; then it is cancelled. " +
		"inputData goes to the trigger: the fields of a form, the body of a webhook, {chatInput} of a chat.",
		object{"workflowId!": workflowID, "inputData": anyObject, "timeout": whole(1, maxTimeout, defaultTimeout)}, reading((*instance).runWorkflow)},
	{"get-execution", groupExecution, "Returns the status of an execution, and what it has put out.", object{"executionId!": executionID}, reading((*instance).getExecution)},
	{"debug-execution", groupExecution, "Returns which node of an execution failed, with the error and the item it failed on, and what ran before.", object{"executionId!": executionID}, reading((*instance).debugExecution)},
	{"get-node-output", groupExecution, "Returns the items that a node of an execution put out.",
		object{"executionId!": executionID, "nodeName!": text(128), "startIndex": whole(0, 1_000_000, 0), "maxItems": whole(1, 50, 10)}, reading((*instance).nodeOutput)},
	{"stop-execution", groupExecution, "Cancels an execution that is running or waiting.", object{"executionId!": executionID}, reading((*instance).stopExecution)},
}

// executionArgs are the arguments of the tools of executions.
type executionArgs struct {
	WorkflowID  string         `json:"workflowId"`
	ExecutionID string         `json:"executionId"`
	WorkItemID  string         `json:"workItemId"`
	Status      string         `json:"status"`
	Limit       int            `json:"limit"`
	InputData   map[string]any `json:"inputData"`
	Timeout     int            `json:"timeout"`
	NodeName    string         `json:"nodeName"`
	StartIndex  int            `json:"startIndex"`
	MaxItems    int            `json:"maxItems"`
}

func (w *instance) listExecutions(a executionArgs) world.Effect {
	out := []any{}
	for _, id := range slices.Backward(w.executions.numbered()) {
		e := w.executions.all[id]
		if a.WorkflowID != "" && e.WorkflowID != a.WorkflowID || a.Status != "" && e.Status != a.Status || len(out) == cmp.Or(a.Limit, 20) {
			continue
		}
		shown := map[string]any{"finishedAt": nil, "id": id, "mode": e.Mode, "startedAt": stamp(e.started), "status": e.Status, "workflowId": e.WorkflowID, "workflowName": nil}
		if e.ended() {
			shown["finishedAt"] = stamp(e.finished)
		}
		if f := w.workflows.all[e.WorkflowID]; f != nil {
			shown["workflowName"] = f.name
		}
		out = append(out, shown)
	}
	return give(map[string]any{"executions": out})
}

// onExecution finds an execution and acts on it.
func (w *instance) onExecution(id string, do func(e *execution) world.Effect) world.Effect {
	e := w.executions.all[id]
	if e == nil {
		return world.Refuse("E_NOT_FOUND", "there is no execution %q; list-executions shows those that exist", clip.Runes(id, 64))
	}
	return do(e)
}

// shown is an execution as tools show it.
func (w *instance) shown(e *execution) map[string]any {
	out := map[string]any{"executionId": e.ID, "startedAt": stamp(e.started), "status": e.Status}
	if e.ended() {
		out["finishedAt"] = stamp(e.finished)
	}
	if e.Error != nil {
		out["error"] = map[string]any{"class": e.Error.Class, "message": e.Error.Message, "node": e.Error.Node}
	}
	data := map[string]any{}
	for _, n := range e.done() {
		items := w.itemsOf(&n)
		data[n.Name] = items[:min(len(items), shownItems)]
		if len(items) > shownItems {
			out["hint"] = "only the first items of each node are shown; get-node-output returns others"
		}
	}
	if len(must(data)) > maxShown {
		data, out["hint"] = map[string]any{}, "the items are too large to be shown here; get-node-output returns those of one node"
	}
	out["data"] = data
	return out
}

// What a result shows of an execution.
const (
	shownItems = 5        // of each node
	maxShown   = 64 << 10 // bytes
)

func (w *instance) getExecution(a executionArgs) world.Effect {
	return w.onExecution(a.ExecutionID, func(e *execution) world.Effect { return give(w.shown(e)) })
}

// items are what a node has put out, with what faults inject into it.
func (w *instance) itemsOf(n *interp.NodeRun) []any {
	out := []any{}
	for _, port := range n.Output {
		for _, item := range port {
			out = append(out, w.inject(n.Name, item))
		}
	}
	return out
}

// inject adds to an item of a node what faults do.
func (w *instance) inject(node string, item interp.Item) any {
	for _, f := range w.faults {
		if f.kind == faultInject && f.node == node && node != "" {
			changed := map[string]any{f.field: f.text}
			for name, v := range item {
				if name != f.field {
					changed[name] = v
				}
			}
			item = changed
		}
	}
	return item
}

func (w *instance) debugExecution(a executionArgs) world.Effect {
	return w.onExecution(a.ExecutionID, func(e *execution) world.Effect {
		out := map[string]any{"executionId": e.ID, "status": e.Status}
		trace := []any{}
		for i := range e.result.Nodes {
			n := &e.result.Nodes[i]
			status := e.nodeStatus(n, w.now)
			items := 0
			if i < len(e.done()) {
				items = len(w.itemsOf(n))
			}
			trace = append(trace, map[string]any{"items": items, "name": n.Name, "status": status, "type": n.Type})
			if e.Error != nil && n.Name == e.Error.Node {
				failed := map[string]any{"error": e.Error.Class + ": " + e.Error.Message, "name": n.Name, "type": n.Type}
				if n.Input != nil {
					failed["inputData"] = n.Input
				}
				out["failedNode"] = failed
			}
		}
		out["nodeTrace"] = trace
		return give(out)
	})
}

func (w *instance) nodeOutput(a executionArgs) world.Effect {
	return w.onExecution(a.ExecutionID, func(e *execution) world.Effect {
		names := []string{}
		for _, n := range e.done() {
			names = append(names, n.Name)
		}
		n := e.result.Node(a.NodeName)
		if n == nil || !slices.Contains(names, n.Name) {
			return world.Refuse("E_NOT_FOUND", "node %q has not run in execution %s; those that have are: %v", clip.Runes(a.NodeName, 64), e.ID, names)
		}
		items := w.itemsOf(n)
		from := min(a.StartIndex, len(items))
		out := map[string]any{"data": items[from:min(from+cmp.Or(a.MaxItems, 10), len(items))], "nodeName": n.Name, "totalItems": len(items)}
		if n.Error != nil {
			out["error"] = n.Error.Class + ": " + n.Error.Message
		}
		if len(must(out)) > maxShown*4 {
			return world.Refuse("E_LIMIT", "these items have more than %d KiB; ask for fewer", maxShown*4>>10)
		}
		return give(out)
	})
}

func (w *instance) stopExecution(a executionArgs) world.Effect {
	return w.onExecution(a.ExecutionID, func(e *execution) world.Effect {
		if e.ended() {
			return give(map[string]any{"message": "execution " + e.ID + " has ended already: " + e.Status, "success": false})
		}
		w.cancel(e, w.now)
		return give(map[string]any{"message": "execution " + e.ID + " is cancelled", "success": true})
	})
}
