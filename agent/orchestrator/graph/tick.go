package graph

import "slices"

// Do is what the scheduler wants done.
type Do string

// What there is to do: nothing, plan again, sum up, let the orchestrator check, or start
// tasks.
const (
	Nothing    Do = "none"
	Replan     Do = "replan"
	Synthesize Do = "synthesize"
	Check      Do = "checkpoint"
	Dispatch   Do = "dispatch"
)

// Action is what the scheduler wants done, and with which tasks.
type Action struct {
	Do    Do
	Tasks []string
}

// Tick looks at the graph after an approval, a settlement or a freed slot. free is the
// number of tasks that may be started, builds how many builds may run at the same time, 0
// for as many as are free. Replan and Synthesize change the state; the tasks of the other
// actions are for the caller to Start.
func (g *Graph) Tick(free, builds int) Action {
	if g.State != Active {
		return Action{Do: Nothing}
	}
	if failed := g.where(func(t Task) bool { return t.Status == Failed }); len(failed) > 0 {
		g.move("task_failed")
		return Action{Replan, failed}
	}
	if !slices.ContainsFunc(g.Tasks, func(t Task) bool { return !t.settled() }) {
		g.move("all_settled")
		return Action{Do: Synthesize}
	}
	checking := slices.ContainsFunc(g.Tasks, func(t Task) bool { return t.Kind == Checkpoint && t.Status == Running })
	if ready := g.where(func(t Task) bool { return t.Kind == Checkpoint && g.ready(t) }); len(ready) > 0 && !checking {
		return Action{Check, ready[:1]}
	}
	building := len(g.where(func(t Task) bool { return t.Kind == Build && t.Status == Running }))
	ready := g.where(func(t Task) bool {
		if t.Kind == Checkpoint || !g.ready(t) || t.Kind == Build && builds > 0 && building >= builds {
			return false
		}
		if t.Kind == Build {
			building++
		}
		return true
	})
	if ready = ready[:min(len(ready), max(free, 0))]; len(ready) > 0 {
		return Action{Dispatch, ready}
	}
	return Action{Do: Nothing}
}

// where are the ids of the tasks that fit, in plan order.
func (g *Graph) where(fits func(Task) bool) []string {
	var out []string
	for _, t := range g.Tasks {
		if fits(t) {
			out = append(out, t.ID)
		}
	}
	return out
}

// ready reports a planned task all of whose dependencies have succeeded.
func (g *Graph) ready(t Task) bool {
	return t.Status == Planned && !slices.ContainsFunc(t.Deps, func(dep string) bool {
		d := g.Find(dep)
		return d == nil || d.Status != Succeeded
	})
}

// Item is a line of the checklist that people see.
type Item struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Status      string `json:"status"`
}

// Checklist is the plan as people see it.
func (g *Graph) Checklist() []Item {
	words := map[Status]string{Planned: "todo", Running: "in_progress", Succeeded: "done", Failed: "failed", Cancelled: "cancelled"}
	out := make([]Item, len(g.Tasks))
	for i, t := range g.Tasks {
		out[i] = Item{t.ID, t.Title, words[t.Status]}
	}
	return out
}

// Settled are the tasks that have ended, in plan order.
func (g *Graph) Settled() []Task {
	var out []Task
	for _, t := range g.Tasks {
		if t.settled() {
			out = append(out, t)
		}
	}
	return out
}
