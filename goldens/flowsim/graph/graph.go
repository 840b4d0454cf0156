// Package graph holds the workflows of a simulated automation instance: nodes, their
// connections, the catalogue of node types, and the check that says all faults of a graph
// at once. It runs nothing.
//
// A graph is JSON: {name, nodes: [{name, type, typeVersion, parameters, credentials,
// disabled, onError}], connections: {from: [[{node, input}]]}, settings}. The lists of a
// connection are, in order, those of the output ports of the node `from`.
package graph

import (
	"fmt"
	"slices"
	"strings"
)

// The bounds of a graph. Those of an execution are the interpreter's.
const (
	maxNodes      = 200
	maxParameters = 64 << 10 // bytes of JSON of a node's parameters
	maxText       = 16 << 20 // bytes of a graph as JSON
	maxName       = 128      // characters of a name
	maxFaults     = 100
)

// Graph is a workflow as it is drawn.
type Graph struct {
	Name  string `json:"name"`
	Nodes []Node `json:"nodes"`
	// Connections has, by the name of a node, the targets of each of its output ports.
	Connections map[string][][]Target `json:"connections"`
	Settings    map[string]any        `json:"settings,omitempty"`
}

// Node is one step of a workflow.
type Node struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Version is one of the type's; 0 is the newest.
	Version    int            `json:"typeVersion"`
	Parameters map[string]any `json:"parameters"`
	// Credentials has the id of a credential by its type.
	Credentials map[string]string `json:"credentials,omitempty"`
	// Disabled nodes pass on what they get.
	Disabled bool `json:"disabled,omitempty"`
	// OnError is what an error of the node does: stop (also "") ends the execution,
	// continue puts an item with the error in the place of the item that failed.
	OnError string `json:"onError,omitempty"`
}

// Target is the input port of a node that an output port leads to.
type Target struct {
	Node  string `json:"node"`
	Input int    `json:"input"`
}

// Fault is one thing wrong with a graph.
type Fault struct {
	// Code is of a fixed list, such as param.required.
	Code string `json:"code"`
	// Node is the name of the node; "" if it concerns the graph.
	Node string `json:"node,omitempty"`
	// Path is the place in the node or, without a node, in the graph.
	Path string `json:"path,omitempty"`
	// Detail says what is wrong and what is allowed.
	Detail string `json:"detail"`
}

// Unreachable is the code of the one fault that is a warning: the graph can be saved and run.
const Unreachable = "node.unreachable"

// Warning reports whether a graph with this fault can be saved and run anyway.
func (f Fault) Warning() bool { return f.Code == Unreachable }

// String prints the fault on one line.
func (f Fault) String() string {
	place := f.Path
	if f.Node != "" {
		place = strings.TrimSuffix(fmt.Sprintf("node %q, %s", f.Node, f.Path), ", ")
	}
	return strings.TrimPrefix(fmt.Sprintf("%s: %s: %s", place, f.Code, f.Detail), ": ")
}

// Node returns the node of a name; nil if there is none. Of several with one name, it is
// the first.
func (g *Graph) Node(name string) *Node {
	if i := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.Name == name }); i >= 0 {
		return &g.Nodes[i]
	}
	return nil
}

// Trigger returns the node that starts the workflow: the first trigger that is not
// disabled; nil if there is none.
func (g *Graph) Trigger() *Node {
	for i, n := range g.Nodes {
		if t := Find(n.Type); t != nil && t.Kind == KindTrigger && !n.Disabled {
			return &g.Nodes[i]
		}
	}
	return nil
}

// Order returns the indexes of the nodes so that each comes after those that lead to it,
// in the order of the list where the connections leave a choice. If there is a cycle,
// order ends before it and cycle names a shortest one.
func (g *Graph) Order() (order []int, cycle []string) {
	next, open := g.edges()
	done := make([]bool, len(g.Nodes))
	for {
		i := 0
		for i < len(g.Nodes) && (done[i] || open[i] > 0) {
			i++
		}
		if i == len(g.Nodes) {
			break
		}
		done[i] = true
		order = append(order, i)
		for _, to := range next[i] {
			open[to]--
		}
	}
	if len(order) < len(g.Nodes) {
		cycle = g.cycle(next, done)
	}
	return order, cycle
}

// edges returns where each node leads to, and how many connections lead to each. What
// names no node is left out.
func (g *Graph) edges() (next [][]int, into []int) {
	at := make(map[string]int, len(g.Nodes))
	for i, n := range slices.Backward(g.Nodes) {
		at[n.Name] = i
	}
	next, into = make([][]int, len(g.Nodes)), make([]int, len(g.Nodes))
	for name, i := range at {
		for _, port := range g.Connections[name] {
			for _, target := range port {
				if to, ok := at[target.Node]; ok {
					next[i] = append(next[i], to)
					into[to]++
				}
			}
		}
	}
	return next, into
}

// cycle returns the names of a shortest cycle among the nodes that are not done, its
// first node at both ends.
func (g *Graph) cycle(next [][]int, done []bool) (names []string) {
	var best []int
	for start := range g.Nodes {
		if done[start] {
			continue
		}
		if path := g.path(next, start); path != nil && (best == nil || len(path) < len(best)) {
			best = path
		}
	}
	for _, i := range best {
		names = append(names, g.Nodes[i].Name)
	}
	return names
}

// path returns a shortest way from a node back to itself; nil if there is none.
func (g *Graph) path(next [][]int, start int) []int {
	from := map[int]int{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, to := range next[queue[0]] {
			if _, seen := from[to]; seen {
				continue
			}
			from[to] = queue[0]
			if to != start {
				queue = append(queue, to)
				continue
			}
			path := []int{start}
			for at := from[start]; at != start; at = from[at] {
				path = append(path, at)
			}
			path = append(path, start)
			slices.Reverse(path)
			return path
		}
	}
	return nil
}
