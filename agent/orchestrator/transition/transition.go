// Package transition has the tables of state machines: which event leads from which state
// to which. What is not in a table does not happen.
package transition

// Edge is one line of a table.
type Edge struct{ From, Event, To string }

func (e Edge) String() string { return e.From + " " + e.Event + " " + e.To }

// Table has at most one edge for each state and event.
type Table []Edge

// Find returns the edge that an event takes from a state; false if the event changes
// nothing there.
func (t Table) Find(from, event string) (Edge, bool) {
	for _, e := range t {
		if e.From == from && e.Event == event {
			return e, true
		}
	}
	return Edge{}, false
}
