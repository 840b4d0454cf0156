package interp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// simpleItem is an item that points at those that it was made of.
type simpleItem struct {
	json Item
	of   string // the node that put it out
	from []*simpleItem
}

// simple is a second interpreter, without regard to speed, limits or interruptions. It
// shares the types of package graph, Filter and nothing else with Run.
type simple struct {
	graph graph.Graph
	env   Env
	now   time.Time
	out   map[string][][]*simpleItem
	runs  []simpleRun
	fails *Failure
}

type simpleRun struct {
	Name    string
	At, End time.Time
	Output  [][]Item
	Effects []Effect
	Failed  *Failure
}

// run does what Run does and returns the items of the nodes that lead nowhere.
func (s *simple) run(trigger Trigger, items []Item) []*simpleItem {
	s.now, s.out = s.env.Start, map[string][][]*simpleItem{}
	settled := map[string]bool{}
	for s.fails == nil {
		n := s.next(settled)
		if n == nil {
			break
		}
		settled[n.Name] = true
		s.step(n, trigger, items)
	}
	var out []*simpleItem
	for _, n := range s.graph.Nodes {
		if len(slices.Concat(s.graph.Connections[n.Name]...)) == 0 {
			out = append(out, slices.Concat(s.out[n.Name]...)...)
		}
	}
	return out
}

// next is the first node that all nodes before it are settled for.
func (s *simple) next(settled map[string]bool) *graph.Node {
	for i, n := range s.graph.Nodes {
		ready := !settled[n.Name]
		for from, ports := range s.graph.Connections {
			for _, t := range slices.Concat(ports...) {
				ready = ready && (t.Node != n.Name || settled[from])
			}
		}
		if ready {
			return &s.graph.Nodes[i]
		}
	}
	return nil
}

func (s *simple) step(n *graph.Node, trigger Trigger, items []Item) {
	in := [2][]*simpleItem{}
	var order []string
	for _, r := range s.runs {
		order = append(order, r.Name)
	}
	for _, from := range order {
		for port, targets := range s.graph.Connections[from] {
			for _, t := range targets {
				if t.Node == n.Name && port < len(s.out[from]) {
					in[t.Input] = append(in[t.Input], s.out[from][port]...)
				}
			}
		}
	}
	start := graph.Find(n.Type).Kind == graph.KindTrigger
	if !start && len(in[0])+len(in[1]) == 0 {
		return
	}
	r := &simpleNode{s: s, n: n, in: slices.Concat(in[0], in[1]), first: in[0], second: in[1], took: 50 * time.Millisecond}
	if s.env.Latency != nil {
		r.took = s.env.Latency(n)
	}
	var err error
	switch {
	case n.Disabled:
		r.took = 0
		for _, item := range in[0] {
			r.put(0, item.json, item)
		}
	case start:
		for _, item := range simplePayload(n.Type, trigger.Input, items, s.now) {
			r.put(0, item)
		}
	default:
		err = r.act()
	}
	if err != nil {
		f := simpleFailure(err)
		f.Node, r.failed, r.out = n.Name, f, nil
		if n.OnError != "continue" {
			s.fails = f
		} else if n.Type != "stopAndError" {
			if len(r.in) == 1 {
				r.put(0, Item{"error": f.Message}, r.in[0])
			} else {
				r.put(0, Item{"error": f.Message})
			}
		}
	}
	run := simpleRun{Name: n.Name, At: s.now, Effects: r.effects, Failed: r.failed}
	for _, port := range r.out {
		plain := []Item{}
		for _, item := range port {
			plain = append(plain, item.json)
		}
		run.Output = append(run.Output, plain)
	}
	s.now = s.now.Add(r.took)
	run.End = s.now
	s.out[n.Name] = r.out
	s.runs = append(s.runs, run)
}

