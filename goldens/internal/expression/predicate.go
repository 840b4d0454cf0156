package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// directBuiltin is direct for lower and for predicates over lists and objects.
func (s scope) directBuiltin(n *ast.BuiltinNode) evaluator {
	if len(n.Arguments) == 0 {
		return nil
	}
	of := s.direct(n.Arguments[0])
	if of != nil && n.Name == "lower" {
		return func(env *Env) (any, bool) {
			v, ok := of(env)
			text, isText := v.(string)
			return strings.ToLower(text), ok && isText && env.shallow(v) == nil
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
	body := s.bodyOf(predicate.Node)
	nodes := size(n.Arguments[1:])
	if body.value == nil {
		return nil
	}
	filters := n.Name != "map" && n.Name != "sum"
	return func(env *Env) (any, bool) {
		v, ok := of(env)
		other, known := body.once(env)
		if !ok || !known {
			return nil, false
		}
		pass := pass{env: env, value: body.value, other: other}
		outer := env.item
		if object, isObject := v.(map[string]any); isObject && filters {
			v, ok = pass.matching(object, nodes)
			pass.value = nil
		} else {
			items, err := env.items(v, nodes)
			v, ok = items, err == nil
		}
		if list, isList := v.([]any); ok && isList {
			v, ok = collect(list, pass)
		} else {
			ok = false
		}
		env.item = outer
		return v, ok
	}
}

// body is a predicate: what once returns before the first item is given to value for each,
// the other side of a comparison that reads no item.
type body struct {
	once  evaluator
	value func(env *Env, other any) (any, bool)
}

// bodyOf returns the evaluators of a predicate; none if there are none.
func (s scope) bodyOf(node ast.Node) body {
	if n, ok := node.(*ast.BinaryNode); ok && n.Operator == "==" && !readsItem(n.Right) {
		if left, right := s.direct(n.Left), s.direct(n.Right); left != nil && right != nil {
			return body{right, func(env *Env, other any) (any, bool) {
				v, ok := left(env)
				return equal(env, v, other, ok)
			}}
		}
	}
	if whole := s.direct(node); whole != nil {
		return body{fixed(nil), func(env *Env, _ any) (any, bool) { return whole(env) }}
	}
	return body{}
}

// pass is one evaluation of a predicate for many items.
type pass struct {
	env   *Env
	value func(env *Env, other any) (any, bool) // nil if it is true of every item
	other any
}

func (p pass) of(item any) (any, bool) {
	if p.value == nil {
		return true, true
	}
	p.env.item = item
	return p.value(p.env, p.other)
}

// pointers counts the items of predicates that a node reads.
type pointers int

// Visit counts one node.
func (p *pointers) Visit(node *ast.Node) {
	if _, ok := (*node).(*ast.PointerNode); ok {
		*p++
	}
}

func readsItem(node ast.Node) bool {
	var p pointers
	ast.Walk(&node, &p)
	return p > 0
}

// matching returns the values of an object of which the predicate is true, in order of
// their keys. ok is false if it fails for any of them, so that the order in which they are
// seen does not matter.
func (p pass) matching(object map[string]any, nodes int) (list []any, ok bool) {
	if p.env.use(len(object)*(nodes+1)) != nil {
		return nil, false
	}
	var few [8]string
	keys := few[:0]
	for key, item := range object {
		p.env.item = item
		holds, ok := truth(p.value(p.env, p.other))
		if !ok {
			return nil, false
		}
		if holds {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		list = append(list, object[key])
	}
	return list, true
}

// collectors make the value of a predicate function of a list and what the predicate says
// of each item.
var collectors = map[string]func(list []any, p pass) (any, bool){
	"any": func(list []any, p pass) (any, bool) {
		i, ok := search(list, p)
		return i >= 0, ok
	},
	"find": func(list []any, p pass) (any, bool) {
		i, ok := search(list, p)
		if i < 0 {
			return nil, ok
		}
		return list[i], ok
	},
	"filter": func(list []any, p pass) (any, bool) {
		out := make([]any, 0, min(len(list), 8))
		for _, item := range list {
			holds, ok := truth(p.of(item))
			if !ok {
				return nil, false
			}
			if holds {
				out = append(out, item)
			}
		}
		return out, true
	},
	"count": func(list []any, p pass) (any, bool) {
		n := 0
		for _, item := range list {
			holds, ok := truth(p.of(item))
			if !ok {
				return nil, false
			}
			if holds {
				n++
			}
		}
		return n, true
	},
	"map": func(list []any, p pass) (any, bool) {
		out := make([]any, len(list))
		for i, item := range list {
			v, ok := p.of(item)
			if !ok {
				return nil, false
			}
			out[i] = v
		}
		return out, true
	},
	"sum": func(list []any, p pass) (any, bool) {
		total := 0
		for _, item := range list {
			v, ok := p.of(item)
			n, isInt := v.(int)
			if !ok || !isInt || (total+n > total) != (n > 0) {
				return nil, false
			}
			total += n
		}
		return total, true
	},
}

// search returns the index of the first item of which the predicate is true; -1 if there is
// none.
func search(list []any, p pass) (index int, ok bool) {
	for i, item := range list {
		switch holds, ok := truth(p.of(item)); {
		case !ok:
			return -1, false
		case holds:
			return i, true
		}
	}
	return -1, true
}
