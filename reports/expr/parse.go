package expr

import (
	"slices"
	"strconv"
	"strings"
)

const (
	maxDepth = 32
	maxNodes = 512
	maxItems = 32
	maxKeys  = 8
)

// parser reads expressions.
type parser struct {
	*lexer
	depth int
	nodes int
}

// end refuses what follows.
func (p *parser) end(allowed ...string) {
	if p.tok.kind == tokenEnd {
		return
	}
	hint := ""
	if p.tok.kind == tokenWord {
		hint = nearest(p.tok.text, allowed)
	}
	p.fail(p.tok.at, "unexpected %s%s", p.tok, hint)
}

func (p *parser) add(n node) *node {
	if p.nodes++; p.nodes > maxNodes {
		p.fail(n.at, "more than %d parts", maxNodes)
	}
	return &n
}

// levels are the operators, the loosest first.
var levels = [...][]string{
	{"or"}, {"and"}, {"not"}, {"==", "!=", "<=", ">=", "<", ">", "in", "not", "is"}, {"+", "-"}, {"*", "/"},
}

const (
	levelNot     = 2
	levelCompare = 3
)

// expression reads operators of a level and tighter ones.
func (p *parser) expression(level int) *node {
	if p.depth++; p.depth > maxDepth*len(levels) {
		p.fail(p.tok.at, "nested too deeply")
	}
	defer func() { p.depth-- }()
	if level == len(levels) {
		return p.primary()
	}
	if at := p.tok.at; level == levelNot && p.accept("not") {
		return p.add(node{kind: prefix, at: at, op: "not", kids: []*node{p.expression(level)}})
	}
	left := p.expression(level + 1)
	for level != levelNot && p.tok.isOne(levels[level]...) {
		left = p.operation(left, level)
		if level == levelCompare && p.tok.isOne(levels[level]...) {
			p.fail(p.tok.at, "comparisons cannot be chained: join them with and")
		}
	}
	return left
}

// operation reads an operator and what is right of it.
func (p *parser) operation(left *node, level int) *node {
	op, at := p.tok.text, p.tok.at
	p.next()
	switch op {
	case "is":
		negated := p.accept("not")
		p.expect("null")
		n := p.add(node{kind: isNull, at: at, kids: []*node{left}})
		if negated {
			n.op = "not"
		}
		return n
	case "not":
		p.expect("in")
		return p.add(node{kind: prefix, at: at, op: "not", kids: []*node{p.list(left, at)}})
	case "in":
		return p.list(left, at)
	}
	return p.add(node{kind: infix, at: at, op: op, kids: []*node{left, p.expression(level + 1)}})
}

// list reads the values of in (…).
func (p *parser) list(left *node, at int) *node {
	p.expect("(")
	kids := []*node{left}
	for more := true; more; more = p.accept(",") {
		n := p.expression(levelCompare + 1)
		if !n.constant() {
			p.fail(n.at, "in (…) takes values, not columns")
		}
		kids = append(kids, n)
	}
	p.expect(")")
	return p.add(node{kind: in, at: at, kids: kids})
}

// primary reads a literal, a column, an aggregate, a sign or parentheses.
func (p *parser) primary() *node {
	t := p.tok
	p.next()
	switch {
	case t.kind == tokenNumber:
		return p.add(node{kind: literal, at: t.at, typ: Number, value: Cell{Number: t.num}, unit: t.unit})
	case t.kind == tokenText:
		return p.add(node{kind: literal, at: t.at, typ: Text, value: Cell{Text: t.text}})
	case t.isOne("true", "false"):
		return p.add(node{kind: literal, at: t.at, typ: Bool, value: Cell{Bool: t.text == "true"}})
	case t.isOne("null"):
		p.fail(t.at, "null is tested with: is null")
	case t.isOne("and", "or", "not", "in", "is", "where", "group", "by"): // they name no column
	case t.kind == tokenWord && p.tok.isOne("("):
		return p.aggregate(t)
	case t.kind == tokenWord:
		return p.column(t)
	case t.isOne("("):
		n := p.expression(0)
		p.expect(")")
		return n
	case t.isOne("-"):
		return p.add(node{kind: prefix, at: t.at, op: "-", kids: []*node{p.expression(len(levels))}})
	}
	p.fail(t.at, "expected a value, a column or a function, not %s", t)
	return nil
}

// column reads what may follow the word t, which is the name of a column or of its table.
func (p *parser) column(t token) *node {
	n := node{kind: columnName, at: t.at, name: t.text}
	if p.accept(".") {
		if p.tok.kind != tokenWord {
			p.fail(p.tok.at, "expected a column of %s, not %s", t.text, p.tok)
		}
		n.table, n.name = t.text, p.tok.text
		p.next()
	}
	return p.add(n)
}

// aggregate reads what the function t is of.
func (p *parser) aggregate(t token) *node {
	n := node{kind: call, at: t.at, name: t.text, op: t.text}
	if percentile.MatchString(t.text) {
		rank, err := strconv.ParseFloat(t.text[1:], 64)
		if err != nil || rank <= 0 || rank >= 100 || len(t.text) > 8 {
			p.fail(t.at, "percentiles lie between p0 and p100, such as p50, p95 or p99.9")
		}
		n.rank, n.op = rank/100, "p"
	} else if t.text == "p" || takes[t.text] == nil {
		p.fail(t.at, "unknown function %q%s (known: %s, and percentiles such as p95)", t.text,
			nearest(t.text, functions), strings.Join(functions, ", "))
	}
	p.next() // the parenthesis
	if !p.tok.isOne(")") {
		n.kids = []*node{p.expression(0)}
	}
	p.expect(")")
	if n.kids == nil && n.op != "count" {
		p.fail(t.at, "%s() of what? Name a column", t.text)
	}
	return p.add(n)
}

// condition reads the condition behind the word where, if it comes next; nil without one.
func (p *parser) condition() *node {
	if !p.accept("where") {
		return nil
	}
	return p.expression(0)
}

// groupBy reads the columns behind group by, if it comes next.
func (p *parser) groupBy() (columns []*node) {
	if !p.accept("group") {
		return nil
	}
	p.expect("by")
	for more := true; more; more = p.accept(",") {
		if len(columns) == maxKeys {
			p.fail(p.tok.at, "more than %d columns to group by", maxKeys)
		}
		n := p.primary()
		if n.kind != columnName {
			p.fail(n.at, "group by takes columns")
		}
		columns = append(columns, n)
	}
	return columns
}

// items reads the values of a query and their texts.
func (p *parser) items() (items []item) {
	for more := true; more; more = p.accept(",") {
		from := p.tok.at
		if len(items) == maxItems {
			p.fail(from, "more than %d values", maxItems)
		}
		it := item{node: p.expression(0)}
		it.name = strings.Join(strings.Fields(p.source[from:p.last]), " ")
		if slices.ContainsFunc(items, func(have item) bool { return have.name == it.name }) {
			p.fail(from, "%s is there twice", it.name)
		}
		items = append(items, it)
	}
	return items
}
