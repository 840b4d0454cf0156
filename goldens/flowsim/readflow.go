package flowsim

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/flowsim/interp"
	"github.com/cupel-eval/cupel/internal/clip"
)

// readGraph reads a graph; one without a name gets that of what it belongs to. Faults of it
// are problems, except that its credentials may be still to be set up.
func (b *base) readGraph(v value, name string) graph.Graph {
	object, ok := v.v.(map[string]any)
	if !ok {
		v.fail("must be a workflow: a mapping with nodes and connections")
		return graph.Graph{}
	}
	if object["name"] == nil {
		object = maps.Clone(object)
		object["name"] = name
	}
	g, faults := graph.FromJSON(object)
	if len(faults) == 0 {
		faults = graph.Check(g, graph.Env{})
	}
	for _, f := range faults {
		if !f.Warning() && f.Code != "credential.missing" {
			v.placed(g, f.Node, f.Path).fail("%s: %s", f.Code, f.Detail)
		}
	}
	return g
}

// placed is where a fault of a graph is: at a path of a node, or of the graph.
func (v value) placed(g graph.Graph, node, path string) value {
	if i := slices.IndexFunc(g.Nodes, func(n graph.Node) bool { return n.Name == node }); node != "" && i >= 0 {
		v = v.in("nodes", nil).in(strconv.Itoa(i), nil)
	}
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		v = v.in(part, nil)
	}
	return v
}

func (b *base) readWorkflows(v value) {
	entries := v.identified("wf", b.last)
	for _, e := range entries { // versions of the file come before those of the drafts
		e.in("versions", fields{e.value, asObject(e.v)}.o["versions"]).identified("ver", b.last)
	}
	for _, e := range entries {
		o := e.fields("name", "draft", "versions", "activeVersion", "published", "archived", "folder", "project", "tags", "createdAt")
		f := &workflow{id: e.key, name: o.text("name", true), archived: o.flag("archived"), folder: o.text("folder", false), project: o.text("project", false),
			tags: o.get("tags").words(), created: o.time("createdAt", epoch)}
		f.updated = f.created
		if f.project == "" {
			f.project = b.home()
		}
		for _, one := range o.get("versions").identified("ver", b.last) {
			p := one.fields("graph", "name", "description", "author", "createdAt")
			f.versions = append(f.versions, &version{id: one.key, name: p.text("name", false), description: p.text("description", false), author: p.text("author", false),
				created: p.time("createdAt", f.created), graph: b.readGraph(p.get("graph"), f.name)})
		}
		for _, v := range f.versions {
			v.text = plain(v.graph)
		}
		f.version = b.next("ver")
		f.draft = b.readGraph(o.get("draft"), f.name)
		f.versions = append(f.versions, &version{id: f.version, author: "the user", created: f.created, graph: f.draft, text: plain(f.draft)})
		if f.active = o.text("activeVersion", false); o.flag("published") {
			f.active = f.version
		}
		b.checkPlaces(f, o)
		b.workflows.put(f.id, f)
	}
}

func asObject(v any) map[string]any { o, _ := v.(map[string]any); return o }

// checkPlaces reports what a workflow names that does not exist.
func (b *base) checkPlaces(f *workflow, o fields) {
	if f.active != "" && f.find(f.active) == nil {
		o.get("activeVersion").fail("the workflow has no version %q", clip.Runes(f.active, 64))
	}
	if f.archived && f.active != "" {
		o.get("archived").fail("an archived workflow is not published")
	}
	if f.folder != "" && b.folders.all[f.folder] == nil {
		o.get("folder").fail("there is no folder %q", clip.Runes(f.folder, 64))
	}
	if b.projects.all[f.project] == nil {
		o.get("project").fail("there is no project %q", clip.Runes(f.project, 64))
	}
	for i, name := range f.tags {
		if !slices.ContainsFunc(all(&b.tags), func(t *tag) bool { return t.Name == name }) {
			o.get("tags").items()[i].fail("there is no tag %q", clip.Runes(name, 64))
		}
	}
}

// readExecutions runs the executions of the file again, each at its time: so what is known
// of them agrees with their workflows. What they did outside is part of the other state
// already.
func (b *base) readExecutions(v value) {
	for _, e := range v.identified("ex", b.last) {
		o := e.fields("workflow", "version", "mode", "input", "startedAt", "canceledAfter")
		f := b.workflows.all[o.text("workflow", true)]
		if f == nil {
			o.get("workflow").fail("there is no workflow %q", clip.Runes(o.text("workflow", false), 64))
			continue
		}
		id := o.text("version", false)
		if id == "" {
			id = f.version
		}
		v := f.find(id)
		if v == nil {
			o.get("version").fail("workflow %s has no version %q", f.id, clip.Runes(id, 64))
			continue
		}
		one := &execution{ID: e.key, Mode: o.choice("mode", modeTrigger, modeManual, modeTest), Version: id, WorkflowID: f.id,
			started: o.time("startedAt", epoch), graph: v.graph, trigger: interp.Trigger{Input: o.o["input"]}}
		until := time.Time{}
		if after := o.duration("canceledAfter"); after > 0 {
			until = one.started.Add(after)
		}
		one = b.look(b, one, b.tables.Clone(), until)
		if !one.ended() {
			one.Status, one.finished = statusCanceled, until
		}
		b.executions.put(e.key, one)
	}
}

// unfinished lists the executions that have not ended at a time, as they are then.
func (b *base) unfinished(at time.Time) (out []*execution) {
	for _, id := range b.executions.numbered() {
		if e := b.executions.all[id]; e.finished.After(at) && e.started.Before(at) {
			open := *e
			open.result = interp.Result{}
			out = append(out, b.look(b, &open, b.tables.Clone(), at))
		}
	}
	return out
}
