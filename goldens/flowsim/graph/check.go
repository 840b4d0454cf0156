package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
)

// Env says what exists around a graph.
type Env struct {
	// Credential returns the type of a credential; nil: all exist, with the type for which
	// they are used.
	Credential func(id string) (kind string, ok bool)
	// Workflow reports whether a workflow exists; nil: all do.
	Workflow func(id string) bool
}

// Check returns all faults of a graph, at most 100: first those of its nodes in their
// order, then those of its connections.
func Check(g Graph, env Env) []Fault {
	c := checker{graph: g, env: env}
	if len(g.Nodes) > maxNodes {
		c.fail("graph.limit", nil, "nodes", "there are %d nodes; at most %d are allowed", len(g.Nodes), maxNodes)
		return c.faults
	}
	names := map[string]bool{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if names[n.Name] {
			c.fail("node.name_duplicate", n, "", "another node has this name")
		}
		names[n.Name] = true
		c.node(n)
	}
	c.connections()
	c.triggers()
	return c.faults
}

type checker struct {
	graph  Graph
	env    Env
	faults []Fault
}

func (c *checker) fail(code string, n *Node, path, format string, args ...any) {
	if len(c.faults) == maxFaults {
		return
	}
	f := Fault{Code: code, Path: path, Detail: fmt.Sprintf(format, args...)}
	if n != nil {
		f.Node = n.Name
	}
	c.faults = append(c.faults, f)
}

func (c *checker) node(n *Node) {
	if utf8.RuneCountInString(n.Name) > maxName {
		c.fail("graph.limit", n, "name", "a name has at most %d characters", maxName)
	}
	text, err := json.Marshal(n.Parameters)
	if err != nil || len(text) > maxParameters {
		c.fail("graph.limit", n, "parameters", "the parameters are longer than %d bytes", maxParameters)
		return
	}
	c.expressions(n)
	t := Find(n.Type)
	if t == nil {
		c.fail("node.type_unknown", n, "type", "%s", unknownType(n.Type))
		return
	}
	if n.Version != 0 && !slices.Contains(t.Versions, n.Version) {
		c.fail("node.version", n, "typeVersion", "%s has no version %d; the newest is %d", t.Name, n.Version, t.Newest())
	}
	c.params(n, "parameters", t.Params, n.Parameters)
	c.credentials(n, t)
	if id, ok := n.Parameters["workflowId"].(string); ok && n.Type == "executeWorkflow" && c.env.Workflow != nil && !isTemplate(id) && !c.env.Workflow(id) {
		c.fail("subnode.missing", n, "parameters.workflowId", "there is no workflow %q", id)
	}
}

func unknownType(name string) string {
	if name == "code" {
		return "nodes that run code are not available; use set, filter, aggregate and the other transform nodes"
	}
	if near := Nearest(name); near != "" {
		return fmt.Sprintf("there is no node type %q; did you mean %s?", name, near)
	}
	return fmt.Sprintf("there is no node type %q", name)
}

// expressions checks the texts in all parameters, whatever they are for.
func (c *checker) expressions(n *Node) {
	t := formula.Compile(n.Parameters, func(path string, err error) {
		c.fail("expression.syntax", n, "parameters."+path, "%v", err)
	})
	names := slices.Compact(slices.Sorted(slices.Values(t.Nodes())))
	for _, name := range names {
		if c.graph.Node(name) == nil {
			c.fail("expression.syntax", n, "parameters", "an expression reads $('%s'), but there is no node of that name", name)
		}
	}
}

func isTemplate(v any) bool {
	text, ok := v.(string)
	return ok && strings.Contains(text, "{{")
}

// params checks the fields of an object against their descriptions.
func (c *checker) params(n *Node, path string, params []Param, values map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if param(params, name) == nil {
			c.fail("param.unknown", n, path+"."+name, "want one of %s", names(params))
		} else if !slices.ContainsFunc(params, func(p Param) bool { return p.Name == name && holds(p.When, params, values) }) {
			c.fail("param.unknown", n, path+"."+name, "it is only allowed with %s", conditions(params, name))
		}
	}
	for _, p := range params {
		v, given := values[p.Name]
		switch {
		case !holds(p.When, params, values):
		case given && !isEmpty(v):
			c.value(n, path+"."+p.Name, p, v)
		case p.Required && (p.Type != TypeAny || !given):
			c.fail("param.required", n, path+"."+p.Name, "%s", strings.TrimSuffix("a value is needed: "+p.Description, ": "))
		}
	}
}

// isEmpty reports whether a value is as good as none, where one is required.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return v == nil
}

func names(params []Param) string {
	if len(params) == 0 {
		return "none"
	}
	var out []string
	for _, p := range params {
		if !slices.Contains(out, p.Name) {
			out = append(out, p.Name)
		}
	}
	return strings.Join(out, ", ")
}

// conditions says with what a parameter is allowed.
func conditions(params []Param, name string) string {
	var out []string
	for _, p := range params {
		for other, allowed := range p.When { // one
			if p.Name == name {
				out = append(out, other+" = "+strings.Join(allowed, ", "))
			}
		}
	}
	return strings.Join(out, ", ")
}

