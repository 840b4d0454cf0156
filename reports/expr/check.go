package expr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/harness/ledger/column"
)

// plan is what a text needs of the ledger: the rows of a table, some of its
// columns, and numbers gathered over them.
type plan struct {
	table   string
	columns []string
	where   *node
	// slots are what is gathered: all aggregates of the same argument share one.
	slots []slot
}

// Table is the table the text is about.
func (c *plan) Table() string { return c.table }

// use is the place of a column among those that are read.
func (c *plan) use(name string) int {
	i := slices.Index(c.columns, name)
	if i < 0 {
		i = len(c.columns)
		c.columns = append(c.columns, name)
	}
	return i
}

// checker finds the table and checks types.
type checker struct {
	*lexer
	plan
	all        map[string]map[string]column.Column // by table and name
	candidates []string                            // tables that have all columns met so far
}

// check makes the plan of values and a condition on rows. Of groups the columns are in the
// table; their types are checked last.
func (p *parser) check(values, groups []*node, where *node) *checker {
	c := &checker{lexer: p.lexer, all: map[string]map[string]column.Column{}, candidates: tables()}
	for _, t := range c.candidates {
		c.all[t] = map[string]column.Column{}
		for _, col := range column.Of(t) {
			c.all[t][col.Name] = col
		}
	}
	roots := slices.Concat(values, groups)
	if where != nil {
		roots = append(roots, where)
	}
	for _, n := range roots {
		c.narrow(n)
	}
	if len(c.candidates) > 1 {
		c.ambiguous(roots)
	}
	c.table = c.candidates[0]
	if c.where = where; where != nil {
		if c.types(where, true); where.typ != Bool {
			c.fail(where.at, "where takes a condition, not %s", typeNames[where.typ])
		}
	}
	return c
}

// narrow leaves the tables that have the columns of n. count(TABLE) says the table and
// becomes count().
func (c *checker) narrow(n *node) {
	at, table, name := n.at, n.table, n.name
	switch {
	case n.kind == columnName:
		c.known(n)
	case n.op == "count" && len(n.kids) == 1 && n.kids[0].kind == columnName && n.kids[0].table == "" && c.all[n.kids[0].name] != nil:
		at, table, name = n.kids[0].at, n.kids[0].name, ""
		n.kids = nil
	default:
		for _, k := range n.kids {
			c.narrow(k)
		}
		return
	}
	left := slices.DeleteFunc(slices.Clone(c.candidates), func(t string) bool {
		_, has := c.all[t][name]
		return table != "" && table != t || name != "" && !has
	})
	if len(left) == 0 {
		c.fail(at, "%s is not in the table of the columns before it (%s): a query or a criterion reads one table, so write another one for %[1]s", name, strings.Join(c.candidates, ", "))
	}
	c.candidates = left
}

// tables are those that expressions read.
func tables() []string { return append(column.Tables(), column.Scores, column.Labels) }

// known refuses a table or column that does not exist.
func (c *checker) known(n *node) {
	tables := tables()
	if n.table != "" && c.all[n.table] == nil {
		c.fail(n.at, "unknown table %q%s (known: %s)", n.table, nearest(n.table, tables), strings.Join(tables, ", "))
	}
	var names, in []string
	for _, t := range tables {
		if _, ok := c.all[t][n.name]; ok {
			in = append(in, t)
		}
		if n.table == "" || n.table == t {
			names = slices.AppendSeq(names, maps.Keys(c.all[t]))
		}
	}
	if slices.Contains(names, n.name) {
		return
	} else if len(in) > 0 {
		c.fail(n.at, "%s has no column %q; %s has", n.table, n.name, strings.Join(in, " and "))
	}
	slices.Sort(names)
	c.fail(n.at, "unknown column %q%s", n.name, cmp.Or(nearest(n.name, names), "; docs/ledger.md lists the columns of each table"))
}

// ambiguous says how to name the table.
func (c *checker) ambiguous(roots []*node) {
	at, example := 0, "count("+c.candidates[0]+")"
	for _, root := range slices.Backward(roots) {
		for n := range root.all {
			if n.kind == columnName {
				at, example = n.at, c.candidates[0]+"."+n.name
			}
		}
	}
	c.fail(at, "which table is this about, %s? Say it, as in %s", strings.Join(c.candidates, " or "), example)
}

// types checks n and what is below it. Single rows have no aggregates; outside of
// them there are no columns.
func (c *checker) types(n *node, rows bool) {
	switch {
	case n.kind == call && rows:
		c.fail(n.at, "an aggregate cannot be inside another aggregate, nor after where")
	case n.kind == call:
		c.call(n)
		return
	case n.kind == columnName && rows:
		c.column(n)
		return
	case n.kind == columnName:
		c.fail(n.at, "%s differs from row to row: aggregate it, as in mean(%s) or share(%s)", n.name, n.name, n.name)
	}
	for _, k := range n.kids {
		c.types(k, rows)
	}
	c.operands(n)
}

// columnTypes are the types of columns that expressions take.
var columnTypes = map[column.Kind]Type{column.Text: Text, column.Bool: Bool, column.Time: Time, column.Number: Number}

