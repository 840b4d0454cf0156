package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"
)

// evaluator evaluates an expression without a machine. ok is false where the machine has
// to say what is wrong, or what the value is.
type evaluator func(m *meter) (v any, ok bool)

// direct returns how an expression made of members, comparisons, integers, our functions
// and predicates is evaluated without a machine, which takes a multiple of the time; nil
// for any other. It takes work from the same meter. The expression has been checked, and
// guard has not yet rewritten it.
func direct(node ast.Node) evaluator {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		name := n.Value
		return func(m *meter) (any, bool) { return m.env[name], true }
	case *ast.PointerNode:
		if n.Name == "" {
			return func(m *meter) (any, bool) { return m.item, true }
		}
	case *ast.NilNode:
		return fixed(nil)
	case *ast.BoolNode:
		return fixed(n.Value)
	case *ast.IntegerNode:
		return fixed(n.Value)
	case *ast.StringNode:
		return fixed(n.Value)
	case *ast.MemberNode:
		if parts := directs(n.Node, n.Property); parts != nil {
			return member(parts[0], parts[1])
		}
	case *ast.BinaryNode:
		if parts := directs(n.Left, n.Right); parts != nil {
			return binary(n.Operator, parts[0], parts[1])
		}
	case *ast.ConditionalNode:
		if parts := directs(n.Cond, n.Exp1, n.Exp2); parts != nil {
			return conditional(parts[0], parts[1], parts[2])
		}
	case *ast.MapNode:
		return directObject(n)
	case *ast.CallNode:
		name, _ := n.Callee.(*ast.IdentifierNode)
		f, known := functions[nameOf(name)]
		if parts := directs(n.Arguments...); known && len(parts) == f.args {
			return directCall(f, parts)
		}
	case *ast.BuiltinNode:
		return directBuiltin(n)
	}
	return nil
}

// directs returns the evaluators of several nodes; nil if one of them has none.
func directs(nodes ...ast.Node) []evaluator {
	out := make([]evaluator, len(nodes))
	for i, node := range nodes {
		if out[i] = direct(node); out[i] == nil {
			return nil
		}
	}
	return out
}

func fixed(v any) evaluator { return func(*meter) (any, bool) { return v, true } }

func member(of, key evaluator) evaluator {
	return func(m *meter) (any, bool) {
		v, okOf := of(m)
		k, okKey := key(m)
		object, isObject := v.(map[string]any)
		name, isText := k.(string)
		return object[name], okOf && okKey && isObject && isText
	}
}

func conditional(cond, then, otherwise evaluator) evaluator {
	return func(m *meter) (any, bool) {
		holds, ok := truth(cond(m))
		switch {
		case !ok:
			return nil, false
		case holds:
			return then(m)
		}
		return otherwise(m)
	}
}

// truth is a value that must be true or false.
func truth(v any, ok bool) (holds, isTruth bool) {
	holds, isBool := v.(bool)
	return holds, ok && isBool
}

func binary(operator string, left, right evaluator) evaluator {
	switch operator {
	case "and", "&&":
		return conditional(left, right, fixed(false))
	case "or", "||":
		return conditional(left, fixed(true), right)
	case "==", "!=":
		return func(m *meter) (any, bool) {
			a, okLeft := left(m)
			b, okRight := right(m)
			if !okLeft || !okRight || m.deep(a, 0) != nil {
				return nil, false
			}
			return runtime.Equal(a, b) == (operator == "=="), true
		}
	case "<", "<=", ">", ">=", "+", "-":
		return func(m *meter) (any, bool) {
			a, okLeft := left(m)
			b, okRight := right(m)
			x, isLeft := a.(int)
			y, isRight := b.(int)
			if okLeft && okRight && isLeft && isRight {
				return integers(operator, x, y)
			}
			before, isText := a.(string)
			after, both := b.(string)
			return before + after, okLeft && okRight && operator == "+" && isText && both && m.text(len(before)+len(after)) == nil
		}
	}
	return nil
}

// integers computes with two integers; ok is false if the result does not fit.
func integers(operator string, x, y int) (v any, ok bool) {
	switch operator {
	case "<":
		return x < y, true
	case "<=":
		return x <= y, true
	case ">":
		return x > y, true
	case ">=":
		return x >= y, true
	case "+":
		return x + y, (x+y > x) == (y > 0)
	}
	return x - y, (x-y < x) == (y > 0)
}

