package interp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// compile parses a value, which expressions in it may need for each item.
func (c *call) compile(v any) (*formula.Template, error) {
	var mistake error
	t := formula.Compile(v, func(path string, err error) {
		if mistake == nil {
			mistake = &Failure{Class: "expression", Message: strings.TrimPrefix(fmt.Sprintf("%s: %v", path, err), ": ")}
		}
	})
	return t, mistake
}

// eval evaluates a template for the current item.
func (c *call) eval(t *formula.Template) (any, error) {
	v, err := t.Eval(&c.env)
	if err == nil {
		err = c.spend(c.env.Spent())
	}
	if err != nil {
		return nil, classify(err, "expression")
	}
	return v, nil
}

// spend counts operations of the execution.
func (c *call) spend(n int) error {
	if c.x.work.operations += n; c.x.work.operations > maxOperations {
		return &Failure{Class: ClassLimit, Message: fmt.Sprintf("the execution needs more than %d operations", maxOperations)}
	}
	return nil
}

// value evaluates a parameter for the current item; its default where it is not given.
func (c *call) value(name string) (any, error) {
	t, ok := c.params[name]
	if !ok {
		var err error
		if t, err = c.compile(c.typ.Param(c.state.node, name)); err != nil {
			return nil, err
		}
		if c.params == nil {
			c.params = map[string]*formula.Template{}
		}
		c.params[name] = t
	}
	return c.eval(t)
}

// text is a parameter as a text.
func (c *call) text(name string) (string, error) {
	v, err := c.value(name)
	if err != nil {
		return "", err
	}
	text, err := formula.Text(v)
	if err != nil {
		return "", classify(err, "parameter")
	}
	return text, nil
}

// number is a parameter that must be a number between two bounds.
func (c *call) number(name string, least, most float64) (float64, error) {
	v, err := c.value(name)
	if err != nil {
		return 0, err
	}
	n, ok := v.(float64)
	if !ok || n < least || n > most {
		return 0, wrong("%s must be a number from %g to %g", name, least, most)
	}
	return n, nil
}

// flag is a parameter that is true or false.
func (c *call) flag(name string) (bool, error) {
	v, err := c.value(name)
	if err != nil {
		return false, err
	}
	on, ok := v.(bool)
	if !ok {
		return false, wrong("%s must be true or false", name)
	}
	return on, nil
}

// object is a parameter that is an object.
func (c *call) object(name string) (Item, error) {
	v, err := c.value(name)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, wrong("%s must be an object", name)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if bad := graph.BadField(key); bad != "" {
			return nil, wrong("%s: %s", name, bad)
		}
	}
	return object, nil
}

// choice is a parameter of a list of constants.
func (c *call) choice(name string) string {
	text, _ := c.typ.Param(c.state.node, name).(string)
	return text
}

// field is a parameter that is the path of a field; "" if it is not given.
func (c *call) field(name string) (string, error) {
	path, _ := c.typ.Param(c.state.node, name).(string)
	return path, checkField(name, path, path == "")
}

func checkField(name, path string, optional bool) error {
	if bad := graph.BadField(path); bad != "" && !optional {
		return wrong("%s: %s", name, bad)
	}
	return nil
}

// entries is a parameter that is a list of objects; it must have one at least.
func (c *call) entries(name string) ([]Item, error) {
	list, _ := c.typ.Param(c.state.node, name).([]any)
	out := make([]Item, 0, len(list))
	for _, entry := range list {
		if object, ok := entry.(map[string]any); ok {
			out = append(out, object)
		}
	}
	if len(list) == 0 || len(out) < len(list) {
		return nil, wrong("%s must be a list of objects", name)
	}
	return out, nil
}

// fields is a parameter that is a list of paths of fields.
func (c *call) fields(name string) ([]string, error) {
	list, _ := c.typ.Param(c.state.node, name).([]any)
	out := make([]string, 0, len(list))
	for _, entry := range list {
		path, _ := entry.(string)
		if err := checkField(name, path, false); err != nil {
			return nil, err
		}
		out = append(out, path)
	}
	return out, nil
}

func wrong(format string, args ...any) error {
	return &Failure{Class: "parameter", Message: fmt.Sprintf(format, args...)}
}

// lookup returns a field of an item; nil if it has none.
func lookup(item Item, path string) any {
	for {
		head, rest, nested := strings.Cut(path, ".")
		if !nested {
			return item[head]
		}
		item, _ = item[head].(map[string]any)
		path = rest
	}
}

// assign sets a field of an item that nothing shares; what is within it may be shared.
func assign(item Item, path string, v any) {
	for {
		head, rest, nested := strings.Cut(path, ".")
		if !nested {
			item[head] = v
			return
		}
		child, _ := item[head].(map[string]any)
		if child = maps.Clone(child); child == nil {
			child = Item{}
		}
		item[head] = child
		item, path = child, rest
	}
}
