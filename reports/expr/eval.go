package expr

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/column"
	"github.com/cupel-eval/cupel/reports/stat"
)

// scope is what an expression is evaluated in: a row of columns, or the cells of a group.
type scope struct {
	columns []column.Vector
	row     int
	cells   []cell
}

// eval returns the value of an expression. Null means unknown.
func (s *scope) eval(n *node) Cell {
	switch n.kind {
	case literal:
		return n.value
	case columnName:
		// An infrastructure failure is not the model's: its episode is neither solved nor unsolved.
		if len(n.kids) > 0 && ledger.ExcludedBy(s.eval(n.kids[0]).Text, s.eval(n.kids[1]).Bool) != "" {
			return Cell{Null: true}
		}
		return cellOf(&s.columns[n.slot], n.typ, s.row)
	case call:
		v, ok := aggregate(n, &s.cells[n.slot])
		if !ok {
			return Cell{Null: true}
		}
		return Cell{Number: v}
	}
	a := s.eval(n.kids[0])
	switch n.kind {
	case isNull:
		return Cell{Bool: a.Null == (n.op != "not")}
	case prefix:
		switch {
		case a.Null:
			return a
		case n.op == "not":
			return Cell{Bool: !a.Bool}
		}
		return Cell{Number: -a.Number}
	case in:
		found := Cell{}
		for _, k := range n.kids[1:] {
			found = either(found, compare("==", n.kids[0].typ, a, s.eval(k)), true)
		}
		return found
	}
	b := s.eval(n.kids[1])
	switch n.op {
	case "and", "or":
		return either(a, b, n.op == "or")
	case "+", "-", "*", "/":
		return compute(n.op, a, b)
	}
	return compare(n.op, n.kids[0].typ, a, b)
}

// cellOf is a row of a column.
func cellOf(v *column.Vector, typ Type, row int) Cell {
	switch {
	case v.Nulls != nil && v.Nulls[row]:
		return Cell{Null: true}
	case typ == Text:
		return Cell{Text: v.Words[v.Index[row]]}
	case typ == Bool:
		return Cell{Bool: v.Bools[row]}
	}
	return Cell{Number: v.Numbers[row]}
}

// either is or, where true decides, and and, where false does. What is unknown decides
// nothing.
func either(a, b Cell, decides bool) Cell {
	switch {
	case !a.Null && a.Bool == decides, !b.Null && b.Bool == decides:
		return Cell{Bool: decides}
	case a.Null, b.Null:
		return Cell{Null: true}
	}
	return Cell{Bool: !decides}
}

// compute is + - * /; what is divided by 0 has no value.
func compute(op string, a, b Cell) Cell {
	switch {
	case a.Null, b.Null, op == "/" && b.Number == 0:
		return Cell{Null: true}
	case op == "+":
		return Cell{Number: a.Number + b.Number}
	case op == "-":
		return Cell{Number: a.Number - b.Number}
	case op == "*":
		return Cell{Number: a.Number * b.Number}
	}
	return Cell{Number: a.Number / b.Number}
}

func compare(op string, typ Type, a, b Cell) Cell {
	switch {
	case a.Null, b.Null:
		return Cell{Null: true}
	case typ == Text:
		return Cell{Bool: holds(op, a.Text, b.Text)}
	case typ == Bool:
		return Cell{Bool: (a.Bool == b.Bool) == (op == "==")}
	}
	return Cell{Bool: holds(op, a.Number, b.Number)}
}

func holds[T cmp.Ordered](op string, a, b T) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

// slot is one argument of aggregates.
type slot struct {
	arg      *node // nil for count()
	text     string
	values   bool // all of them are kept, for percentiles
	episodes bool // rows are counted by episode
}

// cell is what is gathered of one slot in one group.
type cell struct {
	known, missing int64     // rows with a value, and without
	sum, low, high float64   // of a condition the sum is the rows that meet it
	values         []float64 // all of them; empty where no percentile asks
	episodes       int64
	first, last    string // episodes; of a group of the whole, the last only
}

