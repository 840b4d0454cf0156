package expression

import (
	"maps"

	"github.com/expr-lang/expr/ast"
)

// Need says which parts of a value are read: members by name, and under Elements the
// elements of a list or members whose name is computed. A nil Need reads all of the
// value, an empty one only that it is there.
type Need map[string]Need

// Elements is the key of a Need's elements.
const Elements = "*"

// With returns what either of two needs reads.
func (n Need) With(other Need) Need {
	if n == nil || other == nil {
		return nil
	}
	both := maps.Clone(n)
	for key, need := range other {
		if old, ok := both[key]; ok {
			need = old.With(need)
		}
		both[key] = need
	}
	return both
}

// Element returns what the need reads of each element of a list.
func (n Need) Element() Need {
	if element, ok := n[Elements]; ok || n == nil {
		return element
	}
	return Need{}
}

// Trim returns a value without the parts that are not read. It leaves v as it is.
func (n Need) Trim(v any) any {
	if n == nil {
		return v
	}
	element, elements := n[Elements]
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			need, ok := n[key]
			switch {
			case ok && elements:
				need = need.With(element)
			case elements:
				need = element
			case !ok:
				continue
			}
			out[key] = need.Trim(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			if elements {
				out[i] = element.Trim(v[i])
			}
		}
		return out
	}
	return v
}

// Needs returns which parts of the values of names the program reads, by name, where its
// own value is read as want says.
func (p *Program) Needs(want Need) Need {
	if p.needs == nil {
		return Need{}
	}
	return p.needs(want)
}

// needsOf returns what the parts of a program need, each read in full.
func needsOf(parts []*Program) func(Need) Need {
	return func(Need) Need {
		all := Need{}
		for _, p := range parts {
			all = all.With(p.Needs(nil))
		}
		return all
	}
}

// demand finds out what an expression reads.
type demand struct {
	needs Need
	items []Need // what is read of the items of the predicates around
}

// read adds what node reads where its value is read as want says.
func (d *demand) read(node ast.Node, want Need) {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		d.needs = d.needs.With(Need{n.Value: want})
	case *ast.PointerNode:
		if last := len(d.items) - 1; last >= 0 && n.Name == "" {
			d.items[last] = d.items[last].With(want)
		}
	case *ast.ChainNode:
		d.read(n.Node, want)
	case *ast.MemberNode:
		key := Elements
		if name, ok := n.Property.(*ast.StringNode); ok {
			key = name.Value
		}
		d.read(n.Property, nil)
		d.read(n.Node, Need{key: want})
	case *ast.ConditionalNode:
		d.read(n.Cond, nil)
		d.read(n.Exp1, want)
		d.read(n.Exp2, want)
	case *ast.BuiltinNode:
		d.builtin(n, want)
	default:
		for _, part := range parts(node) {
			d.read(part, nil)
		}
	}
}

// builtin adds what a function of the library reads. What predicates read of each item is
// what is read of the elements of their list.
func (d *demand) builtin(n *ast.BuiltinNode, want Need) {
	var body *ast.PredicateNode
	if len(n.Arguments) > 1 {
		body, _ = n.Arguments[1].(*ast.PredicateNode)
	}
	switch {
	case n.Name == "len":
		d.read(n.Arguments[0], Need{Elements: Need{}})
	case body == nil:
		for _, arg := range n.Arguments {
			d.read(arg, nil)
		}
	default:
		var result Need // of the predicate
		item := Need{}  // besides what the predicate reads
		switch n.Name {
		case "map":
			result = want.Element()
		case "filter", "sortBy":
			item = want.Element()
		case "find", "findLast":
			item = want
		case "groupBy":
			item = nil
		}
		d.items = append(d.items, item)
		d.read(body.Node, result)
		item, d.items = d.items[len(d.items)-1], d.items[:len(d.items)-1]
		d.read(n.Arguments[0], Need{Elements: item})
		for _, arg := range n.Arguments[2:] {
			d.read(arg, nil)
		}
	}
}

// parts are the nodes directly below one whose parts are all read in full.
func parts(node ast.Node) []ast.Node {
	switch n := node.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.SliceNode:
		return []ast.Node{n.Node, n.From, n.To}
	case *ast.CallNode:
		return n.Arguments
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.VariableDeclaratorNode:
		return []ast.Node{n.Value, n.Expr}
	case *ast.SequenceNode:
		return n.Nodes
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	}
	return nil
}
