package flowsim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

var workflowID = described(idSchema, "The id of a workflow, such as wf_1.")

// maxCode bounds what an agent submits as a workflow, in characters.
const maxCode = 1 << 20

var workflowTools = []offer{
	{"list-workflows", groupWorkflow, "Lists workflows. activeVersionId is null if a workflow is not published.",
		object{"query": described(anyText(200), "Only workflows whose name contains this."), "limit": whole(1, 100, 50), "status": oneOf("active", "archived", "all")}, reading((*instance).listWorkflows)},
	{"get-workflow", groupWorkflow, "Returns the draft of a workflow with nodes, connections and settings.", object{"workflowId!": workflowID}, reading((*instance).getWorkflow)},
	{"get-workflow-as-code", groupWorkflow, "Returns the draft of a workflow as the JSON text that build-workflow takes. Patches of the next build-workflow apply to it.", object{"workflowId!": workflowID}, reading((*instance).getCode)},
	{"build-workflow", groupWorkflow, "Checks a workflow and saves it as a draft, if nothing is wrong with it. Give code, the whole workflow as JSON text, or patches of the text submitted or read last. " +
		"A node whose credential is still to be set up names \"mock\" as the credential.",
		object{"code": described(text(maxCode), "{name, nodes: [{name, type, parameters, credentials: {type: id}}], connections: {from: [[{node, input}]]}}"),
			"patches":    described(listOf(object{"old!": text(maxCode), "new!": anyText(maxCode)}.schema(), 1, 50), "Each old text must occur exactly once; it is replaced."),
			"workflowId": described(idSchema, "The workflow to change. Without it, code makes a new one, or changes the one submitted last if the name is the same.")}, reading((*instance).buildWorkflow)},
	{"delete-workflow", groupWorkflow, "Archives a workflow and unpublishes it. unarchive-workflow brings it back.", object{"workflowId!": workflowID}, reading((*instance).deleteWorkflow)},
	{"unarchive-workflow", groupWorkflow, "Brings an archived workflow back, unpublished.", object{"workflowId!": workflowID}, reading((*instance).unarchiveWorkflow)},
	{"setup-workflow", groupWorkflow, "Asks the user to set up the credentials that the nodes of a workflow lack, node by node.", object{"workflowId!": workflowID}, reading((*instance).setupWorkflow)},
	{"publish-workflow", groupWorkflow, "Publishes a workflow: its version runs in production. Workflows that it runs are published first.",
		object{"workflowId!": workflowID, "versionId": described(idSchema, "The version to publish; without it, the draft.")}, reading((*instance).publishWorkflow)},
	{"unpublish-workflow", groupWorkflow, "Stops a workflow from running in production. The draft stays.", object{"workflowId!": workflowID}, reading((*instance).unpublishWorkflow)},
}

// workflowArgs are the arguments of the tools of workflows and their versions.
type workflowArgs struct {
	WorkflowID  string          `json:"workflowId"`
	VersionID   string          `json:"versionId"`
	Query       string          `json:"query"`
	Limit       int             `json:"limit"`
	Skip        int             `json:"skip"`
	Status      string          `json:"status"`
	Code        string          `json:"code"`
	Patches     []patch         `json:"patches"`
	Name        json.RawMessage `json:"name"`
	Description json.RawMessage `json:"description"`
}

func (e *encoder) workflow(f *workflow) {
	e.add(`{"activeVersionId":`).orNull(f.active)
	e.add(`,"createdAt":`).stamp(f.created)
	e.add(`,"id":`).text(f.id)
	e.add(`,"isArchived":`).value(f.archived)
	e.add(`,"name":`).text(f.name)
	e.add(`,"updatedAt":`).stamp(f.updated)
	e.add("}")
}

