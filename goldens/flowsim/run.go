package flowsim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
	"github.com/cupel-eval/cupel/goldens/flowsim/interp"
	"github.com/cupel-eval/cupel/goldens/flowsim/table"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

// The modes of an execution.
const (
	modeManual  = "manual"
	modeTrigger = "trigger"
	modeTest    = "test"
)

const statusCanceled = "canceled"

// longWait is from where on a pause ends the wait of who runs a workflow.
const longWait = 65 * time.Second

// maxExecutions bounds how many executions an instance keeps.
const maxExecutions = 1000

// execution is one run of a workflow. What the state shows has no times: they depend on how
// fast an agent was.
type execution struct {
	Error      *interp.Failure `json:"error,omitempty"`
	ID         string          `json:"id"`
	Mode       string          `json:"mode"`
	Status     string          `json:"status"`
	Version    string          `json:"version"`
	WorkflowID string          `json:"workflow"`

	started, finished time.Time
	graph             graph.Graph
	trigger           interp.Trigger
	pins              map[string][]interp.Item
	result            interp.Result
}

// ended reports whether the execution will not change any more.
func (e *execution) ended() bool { return e.Status != interp.Running && e.Status != interp.Waiting }

// done are the nodes that have ended: not the last one, which is in progress
// or was cancelled.
func (e *execution) done() []interp.NodeRun {
	nodes := e.result.Nodes
	if len(nodes) > 0 && e.Status != interp.Success && e.Status != interp.Errored {
		return nodes[:len(nodes)-1]
	}
	return nodes
}

// nodeStatus is what a node that has started is doing at a time.
func (e *execution) nodeStatus(n *interp.NodeRun, at time.Time) string {
	switch {
	case e.Error != nil && n.Name == e.Error.Node:
		return interp.Errored
	case !n.Finished().After(at) || e.Status == interp.Success:
		return interp.Success
	case e.ended():
		return statusCanceled
	case n.Type == "wait":
		return interp.Waiting
	}
	return interp.Running
}

// environment is what an execution meets in the instance.
func (d *document) environment(b *base, e *execution, tables *table.Set, until time.Time) interp.Env {
	return interp.Env{
		Start: e.started, Until: until, Done: e.result.Nodes, Pins: e.pins, HTTP: b.answer,
		Latency: func(n *graph.Node) time.Duration {
			return cmp.Or(b.latencies[n.Name], b.latencies[n.Type], 50*time.Millisecond)
		},
		Credential: func(_ *graph.Node, kind, id string) error {
			switch c := d.credentials.all[id]; {
			case c == nil || c.Type != kind:
				return &interp.Failure{Class: "credential", Message: fmt.Sprintf("there is no credential %q of type %s", clip.Runes(id, 64), kind)}
			case c.Status == credentialRejected:
				return &interp.Failure{Class: "credential", Message: "401: the service rejects credential " + id}
			case c.Status == credentialQuota:
				return &interp.Failure{Class: "quota", Message: "the quota of the account of credential " + id + " is used up"}
			}
			return nil
		},
		Workflow: func(id string) (graph.Graph, bool) {
			f := d.workflows.all[id]
			switch {
			case f == nil || f.archived:
				return graph.Graph{}, false
			case e.Mode != modeTrigger:
				return f.draft, true
			}
			v := f.find(f.active)
			if v == nil {
				return graph.Graph{}, false
			}
			return v.graph, true
		},
		Tables: nodeTables{tables},
	}
}

// look returns an execution as it is at a time.
func (d *document) look(b *base, e *execution, tables *table.Set, at time.Time) *execution {
	out := *e
	out.result = interp.Run(e.graph, e.trigger, d.environment(b, e, tables, at))
	out.Status, out.Error, out.finished = out.result.Status, out.result.Error, out.result.Finished
	return &out
}

// begin begins an execution at the present.
func (w *instance) begin(f *workflow, v string, g graph.Graph, mode string, input any) *execution {
	return &execution{ID: w.next("ex"), Mode: mode, Status: interp.Running, Version: v, WorkflowID: f.id, started: w.now, graph: g, trigger: interp.Trigger{Input: input}}
}

// proceed carries an execution on to a time: its effects happen.
func (w *instance) proceed(e *execution, at time.Time) *execution {
	if len(w.executions.ids) >= maxExecutions && w.executions.all[e.ID] == nil {
		w.executions.remove(w.executions.numbered()[0])
	}
	next := w.look(w.base, e, w.tables, at)
	w.happened(next, next.result.Nodes[len(e.result.Nodes):])
	w.executions.put(e.ID, next)
	w.running = slices.DeleteFunc(w.running, func(id string) bool { return id == e.ID })
	if !next.ended() {
		w.running = append(w.running, e.ID)
	}
	return next
}

// happened records the effects of nodes that have started.
func (w *instance) happened(e *execution, nodes []interp.NodeRun) {
	for _, n := range nodes {
		for _, f := range n.Effects {
			if len(w.effects.raw) < maxEffects {
				w.effects.raw = append(w.effects.raw, must(w.effect(e, f)))
			}
		}
	}
}

// effect is an effect as the state shows it; tables have their names.
func (d *document) effect(e *execution, f interp.Effect) map[string]any {
	detail := maps.Clone(f.Detail)
	if name, ok := detail["table"].(string); ok {
		if t, err := d.tables.Find(name); err == nil {
			detail["table"] = t.Name
		}
	}
	return map[string]any{"detail": detail, "execution": e.ID, "kind": f.Kind, "mode": e.Mode, "node": f.Node, "workflow": cmp.Or(f.Workflow, e.WorkflowID)}
}

