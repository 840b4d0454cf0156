package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"
)

// evaluator evaluates an expression without a machine. ok is false where the machine has
// to say what is wrong, or what the value is.
type evaluator func(env *Env) (v any, ok bool)

// scope are the names that an expression may use.
type scope []string

// direct returns how an expression made of members, comparisons, integers, our functions
// and predicates is evaluated without a machine, which takes a multiple of the time; nil
// for any other. It takes work from the same meter. The expression has been checked, and
// guard has not yet rewritten it.
func (s scope) direct(node ast.Node) evaluator {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		i := slices.Index(s, n.Value)
		if i < 0 {
			return nil
		}
		return func(env *Env) (any, bool) { return env.values[i], true }
	case *ast.PointerNode:
		if n.Name == "" {
			return func(env *Env) (any, bool) { return env.item, true }
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
		if name, ok := n.Property.(*ast.StringNode); ok {
			if p, ok := n.Node.(*ast.PointerNode); ok && p.Name == "" {
				return func(env *Env) (any, bool) {
					record, ok := env.item.(map[string]any)
					return record[name.Value], ok
				}
			}
			return named(s.direct(n.Node), name.Value)
		}
		if parts := s.directs(n.Node, n.Property); parts != nil {
			return member(parts[0], parts[1])
		}
	case *ast.BinaryNode:
		if parts := s.directs(n.Left, n.Right); parts != nil {
			return binary(n.Operator, parts[0], parts[1])
		}
	case *ast.ConditionalNode:
		if parts := s.directs(n.Cond, n.Exp1, n.Exp2); parts != nil {
			return conditional(parts[0], parts[1], parts[2])
		}
	case *ast.MapNode:
		return s.directObject(n)
	case *ast.CallNode:
		name, _ := n.Callee.(*ast.IdentifierNode)
		f, known := functions[nameOf(name)]
		if parts := s.directs(n.Arguments...); known && len(parts) == f.args {
			return directCall(f, parts)
		}
	case *ast.BuiltinNode:
		return s.directBuiltin(n)
	}
	return nil
}

// directs returns the evaluators of several nodes; nil if one of them has none.
func (s scope) directs(nodes ...ast.Node) []evaluator {
	out := make([]evaluator, len(nodes))
	for i, node := range nodes {
		if out[i] = s.direct(node); out[i] == nil {
			return nil
		}
	}
	return out
}

func fixed(v any) evaluator { return func(*Env) (any, bool) { return v, true } }

// named is a member whose name the expression has.
func named(of evaluator, name string) evaluator {
	if of == nil {
		return nil
	}
	return func(env *Env) (any, bool) {
		v, ok := of(env)
		object, isObject := v.(map[string]any)
		return object[name], ok && isObject
	}
}

func member(of, key evaluator) evaluator {
	return func(env *Env) (any, bool) {
		v, okOf := of(env)
		k, okKey := key(env)
		object, isObject := v.(map[string]any)
		name, isText := k.(string)
		return object[name], okOf && okKey && isObject && isText
	}
}

func conditional(cond, then, otherwise evaluator) evaluator {
	return func(env *Env) (any, bool) {
		holds, ok := truth(cond(env))
		switch {
		case !ok:
			return nil, false
		case holds:
			return then(env)
		}
		return otherwise(env)
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
		return func(env *Env) (any, bool) {
			a, okLeft := left(env)
			b, okRight := right(env)
			same, ok := equal(env, a, b, okLeft && okRight)
			return same == (operator == "=="), ok
		}
	case "<", "<=", ">", ">=", "+", "-":
		return func(env *Env) (any, bool) {
			a, okLeft := left(env)
			b, okRight := right(env)
			x, isLeft := a.(int)
			y, isRight := b.(int)
			if okLeft && okRight && isLeft && isRight {
				return integers(operator, x, y)
			}
			before, isText := a.(string)
			after, both := b.(string)
			return before + after, okLeft && okRight && operator == "+" && isText && both && env.text(len(before)+len(after)) == nil
		}
	}
	return nil
}

// equal compares two values; ok is false if they are not known, or the work is too much.
func equal(env *Env, a, b any, known bool) (same, ok bool) {
	if text, ok := b.(string); ok { // the usual case, for which the library needs reflection
		v, ok := a.(string)
		return ok && v == text, known && env.use(len(text)/64+1) == nil
	}
	switch {
	case !known:
		return false, false
	case b == nil: // whatever a contains
		return runtime.IsNil(a), true
	case env.deep(a, 0) != nil:
		return false, false
	}
	return runtime.Equal(a, b), true
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

func (s scope) directObject(n *ast.MapNode) evaluator {
	keys := make([]string, len(n.Pairs))
	values := make([]evaluator, len(n.Pairs))
	for i, node := range n.Pairs {
		pair := node.(*ast.PairNode)
		key, isText := pair.Key.(*ast.StringNode)
		if values[i] = s.direct(pair.Value); !isText || values[i] == nil || slices.Contains(keys[:i], key.Value) {
			return nil
		}
		keys[i] = key.Value
	}
	return func(env *Env) (any, bool) {
		object := make(map[string]any, len(keys))
		for i, key := range keys {
			v, ok := values[i](env)
			if !ok {
				return nil, false
			}
			object[key] = v
		}
		return object, true
	}
}

func directCall(f function, args []evaluator) evaluator {
	return func(env *Env) (any, bool) {
		values := make([]any, len(args))
		for i, arg := range args {
			v, ok := arg(env)
			if !ok {
				return nil, false
			}
			values[i] = v
		}
		v, err := f.call(&env.meter, values)
		return v, err == nil
	}
}
