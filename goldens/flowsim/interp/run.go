package interp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// The bounds of an execution.
const (
	maxNodes    = 100      // that run in one workflow
	maxItems    = 10_000   // that a node puts out
	maxBytes    = 16 << 20 // of the items that a node makes
	maxDepth    = 10       // workflows within workflows
	maxRuns     = 10_000   // of nodes, those of workflows within workflows included
	maxAllItems = maxNodes * maxItems
	maxAllBytes = 4 * maxBytes
	maxGraph    = 200 // nodes of a workflow
	maxTrace    = 1000
	// maxOperations is of all expressions, and of what acts on tables and addresses.
	maxOperations = 20_000_000
)

const defaultLatency = 50 * time.Millisecond

// work counts what an execution has done, together with those within it.
type work struct{ runs, items, bytes, operations int }

// execution is one workflow in progress.
type execution struct {
	graph   graph.Graph
	env     Env
	trigger Trigger
	work    *work
	depth   int
	// inside says that it is run by a node of another workflow.
	inside bool
	now    time.Time
	nodes  map[string]*state
	result Result
}

// state is a node that has run, and what it got.
type state struct {
	node *graph.Node
	run  *NodeRun
	// in has the items of all inputs, those of the first one first; second is where those
	// of the second begin.
	in      []Item
	second  int
	sources []source
}

// source is an output port that leads to a node.
type source struct {
	of           *state
	port, input  int
	begin, count int // where its items are among those that the node gets
}

// Run executes a workflow from its trigger, or continues it behind Env.Done.
func Run(g graph.Graph, trigger Trigger, env Env) Result {
	x := &execution{graph: g, env: env, trigger: trigger, work: &work{}}
	return x.run()
}

func (x *execution) run() Result {
	x.now = x.env.Start
	x.nodes = make(map[string]*state, len(x.graph.Nodes))
	x.result = Result{Status: Running, Started: x.now}
	err := x.steps()
	var failure *Failure
	switch ran := len(x.result.Nodes); {
	case x.late() && ran > 0 && x.result.Nodes[ran-1].Type == "wait":
		x.result.Status = Waiting
	case x.late():
	case errors.As(err, &failure):
		x.result.Status, x.result.Error = Errored, failure
	default:
		x.result.Status, x.result.Output = Success, x.output()
	}
	x.result.Finished = x.now
	return x.result
}

// late reports whether what comes next is after the time at which to look.
func (x *execution) late() bool { return !x.env.Until.IsZero() && x.now.After(x.env.Until) }

// steps runs the nodes that are due. The error is a *Failure, which ends the execution.
func (x *execution) steps() error {
	if len(x.graph.Nodes) > maxGraph {
		return &Failure{Class: ClassLimit, Message: fmt.Sprintf("the workflow has %d nodes; at most %d are allowed", len(x.graph.Nodes), maxGraph)}
	}
	order, cycle := x.graph.Order()
	if cycle != nil {
		return &Failure{Class: "graph", Message: "the nodes lead back to where they begin: " + strings.Join(cycle, " → ")}
	}
	start := x.graph.Trigger()
	if start == nil {
		return &Failure{Class: "graph", Message: "the workflow has no trigger"}
	}
	into := x.incoming(order)
	for _, i := range order {
		n := &x.graph.Nodes[i]
		s := x.gather(n, into[n.Name])
		if len(s.in) == 0 && n != start || x.graph.Node(n.Name) != n {
			continue
		}
		if x.late() {
			return nil
		}
		if s.run = x.done(n.Name); s.run == nil {
			run, err := x.node(s, n == start)
			if err != nil {
				return err
			}
			s.run = run
		}
		x.nodes[n.Name] = s
		x.result.Nodes = append(x.result.Nodes, *s.run)
		x.now = s.run.Finished()
		if f := s.run.Error; f != nil && (n.OnError != "continue" || f.Class == ClassLimit) {
			return f
		}
	}
	return nil
}

// done returns the run of a node in an earlier part of the execution; nil if there is none.
func (x *execution) done(name string) *NodeRun {
	for i := range x.env.Done {
		if x.env.Done[i].Name == name {
			return &x.env.Done[i]
		}
	}
	return nil
}

