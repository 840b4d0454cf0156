package flowsim

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/flowsim/interp"
	"github.com/cupel-eval/cupel/goldens/flowsim/table"
	"github.com/cupel-eval/cupel/internal/clip"
)

// wanted is a demand on a workflow of the final state.
type wanted struct {
	name, id  string
	published any // true, false, or nil where it does not matter
	runs      []trial
}

// trial is a run of a workflow after the episode, on a copy of the final state.
type trial struct {
	trigger, status string
	input           any
	at              time.Time
	// rows replaces, by table, what is in it; http answers before the fixtures of the state.
	rows             map[string][]map[string]any
	http             []fixture
	outputs, effects patterns
	judged, acted    bool // whether outputs and effects are demanded
}

// maxTrials bounds the runs of a demand.
const maxTrials = 50

// workflowDemand reads a demand on one workflow, or on several.
func (k kind) workflowDemand(v value) func(_, final json.RawMessage) []string {
	items := []value{v}
	if _, several := v.v.([]any); several {
		items = v.items()
	}
	var all []wanted
	for _, item := range items {
		o := item.fields("name", "id", "published", "runs")
		one := wanted{name: o.text("name", false), id: o.text("id", false), published: o.o["published"]}
		if (one.name == "") == (one.id == "") {
			item.fail("must have either the name or the id of a workflow")
		}
		_ = o.flag("published")
		runs := o.get("runs").items()
		if len(runs) == 0 && one.published == nil || len(runs) > maxTrials {
			item.fail("must have 1 to %d runs, or published", maxTrials)
		}
		for _, run := range runs {
			one.runs = append(one.runs, readTrial(run))
		}
		all = append(all, one)
	}
	return func(_, final json.RawMessage) (wrong []string) {
		d, err := restore(final)
		if err != nil {
			return []string{fmt.Sprintf("the final state cannot be read: %v", err)}
		}
		for _, one := range all {
			wrong = append(wrong, one.met(k.base, d)...)
		}
		return wrong
	}
}

func readTrial(v value) trial {
	o := v.fields("trigger", "input", "at", "status", "outputs", "effects", "rows", "http")
	t := trial{trigger: o.text("trigger", false), input: o.o["input"], at: o.time("at", epoch), status: o.choice("status", interp.Success, interp.Errored, interp.Waiting),
		rows: map[string][]map[string]any{}, judged: o.has("outputs"), acted: o.has("effects"), http: readFixtures(o.get("http"))}
	if t.trigger != "" && (graph.Find(t.trigger) == nil || graph.Find(t.trigger).Kind != graph.KindTrigger) {
		o.get("trigger").fail("%q is not a type of triggers", clip.Runes(t.trigger, 64))
	}
	if t.judged {
		t.outputs = expected(o.get("outputs"))
	}
	if t.acted {
		t.effects = expected(o.get("effects"))
	}
	for _, e := range o.get("rows").entries() {
		t.rows[e.key] = []map[string]any{}
		for _, item := range e.items() {
			row, ok := item.v.(map[string]any)
			if !ok {
				item.fail("must be a mapping of columns to values")
			}
			t.rows[e.key] = append(t.rows[e.key], row)
		}
	}
	return t
}

