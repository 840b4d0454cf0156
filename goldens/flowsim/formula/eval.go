package formula

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

type expression interface {
	eval(env *Env) (any, error)
}

type (
	literal   struct{ value any }
	between   struct{ text string } // the text before, between and behind expressions
	list      []expression
	variable  string
	reference struct {
		node  string
		first bool
	}
	member struct {
		of   expression
		name string
	}
	index struct{ of, key expression }
	unary struct {
		operator string
		of       expression
	}
	binary struct {
		operator    string
		left, right expression
	}
	choice struct{ condition, then, otherwise expression }
	call   struct {
		function
		args []expression // the first is what the function is called on
	}
)

func (l literal) eval(env *Env) (any, error) { return l.value, env.spend(1) }

func (b between) eval(*Env) (any, error) { return b.text, nil }

func (l list) eval(env *Env) (any, error) {
	out := make([]any, len(l))
	for i, item := range l {
		v, err := item.eval(env)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, env.spend(1 + len(out))
}

func (v variable) eval(env *Env) (any, error) {
	switch v {
	case "json":
		return object(env.JSON), env.spend(1)
	case "first":
		return object(env.First), env.spend(1)
	}
	return env.Now, env.spend(1)
}

func (r reference) eval(env *Env) (any, error) {
	if env.Node == nil {
		return nil, fmt.Errorf("there is no node %q", r.node)
	}
	item, err := env.Node(r.node, r.first)
	if err == nil {
		err = env.spend(1)
	}
	return object(item), err
}

// object returns an item as a value, null without an item.
func object(item map[string]any) any {
	if item == nil {
		return nil
	}
	return item
}

func (m member) eval(env *Env) (any, error) {
	of, err := m.of.eval(env)
	if err != nil {
		return nil, err
	}
	switch of := of.(type) {
	case map[string]any:
		return of[m.name], env.spend(1)
	case []any:
		if m.name == "length" {
			return float64(len(of)), env.spend(1)
		}
	case string:
		if m.name == "length" {
			return float64(utf8.RuneCountInString(of)), env.spend(1 + len(of)/16)
		}
	}
	return nil, env.spend(1)
}

func (i index) eval(env *Env) (any, error) {
	of, err := i.of.eval(env)
	if err != nil {
		return nil, err
	}
	key, err := i.key.eval(env)
	if err != nil {
		return nil, err
	}
	switch of := of.(type) {
	case map[string]any:
		if name, ok := key.(string); ok {
			return of[name], env.spend(1)
		}
	case []any:
		if n, ok := key.(float64); ok && n >= 0 && n < float64(len(of)) && n == math.Trunc(n) {
			return of[int(n)], env.spend(1)
		}
	}
	return nil, env.spend(1)
}

func (u unary) eval(env *Env) (any, error) {
	v, err := u.of.eval(env)
	if err == nil {
		err = env.spend(1)
	}
	switch n, isNumber := v.(float64); {
	case err != nil:
		return nil, err
	case u.operator == "!":
		return !truth(v), nil
	case isNumber:
		return 0 - n, nil // no negative zero, as below
	case v == nil:
		return nil, nil
	}
	return nil, fmt.Errorf("- needs a number, not %s", kindOf(v))
}

func (c choice) eval(env *Env) (any, error) {
	v, err := c.condition.eval(env)
	if err != nil {
		return nil, err
	}
	if truth(v) {
		return c.then.eval(env)
	}
	return c.otherwise.eval(env)
}

func (b binary) eval(env *Env) (any, error) {
	left, err := b.left.eval(env)
	if err == nil {
		err = env.spend(1)
	}
	if err != nil || b.operator == "&&" && !truth(left) || b.operator == "||" && truth(left) {
		return left, err
	}
	right, err := b.right.eval(env)
	if err != nil {
		return nil, err
	}
	switch b.operator {
	case "&&", "||":
		return right, nil
	case "==", "!=":
		same, err := env.equal(left, right)
		return same == (b.operator == "=="), err
	case "<", "<=", ">", ">=":
		return env.order(b.operator, left, right)
	}
	return env.compute(b.operator, left, right)
}

// order compares numbers or texts. Null is neither before nor behind anything.
func (e *Env) order(operator string, left, right any) (any, error) {
	if left == nil || right == nil {
		return false, nil
	}
	c, ok := Compare(left, right)
	if !ok {
		return nil, fmt.Errorf("%s cannot compare %s with %s", operator, kindOf(left), kindOf(right))
	}
	if text, ok := left.(string); ok {
		if err := e.spend(len(text) / 16); err != nil {
			return nil, err
		}
	}
	return c < 0 && operator[0] == '<' || c > 0 && operator[0] == '>' || c == 0 && len(operator) == 2, nil
}

// compute is arithmetic. What a missing number takes part in is missing.
func (e *Env) compute(operator string, left, right any) (any, error) {
	x, isLeft := left.(float64)
	y, isRight := right.(float64)
	_, leftText := left.(string)
	_, rightText := right.(string)
	switch {
	case isLeft && isRight:
	case operator == "+" && (leftText || rightText):
		before, err := e.text(left)
		if err != nil {
			return nil, err
		}
		behind, err := e.text(right)
		return before + behind, err
	case (left == nil || isLeft) && (right == nil || isRight):
		return nil, nil
	default:
		return nil, fmt.Errorf("%s cannot take %s and %s", operator, kindOf(left), kindOf(right))
	}
	if y == 0 && (operator == "/" || operator == "%") {
		return nil, errors.New("division by zero")
	}
	var v float64
	switch operator {
	case "+":
		v = x + y
	case "-":
		v = x - y
	case "*":
		v = x * y
	case "/":
		v = x / y
	case "%":
		v = math.Mod(x, y)
	}
	if math.IsInf(v, 0) {
		return nil, fmt.Errorf("the result of %s is too large", operator)
	}
	return v + 0, nil
}

func (c call) eval(env *Env) (any, error) {
	args := make([]any, len(c.args))
	for i, arg := range c.args {
		v, err := arg.eval(env)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	if err := env.spend(1); err != nil || args[0] == nil {
		return nil, err
	}
	return c.run(env, args[0], args[1:])
}
