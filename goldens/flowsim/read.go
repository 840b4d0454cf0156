package flowsim

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/flowsim/interp"
	"github.com/cupel-eval/cupel/goldens/flowsim/table"
	"github.com/cupel-eval/cupel/goldens/flowsim/web"
	"github.com/cupel-eval/cupel/internal/clip"
)

// epoch is when everything was made that says nothing else.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// stateFields are the parts of a state that a suite gives.
var stateFields = []string{"workflows", "executions", "credentials", "tables", "projects", "folders", "tags", "files",
	"pages", "templates", "practices", "http", "latencies", "resources", "features", "permissions", "events", "faults"}

// readBase reads a state; the error joins a *world.StateError for each problem.
func readBase(state json.RawMessage) (*base, error) {
	v, err := decode(state)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	b := &base{document: newDocument(), blocked: map[string]bool{}, latencies: map[string]time.Duration{}, practices: map[string][]string{}, resources: map[string]map[string][]resource{}}
	f := value{r, nil, v}.fields(stateFields...)
	b.tables.OnChange = b.rows.changed
	b.readPlaces(f)
	b.readCredentials(f.get("credentials"))
	b.readTables(f.get("tables"))
	b.readWorkflows(f.get("workflows"))
	b.readFixed(f)
	b.readEvents(f.get("events"))
	b.readFaults(f.get("faults"))
	if len(r.errs) == 0 {
		b.readExecutions(f.get("executions"))
	}
	for _, p := range []interface{ forget() }{&b.workflows, &b.credentials, &b.executions, &b.projects, &b.folders, &b.tags, &b.files, &b.items, &b.rows} {
		p.forget()
	}
	return b, r.all()
}

// forget makes the present state the one that changes are compared with.
func (s *section[T]) forget() { s.before = nil }

func (b *base) readPlaces(f fields) {
	for _, e := range f.get("projects").identified("pr", b.last) {
		o := e.fields("name")
		b.projects.put(e.key, &project{e.key, o.text("name", true)})
	}
	if len(b.projects.ids) == 0 {
		b.projects.put(b.next("pr"), &project{"pr_1", "Personal"})
	}
	for _, e := range f.get("tags").identified("tg", b.last) {
		o := e.fields("name")
		b.tags.put(e.key, &tag{e.key, o.text("name", true)})
	}
	for _, e := range f.get("folders").identified("fd", b.last) {
		o := e.fields("name", "parent", "project")
		one := &folder{e.key, o.text("name", true), o.text("parent", false), o.text("project", false)}
		if one.Project == "" {
			one.Project = b.home()
		}
		if b.projects.all[one.Project] == nil {
			o.get("project").fail("there is no project %q", clip.Runes(one.Project, 64))
		}
		b.folders.put(e.key, one)
	}
	for _, e := range f.get("folders").entries() {
		seen := 0
		for at := b.folders.all[e.key]; at != nil && at.Parent != ""; at = b.folders.all[at.Parent] {
			if seen++; b.folders.all[at.Parent] == nil || seen > len(b.folders.ids) {
				e.in("parent", nil).fail("must lead to a folder that is not within this one")
				break
			}
		}
	}
	for _, e := range f.get("files").entries() {
		content, ok := e.v.(string)
		if why := badPath(e.key); why != "" || !ok {
			e.fail("must be a path below the workspace with a text: %s", why)
		}
		b.files.put(e.key, &content)
	}
}

func (b *base) readCredentials(v value) {
	for _, e := range v.identified("cr", b.last) {
		o := e.fields("name", "type", "secret", "status", "createdAt")
		c := &credential{ID: e.key, Name: o.text("name", true), Type: o.text("type", true), secret: o.text("secret", false),
			Status: o.choice("status", credentialOK, credentialRejected, credentialQuota), created: o.time("createdAt", epoch)}
		c.updated = c.created
		if c.Type != "" && credentialType(c.Type) == nil {
			names := []string{}
			for _, t := range graph.CredentialTypes() {
				names = append(names, t.Name)
			}
			o.get("type").fail("there is no type of credentials %q; types are: %s", clip.Runes(c.Type, 64), strings.Join(names, ", "))
		}
		b.credentials.put(e.key, c)
	}
}

func (b *base) readTables(v value) {
	for _, e := range v.identified("dt", b.last) {
		o := e.fields("name", "columns", "rows")
		t, err := b.tables.Create(e.key, o.text("name", true), nil)
		if err != nil {
			o.get("name").fail("%s", message(err))
			continue
		}
		for _, item := range o.get("columns").items() {
			c := item.fields("name", "type")
			if err := b.tables.AddColumn(t, table.Column{Name: c.text("name", true), Type: c.text("type", true)}); err != nil {
				item.fail("%s", message(err))
			}
			t, _ = b.tables.Find(e.key) // which exists
		}
		for _, item := range o.get("rows").items() {
			b.readRow(t, item)
			t, _ = b.tables.Find(e.key)
		}
	}
}

// readRow reads a row; a column that the table lacks is a problem of its own.
func (b *base) readRow(t *table.Table, item value) {
	row, ok := item.v.(map[string]any)
	if !ok {
		item.fail("must be a mapping of columns to values")
		return
	}
	for _, name := range sortedKeys(row) {
		if err := t.Fits(map[string]any{name: row[name]}); err != nil {
			item.in(name, nil).fail("%s", message(err))
			ok = false
		}
	}
	if !ok {
		return
	}
	if _, err := b.tables.Insert(t, []map[string]any{row}, epoch); err != nil {
		item.fail("%s", message(err))
	}
}