func (c *checker) column(n *node) {
	n.typ = columnTypes[c.all[c.table][n.name].Kind]
	switch {
	case n.typ == 0:
		c.fail(n.at, "%s is a list: expressions take single values (see docs/query.md for DuckDB, which unnests lists)", n.name)
	case n.typ == Number && strings.HasSuffix(n.name, "_us"):
		n.unit = Duration
	case n.typ == Number && strings.HasSuffix(n.name, "_nanousd"):
		n.unit = Money
	}
	n.slot = c.use(n.name)
	if n.name == "solved" {
		n.kids = []*node{{kind: columnName, typ: Text, slot: c.use("status")}, {kind: columnName, typ: Bool, slot: c.use("infra_error")}}
	}
}

// call checks an aggregate and gives it its slot.
func (c *checker) call(n *node) {
	n.typ = Number
	s := slot{values: n.op == "p", episodes: n.op == "rate"}
	if len(n.kids) > 0 {
		s.arg = n.kids[0]
		c.types(s.arg, true)
		if want := takes[n.op]; !slices.Contains(want, s.arg.typ) {
			hint := ""
			if n.op == "count" {
				hint = "; rows that have a value are count(… is not null)"
			}
			c.fail(s.arg.at, "%s(…) takes %s, not %s%s", n.name, typeNames[want[0]], typeNames[s.arg.typ], hint)
		}
		s.text = s.arg.canonical()
		if n.unit = s.arg.unit; s.arg.typ == Time {
			n.typ = Time
		}
	}
	if n.op == "share" {
		n.unit = Percent
	}
	if s.episodes {
		c.use("episode_id")
	}
	if n.slot = slices.IndexFunc(c.slots, func(have slot) bool { return have.text == s.text }); n.slot < 0 {
		n.slot, c.slots = len(c.slots), append(c.slots, s)
	}
	have := &c.slots[n.slot]
	have.values, have.episodes = have.values || s.values, have.episodes || s.episodes
}

// canonical tells expressions apart.
func (n *node) canonical() string {
	parts := []string{fmt.Sprintf("%v %v %#v %q", n.kind, n.op, n.value, n.name)}
	for _, k := range n.kids {
		parts = append(parts, k.canonical())
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// operands checks what an operator is given, and types what it gives.
func (c *checker) operands(n *node) {
	switch {
	case n.kind == literal:
		return
	case n.kind == isNull:
	case n.kind == in:
		for _, k := range n.kids[1:] {
			c.comparable(n.at, "in", n.kids[0], k)
		}
	case n.kind == prefix && n.op == "-", slices.Contains([]string{"+", "-", "*", "/"}, n.op):
		c.each(n, Number, "numbers")
		c.arithmetic(n)
		return
	case n.kind == prefix, n.op == "and", n.op == "or":
		c.each(n, Bool, "conditions")
	default:
		c.comparable(n.at, n.op, n.kids[0], n.kids[1])
		if n.kids[0].typ == Bool && n.op != "==" && n.op != "!=" {
			c.fail(n.at, "conditions have no order: use ==, != or not")
		}
	}
	n.typ = Bool
}

// each refuses operands of another type, which is named in the plural.
func (c *checker) each(n *node, want Type, many string) {
	if n.kind == prefix {
		many = typeNames[want]
	}
	for _, k := range n.kids {
		if k.typ != want {
			c.fail(k.at, "%q takes %s, not %s", n.op, many, typeNames[k.typ])
		}
	}
	n.typ = want
}

// comparable refuses to compare what cannot be compared. A text beside a time is read
// as one.
func (c *checker) comparable(at int, op string, a, b *node) {
	for _, pair := range [][2]*node{{a, b}, {b, a}} {
		if pair[0].typ == Time && pair[1].typ == Text && pair[1].kind == literal {
			c.time(pair[1])
		}
	}
	if a.typ != b.typ {
		c.fail(at, "%q compares %s with %s", op, typeNames[a.typ], typeNames[b.typ])
	}
	c.units(at, a, b)
}

// plain units need not be told apart.
func plain(u Unit) bool { return u == None || u == Percent }

// units refuses two numbers of different units. A literal without one is in the
// base of the other.
func (c *checker) units(at int, a, b *node) {
	bare := func(n *node) bool { return n.unit == None && n.constant() }
	if a.unit != b.unit && !bare(a) && !bare(b) && (!plain(a.unit) || !plain(b.unit)) {
		c.fail(at, "%s beside %s", unitNames[a.unit], unitNames[b.unit])
	}
}

// arithmetic finds the unit of - of one number and of + - * / of two.
func (c *checker) arithmetic(n *node) {
	a, b := n.kids[0], n.kids[len(n.kids)-1]
	x, y := a.unit, b.unit
	if n.op == "+" || n.op == "-" {
		if n.unit = max(x, y); plain(x) && plain(y) {
			n.unit = min(x, y)
		}
		c.units(n.at, a, b)
		return
	}
	if plain(x) {
		x = None
	}
	if plain(y) {
		y = None
	}
	switch {
	case n.op == "/" && y == None:
		n.unit = x
	case n.op == "*" && x != None && y != None:
		c.fail(n.at, "%s times %s", unitNames[x], unitNames[y])
	case n.op == "*":
		n.unit = max(x, y)
	}
}

// time makes a literal of a date, or of a date and time in UTC.
func (c *checker) time(n *node) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, n.value.Text); err == nil {
			n.typ, n.value = Time, Cell{Number: float64(t.UnixMicro())}
			return
		}
	}
	c.fail(n.at, "not a time: write 2026-11-21 or 2026-11-21T15:00:00Z")
}