// link is a connection, seen from where it leads to.
type link struct {
	from        string
	port, input int
}

// incoming returns by node the connections that lead to it, in the order of the nodes that
// they come from.
func (x *execution) incoming(order []int) map[string][]link {
	into := make(map[string][]link, len(order))
	for _, i := range order {
		from := x.graph.Nodes[i].Name
		if x.graph.Node(from) != &x.graph.Nodes[i] {
			continue // a second node of the name does not run
		}
		for port, targets := range x.graph.Connections[from] {
			for _, t := range targets {
				into[t.Node] = append(into[t.Node], link{from, port, t.Input})
			}
		}
	}
	return into
}

// gather collects what a node gets.
func (x *execution) gather(n *graph.Node, links []link) *state {
	s := &state{node: n}
	for input := range 2 {
		s.second = max(s.second, len(s.in)*input)
		for _, l := range links {
			from := x.nodes[l.from]
			if l.input != input || from == nil || l.port >= len(from.run.Output) || len(from.run.Output[l.port]) == 0 {
				continue
			}
			items := from.run.Output[l.port]
			s.sources = append(s.sources, source{from, l.port, input, len(s.in), len(items)})
			if s.in == nil {
				s.in = items[:len(items):len(items)] // shared: most nodes have one source
			} else {
				s.in = append(s.in, items...)
			}
		}
	}
	return s
}

// node runs a node. The error is a *Failure of the whole execution.
func (x *execution) node(s *state, isStart bool) (*NodeRun, error) {
	n := s.node
	run := &NodeRun{Name: n.Name, Type: n.Type, Started: x.now, InputItems: len(s.in)}
	if len(x.result.Nodes) == maxNodes {
		return nil, &Failure{Node: n.Name, Class: ClassLimit, Message: fmt.Sprintf("more than %d nodes run", maxNodes)}
	}
	if x.work.runs++; x.work.runs > maxRuns {
		return nil, &Failure{Node: n.Name, Class: ClassLimit, Message: fmt.Sprintf("more than %d nodes run, those of other workflows included", maxRuns)}
	}
	c := &call{x: x, state: s, run: run}
	pins, pinned := x.env.Pins[n.Name]
	var err error
	switch {
	case pinned:
		run.Pinned = true
		err = c.pin(pins)
	case n.Disabled:
		run.Output = [][]Item{s.in[:s.second:s.second]}
		return run, nil
	case isStart:
		err = c.start()
	default:
		err = c.act()
	}
	if !c.fixed {
		run.Duration += defaultLatency
		if x.env.Latency != nil {
			run.Duration += x.env.Latency(n) - defaultLatency
		}
	}
	c.finish(err)
	return run, nil
}

// output collects the items of the nodes that lead nowhere.
func (x *execution) output() []Item {
	out := []Item{}
	for i := range x.graph.Nodes {
		n := &x.graph.Nodes[i]
		s := x.nodes[n.Name]
		if s == nil || s.node != n || x.leads(n.Name) {
			continue
		}
		for _, items := range s.run.Output {
			out = append(out, items...)
		}
	}
	return out
}

// leads reports whether a node is connected to another one.
func (x *execution) leads(name string) bool {
	return slices.ContainsFunc(x.graph.Connections[name], func(targets []graph.Target) bool {
		return slices.ContainsFunc(targets, func(t graph.Target) bool { return x.graph.Node(t.Node) != nil })
	})
}

// item returns the item of a node that an input item of s was made of, or with first the
// first one that the node put out. steps is how many items it looked at.
func (x *execution) item(s *state, at int, name string, first bool) (item Item, steps int, err error) {
	from := x.nodes[name]
	if from == nil {
		return nil, 0, fmt.Errorf("node %q has not run", name)
	}
	var head Item
	all := 0
	for _, items := range from.run.Output {
		if all += len(items); head == nil && len(items) > 0 {
			head = items[0]
		}
	}
	switch {
	case all == 0:
		return nil, 0, fmt.Errorf("node %q put out nothing", name)
	case first || all == 1:
		return head, 0, nil
	}
	if item = s.trace(at, from, &steps); item == nil {
		err = fmt.Errorf("no single item of node %q belongs to this one; use $('%s').first()", name, name)
	}
	return item, steps, err
}

