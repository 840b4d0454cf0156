// Package interp runs workflows on items over a virtual clock, and says of each node when
// it ran, what it put out and what it did outside of the workflow.
//
// An execution is deterministic: equal graphs, triggers and environments give equal
// results. Nodes run one after another, each once, in the order of graph.Order; a node
// that gets no item does not run. Items are objects of encoding/json's types, which nodes
// share and never change; nor must the caller.
//
// An execution may be run in parts: a Result that is not final has the nodes that have
// started, and Env.Done continues behind them, without running them again.
package interp

import (
	"fmt"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// Item is one object that nodes take and put out.
type Item = map[string]any

// Trigger is what starts an execution.
type Trigger struct {
	// Kind is the type of trigger that the workflow must start with; "" any.
	Kind string `json:"kind,omitempty"`
	// Input is the payload, whose form depends on the type of the trigger: the fields of a
	// form, the body of a webhook, {chatInput} of a chat, nothing for a schedule, and for
	// others an object, or a list of them for several items.
	Input any `json:"input,omitempty"`
}

// Env is what an execution meets outside of its workflow. Functions that are nil find nothing.
type Env struct {
	// Start is when the execution starts, in the zone of the world.
	Start time.Time
	// Until is the time at which to look: a node starts only up to it. Zero: to the end.
	Until time.Time
	// Done has the nodes of an earlier part of this execution, as Result.Nodes had them.
	Done []NodeRun
	// Pins has by node the items that it puts out at its first output instead of running.
	Pins map[string][]Item
	// Latency returns how long a node takes, apart from what it waits for; nil: 50 ms.
	Latency func(n *graph.Node) time.Duration
	// HTTP answers a request; an error that is no *Failure is one of the network.
	HTTP func(r Request) (Response, error)
	// Credential returns why a credential cannot be used; an error that is no *Failure has
	// the class credential. nil: all can.
	Credential func(n *graph.Node, kind, id string) error
	// Workflow returns the graph of a workflow by its id.
	Workflow func(id string) (graph.Graph, bool)
	// Tables are the data tables of the instance.
	Tables Tables
}

// Tables are data tables, by id or name. Rows are copies, with their id and times. An error
// that is no *Failure has the class table.
type Tables interface {
	Insert(table string, values Item, at time.Time) (row Item, err error)
	// Select returns at most limit rows, in the order of their ids.
	Select(table string, f Filter, limit int) ([]Item, error)
	// Update changes the rows that match and returns them as they are then.
	Update(table string, f Filter, values Item, at time.Time) ([]Item, error)
	// Delete removes the rows that match and returns them.
	Delete(table string, f Filter) ([]Item, error)
}

// Request is what an httpRequest node sends.
type Request struct {
	Method  string         `json:"method"`
	URL     string         `json:"url"`
	Query   map[string]any `json:"query,omitempty"`
	Headers map[string]any `json:"headers,omitempty"`
	Body    any            `json:"body,omitempty"`
}

// Response is the answer to a request.
type Response struct {
	Status  int            `json:"status"`
	Headers map[string]any `json:"headers,omitempty"`
	Body    any            `json:"body,omitempty"`
	// Delay is how long it takes, on top of the node's latency.
	Delay time.Duration `json:"-"`
}

// The statuses of an execution. That it was cancelled is decided by who looks at it.
const (
	Running = "running"
	Waiting = "waiting" // a wait node has started and not ended
	Success = "success"
	Errored = "error"
)

// Result is an execution as it is at a time.
type Result struct {
	Status  string
	Started time.Time
	// Finished is when it ended or, of one that has not, when its last node will have ended.
	Finished time.Time
	// Nodes are those that started, in that order.
	Nodes []NodeRun
	// Error is what ended it; nil unless Status is error.
	Error *Failure
	// Output has the items of the nodes that lead nowhere, in the order of the graph's nodes.
	Output []Item
}

// Effects returns what the execution did outside of the workflow, in order.
func (r *Result) Effects() []Effect {
	var out []Effect
	for _, n := range r.Nodes {
		out = append(out, n.Effects...)
	}
	return out
}

// Node returns the run of a node; nil if it did not run.
func (r *Result) Node(name string) *NodeRun {
	for i := range r.Nodes {
		if r.Nodes[i].Name == name {
			return &r.Nodes[i]
		}
	}
	return nil
}

// NodeRun is one node of an execution. Written as JSON and read back, it serves as Env.Done.
type NodeRun struct {
	Name    string    `json:"name"`
	Type    string    `json:"type"`
	Started time.Time `json:"startedAt"`
	// Duration is a number of nanoseconds.
	Duration time.Duration `json:"duration"`
	// InputItems is how many items it got, and Input the one with which it failed.
	InputItems int  `json:"inputItems"`
	Input      Item `json:"input,omitempty"`
	// Output has the items of each output port.
	Output [][]Item `json:"output"`
	// From has, for each item of Output, the index of the input item that it was made of,
	// -1 without one, and Also a second one, of a merge. In From, a nil list is 0, 1, 2 and
	// so on; in Also, there is none. The items of a second input follow those of the first.
	From [][]int `json:"from,omitempty"`
	Also [][]int `json:"also,omitempty"`
	// Error is the last failure of the node, after which the execution ended or, where
	// OnError is continue, did not.
	Error   *Failure `json:"error,omitempty"`
	Effects []Effect `json:"effects,omitempty"`
	Pinned  bool     `json:"pinned,omitempty"`
}

// Finished is when the node ended.
func (n *NodeRun) Finished() time.Time { return n.Started.Add(n.Duration) }

// The kinds of effects.
const (
	EffectRow     = "row"     // rows of a data table: operation, table, rows
	EffectMessage = "message" // slack, email, sheet: service and what was sent
	EffectRequest = "request" // an HTTP request and the status of its answer
)

// Effect is what a node did outside of the workflow.
type Effect struct {
	Kind string `json:"kind"`
	Node string `json:"node"`
	// Workflow is the id of the workflow that a node ran which did it; "" for the node itself.
	Workflow string         `json:"workflow,omitempty"`
	Detail   map[string]any `json:"detail"`
}

// Failure is why a node or an execution failed.
type Failure struct {
	Node string `json:"node,omitempty"`
	// Class is E_LIMIT, expression, parameter, credential, quota, network, timeout, table,
	// not_found, stopped, trigger, graph, or http_ and the status.
	Class   string `json:"class"`
	Message string `json:"message"`
}

// ClassLimit is the class of what is too large. It ends the execution, whatever OnError says.
const ClassLimit = "E_LIMIT"

// Error prints the node, the class and the message.
func (f *Failure) Error() string {
	text := fmt.Sprintf("%s: %s", f.Class, f.Message)
	if f.Node != "" {
		text = fmt.Sprintf("node %q: %s", f.Node, text)
	}
	return text
}

// Remedy is what helps: needs_setup where a credential or a quota is missing, blocked where
// only time does, code_fixable where the workflow has to change.
func (f *Failure) Remedy() string {
	switch f.Class {
	case "http_401", "http_403", "credential", "quota":
		return "needs_setup"
	case "http_429", "http_502", "timeout":
		return "blocked"
	}
	if strings.Contains(f.Message, "timed out") {
		return "blocked"
	}
	return "code_fixable"
}