// add adds the value of a row, which is none if it is not a number.
func (c *cell) add(v Cell, values bool) {
	x := v.Number
	if v.Null || x != x {
		c.missing++
		return
	}
	if c.known == 0 {
		c.low, c.high = x, x
	}
	c.known++
	if c.sum += x; v.Bool {
		c.sum++
	}
	c.low, c.high = min(c.low, x), max(c.high, x)
	if values {
		c.values = append(c.values, x)
	}
}

// addEpisode counts the episode of a row. Rows of one episode come together.
func (c *cell) addEpisode(id string) {
	if c.episodes > 0 && c.last == id {
		return
	}
	if c.last = id; c.episodes == 0 {
		c.first = id
	}
	c.episodes++
}

// merge adds what was gathered of the rows that follow.
func (c *cell) merge(o *cell) {
	if o.known > 0 && c.known == 0 {
		c.low, c.high = o.low, o.high
	} else if o.known > 0 {
		c.low, c.high = min(c.low, o.low), max(c.high, o.high)
	}
	c.known, c.missing, c.sum = c.known+o.known, c.missing+o.missing, c.sum+o.sum
	c.values = append(c.values, o.values...)
	if o.episodes > 0 {
		if c.episodes > 0 && c.last == o.first {
			c.episodes--
		}
		c.episodes += o.episodes
		c.last = strings.Clone(o.last) // and not all ids of the row group
	}
}

// takes are the types of an aggregate's argument, the usual one first; p means all percentiles.
var takes = map[string][]Type{
	"count": {Bool}, "share": {Bool}, "mean": {Number}, "sum": {Number}, "min": {Number, Time}, "max": {Number, Time},
	"rate": {Number, Bool}, "p": {Number},
}

// functions are the names of aggregates except percentiles.
var functions = []string{"count", "share", "mean", "sum", "min", "max", "rate"}

// aggregate is the value of a call; ok is false where it has none.
func aggregate(n *node, c *cell) (v float64, ok bool) {
	known, episodes := float64(c.known), float64(c.episodes)
	switch n.op {
	case "count":
		if len(n.kids) == 0 {
			return known, true
		}
		return c.sum, true
	case "share", "mean":
		return c.sum / known, c.known > 0
	case "sum":
		return c.sum, c.known > 0
	case "min":
		return c.low, c.known > 0
	case "max":
		return c.high, c.known > 0
	case "rate":
		return c.sum / episodes, c.episodes > 0 && (c.known > 0 || n.kids[0].typ == Bool)
	}
	slices.Sort(c.values)
	return stat.Quantile(c.values, n.rank)
}

// possible says whether any row within the bounds can make the condition true. It
// errs towards yes.
func possible(n *node, bounds func(i int) column.Bounds) bool {
	switch {
	case n == nil:
		return true
	case n.kind == infix && n.op == "and":
		return possible(n.kids[0], bounds) && possible(n.kids[1], bounds)
	case n.kind == infix && n.op == "or":
		return possible(n.kids[0], bounds) || possible(n.kids[1], bounds)
	case n.kind == columnName: // a condition by itself
		b := bounds(n.slot)
		return !b.Known || b.High > 0
	case n.kind == prefix && n.op == "not" && n.kids[0].kind == columnName:
		b := bounds(n.kids[0].slot)
		return !b.Known || b.Low < 1
	case n.kind == in && n.kids[0].kind == columnName:
		for _, k := range n.kids[1:] {
			if k.kind != literal || within("==", bounds(n.kids[0].slot), k) {
				return true
			}
		}
		return false
	case n.kind == infix && n.kids[0].kind == columnName && n.kids[1].kind == literal:
		return within(n.op, bounds(n.kids[0].slot), n.kids[1])
	}
	return true
}

// within says whether a value within the bounds can compare so with a literal.
func within(op string, b column.Bounds, n *node) bool {
	switch {
	case !b.Known:
		return true
	case n.typ == Text:
		return spans(op, b.First, b.Last, n.value.Text)
	case n.value.Bool:
		return spans(op, b.Low, b.High, 1)
	}
	return spans(op, b.Low, b.High, n.value.Number)
}

func spans[T cmp.Ordered](op string, low, high, v T) bool {
	switch op {
	case "==":
		return low <= v && v <= high
	case "!=":
		return low != v || high != v
	case "<", "<=":
		return holds(op, low, v)
	}
	return holds(op, high, v)
}