// trace follows an input item back to a node. It returns nil if it was not made of one item
// of that node.
func (s *state) trace(at int, target *state, steps *int) Item {
	if *steps++; *steps > maxTrace {
		return nil
	}
	for _, src := range s.sources {
		if at < src.begin || at >= src.begin+src.count {
			continue
		}
		i := at - src.begin
		if src.of == target {
			return src.of.run.Output[src.port][i]
		}
		from, also := src.of.run.pair(src.port, i)
		if from >= 0 {
			if item := src.of.trace(from, target, steps); item != nil {
				return item
			}
		}
		if also >= 0 {
			return src.of.trace(also, target, steps)
		}
	}
	return nil
}

// pair returns the indexes of the input items that an item was made of; -1 without one.
func (n *NodeRun) pair(port, i int) (from, also int) {
	from, also = i, -1
	if port < len(n.From) && i < len(n.From[port]) {
		from = n.From[port][i]
	}
	if port < len(n.Also) && i < len(n.Also[port]) {
		also = n.Also[port][i]
	}
	return from, also
}

// start puts out what the trigger gets.
func (c *call) start() error {
	n := c.state.node
	if kind := c.x.trigger.Kind; kind != "" && kind != n.Type {
		return &Failure{Class: "trigger", Message: fmt.Sprintf("the workflow starts with a trigger of type %s, not %s", n.Type, kind)}
	}
	if c.x.inside && n.Type != "manual" {
		return &Failure{Class: "trigger", Message: fmt.Sprintf("the workflow starts with a trigger of type %s; another workflow can run it only if that is manual", n.Type)}
	}
	items, err := payload(n.Type, c.x.trigger.Input, c.x.now)
	for _, item := range items {
		if err == nil {
			err = c.put(item, -1)
		}
	}
	return err
}

// payload is what a trigger puts out.
func payload(kind string, input any, now time.Time) ([]Item, error) {
	object, isObject := input.(map[string]any)
	list, isList := input.([]any)
	switch {
	case kind == "schedule":
		return []Item{{
			"timestamp": now.Format(time.RFC3339), "date": now.Format(time.DateOnly), "time": now.Format(time.TimeOnly),
			"dayOfWeek": now.Weekday().String(), "year": float64(now.Year()), "month": now.Month().String(), "dayOfMonth": float64(now.Day()),
			"hour": float64(now.Hour()), "minute": float64(now.Minute()), "second": float64(now.Second()), "timezone": now.Location().String(),
		}}, nil
	case kind == "webhook":
		if input == nil {
			input = Item{}
		}
		return []Item{{"headers": Item{}, "query": Item{}, "body": input}}, nil
	case kind == "chat":
		return []Item{{"sessionId": "session_1", "action": "sendMessage", "chatInput": object["chatInput"]}}, nil
	case kind == "form" && (isObject || input == nil):
		item := Item{"submittedAt": now.Format(time.RFC3339), "formMode": "instanceAi"}
		maps.Copy(item, object)
		return []Item{item}, nil
	case kind == "manual" && input == nil:
		return []Item{{}}, nil
	case kind == "manual" && isObject:
		return []Item{object}, nil
	case kind == "manual" && isList:
		items := make([]Item, 0, len(list))
		for _, entry := range list {
			item, ok := entry.(map[string]any)
			if !ok {
				return nil, &Failure{Class: "trigger", Message: "each item of the input must be an object"}
			}
			items = append(items, item)
		}
		return items, nil
	}
	return nil, &Failure{Class: "trigger", Message: fmt.Sprintf("the input of a trigger of type %s must be an object", kind)}
}

// classify makes a *Failure of an error, with a class where it has none.
func classify(err error, class string) *Failure {
	var f *Failure
	switch {
	case errors.Is(err, formula.ErrLimit):
		return &Failure{Class: ClassLimit, Message: err.Error()}
	case errors.As(err, &f):
		copied := *f
		copied.Class = cmp.Or(copied.Class, class)
		return &copied
	}
	return &Failure{Class: class, Message: err.Error()}
}
