package flowsim

import (
	"slices"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/flowsim/web"
)

// base is what the worlds of one state begin with, and what never changes in them. It is
// read only once it is made.
type base struct {
	document
	features  []string
	blocked   map[string]bool // tools that an administrator has blocked
	site      *web.Site
	templates []template
	practices map[string][]string
	http      []fixture
	latencies map[string]time.Duration // by node type, or by name of a node
	resources map[string]map[string][]resource
	events    []event // by time
	faults    []fault
}

// features are what an instance may have beyond the tools that each has.
var features = []string{"versions", "named_versions", "folders", "web_search", "sandbox"}

// needs has, by tool, the feature without which the tool is not offered.
var needs = map[string]string{
	"list-workflow-versions": "versions", "get-workflow-version": "versions", "restore-workflow-version": "versions",
	"update-workflow-version": "named_versions",
	"list-folders":            "folders", "create-folder": "folders", "delete-folder": "folders", "move-workflow-to-folder": "folders",
	"web-search":            "web_search",
	"write-sandbox-file":    "sandbox",
	"submit-workflow":       "sandbox",
	"materialize-node-type": "sandbox",
}

// lacks reports whether the features of the instance leave a tool out.
func (b *base) lacks(tool string) bool {
	feature, conditional := needs[tool]
	return conditional && !slices.Contains(b.features, feature)
}

// template is a workflow to learn from.
type template struct {
	id, name, description string
	graph                 graph.Graph
}

// resource is something that a service has, such as a channel.
type resource struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// event is something that happens at a time, whatever the agent does.
type event struct {
	at time.Duration // after the start
	// fire is the workflow whose active version is started with the input.
	fire  string
	input any
	// edit is the workflow whose draft a person changes: patches of its code.
	edit    string
	patches []patch
}

// patch replaces a text, which must occur once.
type patch struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// fault is what the state injects, besides the faults that every world has.
type fault struct {
	kind    string // stale_read or inject
	tool    string
	onCalls []int
	// url and node are where text is injected: into a page, or into the items of a node of
	// that name, as a field.
	url, node, field, text string
}

// isStale reports whether a call shows the instance as it was at the start.
func (w *instance) isStale(tool string) bool {
	return slices.ContainsFunc(w.faults, func(f fault) bool {
		return f.kind == faultStale && f.tool == tool && (len(f.onCalls) == 0 || slices.Contains(f.onCalls, w.calls[tool]))
	})
}

// injected is the text that faults add to a page.
func (b *base) injected(url string) (text string) {
	for _, f := range b.faults {
		if f.kind == faultInject && f.url != "" && f.url == url {
			text += f.text
		}
	}
	return text
}

// The faults of a state.
const (
	faultStale  = "stale_read"
	faultInject = "inject"
)
