package interp

import (
	"errors"
	"fmt"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// call is one node that runs.
type call struct {
	x     *execution
	state *state
	run   *NodeRun
	typ   *graph.Type
	env   formula.Env
	// at is the input item that expressions read.
	at int
	// params has the templates that have been used, by name.
	params map[string]*formula.Template
	// bytes is the size of the items made.
	bytes int
	// fixed says that the duration does not include the node's latency.
	fixed bool
	// caught is the last failure that did not end the node.
	caught *Failure
}

// act runs the node by its type.
func (c *call) act() error {
	n := c.state.node
	c.typ = graph.Find(n.Type)
	do := action(n.Type)
	if c.typ == nil || do == nil {
		return &Failure{Class: "graph", Message: fmt.Sprintf("there is no node type %q that takes items", n.Type)}
	}
	_, outputs := c.typ.Ports(n)
	c.run.Output = make([][]Item, outputs)
	c.run.From = make([][]int, outputs)
	c.env.Now = c.x.now.Format(time.RFC3339)
	c.env.First = c.state.in[0]
	c.env.Node = func(name string, first bool) (map[string]any, error) {
		item, steps, err := c.x.item(c.state, c.at, name, first)
		return item, errors.Join(c.spend(steps), err)
	}
	c.read(0)
	if err := c.credential(); err != nil {
		return err
	}
	return do(c)
}

// credential checks the credential of the node.
func (c *call) credential() error {
	kind := c.typ.Needs(c.state.node)
	id := c.state.node.Credentials[kind]
	switch {
	case kind == "":
		return nil
	case id == "":
		return &Failure{Class: "credential", Message: "the node has no credential of type " + kind}
	case c.x.env.Credential == nil:
		return nil
	}
	if err := c.x.env.Credential(c.state.node, kind, id); err != nil {
		return classify(err, "credential")
	}
	return nil
}

// read makes an input item the one that expressions read.
func (c *call) read(at int) {
	c.at = at
	c.env.JSON = c.state.in[at]
}

// each runs a function for each input item. With OnError continue, an item that fails is
// replaced by its error.
func (c *call) each(do func(item Item) error) error {
	for i, item := range c.state.in {
		c.read(i)
		err := do(item)
		if err == nil {
			continue
		}
		f := classify(err, "parameter")
		c.run.Input = item
		if c.state.node.OnError != "continue" || f.Class == ClassLimit {
			return f
		}
		if err := c.catch(f, i); err != nil {
			return err
		}
	}
	return nil
}

// catch puts out a failure in the place of an item.
func (c *call) catch(f *Failure, from int) error {
	f.Node = c.state.node.Name
	c.caught = f
	if len(c.run.Output) == 0 {
		return nil
	}
	return c.put(Item{"error": f.Message}, from)
}

// finish completes the record of the run.
func (c *call) finish(err error) {
	n := c.state.node
	if err != nil {
		f := classify(err, "parameter")
		f.Node = n.Name
		if c.run.Input == nil && len(c.state.in) > 0 {
			c.run.Input = c.state.in[min(c.at, len(c.state.in)-1)]
		}
		for port := range c.run.Output {
			c.run.Output[port], c.run.From[port] = nil, nil
		}
		c.run.Also = nil
		c.run.Error = f
		if n.OnError == "continue" && f.Class != ClassLimit && c.catch(f, c.single()) == nil {
			c.caught = f
		}
	}
	if c.caught != nil {
		c.run.Error = c.caught
	}
	paired := false
	for port, from := range c.run.From {
		identity := true
		for i, at := range from {
			identity = identity && i == at
		}
		if identity {
			c.run.From[port] = nil
		}
		paired = paired || !identity
	}
	if !paired {
		c.run.From = nil
	}
	for port, items := range c.run.Output {
		if items == nil {
			c.run.Output[port] = []Item{}
		}
	}
	if c.run.Output == nil {
		c.run.Output = [][]Item{}
	}
}

// single is the index of the input item if there is one; -1 else.
func (c *call) single() int {
	if len(c.state.in) == 1 {
		return 0
	}
	return -1
}

// pin puts out given items instead of running the node.
func (c *call) pin(items []Item) error {
	for i, item := range items {
		if err := c.put(item, c.paired(i, len(items))); err != nil {
			return err
		}
	}
	return nil
}

// paired is the input item of the i-th of n items that were not made of input items one by
// one: that of the same index if there are equally many, or the only one.
func (c *call) paired(i, n int) int {
	if n == len(c.state.in) {
		return i
	}
	return c.single()
}

// put puts out an item that the node made, at its first output.
func (c *call) put(item Item, from int) error {
	size := formula.Size(item, maxBytes+1)
	c.bytes += size
	c.x.work.bytes += size
	if c.bytes > maxBytes {
		return &Failure{Class: ClassLimit, Message: fmt.Sprintf("the node puts out more than %d bytes", maxBytes)}
	}
	if c.x.work.bytes > maxAllBytes {
		return &Failure{Class: ClassLimit, Message: fmt.Sprintf("the nodes put out more than %d bytes", maxAllBytes)}
	}
	return c.pass(0, item, from)
}

// pass puts out an item that the node got, or one with a size known to be within bounds.
func (c *call) pass(port int, item Item, from int) error {
	if c.run.Output == nil {
		c.run.Output, c.run.From = make([][]Item, 1), make([][]int, 1)
	}
	n := 0
	for _, items := range c.run.Output {
		n += len(items)
	}
	c.x.work.items++
	if n >= maxItems || c.x.work.items > maxAllItems {
		return &Failure{Class: ClassLimit, Message: fmt.Sprintf("the node puts out more than %d items, or the execution more than %d", maxItems, maxAllItems)}
	}
	if c.run.Output[port] == nil {
		room := len(c.state.in)
		c.run.Output[port], c.run.From[port] = make([]Item, 0, room), make([]int, 0, room)
	}
	c.run.Output[port] = append(c.run.Output[port], item)
	c.run.From[port] = append(c.run.From[port], from)
	return nil
}

// effect records what the node did.
func (c *call) effect(kind string, detail map[string]any) {
	if c.run.Effects == nil {
		c.run.Effects = make([]Effect, 0, len(c.state.in))
	}
	c.run.Effects = append(c.run.Effects, Effect{Kind: kind, Node: c.state.node.Name, Detail: detail})
}
