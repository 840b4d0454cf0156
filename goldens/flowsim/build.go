package flowsim

import (
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

// mock is the placeholder of a credential that is still to be set up.
const mock = "mock"

// The bounds of what an instance holds.
const (
	maxWorkflows = 1000
	maxVersions  = 100 // of a workflow
)

// buildWorkflow checks a graph and saves it.
func (w *instance) buildWorkflow(a workflowArgs) world.Effect {
	if (a.Code == "") == (len(a.Patches) == 0) {
		return world.Refuse("E_BAD_ARGS", "give either code or patches")
	}
	target := a.WorkflowID
	if target != "" && w.workflows.all[target] == nil {
		return world.Refuse("E_NOT_FOUND", "there is no workflow %q; leave workflowId out for a new one", clip.Runes(target, 64))
	}
	text := a.Code
	if len(a.Patches) > 0 {
		if target == "" {
			target = w.coded
		}
		var refusal *world.Effect
		if text, refusal = w.patched(target, a.Patches); refusal != nil {
			return *refusal
		}
	}
	return w.build(target, text)
}

// patched applies patches to the text submitted or read last, of a workflow if one is given.
func (w *instance) patched(target string, patches []patch) (string, *world.Effect) {
	text := w.lastCode
	if target != "" && target != w.coded {
		text = w.code[target]
	}
	if f := w.workflows.all[target]; text == "" && f != nil {
		text = f.draft.Text()
	}
	if text == "" {
		return "", new(world.Refuse("E_NO_CODE", "there is nothing to patch: submit code first, or read a workflow with get-workflow-as-code"))
	}
	out, detail := applyPatches(text, patches)
	if detail != "" {
		return "", new(world.Refuse("E_PATCH", "%s", detail))
	}
	return out, nil
}

// applyPatches replaces texts, each of which must occur once; detail says which does not.
func applyPatches(text string, patches []patch) (out, detail string) {
	for _, p := range patches {
		switch strings.Count(text, p.Old) {
		case 1:
			text = strings.Replace(text, p.Old, p.New, 1)
		case 0:
			return "", "the text does not contain " + quote(p.Old) + "; nothing was changed. get-workflow-as-code returns the text"
		default:
			return "", "the text contains " + quote(p.Old) + " more than once; nothing was changed. Give more of what is around it"
		}
	}
	return text, ""
}

func quote(s string) string { return `"` + clip.Runes(s, 100) + `"` }

// build checks the text of a graph, and saves it as the draft of a workflow: of target, or
// of the one submitted last if the name is the same, or of a new one.
func (w *instance) build(target, text string) world.Effect {
	g, faults := graph.Parse(text)
	if len(faults) == 0 {
		faults = w.check(g)
	}
	if last := w.workflows.all[w.coded]; target == "" && last != nil && last.name == g.Name && !last.archived {
		target = last.id
	}
	if target == "" && len(w.workflows.ids) >= maxWorkflows {
		return world.Refuse("E_LIMIT", "an instance has at most %d workflows", maxWorkflows)
	}
	warnings := []graph.Fault{}
	for _, f := range faults {
		if !f.Warning() {
			w.submitted(target, text)
			return give(map[string]any{"errors": faults, "nodes": []string{}, "workflowId": orNull(target)})
		}
		warnings = append(warnings, f)
	}
	f := w.workflows.all[target]
	switch {
	case f == nil:
		f = &workflow{id: w.next("wf"), created: w.now, updated: w.now, project: w.home()}
	case f.archived:
		return world.Refuse("E_ARCHIVED", "workflow %s is archived; unarchive it first", target)
	case w.seen[target] != "" && w.seen[target] != f.version:
		return world.Refuse("draft_changed", "somebody has changed the draft of %s since you read it; read it again and keep that change", target)
	case len(f.versions) >= maxVersions:
		return world.Refuse("E_LIMIT", "a workflow has at most %d versions", maxVersions)
	}
	changed := *f
	w.save(&changed, g, "agent")
	w.workflows.put(changed.id, &changed)
	w.submitted(changed.id, text)
	w.seen[changed.id] = changed.version
	names := []string{}
	for _, n := range g.Nodes {
		names = append(names, n.Name)
	}
	out := map[string]any{"nodes": names, "workflowId": changed.id}
	if len(warnings) > 0 {
		out["warnings"] = warnings
	}
	return give(out)
}

// home is the project of new workflows: the first.
func (d *document) home() string {
	if ids := d.projects.numbered(); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// graphEnv says what exists around the graphs of the instance.
func (d *document) graphEnv() graph.Env {
	return graph.Env{
		Credential: func(id string) (string, bool) {
			c := d.credentials.all[id]
			if c == nil {
				return "", false
			}
			return c.Type, true
		},
		Workflow: func(id string) bool { f := d.workflows.all[id]; return f != nil && !f.archived },
	}
}

// check returns the faults of a graph in the instance. A node that has mock for a credential
// lacks it for now, which is not a fault.
func (d *document) check(g graph.Graph) []graph.Fault {
	return slices.DeleteFunc(graph.Check(g, d.graphEnv()), func(f graph.Fault) bool {
		n := g.Node(f.Node)
		return f.Code == "credential.missing" && n != nil && n.Credentials[needed(n)] == mock
	})
}

// publishWorkflow makes a version active, and before it the drafts of the workflows that it
// runs: all of them or none.
func (w *instance) publishWorkflow(a workflowArgs) world.Effect {
	f := w.workflows.all[a.WorkflowID]
	if f == nil {
		return noWorkflow(a.WorkflowID)
	}
	id := a.VersionID
	if id == "" {
		id = f.version
	}
	v := f.find(id)
	if v == nil {
		return world.Refuse("E_NOT_FOUND", "workflow %s has no version %q", f.id, clip.Runes(id, 64))
	}
	if t := v.graph.Trigger(); t == nil || t.Type == "manual" {
		return world.Refuse("E_NO_TRIGGER", "workflow %s has no trigger that runs in production; a manual trigger does not", f.id)
	}
	plan := map[string]string{}
	if detail := w.publishable(f, v, plan); detail != "" {
		return world.Refuse("E_NOT_PUBLISHABLE", "%s; nothing was published", detail)
	}
	also := []string{}
	for _, other := range slices.SortedFunc(maps.Keys(plan), compareIDs) {
		changed := *w.workflows.all[other]
		changed.active = plan[other]
		w.keep(&changed)
		if other != f.id {
			also = append(also, other)
		}
	}
	out := map[string]any{"activeVersionId": id, "success": true}
	if len(also) > 0 {
		out["alsoPublished"] = also
	}
	return give(out)
}

// publishable adds to plan what must be published for a version, by workflow. It returns
// what is in the way; empty if nothing is.
func (w *instance) publishable(f *workflow, v *version, plan map[string]string) string {
	plan[f.id] = v.id
	if f.archived {
		return "workflow " + f.id + " is archived"
	}
	for i := range v.graph.Nodes {
		n := &v.graph.Nodes[i]
		if kind := needed(n); kind != "" && w.credentials.all[n.Credentials[kind]] == nil {
			return "node " + quote(n.Name) + " of workflow " + f.id + " needs a credential of type " + kind
		}
		id, _ := n.Parameters["workflowId"].(string)
		if n.Type != "executeWorkflow" || n.Disabled || strings.Contains(id, "{{") {
			continue
		}
		sub := w.workflows.all[id]
		if sub == nil {
			return "node " + quote(n.Name) + " of workflow " + f.id + " runs a workflow that does not exist"
		}
		if _, planned := plan[id]; planned || sub.active != "" {
			continue
		}
		if detail := w.publishable(sub, sub.find(sub.version), plan); detail != "" {
			return detail
		}
	}
	return ""
}
