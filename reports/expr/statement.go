package expr

import (
	"slices"
	"strings"
)

// Query is a statement that was parsed and checked:
//
//	p95(duration_us), mean(cost_nanousd) where role == "main" group by candidate
//
// It is not modified by running it, and safe for concurrent use.
type Query struct {
	plan
	items []item
	group []*node // columns
}

// item is one value of a query, and its text.
type item struct {
	node *node
	name string
}

const (
	maxItems = 32
	maxKeys  = 8
)

// ParseQuery reads a query. An error is an *Error.
func ParseQuery(text string) (*Query, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	q := &Query{}
	for more := true; more && err == nil; {
		if len(q.items) == maxItems {
			return nil, p.problem(p.tok.at, "more than %d values", maxItems)
		}
		var it item
		from := p.tok.at
		if it.node, err = p.expression(0); err != nil {
			return nil, err
		}
		it.name = strings.Join(strings.Fields(p.source[from:p.last]), " ")
		if slices.ContainsFunc(q.items, func(have item) bool { return have.name == it.name }) {
			return nil, p.problem(from, "%s is there twice", it.name)
		}
		q.items = append(q.items, it)
		more, err = p.accept(",")
	}
	if err != nil {
		return nil, err
	}
	where, err := p.condition()
	if err != nil {
		return nil, err
	}
	if q.group, err = p.groupBy(); err != nil {
		return nil, err
	}
	if err := p.end("where", "group"); err != nil {
		return nil, err
	}
	return q, q.check(p, where)
}

func (q *Query) check(p *parser, where *node) error {
	c := checker{parser: p}
	var roots []*node
	for _, it := range q.items {
		roots = append(roots, it.node)
	}
	if err := c.resolve(append(append(roots, q.group...), where)...); err != nil {
		return err
	}
	if err := c.filter(where); err != nil {
		return err
	}
	for _, it := range q.items {
		if err := c.total(it.node); err != nil {
			return err
		}
		if !hasCall(it.node) {
			return p.problem(it.node.at, "nothing is aggregated: write count(), mean(…), p95(…) or another function")
		}
	}
	for _, g := range q.group {
		if err := c.column(g); err != nil {
			return err
		}
	}
	q.plan = c.plan
	return nil
}

func hasCall(n *node) bool { return !n.walk(func(m *node) bool { return m.kind != call }) }

// condition reads the condition behind the word, if it comes next; nil without one.
func (p *parser) condition() (*node, error) {
	if ok, err := p.accept("where"); !ok || err != nil {
		return nil, err
	}
	return p.expression(0)
}

func (p *parser) groupBy() (columns []*node, err error) {
	if ok, err := p.accept("group"); !ok || err != nil {
		return nil, err
	}
	if err := p.expect("by"); err != nil {
		return nil, err
	}
	for {
		if len(columns) == maxKeys {
			return nil, p.problem(p.tok.at, "more than %d columns to group by", maxKeys)
		}
		n, err := p.primary()
		if err != nil {
			return nil, err
		}
		if n.kind != columnInfo {
			return nil, p.problem(n.at, "group by takes columns")
		}
		columns = append(columns, n)
		if more, err := p.accept(","); !more || err != nil {
			return columns, err
		}
	}
}

// filter checks the condition on rows.
func (c *checker) filter(where *node) error {
	if c.where = where; where == nil {
		return nil
	}
	if err := c.row(where); err != nil {
		return err
	}
	if where.typ != Bool {
		return c.problem(where.at, "where takes a condition, not %s", typeNames[where.typ])
	}
	return nil
}

// Table is the table the query is about.
func (q *Query) Table() string { return q.table }

// Columns are those read.
func (q *Query) Columns() []string { return slices.Clone(q.columns) }
