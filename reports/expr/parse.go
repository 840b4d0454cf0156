package expr

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxSource = 4 << 10 // bytes
	maxDepth  = 32
	maxNodes  = 512
)

// parser reads a text. Its methods stop at the first error.
type parser struct {
	source string
	at     int // behind tok
	last   int // behind the token before it
	tok    token
	depth  int
	nodes  int
}

func newParser(source string) (*parser, error) {
	p := &parser{source: source}
	if len(source) > maxSource {
		return p, p.problem(0, "%d bytes, more than %d", len(source), maxSource)
	}
	if !utf8.ValidString(source) {
		return p, p.problem(0, "not valid UTF-8")
	}
	return p, p.next()
}

// accept passes over a word or sign if it comes next.
func (p *parser) accept(text string) (bool, error) {
	if !p.is(text) {
		return false, nil
	}
	return true, p.next()
}

func (p *parser) is(text string) bool {
	return (p.tok.kind == tokenWord || p.tok.kind == tokenSign) && p.tok.text == text
}

func (p *parser) expect(text string) error {
	if ok, err := p.accept(text); ok || err != nil {
		return err
	}
	return p.problem(p.tok.at, "expected %q, not %s", text, p.found())
}

func (p *parser) found() string {
	switch p.tok.kind {
	case tokenEnd:
		return "the end"
	case tokenWord, tokenSign:
		return strconv.Quote(p.tok.text)
	case tokenText:
		return "a text"
	}
	return "a number"
}

// end refuses what follows.
func (p *parser) end(allowed ...string) error {
	if p.tok.kind == tokenEnd {
		return nil
	}
	hint := ""
	if p.tok.kind == tokenWord {
		hint = nearest(p.tok.text, allowed)
	}
	return p.problem(p.tok.at, "unexpected %s%s", p.found(), hint)
}

func (p *parser) add(n node) (*node, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, p.problem(n.at, "more than %d parts", maxNodes)
	}
	return &n, nil
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
func (p *parser) expression(level int) (*node, error) {
	if p.depth++; p.depth > maxDepth*len(levels) {
		return nil, p.problem(p.tok.at, "nested too deeply")
	}
	defer func() { p.depth-- }()
	if level == len(levels) {
		return p.primary()
	}
	if level == levelNot && p.is("not") {
		at := p.tok.at
		if err := p.next(); err != nil {
			return nil, err
		}
		kid, err := p.expression(level)
		if err != nil {
			return nil, err
		}
		return p.add(node{kind: unary, at: at, op: "not", kids: []*node{kid}})
	}
	left, err := p.expression(level + 1)
	for err == nil && level != levelNot && p.operator(levels[level]) {
		if left, err = p.operation(left, level); level == levelCompare && err == nil {
			if p.operator(levels[level]) {
				return nil, p.problem(p.tok.at, "comparisons cannot be chained: join them with and")
			}
			break
		}
	}
	return left, err
}

func (p *parser) operator(of []string) bool {
	return (p.tok.kind == tokenWord || p.tok.kind == tokenSign) && slices.Contains(of, p.tok.text)
}

// operation reads an operator and what is right of it.
func (p *parser) operation(left *node, level int) (*node, error) {
	op, at := p.tok.text, p.tok.at
	if err := p.next(); err != nil {
		return nil, err
	}
	switch op {
	case "is":
		negated, err := p.accept("not")
		if err == nil {
			err = p.expect("null")
		}
		if err != nil {
			return nil, err
		}
		n, err := p.add(node{kind: isNull, at: at, kids: []*node{left}})
		if err == nil && negated {
			n.op = "not"
		}
		return n, err
	case "not":
		if err := p.expect("in"); err != nil {
			return nil, err
		}
		n, err := p.list(left, at)
		if err != nil {
			return nil, err
		}
		return p.add(node{kind: unary, at: at, op: "not", kids: []*node{n}})
	case "in":
		return p.list(left, at)
	}
	right, err := p.expression(level + 1)
	if err != nil {
		return nil, err
	}
	return p.add(node{kind: binary, at: at, op: op, kids: []*node{left, right}})
}