// maxEffects bounds how many effects an instance keeps.
const maxEffects = 20_000

// cancel ends an execution that has not ended.
func (w *instance) cancel(e *execution, at time.Time) *execution {
	out := *e
	out.Status, out.finished = statusCanceled, at
	w.executions.put(e.ID, &out)
	w.running = slices.DeleteFunc(w.running, func(id string) bool { return id == e.ID })
	return &out
}

// pause is when who runs a workflow stops waiting for it: where it ends, where it pauses
// for long, or at the timeout.
func (w *instance) pause(e *execution, timeout int) time.Time {
	deadline := e.started.Add(time.Duration(min(cmp.Or(timeout, defaultTimeout), maxTimeout)) * time.Millisecond)
	until := w.rests(w.base, e, w.tables, longWait)
	if until.After(deadline) {
		return deadline
	}
	return until
}

// rests is when an execution first pauses for at least a while, or else ends.
func (d *document) rests(b *base, e *execution, tables *table.Set, least time.Duration) time.Time {
	whole := d.look(b, e, tables.Clone(), time.Time{})
	for _, n := range whole.result.Nodes {
		if n.Type == "wait" && n.Duration >= least {
			return n.Started
		}
	}
	return whole.finished
}

func (w *instance) runWorkflow(a executionArgs) world.Effect {
	f := w.workflows.all[a.WorkflowID]
	switch {
	case f == nil:
		return noWorkflow(a.WorkflowID)
	case f.archived:
		return world.Refuse("E_ARCHIVED", "workflow %s is archived; unarchive it first", f.id)
	}
	e := w.begin(f, f.version, f.draft, modeManual, input(a.InputData))
	until := w.pause(e, a.Timeout)
	if e = w.proceed(e, until); e.Status == interp.Running {
		e = w.cancel(e, until)
	}
	shown := w.shown(e)
	if e.Status == statusCanceled {
		shown["error"] = map[string]any{"class": "timeout", "message": "the execution was cancelled at the timeout", "node": ""}
	}
	out := give(shown)
	out.Duration = until.Sub(e.started)
	return out
}

// input is the payload of a trigger; nil for none.
func input(given map[string]any) any {
	if given == nil {
		return nil
	}
	return given
}

// nodeTables are the data tables as nodes use them.
type nodeTables struct{ *table.Set }

// on finds a table and acts on it, as far as the rows that it returns.
func (t nodeTables) on(name string, do func(t *table.Table) ([]*table.Row, error)) ([]interp.Item, error) {
	found, err := t.Find(name)
	if err != nil {
		return nil, err
	}
	rows, err := do(found)
	if err != nil {
		return nil, err
	}
	out := make([]interp.Item, len(rows))
	for i, r := range rows {
		out[i] = found.Object(r)
	}
	return out, nil
}

func rowFilter(f interp.Filter) table.Filter {
	out := table.Filter{}
	if f.Any {
		out.Type = "or"
	}
	for _, c := range f.Conditions {
		out.Filters = append(out.Filters, table.Condition{Column: c.Column, Operator: cmp.Or(c.Operator, "eq"), Value: c.Value})
	}
	return out
}

// Insert implements interp.Tables.
func (t nodeTables) Insert(name string, values interp.Item, at time.Time) (interp.Item, error) {
	rows, err := t.on(name, func(found *table.Table) ([]*table.Row, error) {
		return t.Set.Insert(found, []map[string]any{values}, at)
	})
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// Select implements interp.Tables.
func (t nodeTables) Select(name string, f interp.Filter, limit int) ([]interp.Item, error) {
	return t.on(name, func(found *table.Table) ([]*table.Row, error) {
		rows, _, err := found.Query(rowFilter(f), 0, limit)
		return rows, err
	})
}

// Update implements interp.Tables.
func (t nodeTables) Update(name string, f interp.Filter, values interp.Item, at time.Time) ([]interp.Item, error) {
	return t.on(name, func(found *table.Table) ([]*table.Row, error) {
		return t.Set.Update(found, rowFilter(f), values, at)
	})
}

// Delete implements interp.Tables.
func (t nodeTables) Delete(name string, f interp.Filter) ([]interp.Item, error) {
	return t.on(name, func(found *table.Table) ([]*table.Row, error) { return t.DeleteRows(found, rowFilter(f)) })
}

// fixture is the answer to requests of nodes.
type fixture struct {
	method, url string // of the request; a URL that ends in * stands for all that begin so
	query       map[string]any
	response    interp.Response
}

// answer implements interp.Env.HTTP: by the first fixture that fits.
func (b *base) answer(r interp.Request) (interp.Response, error) {
	for _, f := range b.http {
		prefix, open := strings.CutSuffix(f.url, "*")
		same := r.URL == f.url || open && strings.HasPrefix(r.URL, prefix)
		if same && (f.method == "" || f.method == r.Method) && within(f.query, r.Query) {
			return f.response, nil
		}
	}
	return interp.Response{}, &interp.Failure{Class: "network", Message: "no answer from " + clip.Runes(r.URL, 200)}
}

// within reports whether an object has the members of another, as texts.
func within(part, whole map[string]any) bool {
	for name, want := range part {
		got, ok := whole[name]
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if !ok || strings.Trim(string(a), `"`) != strings.Trim(string(b), `"`) {
			return false
		}
	}
	return true
}

func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// sortedIDs are the keys of a map of entities by their numbers.
func sortedIDs[V any](m map[string]V) []string {
	return slices.SortedFunc(maps.Keys(m), compareIDs)
}