// met says what is wrong with the workflow of a demand; if several have its name, with the
// last of them, unless one is right.
func (d wanted) met(b *base, final *document) (wrong []string) {
	var found []*workflow
	for _, f := range all(&final.workflows) {
		if f.id == d.id || d.name != "" && f.name == d.name && !f.archived {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return []string{fmt.Sprintf("there is no workflow %q", d.name+d.id)}
	}
	for _, f := range found {
		if wrong = d.wrong(b, final, f); len(wrong) == 0 {
			return nil
		}
	}
	return wrong
}

func (d wanted) wrong(b *base, final *document, f *workflow) (wrong []string) {
	g, mode := f.draft, modeManual
	if d.published == true {
		mode = modeTrigger
		if v := f.find(f.active); v != nil {
			g = v.graph
		}
	}
	if d.published != nil && d.published != (f.active != "") {
		return []string{map[bool]string{true: f.id + ": want it published", false: f.id + ": want it unpublished"}[d.published == true]}
	}
	for i, t := range d.runs {
		for _, detail := range t.wrong(b, final, f, g, mode) {
			wrong = append(wrong, fmt.Sprintf("%s, run %d: %s", f.id, i+1, detail))
		}
	}
	return wrong
}

// wrong runs the workflow and says what differs from what is wanted.
func (t trial) wrong(b *base, final *document, f *workflow, g graph.Graph, mode string) (wrong []string) {
	start := g.Trigger()
	if start == nil || t.trigger != "" && start.Type != t.trigger {
		return []string{fmt.Sprintf("want a trigger of type %s", t.trigger)}
	}
	tables := final.tables.Clone()
	for name, rows := range t.rows {
		if err := replace(tables, name, rows, t.at); err != nil {
			return []string{fmt.Sprintf("the rows of %s do not fit: %v", name, err)}
		}
	}
	own := *b
	own.http = append(append([]fixture(nil), t.http...), b.http...)
	e := &execution{Mode: mode, WorkflowID: f.id, started: t.at, graph: g, trigger: interp.Trigger{Input: t.input}}
	until := time.Time{}
	if t.status == interp.Waiting {
		until = final.rests(&own, e, tables, time.Nanosecond)
	}
	e = final.look(&own, e, tables, until)
	if e.Status != t.status {
		detail := fmt.Sprintf("want status %s, got %s", t.status, e.Status)
		if e.Error != nil {
			detail += " (" + clip.Runes(e.Error.Error(), 200) + ")"
		}
		return []string{detail}
	}
	if t.judged {
		got := make([]any, len(e.result.Output))
		for i, item := range e.result.Output {
			got[i] = item
		}
		wrong = t.outputs.missing("outputs", got)
	}
	if t.acted {
		var effects []any
		for _, one := range e.result.Effects() {
			effects = append(effects, flat(final.effect(e, one))...)
		}
		wrong = append(wrong, t.effects.missing("effects", t.effects.compared(effects))...)
	}
	return wrong
}

// replace gives a table other rows.
func replace(tables *table.Set, name string, rows []map[string]any, at time.Time) error {
	t, err := tables.Find(name)
	if err != nil {
		return err
	}
	emptied := *t
	emptied.Rows = nil
	tables.Put(&emptied)
	_, err = tables.Insert(&emptied, rows, at)
	return err
}

// restore reads a state back, as far as workflows that are run need it.
func restore(text json.RawMessage) (*document, error) {
	var s struct {
		Credentials map[string]*credential `json:"credentials"`
		Tables      map[string]struct {
			Columns []table.Column            `json:"columns"`
			Name    string                    `json:"name"`
			Rows    map[string]map[string]any `json:"rows"`
		} `json:"tables"`
		Workflows map[string]struct {
			Active   string      `json:"activeVersion"`
			Archived bool        `json:"archived"`
			Draft    graph.Graph `json:"draft"`
			Version  string      `json:"draftVersion"`
			Name     string      `json:"name"`
			Versions map[string]struct {
				Graph *graph.Graph `json:"graph"`
			} `json:"versions"`
		} `json:"workflows"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	d := newDocument()
	for _, id := range sortedKeys(s.Credentials) {
		d.credentials.put(id, s.Credentials[id])
	}
	for _, id := range sortedKeys(s.Tables) {
		one := s.Tables[id]
		t := &table.Table{ID: id, Name: one.Name, Columns: one.Columns}
		for _, row := range sortedIDs(one.Rows) {
			values := map[string]any{}
			for name, v := range one.Rows[row] {
				if name != "id" && v != nil {
					values[name] = v
				}
			}
			t.Rows = append(t.Rows, &table.Row{ID: row, Values: values, Created: epoch, Updated: epoch})
		}
		d.tables.Put(t)
	}
	for _, id := range sortedKeys(s.Workflows) {
		one := s.Workflows[id]
		f := &workflow{id: id, name: one.Name, active: one.Active, archived: one.Archived, draft: one.Draft, version: one.Version}
		for _, number := range sortedIDs(one.Versions) {
			v := &version{id: number, graph: one.Draft}
			if g := one.Versions[number].Graph; g != nil {
				v.graph = *g
			}
			f.versions = append(f.versions, v)
		}
		d.workflows.putText(id, f, nil)
	}
	return &d, nil
}