func simplePayload(kind string, input any, items []Item, now time.Time) []Item {
	o, _ := input.(map[string]any)
	switch {
	case items != nil:
		return items
	case kind == "form":
		item := Item{"submittedAt": now.Format(time.RFC3339), "formMode": "instanceAi"}
		for k, v := range o {
			item[k] = v
		}
		return []Item{item}
	case kind == "webhook":
		return []Item{{"headers": Item{}, "query": Item{}, "body": input}}
	case kind == "chat":
		return []Item{{"sessionId": "session_1", "action": "sendMessage", "chatInput": o["chatInput"]}}
	case kind == "schedule":
		return []Item{{"timestamp": now.Format(time.RFC3339), "date": "2026-03-02", "time": "09:00:00", "dayOfWeek": "Monday", "year": 2026.0, "month": "March", "dayOfMonth": 2.0, "hour": 9.0, "minute": 0.0, "second": 0.0, "timezone": "UTC"}}
	}
	if o != nil {
		return []Item{o}
	}
	var out []Item
	for _, v := range input.([]any) {
		out = append(out, v.(map[string]any))
	}
	return out
}

// simpleNode is one node that runs.
type simpleNode struct {
	s             *simple
	n             *graph.Node
	in            []*simpleItem
	first, second []*simpleItem
	out           [][]*simpleItem
	took          time.Duration
	effects       []Effect
	failed        *Failure
}

func (r *simpleNode) put(port int, item Item, from ...*simpleItem) {
	for len(r.out) <= port {
		r.out = append(r.out, nil)
	}
	r.out[port] = append(r.out[port], &simpleItem{item, r.n.Name, from})
}

func simpleFailure(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		copied := *f
		return &copied
	}
	return &Failure{Class: "expression", Message: err.Error()}
}

// each is for nodes that treat items one by one.
func (r *simpleNode) each(do func(item *simpleItem) error) error {
	for _, item := range r.in {
		if err := do(item); err != nil {
			if r.n.OnError != "continue" {
				return err
			}
			f := simpleFailure(err)
			f.Node, r.failed = r.n.Name, f
			r.put(0, Item{"error": f.Message}, item)
		}
	}
	return nil
}

// value fills the texts in a value for an item.
func (r *simpleNode) value(v any, item *simpleItem) (any, error) {
	switch v := v.(type) {
	case string:
		return simpleText(v, simpleEval{item: item, first: r.in[0].json, now: r.s.now.Format(time.RFC3339), node: func(name string, first bool) (Item, error) {
			return r.paired(name, first, item)
		}})
	case []any:
		out := []any{}
		for _, x := range v {
			y, err := r.value(x, item)
			if err != nil {
				return nil, err
			}
			out = append(out, y)
		}
		return out, nil
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			y, err := r.value(v[k], item)
			if err != nil {
				return nil, err
			}
			out[k] = y
		}
		return out, nil
	}
	return v, nil
}

func (r *simpleNode) paired(name string, first bool, item *simpleItem) (Item, error) {
	ports, ran := r.s.out[name]
	if !ran {
		return nil, fmt.Errorf("node %q has not run", name)
	}
	all := slices.Concat(ports...)
	if len(all) == 0 {
		return nil, fmt.Errorf("node %q put out nothing", name)
	}
	if first || len(all) == 1 {
		return all[0].json, nil
	}
	if found := simpleAncestor(item, name); found != nil {
		return found.json, nil
	}
	return nil, fmt.Errorf("no single item of node %q belongs to this one; use $('%s').first()", name, name)
}

func simpleAncestor(item *simpleItem, name string) *simpleItem {
	if item.of == name {
		return item
	}
	for _, from := range item.from {
		if found := simpleAncestor(from, name); found != nil {
			return found
		}
	}
	return nil
}

func simpleGet(item Item, path string) any {
	var v any = item
	for _, name := range strings.Split(path, ".") {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

// simpleSet returns a copy of an object with a field set.
func simpleSet(item Item, path string, v any) Item {
	out := maps.Clone(item)
	if out == nil {
		out = Item{}
	}
	name, rest, nested := strings.Cut(path, ".")
	if nested {
		child, _ := out[name].(map[string]any)
		v = simpleSet(child, rest, v)
	}
	out[name] = v
	return out
}

func simpleKey(v any) string { text, _ := json.Marshal(v); return string(text) }