// message is what a refusal says.
func message(err error) string {
	if fault, ok := errors.AsType[*table.Error](err); ok {
		return fault.Message
	}
	return err.Error()
}

func (b *base) readFixed(f fields) {
	b.features = f.get("features").words()
	for i, name := range b.features {
		if !slices.Contains(features, name) {
			f.get("features").items()[i].fail("%q is not a feature; features are: %s", clip.Runes(name, 64), strings.Join(features, ", "))
		}
	}
	for _, e := range f.get("permissions").entries() {
		switch {
		case handlers[e.key] == nil:
			e.fail("there is no tool %q", clip.Runes(e.key, 64))
		case e.v != "blocked":
			e.fail("must be blocked; for the others, write approve: ask or approve: always at the tool of the suite")
		}
		b.blocked[e.key] = true
	}
	var pages []web.Page
	for _, item := range f.get("pages").items() {
		o := item.fields("url", "title", "content", "published", "redirect", "status")
		p := web.Page{URL: o.text("url", true), Title: o.text("title", false), Content: o.text("content", false), Published: o.text("published", false), Redirect: o.text("redirect", false), Status: o.whole("status")}
		pages = append(pages, p)
	}
	b.site = web.New(pages)
	for _, e := range f.get("templates").identified("tp", b.last) {
		o := e.fields("name", "description", "graph")
		b.templates = append(b.templates, template{e.key, o.text("name", true), o.text("description", false), b.readGraph(o.get("graph"), o.text("name", false))})
	}
	maps.Copy(b.practices, practices)
	for _, e := range f.get("practices").entries() {
		b.practices[e.key] = e.words()
	}
	b.http = readFixtures(f.get("http"))
	for _, e := range f.get("latencies").entries() {
		b.latencies[e.key] = fields{f.get("latencies"), map[string]any{e.key: e.v}}.duration(e.key)
	}
	b.readResources(f.get("resources"))
}

// readFixtures reads answers to requests.
func readFixtures(v value) (out []fixture) {
	for _, item := range v.items() {
		o := item.fields("method", "url", "query", "status", "headers", "body", "delay")
		query, _ := o.o["query"].(map[string]any)
		headers, _ := o.o["headers"].(map[string]any)
		status := o.whole("status")
		if status == 0 {
			status = 200
		}
		out = append(out, fixture{o.text("method", false), o.text("url", true), query, interp.Response{Status: status, Headers: headers, Body: o.o["body"], Delay: o.duration("delay")}})
	}
	return out
}

func (b *base) readResources(v value) {
	for _, e := range v.entries() {
		if graph.Find(e.key) == nil {
			e.fail("there is no node type %q", clip.Runes(e.key, 64))
		}
		b.resources[e.key] = map[string][]resource{}
		for _, kind := range e.entries() {
			for _, item := range kind.items() {
				o := item.fields("id", "name")
				b.resources[e.key][kind.key] = append(b.resources[e.key][kind.key], resource{o.text("id", true), o.text("name", true)})
			}
		}
	}
}

func (b *base) readEvents(v value) {
	for _, item := range v.items() {
		o := item.fields("at", "fire", "input", "edit", "patches")
		e := event{at: o.duration("at"), fire: o.text("fire", false), input: o.o["input"], edit: o.text("edit", false)}
		target := b.workflows.all[e.fire+e.edit]
		for _, p := range o.get("patches").items() {
			one := p.fields("old", "new")
			e.patches = append(e.patches, patch{one.text("old", true), one.text("new", false)})
		}
		switch {
		case (e.fire == "") == (e.edit == ""):
			item.fail("must have either fire or edit, with the id of a workflow")
		case target == nil:
			item.fail("there is no workflow %q", clip.Runes(e.fire+e.edit, 64))
		case e.edit != "":
			if _, detail := applyPatches(target.draft.Text(), e.patches); detail != "" || len(e.patches) == 0 {
				o.get("patches").fail("must change the draft: %s", detail)
			}
		}
		b.events = append(b.events, e)
	}
	slices.SortStableFunc(b.events, func(x, y event) int { return int(x.at - y.at) })
}

func (b *base) readFaults(v value) {
	for _, item := range v.items() {
		o := item.fields("kind", "tool", "on_calls", "url", "node", "field", "text", "credential")
		one := fault{kind: o.text("kind", true), tool: o.text("tool", false), url: o.text("url", false), node: o.text("node", false), field: o.text("field", false), text: o.text("text", false)}
		for _, n := range o.get("on_calls").items() {
			call, ok := n.v.(float64)
			if !ok || call < 1 {
				n.fail("must be the number of a call, from 1 on")
			}
			one.onCalls = append(one.onCalls, int(call))
		}
		switch one.kind {
		case faultStale:
			if handlers[one.tool] == nil {
				o.get("tool").fail("there is no tool %q", clip.Runes(one.tool, 64))
			}
		case faultInject:
			if one.text == "" || (one.url == "") == (one.node == "") || (one.node == "") != (one.field == "") {
				item.fail("a fault of kind inject has text and either url, or node and field")
			}
		case "credential_rejected", "quota":
			c := b.credentials.all[o.text("credential", true)]
			if c == nil {
				o.get("credential").fail("there is no credential %q", clip.Runes(o.text("credential", false), 64))
				continue
			}
			changed := *c
			changed.Status = map[string]string{"quota": credentialQuota, "credential_rejected": credentialRejected}[one.kind]
			b.credentials.put(c.ID, &changed)
		default:
			o.get("kind").fail("%q is not known; allowed: stale_read, inject, credential_rejected, quota", clip.Runes(one.kind, 64))
		}
		b.faults = append(b.faults, one)
	}
}
