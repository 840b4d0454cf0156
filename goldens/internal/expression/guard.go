package expression

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// meterName is the name under which an environment holds the meter of an evaluation.
const meterName = "$meter"

// guard rewrites a program so that every part with more than constant work charges the
// meter before it works: predicates, for all their iterations together, operators on strings
// and lists, functions. It
// refuses calls of anything but a function of the language.
type guard struct {
	names []string
	used  []string
	// members have their offset as column until the text is available.
	members []Member
	err     *file.Error
}

// literal are operands that cost nothing to compare with.
func literal(n ast.Node) bool {
	switch n.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return true
	}
	return false
}

// rewrite changes the tree below and including node.
func (g *guard) rewrite(node *ast.Node) { ast.Walk(node, g) }

// Visit rewrites one node, after those below it.
func (g *guard) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if strings.HasPrefix(n.Value, "$") {
			g.fail(n, "unknown name %s", n.Value)
		}
		if slices.Contains(g.names, n.Value) {
			g.used = append(g.used, n.Value)
		}
	case *ast.MemberNode:
		of, isName := n.Node.(*ast.IdentifierNode)
		name, fixed := n.Property.(*ast.StringNode)
		if isName && fixed && slices.Contains(g.names, of.Value) {
			g.members = append(g.members, Member{Of: of.Value, Name: name.Value, column: name.Location().From})
		}
	case *ast.BuiltinNode:
		g.builtin(n)
	case *ast.BinaryNode:
		g.binary(node, n)
	case *ast.CallNode:
		name, ok := n.Callee.(*ast.IdentifierNode)
		f, known := functions[nameOf(name)]
		switch {
		case !ok:
			g.fail(n, "only functions of the language can be called: %s", strings.Join(language, ", "))
		case !known || slices.Contains(g.names, name.Value):
			g.fail(n, "%s is not a function; there are: %s", name.Value, strings.Join(language, ", "))
		case len(n.Arguments) != f.args:
			g.fail(n, "%s needs %d arguments, but has %d", name.Value, f.args, len(n.Arguments))
		}
		n.Arguments = slices.Concat([]ast.Node{&ast.IdentifierNode{Value: meterName}}, n.Arguments)
	}
}

func nameOf(n *ast.IdentifierNode) string {
	if n == nil {
		return ""
	}
	return n.Value
}

func (g *guard) builtin(n *ast.BuiltinNode) {
	switch {
	case len(n.Arguments) == 0:
	case slices.Contains(predicates, n.Name):
		n.Arguments[0] = g.call("$list", n.Arguments[0], &ast.IntegerNode{Value: size(n.Arguments[1:])})
		for i := range n.Arguments[1:] {
			ast.Walk(&n.Arguments[i+1], (*repeated)(g))
		}
		switch body, _ := n.Arguments[min(1, len(n.Arguments)-1)].(*ast.PredicateNode); n.Name {
		case "reduce":
			body.Node = g.call("$deep", body.Node) // what grows by being nested
		case "sum": // the library's does not say when it does not fit
			item := ast.Node(&ast.PointerNode{})
			if body != nil {
				item = body.Node
			}
			total := g.call("$add", &ast.PointerNode{Name: "acc"}, item)
			total.SetLocation(n.Location())
			n.Name, n.Arguments = "reduce", []ast.Node{n.Arguments[0], &ast.PredicateNode{Node: total}, &ast.IntegerNode{}}
		}
	case n.Name == "uniq":
		n.Arguments[0] = g.call("$uniq", n.Arguments[0])
	default:
		charge := "$size"
		if slices.Contains(deep, n.Name) {
			charge = "$deep"
		}
		for i := range n.Arguments {
			if !literal(n.Arguments[i]) {
				n.Arguments[i] = g.call(charge, n.Arguments[i])
			}
		}
	}
}

