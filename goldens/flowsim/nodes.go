package flowsim

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

var nodeType = described(idSchema, "The name of a node type, such as httpRequest.")

var nodeTools = []offer{
	{"list-nodes", groupNode, "Lists the types of nodes of which workflows are made.", object{"query": described(anyText(200), "Only types whose name or description contains this.")}, reading((*instance).listNodes)},
	{"get-node-description", groupNode, "Describes a type of nodes: parameters, credentials, inputs and outputs.", object{"nodeType!": nodeType}, reading((*instance).describeNode)},
	{"get-node-type-definition", groupNode, "Returns the whole definition of up to five types of nodes.", object{"nodeTypes!": listOf(nodeType, 1, maxDefinitions)}, reading((*instance).defineNodes)},
	{"search-nodes", groupNode, "Finds types of nodes by words, best first, with hints and with the values that parameters may have.", object{"query!": text(200)}, reading((*instance).searchNodes)},
	{"get-suggested-nodes", groupNode, "Returns the types of nodes that suit up to three categories of workflows.",
		object{"categories!": listOf(oneOf(categoryNames()...), 1, 3)}, reading((*instance).suggestNodes)},
	{"explore-node-resources", groupNode, "Lists what a service has, such as channels or documents, for a parameter of a node.",
		object{"nodeType!": nodeType, "resource!": idSchema, "credentialId": credentialID}, reading((*instance).exploreResources)},
}

// maxDefinitions is how many types one call defines.
const maxDefinitions = 5

// nodeArgs are the arguments of the tools of node types.
type nodeArgs struct {
	Query        string   `json:"query"`
	NodeType     string   `json:"nodeType"`
	NodeTypes    []string `json:"nodeTypes"`
	Categories   []string `json:"categories"`
	Resource     string   `json:"resource"`
	CredentialID string   `json:"credentialId"`
}

// category is a use of workflows with the node types that suit it.
type category struct {
	name, advice string
	types        []string
}

var categories = []category{
	{"notification", "send one message for each item; aggregate first for one message in all", []string{"slack", "email", "aggregate"}},
	{"schedule", "a schedule has no data: read it with the next node", []string{"schedule", "httpRequest", "dataTable"}},
	{"form", "fields of the form are fields of the item", []string{"form", "dataTable", "email"}},
	{"webhook", "the payload is in body", []string{"webhook", "if", "httpRequest"}},
	{"data", "read, transform, and write rows", []string{"dataTable", "filter", "sort", "removeDuplicates", "sheet"}},
	{"branching", "each branch gets its own items; merge waits for both", []string{"if", "switch", "filter", "merge"}},
	{"api", "a status of 400 or more is an error, unless the node continues on errors", []string{"httpRequest", "splitOut", "set"}},
	{"chat", "the message is chatInput", []string{"chat", "switch", "executeWorkflow"}},
}

func categoryNames() (names []string) {
	for _, c := range categories {
		names = append(names, c.name)
	}
	return names
}

// noNodeType refuses a call with a name that no node type has.
func noNodeType(name string) world.Effect {
	near := ""
	if like := graph.Nearest(name); like != "" {
		near = "; did you mean " + like + "?"
	}
	return world.Refuse("E_NOT_FOUND", "there is no node type %q%s", clip.Runes(name, 64), near)
}

func (w *instance) listNodes(a nodeArgs) world.Effect {
	out := []any{}
	query := strings.ToLower(a.Query)
	for _, t := range graph.Types() {
		if strings.Contains(strings.ToLower(t.Name+" "+t.Description), query) {
			out = append(out, map[string]any{"description": t.Description, "displayName": t.Name, "group": t.Kind, "name": t.Name, "version": t.Newest()})
		}
	}
	return give(map[string]any{"nodes": out})
}

func (w *instance) describeNode(a nodeArgs) world.Effect {
	t := graph.Find(a.NodeType)
	if t == nil {
		return noNodeType(a.NodeType)
	}
	credentials := []string{}
	for _, c := range t.Credentials {
		credentials = append(credentials, c.Type)
	}
	return give(map[string]any{"credentials": credentials, "description": t.Description, "displayName": t.Name, "inputs": t.Inputs, "name": t.Name, "outputs": t.Outputs, "properties": t.Params})
}

func (w *instance) defineNodes(a nodeArgs) world.Effect {
	out := []any{}
	for _, name := range a.NodeTypes[:min(len(a.NodeTypes), maxDefinitions)] {
		t := graph.Find(name)
		if t == nil {
			return noNodeType(name)
		}
		out = append(out, t)
	}
	return give(map[string]any{"definitions": out})
}

func (w *instance) searchNodes(a nodeArgs) world.Effect {
	type hit struct {
		t     *graph.Type
		score int
	}
	var hits []hit
	for _, t := range graph.Types() {
		score := 0
		for word := range strings.FieldsSeq(strings.ToLower(a.Query)) {
			switch name := strings.ToLower(t.Name); {
			case name == word:
				score += 10
			case strings.Contains(name, word) || strings.Contains(word, name):
				score += 5
			case strings.Contains(strings.ToLower(t.Description), word) || t.Category == word:
				score += 2
			}
		}
		if score > 0 {
			hits = append(hits, hit{t, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	out := []any{}
	for _, h := range hits {
		values := map[string]any{}
		for _, p := range h.t.Params {
			if len(p.Enum) > 0 {
				values[p.Name] = p.Enum
			}
		}
		out = append(out, map[string]any{"credentials": h.t.Credentials, "description": h.t.Description, "discriminators": values, "group": h.t.Kind, "hints": h.t.Hints, "name": h.t.Name})
	}
	return give(map[string]any{"nodes": out})
}

func (w *instance) suggestNodes(a nodeArgs) world.Effect {
	out := []any{}
	for _, c := range categories {
		if !slices.Contains(a.Categories, c.name) {
			continue
		}
		nodes := []any{}
		for _, name := range c.types {
			nodes = append(nodes, map[string]any{"description": graph.Find(name).Description, "name": name})
		}
		out = append(out, map[string]any{"advice": c.advice, "category": c.name, "nodes": nodes})
	}
	return give(map[string]any{"suggestions": out})
}

func (w *instance) exploreResources(a nodeArgs) world.Effect {
	t := graph.Find(a.NodeType)
	if t == nil {
		return noNodeType(a.NodeType)
	}
	found, ok := w.resources[a.NodeType][a.Resource]
	if !ok {
		return world.Refuse("E_NOT_FOUND", "node type %s has no resource %q", t.Name, clip.Runes(a.Resource, 64))
	}
	if len(t.Credentials) > 0 {
		c := w.credentials.all[a.CredentialID]
		switch {
		case a.CredentialID == "":
			return world.Refuse("E_NO_CREDENTIAL", "the resources of %s need a credential of type %s", t.Name, t.Credentials[0].Type)
		case c == nil:
			return noCredential(a.CredentialID)
		case !slices.ContainsFunc(t.Credentials, func(k graph.Credential) bool { return k.Type == c.Type }):
			return world.Refuse("E_NO_CREDENTIAL", "credential %s is of type %s, which %s does not take", c.ID, c.Type, t.Name)
		case c.Status != credentialOK:
			return world.Refuse("E_CREDENTIAL", "401: the service rejects credential %s", c.ID)
		}
	}
	return give(map[string]any{"resources": found})
}
