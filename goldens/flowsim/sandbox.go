package flowsim

import (
	"encoding/json"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

// The bounds of the sandbox.
const (
	maxFiles    = 64
	maxFileSize = 256 << 10 // bytes
)

var sandboxTools = []offer{
	{"write-sandbox-file", groupSandbox, "Writes a file below the workspace of the sandbox.", object{"path!": text(200), "content!": anyText(maxFileSize)}, reading((*instance).writeFile)},
	{"materialize-node-type", groupSandbox, "Writes the definition of a type of nodes into the sandbox, as node-types/NAME.json.", object{"nodeType!": nodeType}, reading((*instance).materialize)},
	{"submit-workflow", groupSandbox, "Checks the workflow in a file of the sandbox and saves it, as build-workflow does with its code.",
		object{"path!": text(200), "workflowId": described(idSchema, "The workflow to change; without it, as build-workflow.")}, reading((*instance).submitWorkflow)},
}

// fileArgs are the arguments of the tools of the sandbox.
type fileArgs struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	NodeType   string `json:"nodeType"`
	WorkflowID string `json:"workflowId"`
}

// badPath says why a path is not one below the workspace; empty if it is.
func badPath(name string) string {
	switch {
	case name == "" || len(name) > 200:
		return "a path has 1 to 200 bytes"
	case strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") || strings.ContainsAny(name, "\\:"):
		return "a path is relative, with / between folders"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "a path is UTF-8 without control characters"
	case path.Clean(name) != name || name == "." || strings.HasPrefix(name, "../") || name == "..":
		return "a path stays below the workspace, without . and .."
	}
	return ""
}

func (w *instance) writeFile(a fileArgs) world.Effect {
	if why := badPath(a.Path); why != "" {
		return world.Refuse("E_PATH", "%q: %s", clip.Runes(a.Path, 64), why)
	}
	if len(a.Content) > maxFileSize {
		return world.Refuse("E_LIMIT", "a file has at most %d KiB", maxFileSize>>10)
	}
	if len(w.files.ids) >= maxFiles && w.files.all[a.Path] == nil {
		return world.Refuse("E_LIMIT", "the sandbox has at most %d files", maxFiles)
	}
	w.files.put(a.Path, &a.Content)
	return give(map[string]any{"bytes": len(a.Content), "path": a.Path, "success": true})
}

func (w *instance) materialize(a fileArgs) world.Effect {
	t := graph.Find(a.NodeType)
	if t == nil {
		return noNodeType(a.NodeType)
	}
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return world.Refuse("E_INVALID", "%s", err)
	}
	return w.writeFile(fileArgs{Path: "node-types/" + t.Name + ".json", Content: string(text)})
}

func (w *instance) submitWorkflow(a fileArgs) world.Effect {
	content := w.files.all[a.Path]
	if content == nil {
		return world.Refuse("E_NOT_FOUND", "there is no file %q in the sandbox; it has: %s", clip.Runes(a.Path, 64), strings.Join(w.files.ids, ", "))
	}
	return w.buildWorkflow(workflowArgs{WorkflowID: a.WorkflowID, Code: *content})
}
