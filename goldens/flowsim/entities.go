package flowsim

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// workflow is one workflow: its draft, which is edited, and its versions, of which one may
// be active.
type workflow struct {
	id, name         string
	draft            graph.Graph
	version          string // of the draft
	active           string // the version that runs in production; empty if unpublished
	archived         bool
	folder, project  string
	tags             []string // names, in order
	versions         []*version
	created, updated time.Time
}

// version is a state of a workflow that was saved.
type version struct {
	id, name, description, author string
	created                       time.Time
	graph                         graph.Graph
	text                          json.RawMessage // canonical, of the graph
}

// find returns a version of the workflow; nil if it has none with this id.
func (f *workflow) find(id string) *version {
	if i := slices.IndexFunc(f.versions, func(v *version) bool { return v.id == id }); i >= 0 {
		return f.versions[i]
	}
	return nil
}

// orNull is null for an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// writeWorkflow writes what episodes are judged by: no times, which depend on how fast an
// agent was. The graph of the draft's version is not written twice.
func writeWorkflow(f *workflow) json.RawMessage {
	var draft json.RawMessage
	versions := make(map[string]*version, len(f.versions))
	for _, v := range f.versions {
		versions[v.id] = v
		if v.id == f.version {
			draft = v.text
		}
	}
	e := encoder{out: make([]byte, 0, 512+len(draft))}
	e.add(`{"activeVersion":`).orNull(f.active)
	e.add(`,"archived":`).value(f.archived)
	e.add(`,"draft":`).value(draft)
	e.add(`,"draftVersion":`).text(f.version)
	e.add(`,"folder":`).orNull(f.folder)
	e.add(`,"id":`).text(f.id)
	e.add(`,"name":`).text(f.name)
	e.add(`,"project":`).orNull(f.project)
	array(e.add(`,"tags":`), append([]string{}, f.tags...), e.text)
	members(e.add(`,"versions":`), versions, func(v *version) {
		e.add(`{"author":`).text(v.author)
		e.add(`,"description":`).orNull(v.description)
		if v.id != f.version {
			e.add(`,"graph":`).value(v.text)
		}
		e.add(`,"name":`).orNull(v.name)
		e.add("}")
	})
	e.add("}")
	return e.out
}

// plain is the canonical JSON of a graph.
func plain(g graph.Graph) json.RawMessage {
	text, err := tool.Canonical(must(g))
	if err != nil {
		panic(err) // of a graph, which is an object
	}
	return json.RawMessage(text)
}

// credential is what the instance shows of a credential, and its secret, which nothing
// shows.
type credential struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"` // ok, rejected or quota
	Type   string `json:"type"`

	secret           string
	created, updated time.Time
}

// The states of a credential.
const (
	credentialOK       = "ok"
	credentialRejected = "rejected"
	credentialQuota    = "quota"
)

type project struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type folder struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Parent  string `json:"parent"`
	Project string `json:"project"`
}

type tag struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// workItem is what is known of one workflow that is being built: the latest verification.
type workItem struct {
	Attempted   bool   `json:"attempted"`
	Evidence    string `json:"evidence"`
	ExecutionID string `json:"executionId"`
	ID          string `json:"id"`
	Status      string `json:"status"`
	Success     bool   `json:"success"`
	VerifiedAt  string `json:"verifiedAt"`
	Version     string `json:"version"`
	WorkflowID  string `json:"workflowId"`
}
