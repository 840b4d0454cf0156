package flowsim

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

var (
	folderID  = described(idSchema, "The id of a folder, such as fd_1.")
	projectID = described(idSchema, "The id of a project, such as pr_1.")
)

var workspaceTools = []offer{
	{"list-projects", groupWorkspace, "Lists the projects.", object{}, reading((*instance).listProjects)},
	{"tag-workflow", groupWorkspace, "Gives a workflow these tags instead of those it has. Tags that do not exist are created.",
		object{"workflowId!": workflowID, "tags!": listOf(text(64), 0, 20)}, reading((*instance).tagWorkflow)},
	{"list-tags", groupWorkspace, "Lists the tags.", object{}, reading((*instance).listTags)},
	{"cleanup-test-executions", groupWorkspace, "Deletes the manual and test executions that ended more than some hours ago.",
		object{"workflowId": workflowID, "olderThanHours": whole(1, 8760, 1)}, reading((*instance).cleanup)},
	{"list-folders", groupWorkspace, "Lists the folders.", object{"projectId": projectID}, reading((*instance).listFolders)},
	{"create-folder", groupWorkspace, "Creates a folder.", object{"name!": text(128), "parentFolderId": folderID, "projectId": projectID}, reading((*instance).createFolder)},
	{"delete-folder", groupWorkspace, "Deletes a folder. Its workflows and folders go to another one, or to the folder above.",
		object{"folderId!": folderID, "transferToFolderId": folderID}, reading((*instance).deleteFolder)},
	{"move-workflow-to-folder", groupWorkspace, "Moves a workflow into a folder; null moves it out of any.",
		object{"workflowId!": workflowID, "folderId!": nullable(folderID)}, reading((*instance).moveWorkflow)},
}

// workspaceArgs are the arguments of the tools of the workspace.
type workspaceArgs struct {
	WorkflowID     string   `json:"workflowId"`
	Tags           []string `json:"tags"`
	OlderThanHours int      `json:"olderThanHours"`
	ProjectID      string   `json:"projectId"`
	FolderID       *string  `json:"folderId"`
	Name           string   `json:"name"`
	ParentFolderID string   `json:"parentFolderId"`
	TransferTo     string   `json:"transferToFolderId"`
}

// all lists the entities of a section by the numbers of their ids.
func all[T any](s *section[T]) []*T {
	out := []*T{}
	for _, id := range s.numbered() {
		out = append(out, s.all[id])
	}
	return out
}

func (w *instance) listProjects(struct{}) world.Effect {
	return give(map[string]any{"projects": all(&w.projects)})
}

func (w *instance) listTags(struct{}) world.Effect {
	return give(map[string]any{"tags": all(&w.tags)})
}

func (w *instance) tagWorkflow(a workspaceArgs) world.Effect {
	return w.onWorkflow(a.WorkflowID, func(f *workflow) world.Effect {
		f.tags = []string{}
		for _, name := range a.Tags {
			name = strings.TrimSpace(name)
			if name == "" || slices.Contains(f.tags, name) {
				continue
			}
			f.tags = append(f.tags, name)
			if !slices.ContainsFunc(all(&w.tags), func(t *tag) bool { return t.Name == name }) {
				t := &tag{w.next("tg"), name}
				w.tags.put(t.ID, t)
			}
		}
		return give(map[string]any{"success": true, "tags": f.tags})
	})
}

func (w *instance) cleanup(a workspaceArgs) world.Effect {
	before := w.now.Add(-time.Duration(cmp.Or(a.OlderThanHours, 1)) * time.Hour)
	var old []string
	for id, e := range w.executions.all {
		if e.Mode != modeTrigger && e.ended() && e.finished.Before(before) && (a.WorkflowID == "" || e.WorkflowID == a.WorkflowID) {
			old = append(old, id)
		}
	}
	slices.Sort(old)
	for _, id := range old {
		w.executions.remove(id)
	}
	return give(map[string]any{"deletedCount": len(old)})
}

func (w *instance) listFolders(a workspaceArgs) world.Effect {
	out := []any{}
	for _, f := range all(&w.folders) {
		if a.ProjectID == "" || f.Project == a.ProjectID {
			out = append(out, map[string]any{"id": f.ID, "name": f.Name, "parentFolderId": orNull(f.Parent), "projectId": orNull(f.Project)})
		}
	}
	return give(map[string]any{"folders": out})
}

// noFolder refuses a call with an id that no folder has.
func noFolder(id string) world.Effect {
	return world.Refuse("E_NOT_FOUND", "there is no folder %q; list-folders shows those that exist", clip.Runes(id, 64))
}

// maxFolders bounds how many folders an instance has.
const maxFolders = 500

func (w *instance) createFolder(a workspaceArgs) world.Effect {
	home := cmp.Or(a.ProjectID, w.home())
	parent := w.folders.all[a.ParentFolderID]
	switch {
	case a.ParentFolderID != "" && parent == nil:
		return noFolder(a.ParentFolderID)
	case a.ProjectID != "" && w.projects.all[a.ProjectID] == nil:
		return world.Refuse("E_NOT_FOUND", "there is no project %q; list-projects shows those that exist", clip.Runes(a.ProjectID, 64))
	case len(w.folders.ids) >= maxFolders:
		return world.Refuse("E_LIMIT", "an instance has at most %d folders", maxFolders)
	case parent != nil:
		home = parent.Project
	}
	for _, f := range w.folders.all {
		if f.Name == a.Name && f.Parent == a.ParentFolderID && f.Project == home {
			return world.Refuse("E_NAME_IN_USE", "the name %q is in use by folder %s", clip.Runes(a.Name, 64), f.ID)
		}
	}
	f := &folder{ID: w.next("fd"), Name: a.Name, Parent: a.ParentFolderID, Project: home}
	w.folders.put(f.ID, f)
	return give(map[string]any{"id": f.ID, "name": f.Name})
}

func (w *instance) deleteFolder(a workspaceArgs) world.Effect {
	id := ""
	if a.FolderID != nil {
		id = *a.FolderID
	}
	gone := w.folders.all[id]
	if gone == nil {
		return noFolder(id)
	}
	to := gone.Parent
	if a.TransferTo != "" {
		if to = a.TransferTo; w.folders.all[to] == nil {
			return noFolder(to)
		}
		for at := to; at != ""; at = w.folders.all[at].Parent {
			if at == id {
				return world.Refuse("E_BAD_ARGS", "folder %s is in the folder that is deleted", to)
			}
		}
	}
	for _, f := range all(&w.folders) {
		if f.Parent == id {
			moved := *f
			moved.Parent = to
			w.folders.put(f.ID, &moved)
		}
	}
	for _, f := range all(&w.workflows) {
		if f.folder == id {
			moved := *f
			moved.folder = to
			w.keep(&moved)
		}
	}
	w.folders.remove(id)
	return succeeded()
}

func (w *instance) moveWorkflow(a workspaceArgs) world.Effect {
	return w.onWorkflow(a.WorkflowID, func(f *workflow) world.Effect {
		f.folder = ""
		if a.FolderID != nil {
			if w.folders.all[*a.FolderID] == nil {
				return noFolder(*a.FolderID)
			}
			f.folder = *a.FolderID
		}
		return succeeded()
	})
}