func directObject(n *ast.MapNode) evaluator {
	keys := make([]string, len(n.Pairs))
	values := make([]evaluator, len(n.Pairs))
	for i, node := range n.Pairs {
		pair := node.(*ast.PairNode)
		key, isText := pair.Key.(*ast.StringNode)
		if values[i] = direct(pair.Value); !isText || values[i] == nil || slices.Contains(keys[:i], key.Value) {
			return nil
		}
		keys[i] = key.Value
	}
	return func(m *meter) (any, bool) {
		object := make(map[string]any, len(keys))
		for i, key := range keys {
			v, ok := values[i](m)
			if !ok {
				return nil, false
			}
			object[key] = v
		}
		return object, true
	}
}

func directCall(f function, args []evaluator) evaluator {
	return func(m *meter) (any, bool) {
		values := make([]any, len(args))
		for i, arg := range args {
			v, ok := arg(m)
			if !ok {
				return nil, false
			}
			values[i] = v
		}
		v, err := f.call(m, values)
		return v, err == nil
	}
}

// directBuiltin is direct for lower and for predicates over lists and objects.
func directBuiltin(n *ast.BuiltinNode) evaluator {
	if len(n.Arguments) == 0 {
		return nil
	}
	of := direct(n.Arguments[0])
	if of != nil && n.Name == "lower" {
		return func(m *meter) (any, bool) {
			v, ok := of(m)
			text, isText := v.(string)
			return strings.ToLower(text), ok && isText && m.shallow(v) == nil
		}
	}
	if of == nil || len(n.Arguments) != 2 {
		return nil
	}
	predicate, _ := n.Arguments[1].(*ast.PredicateNode)
	collect := collectors[n.Name]
	if predicate == nil || collect == nil {
		return nil
	}
	body, nodes := direct(predicate.Node), size(n.Arguments[1:])
	if body == nil {
		return nil
	}
	return func(m *meter) (any, bool) {
		v, ok := of(m)
		if !ok {
			return nil, false
		}
		items, err := m.items(v, nodes)
		list, ok := items.([]any)
		if err != nil || !ok {
			return nil, false
		}
		outer := m.item
		v, ok = collect(list, func(item any) (any, bool) {
			m.item = item
			return body(m)
		})
		m.item = outer
		return v, ok
	}
}

// collectors make the value of a predicate function of a list and what the body says of
// each item.
var collectors = map[string]func(list []any, body func(item any) (any, bool)) (any, bool){
	"any": func(list []any, body func(any) (any, bool)) (any, bool) {
		i, ok := search(list, body)
		return i >= 0, ok
	},
	"find": func(list []any, body func(any) (any, bool)) (any, bool) {
		i, ok := search(list, body)
		if i < 0 {
			return nil, ok
		}
		return list[i], ok
	},
	"filter": func(list []any, body func(any) (any, bool)) (any, bool) {
		out := make([]any, 0, min(len(list), 8))
		for _, item := range list {
			holds, ok := truth(body(item))
			if !ok {
				return nil, false
			}
			if holds {
				out = append(out, item)
			}
		}
		return out, true
	},
	"count": func(list []any, body func(any) (any, bool)) (any, bool) {
		n := 0
		for _, item := range list {
			holds, ok := truth(body(item))
			if !ok {
				return nil, false
			}
			if holds {
				n++
			}
		}
		return n, true
	},
	"map": func(list []any, body func(any) (any, bool)) (any, bool) {
		out := make([]any, len(list))
		for i, item := range list {
			v, ok := body(item)
			if !ok {
				return nil, false
			}
			out[i] = v
		}
		return out, true
	},
	"sum": func(list []any, body func(any) (any, bool)) (any, bool) {
		total := 0
		for _, item := range list {
			v, ok := body(item)
			n, isInt := v.(int)
			if !ok || !isInt {
				return nil, false
			}
			total += n
		}
		return total, true
	},
}

// search returns the index of the first item of which the body is true; -1 if there is
// none.
func search(list []any, body func(any) (any, bool)) (index int, ok bool) {
	for i, item := range list {
		switch holds, ok := truth(body(item)); {
		case !ok:
			return -1, false
		case holds:
			return i, true
		}
	}
	return -1, true
}