// value checks one value of a parameter that is allowed.
func (c *checker) value(n *Node, path string, p Param, v any) {
	if p.Enum != nil {
		if text, ok := v.(string); !ok || !slices.Contains(p.Enum, text) {
			c.fail("param.enum", n, path, "want one of %s", strings.Join(p.Enum, ", "))
		}
		return
	}
	if p.Type == TypeField {
		if text, ok := v.(string); !ok || isTemplate(v) {
			c.fail("param.type", n, path, "want the name of a field, without an expression")
		} else if bad := BadField(text); bad != "" {
			c.fail("param.type", n, path, "%s", bad)
		}
		return
	}
	if isTemplate(v) && p.Fields == nil && p.Of == "" {
		return
	}
	ok := true
	switch p.Type {
	case TypeText:
		_, ok = v.(string)
	case TypeNumber:
		_, ok = v.(float64)
	case TypeBoolean:
		_, ok = v.(bool)
	case TypeList:
		var items []any
		if items, ok = v.([]any); ok {
			c.list(n, path, p, items)
		}
	case TypeObject:
		var object map[string]any
		if object, ok = v.(map[string]any); ok {
			c.keys(n, path, object)
		}
	}
	if !ok {
		c.fail("param.type", n, path, "want %s", wanted[p.Type])
	}
}

var wanted = map[string]string{TypeText: "a text", TypeNumber: "a number", TypeBoolean: "true or false", TypeList: "a list", TypeObject: "an object"}

// keys checks the names in an object of any fields, such as the values of a row.
func (c *checker) keys(n *Node, path string, object map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if bad := BadField(key); bad != "" {
			c.fail("param.type", n, path, "%s", bad)
		}
	}
}

func (c *checker) list(n *Node, path string, p Param, items []any) {
	if most := cmp.Or(p.Most, 1000); len(items) > most {
		c.fail("param.type", n, path, "there are %d entries; at most %d are allowed", len(items), most)
		return
	}
	for i, item := range items {
		place := path + "[" + strconv.Itoa(i) + "]"
		switch object, ok := item.(map[string]any); {
		case p.Fields == nil && p.Of != "":
			c.value(n, place, Param{Type: p.Of}, item)
		case p.Fields == nil:
		case ok:
			c.params(n, place, p.Fields, object)
		default:
			c.fail("param.type", n, place, "want an object with %s", names(p.Fields))
		}
	}
}

func (c *checker) credentials(n *Node, t *Type) {
	need := t.Needs(n)
	for _, kind := range slices.Sorted(maps.Keys(n.Credentials)) {
		if kind != need {
			c.fail("credential.type", n, "credentials."+kind, "the node takes %s", orNone(need))
		}
	}
	id := n.Credentials[need]
	switch {
	case need == "" || n.Disabled:
	case id == "":
		c.fail("credential.missing", n, "credentials."+need, "the node needs the id of a credential of type %s", need)
	case c.env.Credential != nil:
		if kind, ok := c.env.Credential(id); !ok {
			c.fail("credential.missing", n, "credentials."+need, "there is no credential %q", id)
		} else if kind != need {
			c.fail("credential.type", n, "credentials."+need, "the credential %q is of type %s", id, kind)
		}
	}
}

func orNone(name string) string {
	if name == "" {
		return "no credential"
	}
	return "a credential of type " + name
}

func (c *checker) connections() {
	connected := map[Target]bool{}
	for _, from := range slices.Sorted(maps.Keys(c.graph.Connections)) {
		n := c.graph.Node(from)
		if n == nil {
			c.fail("connection.unknown_node", nil, "connections."+from, "there is no node of this name")
			continue
		}
		outputs := len(c.graph.Connections[from])
		if t := Find(n.Type); t != nil {
			_, outputs = t.Ports(n)
		}
		for port, targets := range c.graph.Connections[from] {
			place := "connections." + from + "[" + strconv.Itoa(port) + "]"
			if port >= outputs && len(targets) > 0 {
				c.fail("connection.port", nil, place, "the node has %d outputs", outputs)
			}
			for i, target := range targets {
				c.target(target, place+"["+strconv.Itoa(i)+"]")
				connected[target] = true
			}
		}
	}
	for i := range c.graph.Nodes {
		n := &c.graph.Nodes[i]
		for port, t := 0, Find(n.Type); t != nil && t.AllInputs && port < len(t.Inputs); port++ {
			if !connected[Target{n.Name, port}] {
				c.fail("subnode.missing", n, "", "nothing is connected to its input %d", port)
			}
		}
	}
	if _, cycle := c.graph.Order(); cycle != nil {
		c.fail("connection.cycle", nil, "connections", "the nodes lead back to where they begin: %s", strings.Join(cycle, " → "))
	}
}

func (c *checker) target(target Target, place string) {
	n := c.graph.Node(target.Node)
	if n == nil {
		c.fail("connection.unknown_node", nil, place, "there is no node %q", target.Node)
		return
	}
	if t := Find(n.Type); t != nil {
		if inputs, _ := t.Ports(n); target.Input < 0 || target.Input >= inputs {
			c.fail("connection.port", nil, place, "node %q has %d inputs, numbered from 0", n.Name, inputs)
		}
	}
}

// triggers checks that there is one way to start, and what it does not reach.
func (c *checker) triggers() {
	start := c.graph.Trigger()
	if start == nil {
		c.fail("trigger.none", nil, "nodes", "a workflow needs a trigger: manual, form, webhook, chat or schedule")
		return
	}
	reached := map[string]bool{start.Name: true}
	for queue := []string{start.Name}; len(queue) > 0; queue = queue[1:] {
		for _, targets := range c.graph.Connections[queue[0]] {
			for _, target := range targets {
				if !reached[target.Node] {
					reached[target.Node] = true
					queue = append(queue, target.Node)
				}
			}
		}
	}
	for i := range c.graph.Nodes {
		n := &c.graph.Nodes[i]
		switch t := Find(n.Type); {
		case n.Disabled || n == start || n.Name == start.Name:
		case t != nil && t.Kind == KindTrigger:
			c.fail("trigger.many", n, "type", "%q is a trigger, too; a workflow has one", start.Name)
		case !reached[n.Name]:
			c.fail(Unreachable, n, "", "the trigger does not lead to this node, so it never runs")
		}
	}
}
