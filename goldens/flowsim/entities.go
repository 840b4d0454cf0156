package flowsim

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/flowsim/table"
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
	tags := make([]any, len(f.tags))
	for i, name := range f.tags {
		tags[i] = name
	}
	var draft json.RawMessage
	versions := make(map[string]any, len(f.versions))
	for _, v := range f.versions {
		one := map[string]any{"author": v.author, "description": orNull(v.description), "name": orNull(v.name)}
		if v.id == f.version {
			draft = v.text
		} else {
			one["graph"] = v.text
		}
		versions[v.id] = one
	}
	return must(map[string]any{
		"activeVersion": orNull(f.active), "archived": f.archived, "draft": draft, "draftVersion": f.version, "folder": orNull(f.folder), "id": f.id,
		"name": f.name, "project": orNull(f.project), "tags": tags, "versions": versions,
	})
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

// writeTable writes a table with its rows by id, without the times of their changes.
func writeTable(t *table.Table) json.RawMessage {
	out := append(make([]byte, 0, 64*(len(t.Columns)+len(t.Rows)+1)), `{"columns":[`...)
	names := make([]string, 0, len(t.Columns)+1)
	for i, c := range t.Columns {
		if i > 0 {
			out = append(out, ',')
		}
		out = mustAppend(append(out, `{"name":`...), c.Name)
		out = append(mustAppend(append(out, `,"type":`...), c.Type), '}')
		names = append(names, c.Name)
	}
	names = append(names, "id")
	slices.Sort(names)
	rows := slices.SortedFunc(slices.Values(t.Rows), func(a, b *table.Row) int { return strings.Compare(a.ID, b.ID) })
	out = mustAppend(append(out, `],"id":`...), t.ID)
	out = mustAppend(append(out, `,"name":`...), t.Name)
	out = append(out, `,"rows":{`...)
	for i, r := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), r.ID...), `":{`...)
		for k, name := range names {
			if k > 0 {
				out = append(out, ',')
			}
			out = append(mustAppend(out, name), ':')
			if name == "id" {
				out = mustAppend(out, r.ID)
			} else {
				out = mustAppend(out, r.Values[name])
			}
		}
		out = append(out, '}')
	}
	return append(out, "}}"...)
}
