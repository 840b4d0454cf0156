package flowsim

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

var versionArgs = object{"workflowId!": workflowID, "versionId!": described(idSchema, "The id of a version, such as ver_1.")}

var versionTools = []offer{
	{"list-workflow-versions", groupWorkflow, "Lists the versions of a workflow, newest first.", object{"workflowId!": workflowID, "limit": whole(1, 100, 20), "skip": whole(0, 10_000, 0)}, reading((*instance).listVersions)},
	{"get-workflow-version", groupWorkflow, "Returns a version of a workflow with its nodes and connections.", versionArgs, reading((*instance).getVersion)},
	{"restore-workflow-version", groupWorkflow, "Makes an earlier version the draft of its workflow. What the draft was stays a version.", versionArgs, reading((*instance).restoreVersion)},
	{"update-workflow-version", groupWorkflow, "Names or describes a version; null takes the name or the description away.",
		object{"workflowId!": workflowID, "versionId!": idSchema, "name": nullable(anyText(128)), "description": nullable(anyText(2000))}, reading((*instance).updateVersion)},
}

func shownVersion(f *workflow, v *version) map[string]any {
	return map[string]any{"authors": v.author, "autosaved": false, "createdAt": stamp(v.created), "description": orNull(v.description),
		"isActive": f.active == v.id, "isCurrentDraft": f.version == v.id, "name": orNull(v.name), "versionId": v.id}
}

func (w *instance) listVersions(a workflowArgs) world.Effect {
	f := w.workflows.all[a.WorkflowID]
	if f == nil {
		return noWorkflow(a.WorkflowID)
	}
	out := []any{}
	for i, v := range slices.Backward(f.versions) {
		if len(f.versions)-1-i >= a.Skip && len(out) < cmp.Or(a.Limit, 20) {
			out = append(out, shownVersion(f, v))
		}
	}
	return give(map[string]any{"versions": out})
}

// noVersion refuses a call with an id that no version of a workflow has.
func noVersion(f *workflow, id string) world.Effect {
	return world.Refuse("E_NOT_FOUND", "workflow %s has no version %q; list-workflow-versions shows those it has", f.id, clip.Runes(id, 64))
}

// onVersion finds a version of a workflow and acts on copies of both.
func (w *instance) onVersion(a workflowArgs, do func(f *workflow, v *version) world.Effect) world.Effect {
	return w.onWorkflow(a.WorkflowID, func(f *workflow) world.Effect {
		v := f.find(a.VersionID)
		if v == nil {
			return noVersion(f, a.VersionID)
		}
		changed := *v
		f.versions = slices.Clone(f.versions)
		f.versions[slices.Index(f.versions, v)] = &changed
		return do(f, &changed)
	})
}

func (w *instance) getVersion(a workflowArgs) world.Effect {
	f := w.workflows.all[a.WorkflowID]
	if f == nil {
		return noWorkflow(a.WorkflowID)
	}
	v := f.find(a.VersionID)
	if v == nil {
		return noVersion(f, a.VersionID)
	}
	out := shownVersion(f, v)
	out["nodes"], out["connections"], out["settings"] = v.graph.Nodes, v.graph.Connections, settings(v.graph)
	return give(out)
}

func (w *instance) restoreVersion(a workflowArgs) world.Effect {
	return w.onVersion(a, func(f *workflow, v *version) world.Effect {
		if f.version != v.id {
			w.save(f, v.graph, "agent")
			w.seen[f.id] = f.version
		}
		return succeeded()
	})
}

func (w *instance) updateVersion(a workflowArgs) world.Effect {
	return w.onVersion(a, func(_ *workflow, v *version) world.Effect {
		for _, change := range []struct {
			to    *string
			given json.RawMessage
		}{{&v.name, a.Name}, {&v.description, a.Description}} {
			if change.given != nil {
				var text *string
				if err := json.Unmarshal(change.given, &text); err != nil {
					return world.Refuse("E_BAD_ARGS", "name and description are texts or null")
				}
				*change.to = ""
				if text != nil {
					*change.to = *text
				}
			}
		}
		return succeeded()
	})
}