func (g *guard) binary(node *ast.Node, n *ast.BinaryNode) {
	switch n.Operator {
	case "in":
		ast.Patch(node, g.call("$in", n.Left, n.Right))
	case "+":
		ast.Patch(node, g.call("$add", n.Left, n.Right))
	case "-":
		ast.Patch(node, g.call("$sub", n.Left, n.Right))
	case "*":
		ast.Patch(node, g.call("$mul", n.Left, n.Right))
	case "matches", "contains", "startsWith", "endsWith":
		n.Left = g.call("$size", n.Left)
		if !literal(n.Right) {
			n.Right = g.call("$size", n.Right)
		}
	}
}

// repeated rewrites what a predicate evaluates for every item: comparisons, which cost
// more than nothing only because they are many.
type repeated guard

// Visit rewrites one node, after those below it.
func (r *repeated) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok || n.Operator != "==" && n.Operator != "!=" || literal(n.Left) || literal(n.Right) {
		return
	}
	equal := (*guard)(r).call("$equal", n.Left, n.Right)
	if n.Operator == "!=" {
		equal = &ast.UnaryNode{Operator: "not", Node: equal}
	}
	ast.Patch(node, equal)
}

// counter counts nodes.
type counter int

// Visit counts one node.
func (c *counter) Visit(*ast.Node) { *c++ }

// size returns the number of nodes below and including those of a list.
func size(nodes []ast.Node) int {
	var c counter
	for i := range nodes {
		ast.Walk(&nodes[i], &c)
	}
	return int(c)
}

// call is a call of one of the internal functions, placed at its first argument.
func (g *guard) call(name string, args ...ast.Node) ast.Node {
	n := &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: append([]ast.Node{&ast.IdentifierNode{Value: meterName}}, args...)}
	n.SetLocation(args[0].Location())
	return n
}

func (g *guard) fail(n ast.Node, format string, args ...any) {
	if g.err == nil {
		g.err = &file.Error{Location: n.Location(), Message: fmt.Sprintf(format, args...)}
	}
}

// unknown reports that a name is not known, and which is near.
func unknown(name string, names []string) string {
	all := slices.Concat(names, language)
	return fmt.Sprintf("unknown name %s%s; known: %s, and the functions of the language", name, yamlfile.Suggest(name, all), yamlfile.Listed(slices.Sorted(slices.Values(names))))
}

var goTypes = strings.NewReplacer("map[string]interface {}", "an object", "[]interface {}", "a list", "interface {}", "a value", "map[string]any", "an object", "[]any", "a list",
	"<nil>", "null", "json.Number", "a large integer", "float64", "number", "reflect: ", "")

var conversion = lazyregexp.New(`^interface conversion: interface \{\} is (.*), not (.*)$`)

// plainDetail says in the language's words what the library says in Go's.
func plainDetail(detail string) string {
	if m := conversion.FindStringSubmatch(detail); m != nil {
		detail = "the value is " + strings.Replace(m[1], "nil", "null", 1) + ", where " + m[2] + " is needed"
	}
	if detail == "memory budget exceeded" {
		return tooMuch().Error()
	}
	return clip.Runes(goTypes.Replace(detail), 300)
}

// Kind names the type of a value, for messages: null, a boolean, a number, a string, an
// object or a list.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int, float64, json.Number:
		return "a number"
	case string:
		return "a string"
	case map[string]any, map[any][]any:
		return "an object"
	}
	return "a list"
}

// described is a short form of a value, for messages.
func described(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", clip.Runes(s, 40))
	}
	return Kind(v)
}

// asObject returns an object; those that groupBy makes have keys of any type.
func asObject(v any) (map[string]any, error) {
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case map[any][]any:
		out := make(map[string]any, len(v))
		for key, list := range v {
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("an object has strings as keys, but groupBy made a key of %s; use string(…)", Kind(key))
			}
			out[name] = list
		}
		return out, nil
	}
	return nil, fmt.Errorf("an object is needed, but the value is %s", Kind(v))
}
