package plan

import (
	"fmt"
	"slices"
)

// State is where a step is.
type State int

// The states. A step moves from Pending to Running, and from there to Done or
// Failed; one that depends on a failed step moves from Pending to Cancelled.
const (
	Pending State = iota
	Running
	Done
	Failed
	Cancelled
)

func (s State) String() string {
	return [...]string{"pending", "running", "done", "failed", "cancelled"}[s]
}

// Progress keeps where the steps of a valid plan are. It is not safe for
// concurrent use.
type Progress struct {
	steps []Step
	state map[string]State
	why   map[string]string
}

// NewProgress begins a plan: every step is pending. Dependencies that are no
// steps are inputs, which are there.
func NewProgress(p Plan) *Progress {
	g := &Progress{steps: p.Steps, state: map[string]State{}, why: map[string]string{}}
	for _, s := range p.Steps {
		g.state[s.ID] = Pending
	}
	return g
}

// Ready are the pending steps all of whose dependencies are done, in plan order.
func (g *Progress) Ready() []Step {
	var out []Step
	for _, s := range g.steps {
		if g.state[s.ID] == Pending && g.fulfilled(s) {
			out = append(out, s)
		}
	}
	return out
}

func (g *Progress) fulfilled(s Step) bool {
	return !slices.ContainsFunc(s.DependsOn, func(dep string) bool {
		state, isStep := g.state[dep]
		return isStep && state != Done
	})
}

// Steps are those of the plan, in its order.
func (g *Progress) Steps() []Step { return g.steps }

// Has reports whether there is a step of that id.
func (g *Progress) Has(id string) bool { _, ok := g.state[id]; return ok }

// State is where a step is.
func (g *Progress) State(id string) State { return g.state[id] }

// Why is what a step failed of, or was cancelled for; empty otherwise.
func (g *Progress) Why(id string) string { return g.why[id] }

// Over reports that every step is done, failed or cancelled.
func (g *Progress) Over() bool {
	for _, state := range g.state {
		if state == Pending || state == Running {
			return false
		}
	}
	return true
}

// Start begins a pending step. It panics, as Done and Fail do, when the step is not
// where it must be: that is a mistake of the caller.
func (g *Progress) Start(id string) { g.move(id, Pending, Running) }

// Done ends a running step.
func (g *Progress) Done(id string) { g.move(id, Running, Done) }

// Fail ends a running step and cancels all that depend on it, directly or not,
// which it returns in plan order.
func (g *Progress) Fail(id, why string) (cancelled []string) {
	g.move(id, Running, Failed)
	g.why[id] = why
	lost := map[string]bool{id: true}
	for more := true; more; { // a dependent may precede its dependency
		more = false
		for _, s := range g.steps {
			if !lost[s.ID] && slices.ContainsFunc(s.DependsOn, func(dep string) bool { return lost[dep] }) {
				lost[s.ID], more = true, true
			}
		}
	}
	for _, s := range g.steps {
		if s.ID != id && lost[s.ID] && g.state[s.ID] == Pending {
			g.move(s.ID, Pending, Cancelled)
			g.why[s.ID] = fmt.Sprintf("Cancelled: dependency %q failed", id)
			cancelled = append(cancelled, s.ID)
		}
	}
	return cancelled
}

func (g *Progress) move(id string, from, to State) {
	if state, ok := g.state[id]; !ok || state != from {
		panic(fmt.Sprintf("plan: step %q is %v, it cannot become %v", id, state, to))
	}
	g.state[id] = to
}