func (w *instance) listWorkflows(a workflowArgs) world.Effect {
	found, query := []*workflow{}, strings.ToLower(a.Query)
	limit, more := cmp.Or(a.Limit, 50), 0
	for _, id := range w.workflows.numbered() {
		f := w.workflows.all[id]
		if a.Status != "all" && f.archived != (a.Status == "archived") || query != "" && !strings.Contains(strings.ToLower(f.name), query) {
			continue
		}
		if len(found) == limit {
			more++
			continue
		}
		found = append(found, f)
	}
	e := encoder{out: make([]byte, 0, 192*(len(found)+1))}
	array(&e, found, e.workflow)
	result := map[string]any{"workflows": json.RawMessage(e.out)}
	if more > 0 {
		result["hint"] = fmt.Sprintf("%d more workflows match: raise the limit, or give a query", more)
	}
	return give(result)
}

// maxOthers bounds how many workflows are named to a model that asks for one that is not there.
const maxOthers = 25

// unknownWorkflow is what a read of an id that does not exist returns.
func (w *instance) unknownWorkflow(id string) world.Effect {
	others := []any{}
	for _, other := range w.workflows.numbered() {
		if f := w.workflows.all[other]; !f.archived && len(others) < maxOthers {
			others = append(others, map[string]any{"id": f.id, "name": f.name})
		}
	}
	return give(map[string]any{"availableWorkflows": others, "found": false, "hint": fmt.Sprintf("there is no workflow %q: do not try again with a guessed id; take one of these, or ask the user", clip.Runes(id, 64))})
}

// noWorkflow refuses a call with an id that no workflow has.
func noWorkflow(id string) world.Effect {
	return world.Refuse("E_NOT_FOUND", "there is no workflow %q; list-workflows shows those that exist", clip.Runes(id, 64))
}

// onWorkflow finds a workflow and acts on a copy of it, which is then kept.
func (w *instance) onWorkflow(id string, do func(f *workflow) world.Effect) world.Effect {
	f := w.workflows.all[id]
	if f == nil {
		return noWorkflow(id)
	}
	changed := *f
	e := do(&changed)
	if e.Outcome == "ok" {
		w.keep(&changed)
	}
	return e
}

// keep replaces a workflow, if it has changed.
func (w *instance) keep(f *workflow) {
	if text := writeWorkflow(f); !bytes.Equal(text, w.workflows.raw[f.id]) {
		f.updated = w.now
		w.workflows.putText(f.id, f, text)
	}
}

func (w *instance) getWorkflow(a workflowArgs) world.Effect {
	f := w.workflows.all[a.WorkflowID]
	if f == nil {
		return w.unknownWorkflow(a.WorkflowID)
	}
	w.seen[f.id] = f.version
	return give(map[string]any{"activeVersionId": orNull(f.active), "connections": f.draft.Connections, "id": f.id, "isArchived": f.archived, "name": f.name, "nodes": f.draft.Nodes, "settings": settings(f.draft)})
}

func settings(g graph.Graph) map[string]any {
	if g.Settings == nil {
		return map[string]any{}
	}
	return g.Settings
}

func (w *instance) getCode(a workflowArgs) world.Effect {
	f := w.workflows.all[a.WorkflowID]
	if f == nil {
		return w.unknownWorkflow(a.WorkflowID)
	}
	w.submitted(f.id, f.draft.Text())
	w.seen[f.id] = f.version
	return give(map[string]any{"code": w.lastCode, "workflowId": f.id})
}

// submitted remembers the text that the next patches apply to.
func (w *instance) submitted(id, text string) {
	w.coded, w.lastCode = id, text
	if id != "" {
		w.code[id] = text
	}
}

func (w *instance) deleteWorkflow(a workflowArgs) world.Effect {
	return w.onWorkflow(a.WorkflowID, func(f *workflow) world.Effect {
		f.archived, f.active = true, ""
		return succeeded()
	})
}

func succeeded() world.Effect { return give(map[string]any{"success": true}) }

func (w *instance) unarchiveWorkflow(a workflowArgs) world.Effect {
	return w.onWorkflow(a.WorkflowID, func(f *workflow) world.Effect {
		f.archived = false
		return succeeded()
	})
}

func (w *instance) unpublishWorkflow(a workflowArgs) world.Effect {
	return w.onWorkflow(a.WorkflowID, func(f *workflow) world.Effect {
		f.active = ""
		return succeeded()
	})
}