// list reads the values of in (…).
func (p *parser) list(left *node, at int) (*node, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	kids := []*node{left}
	for {
		n, err := p.expression(levelCompare + 1)
		if err != nil {
			return nil, err
		}
		if !n.constant() {
			return nil, p.problem(n.at, "in (…) takes values, not columns")
		}
		kids = append(kids, n)
		if more, err := p.accept(","); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	return p.add(node{kind: in, at: at, kids: kids})
}

// primary reads a literal, a column, an aggregate, a sign or parentheses.
func (p *parser) primary() (*node, error) {
	t := p.tok
	if err := p.next(); err != nil {
		return nil, err
	}
	switch {
	case t.kind == tokenNumber:
		return p.add(node{kind: literal, at: t.at, typ: Number, num: t.num, unit: t.unit})
	case t.kind == tokenText:
		return p.add(node{kind: literal, at: t.at, typ: Text, text: t.text})
	case t.kind == tokenWord:
		return p.word(t)
	case t.kind == tokenSign && t.text == "(":
		n, err := p.expression(0)
		if err == nil {
			err = p.expect(")")
		}
		return n, err
	case t.kind == tokenSign && t.text == "-":
		kid, err := p.expression(len(levels))
		if err != nil {
			return nil, err
		}
		return p.add(node{kind: unary, at: t.at, op: "-", kids: []*node{kid}})
	}
	p.tok = t
	return nil, p.problem(t.at, "expected a value, a column or a function, not %s", p.found())
}

// reserved words name no column.
var reserved = []string{"and", "or", "not", "in", "is", "where", "group", "by"}

func (p *parser) word(t token) (*node, error) {
	switch {
	case t.text == "true", t.text == "false":
		return p.add(node{kind: literal, at: t.at, typ: Bool, is: t.text == "true"})
	case t.text == "null":
		return nil, p.problem(t.at, "null is tested with: is null")
	case slices.Contains(reserved, t.text):
		p.tok = t
		return nil, p.problem(t.at, "expected a value, a column or a function, not %s", p.found())
	case p.is("("):
		return p.aggregate(t)
	}
	n := node{kind: columnInfo, at: t.at, text: t.text}
	if dot, err := p.accept("."); err != nil {
		return nil, err
	} else if dot {
		if p.tok.kind != tokenWord {
			return nil, p.problem(p.tok.at, "expected a column of %s, not %s", t.text, p.found())
		}
		n.table, n.text = t.text, p.tok.text
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return p.add(n)
}

// aggregates are their names but for the percentiles.
var aggregates = []string{"count", "share", "mean", "sum", "min", "max", "rate"}

// aggregate reads a function and what it is of.
func (p *parser) aggregate(t token) (*node, error) {
	n := node{kind: call, at: t.at, op: t.text}
	if percentile(strings.Replace(t.text, ".", "", 1)) {
		rank, err := strconv.ParseFloat(t.text[1:], 64)
		if err != nil || rank <= 0 || rank >= 100 || len(t.text) > 8 {
			return nil, p.problem(t.at, "percentiles lie between p0 and p100, such as p50, p95 or p99.9")
		}
		n.rank, n.text = rank/100, t.text
		n.op = "p"
	} else if !slices.Contains(aggregates, t.text) {
		return nil, p.problem(t.at, "unknown function %q%s (known: %s, and percentiles such as p95)", t.text,
			nearest(t.text, aggregates), strings.Join(aggregates, ", "))
	}
	if err := p.next(); err != nil { // the parenthesis
		return nil, err
	}
	if !p.is(")") {
		kid, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		n.kids = []*node{kid}
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	if n.kids == nil && n.op != "count" {
		return nil, p.problem(t.at, "%s() of what? Name a column", t.text)
	}
	return p.add(n)
}
