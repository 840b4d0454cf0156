package flowsim

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/flowsim/interp"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

var workItemID = described(text(64), "The id of a work item, such as wi_1.")

var buildTools = []offer{
	{"verify-built-workflow", groupBuild, "Runs the draft of a workflow with test data, and leaves no rows behind. Nodes without a credential are not run. " +
		"inputData goes to the trigger: the fields of a form, the body of a webhook, {chatInput} of a chat.",
		object{"workItemId!": workItemID, "workflowId!": workflowID, "inputData": anyObject, "timeout": whole(1, maxTimeout, defaultTimeout)}, reading((*instance).verify)},
	{"apply-workflow-credentials", groupBuild, "Gives the nodes of a verified workflow that still have \"mock\" for a credential one each, by its type: all of them or none.",
		object{"workItemId!": workItemID, "credentials!": described(`{"type":"object","additionalProperties":`+idSchema+`}`, "The id of a credential by its type.")}, reading((*instance).applyCredentials)},
}

// mocks are the nodes of a graph whose credential is still to be set up, by name.
func mocks(g graph.Graph) map[string]string {
	out := map[string]string{}
	for i := range g.Nodes {
		if kind := needed(&g.Nodes[i]); kind != "" && g.Nodes[i].Credentials[kind] == mock {
			out[g.Nodes[i].Name] = kind
		}
	}
	return out
}

// verify runs a workflow on a copy of the data tables: what it writes is lost. Its requests
// and messages are sent, except by nodes that lack their credential.
func (w *instance) verify(a executionArgs) world.Effect {
	f := w.workflows.all[a.WorkflowID]
	if f == nil {
		return world.Refuse("E_NOT_FOUND", "there is no workflow %q", clip.Runes(a.WorkflowID, 64))
	}
	e := w.begin(f, f.version, f.draft, modeTest, input(a.InputData))
	e.pins = map[string][]interp.Item{}
	for name := range mocks(f.draft) {
		e.pins[name] = []interp.Item{{"mocked": true}}
	}
	until := w.pause(e, a.Timeout)
	live := w.tables
	w.tables = live.Clone()
	e = w.proceed(e, until)
	w.tables = live
	out := map[string]any{"executionId": e.ID}
	if !e.ended() { // verification does not wait for running executions
		if e.Status == interp.Running {
			e.Error = &interp.Failure{Class: "timeout", Message: "the execution timed out"}
		}
		out["status"] = e.Status
		e = w.cancel(e, until)
	} else {
		out["status"] = e.Status
	}
	shown := w.shown(e)
	out["data"] = shown["data"]
	success := out["status"] == interp.Success || out["status"] == interp.Waiting && len(e.result.Nodes) > 1
	if out["success"] = success; e.Error != nil {
		out["error"] = map[string]any{"class": e.Error.Class, "failure": e.Error.Remedy(), "message": e.Error.Message, "node": e.Error.Node, "type": typeOf(f.draft.Node(e.Error.Node))}
	}
	w.items.put(a.WorkItemID, &workItem{
		Attempted: true, Evidence: evidence(e), ExecutionID: e.ID, ID: a.WorkItemID, Status: fmt.Sprint(out["status"]), Success: success,
		VerifiedAt: stamp(until), Version: f.version, WorkflowID: f.id,
	})
	effect := give(out)
	effect.Duration = until.Sub(e.started)
	return effect
}

// typeOf is the type of a node; empty if there is none.
func typeOf(n *graph.Node) string {
	if n == nil {
		return ""
	}
	return n.Type
}

// maxEvidence bounds the evidence of a verification, in characters.
const maxEvidence = 400

// evidence says how many items each node put out, and what failed.
func evidence(e *execution) string {
	var out []string
	for _, n := range e.result.Nodes {
		items := 0
		for _, port := range n.Output {
			items += len(port)
		}
		out = append(out, fmt.Sprintf("%s: %d", n.Name, items))
	}
	text := "items by node: " + strings.Join(out, ", ")
	if e.Error != nil {
		text = e.Error.Error() + "; " + text
	}
	return clip.Runes(text, maxEvidence)
}

// credentialsArgs are the arguments of apply-workflow-credentials.
type credentialsArgs struct {
	WorkItemID  string            `json:"workItemId"`
	Credentials map[string]string `json:"credentials"`
}

func (w *instance) applyCredentials(a credentialsArgs) world.Effect {
	item := w.items.all[a.WorkItemID]
	if item == nil {
		return world.Refuse("E_NOT_FOUND", "work item %q has no verified workflow", clip.Runes(a.WorkItemID, 64))
	}
	return w.onWorkflow(item.WorkflowID, func(f *workflow) world.Effect {
		g, updated := copied(f.draft), []string{}
		mocked := mocks(g)
		for i := range g.Nodes {
			kind, open := mocked[g.Nodes[i].Name]
			if !open {
				continue
			}
			c := w.credentials.all[a.Credentials[kind]]
			if c == nil || c.Type != kind {
				return world.Refuse("E_INCOMPLETE", "node %q needs the id of a credential of type %s; no node was changed", g.Nodes[i].Name, kind)
			}
			g.Nodes[i].Credentials = map[string]string{kind: c.ID}
			updated = append(updated, g.Nodes[i].Name)
		}
		if len(updated) > 0 {
			w.save(f, g, "agent")
			w.seen[f.id] = f.version
		}
		return give(map[string]any{"updatedNodes": updated})
	})
}