// lacking calls do for each node of a graph that lacks a credential, with the type that it needs.
func (w *instance) lacking(g graph.Graph, do func(n *graph.Node, kind string)) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if kind := needed(n); kind != "" && w.credentials.all[n.Credentials[kind]] == nil {
			do(n, kind)
		}
	}
}

// Asks lets a person set up a workflow node by node.
func (w *instance) Asks(c tool.Call) (nodes []json.RawMessage, ok bool) {
	var a workflowArgs
	if c.Name != "setup-workflow" || json.Unmarshal(c.Args, &a) != nil {
		return nil, false
	}
	if f := w.workflows.all[a.WorkflowID]; f != nil {
		w.lacking(f.draft, func(n *graph.Node, kind string) {
			nodes = append(nodes, must(map[string]string{"credentialType": kind, "node": n.Name, "nodeType": n.Type, "workflowId": f.id}))
		})
	}
	return nodes, true
}

// setupWorkflow gives each node that lacks a credential the one that the user selected, or one of
// its type. Nodes that have one, and those that the user skipped, stay as they are.
func (w *instance) setupWorkflow(a workflowArgs) world.Effect {
	return w.onWorkflow(a.WorkflowID, func(f *workflow) world.Effect {
		completed, skipped, failed, lacked := []string{}, []string{}, []string{}, map[string]bool{}
		g := copied(f.draft)
		w.lacking(g, func(n *graph.Node, kind string) {
			var said person.Answer // no person was asked, so the user's choice counts
			if at := len(lacked); at < len(w.said) {
				said = w.said[at]
			}
			lacked[n.Name] = true
			if said.Say == person.Skip {
				skipped = append(skipped, n.Name)
				return
			}
			id := w.chosen(said, kind)
			if id == "" {
				failed = append(failed, n.Name)
				return
			}
			n.Credentials = map[string]string{kind: id}
			completed = append(completed, n.Name)
		})
		if n := len(w.said); n > 0 && n != len(lacked) {
			return world.Refuse("draft_changed", "the draft of %s was changed while the user was asked; set it up again", f.id)
		}
		for i := range g.Nodes {
			if n := &g.Nodes[i]; needed(n) != "" && !lacked[n.Name] {
				skipped = append(skipped, n.Name)
			}
		}
		if len(completed) > 0 {
			w.save(f, g, "the user")
		}
		return give(map[string]any{"completedNodes": completed, "failedNodes": failed, "skippedNodes": skipped})
	})
}

// needed is the type of the credential that a node must have; empty if none.
func needed(n *graph.Node) string {
	if t := graph.Find(n.Type); t != nil && !n.Disabled {
		return t.Needs(n)
	}
	return ""
}

// copied is a graph whose nodes can be changed.
func copied(g graph.Graph) graph.Graph {
	g.Nodes = slices.Clone(g.Nodes)
	return g
}

// chosen returns the credential of a type that the user selected, empty if it cannot be used; of a
// user who selected none the first that works, or else a new one.
func (w *instance) chosen(said person.Answer, kind string) string {
	if said.Say == person.Select {
		if c := w.credentials.all[said.Text]; c != nil && c.Type == kind && c.Status == credentialOK {
			return c.ID
		}
		return ""
	}
	for _, id := range w.credentials.numbered() {
		if c := w.credentials.all[id]; c.Type == kind && c.Status == credentialOK {
			return id
		}
	}
	return w.newCredential(kind)
}

// save makes a graph the draft of a workflow, as a version of its own. Patches apply to it
// from then on.
func (w *instance) save(f *workflow, g graph.Graph, author string) {
	v := &version{id: w.next("ver"), author: author, created: w.now, graph: g, text: plain(g)}
	if delete(w.code, f.id); w.coded == f.id {
		w.lastCode = ""
	}
	f.draft, f.version, f.name = g, v.id, cmp.Or(g.Name, f.name)
	f.versions = append(slices.Clip(f.versions), v)
}
