package interp

import (
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// action returns what runs the nodes of a type that takes items; nil if there is none.
func action(of string) func(*call) error {
	switch of {
	case "if":
		return runIf
	case "switch":
		return runSwitch
	case "filter":
		return runFilter
	case "merge":
		return runMerge
	case "wait":
		return runWait
	case "stopAndError":
		return runStop
	case "executeWorkflow":
		return runWorkflow
	case "noOp":
		return passOn
	case "set":
		return runSet
	case "sort":
		return runSort
	case "limit":
		return runLimit
	case "aggregate":
		return runAggregate
	case "splitOut":
		return runSplit
	case "dateTime":
		return runDateTime
	case "removeDuplicates":
		return runUnique
	case "httpRequest":
		return runHTTP
	case "dataTable":
		return runTable
	case "slack":
		return runSlack
	case "email":
		return runEmail
	case "sheet":
		return runSheet
	}
	return nil
}

func passOn(c *call) error {
	return c.each(func(item Item) error { return c.pass(0, item, c.at) })
}

// condition is one comparison of a node.
type condition struct {
	operator    string
	left, right *formula.Template
}

// conditions parses the conditions in a parameter.
func (c *call) conditions(name string) ([]condition, error) {
	entries, err := c.entries(name)
	if err != nil {
		return nil, err
	}
	out := make([]condition, len(entries))
	for i, entry := range entries {
		out[i].operator, _ = entry["operator"].(string)
		if out[i].left, err = c.compile(entry["left"]); err == nil {
			out[i].right, err = c.compile(entry["right"])
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// holds evaluates a condition for the current item.
func (c *call) holds(cond condition) (bool, error) {
	left, err := c.eval(cond.left)
	if err != nil {
		return false, err
	}
	right, err := c.eval(cond.right)
	if err != nil {
		return false, err
	}
	holds, err := compare(&c.env, cond.operator, left, right)
	if err == nil {
		err = c.spend(c.env.Spent())
	}
	if err != nil {
		return false, classify(err, "expression")
	}
	return holds, nil
}

// compare applies the operator of a condition.
func compare(env *formula.Env, operator string, left, right any) (bool, error) {
	switch operator {
	case "equals", "notEquals":
		same, err := env.Equal(left, right)
		return same == (operator == "equals"), err
	case "gt", "gte", "lt", "lte":
		return Condition{"", operator, right}.holds(left)
	case "contains", "notContains":
		has, err := env.Includes(left, right)
		return has == (operator == "contains"), err
	case "startsWith", "endsWith":
		text, isText := left.(string)
		part, isPart := right.(string)
		if !isText || !isPart {
			if left == nil || right == nil {
				return false, nil
			}
			return false, wrong("%s compares texts", operator)
		}
		return operator == "startsWith" && strings.HasPrefix(text, part) || operator == "endsWith" && strings.HasSuffix(text, part), nil
	case "exists", "notExists":
		return (left != nil) == (operator == "exists"), nil
	case "isEmpty", "isNotEmpty":
		return isEmpty(left) == (operator == "isEmpty"), nil
	case "isTrue", "isFalse":
		return left == any(operator == "isTrue"), nil
	}
	return false, wrong("there is no operator %q", operator)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// decide sends each item to one of two outputs; a negative one drops it.
func decide(c *call, yes, no int) error {
	conditions, err := c.conditions("conditions")
	if err != nil {
		return err
	}
	either := c.choice("combinator") == "or"
	return c.each(func(item Item) error {
		result := !either
		for _, cond := range conditions {
			holds, err := c.holds(cond)
			if err != nil {
				return err
			}
			if holds == either {
				result = either
				break
			}
		}
		port := no
		if result {
			port = yes
		}
		if port < 0 {
			return nil
		}
		return c.pass(port, item, c.at)
	})
}

func runIf(c *call) error     { return decide(c, 0, 1) }
func runFilter(c *call) error { return decide(c, 0, -1) }

func runSwitch(c *call) error {
	rules, err := c.conditions("rules")
	if err != nil {
		return err
	}
	all, err := c.flag("allMatching")
	if err != nil {
		return err
	}
	return c.each(func(item Item) error {
		found := false
		for port, rule := range rules {
			holds, err := c.holds(rule)
			if err != nil {
				return err
			}
			if !holds {
				continue
			}
			found = true
			if err := c.pass(port, item, c.at); err != nil || !all {
				return err
			}
		}
		if !found && c.choice("fallback") == "extra" {
			return c.pass(len(rules), item, c.at)
		}
		return nil
	})
}

func runWait(c *call) error {
	c.fixed = true
	var length time.Duration
	if c.choice("mode") == "until" {
		until, _, err := c.time("until") // null does not wait
		if err != nil {
			return err
		}
		length = max(0, until.Sub(c.x.now))
	} else {
		amount, err := c.number("amount", 0, 1e6)
		if err != nil {
			return err
		}
		length = time.Duration(min(amount*float64(units[c.choice("unit")]), 2*float64(maxWait)))
	}
	if length > maxWait {
		return wrong("a wait ends within a year")
	}
	c.run.Duration = length
	return passOn(c)
}

const maxWait = 366 * 24 * time.Hour

func runStop(c *call) error {
	message, err := c.text("message")
	if err != nil {
		return err
	}
	return &Failure{Class: "stopped", Message: message}
}

// runWorkflow runs another workflow, with all items or with each.
func runWorkflow(c *call) error {
	if c.choice("mode") == "each" {
		return c.each(func(item Item) error {
			out, err := c.within([]any{item})
			for _, item := range out {
				if err == nil {
					err = c.put(item, c.at)
				}
			}
			return err
		})
	}
	items := make([]any, len(c.state.in))
	for i, item := range c.state.in {
		items[i] = item
	}
	out, err := c.within(items)
	for i, item := range out {
		if err == nil {
			err = c.put(item, c.paired(i, len(out)))
		}
	}
	return err
}

// within runs the workflow that the node names to its end.
func (c *call) within(items []any) ([]Item, error) {
	id, err := c.text("workflowId")
	if err != nil {
		return nil, err
	}
	if c.x.depth == maxDepth {
		return nil, &Failure{Class: ClassLimit, Message: "workflows run each other more than 10 levels deep"}
	}
	var g graph.Graph
	found := false
	if c.x.env.Workflow != nil {
		g, found = c.x.env.Workflow(id)
	}
	if !found {
		return nil, &Failure{Class: "not_found", Message: "there is no workflow " + id}
	}
	env := c.x.env
	env.Start, env.Until, env.Done, env.Pins = c.x.now.Add(c.run.Duration), time.Time{}, nil, nil
	other := &execution{graph: g, env: env, trigger: Trigger{Input: items}, work: c.x.work, depth: c.x.depth + 1, inside: true}
	result := other.run()
	c.run.Duration += result.Finished.Sub(result.Started)
	for _, e := range result.Effects() {
		if e.Workflow == "" {
			e.Workflow = id
		}
		c.run.Effects = append(c.run.Effects, e)
	}
	if f := result.Error; f != nil {
		return nil, &Failure{Class: f.Class, Message: "workflow " + id + ": " + strings.TrimPrefix(f.Error(), f.Class+": ")}
	}
	return result.Output, nil
}
