package flowsim

import (
	"cmp"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// advance lets happen what happens until a time.
func (w *instance) advance(at time.Time) {
	if at.Before(w.now) {
		at = w.now
	}
	for ; w.events < len(w.base.events); w.events++ {
		e := w.base.events[w.events]
		due := w.start.Add(e.at)
		if due.After(at) {
			break
		}
		w.proceedAll(due)
		w.now = due
		w.happen(e)
	}
	w.proceedAll(at)
	w.now = at
}

// proceedAll carries all running executions on to a time.
func (w *instance) proceedAll(at time.Time) {
	for _, id := range append([]string(nil), w.running...) {
		w.proceed(w.executions.all[id], at)
	}
}

// happen lets an event happen: a trigger fires, or a person edits a draft.
func (w *instance) happen(e event) {
	switch f := w.workflows.all[cmp.Or(e.fire, e.edit)]; {
	case f == nil || f.archived:
	case e.fire != "":
		if v := f.find(f.active); v != nil {
			w.proceed(w.begin(f, v.id, v.graph, modeTrigger, e.input), w.now)
		}
	default:
		text, detail := applyPatches(f.draft.Text(), e.patches)
		g, faults := graph.Parse(text)
		if detail != "" || len(faults) > 0 {
			return // the draft is not what it was, and the person leaves it alone
		}
		changed := *f
		w.save(&changed, g, "a colleague")
		w.keep(&changed)
	}
}
