package expr

import (
	"fmt"
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
	kinds map[string]column.Column // of the table
	// scored are the places of solved, status and infra_error in columns, in a text
	// that names solved; nil in others.
	scored []int
}

// slot is one argument of aggregates.
type slot struct {
	arg      *node // nil for count()
	text     string
	values   bool // all of them are kept, for percentiles
	episodes bool // rows are counted by episode
}

// checker finds the table and checks types.
type checker struct {
	*parser
	plan
}

// resolve finds the table all roots are about.
func (c *checker) resolve(roots ...*node) error {
	columns := map[string]map[string]column.Column{}
	for _, t := range column.Tables() {
		columns[t] = map[string]column.Column{}
		for _, col := range column.Of(t) {
			columns[t][col.Name] = col
		}
	}
	candidates := column.Tables()
	var err error
	narrow := func(n *node) bool {
		if n.kind == columnInfo {
			err = c.known(n, columns)
		} else {
			n = counted(n, columns)
		}
		if n == nil || err != nil {
			return err == nil
		}
		left := slices.DeleteFunc(slices.Clone(candidates), func(t string) bool {
			_, has := columns[t][n.text]
			return n.table != "" && n.table != t || n.text != "" && !has
		})
		if len(left) == 0 {
			err = c.problem(n.at, "%s is not in the table of the columns before it (%s): one expression is about one table", n.text, strings.Join(candidates, ", "))
		}
		candidates = left
		return err == nil
	}
	for _, root := range roots {
		if !root.walk(narrow) {
			return err
		}
	}
	if len(candidates) > 1 {
		return c.ambiguous(candidates, roots)
	}
	c.table, c.kinds = candidates[0], columns[candidates[0]]
	return nil
}

// counted is what count(TABLE) says of the table, and makes count() of it; nil for
// anything else.
func counted(n *node, columns map[string]map[string]column.Column) *node {
	if n.kind != call || n.op != "count" || len(n.kids) == 0 {
		return nil
	}
	k := n.kids[0]
	if k.kind != columnInfo || k.table != "" || columns[k.text] == nil {
		return nil
	}
	n.kids = nil
	return &node{at: k.at, table: k.text}
}

// known refuses a table or column that does not exist.
func (c *checker) known(n *node, columns map[string]map[string]column.Column) error {
	if n.table != "" && columns[n.table] == nil {
		return c.problem(n.at, "unknown table %q%s (known: %s)", n.table, nearest(n.table, column.Tables()), strings.Join(column.Tables(), ", "))
	}
	var names, in []string
	for _, t := range column.Tables() {
		if _, ok := columns[t][n.text]; ok {
			in = append(in, t)
		}
		if n.table != "" && n.table != t {
			continue
		}
		for name := range columns[t] {
			names = append(names, name)
		}
	}
	if slices.Contains(names, n.text) {
		return nil
	}
	if len(in) > 0 {
		return c.problem(n.at, "%s has no column %q; %s has", n.table, n.text, strings.Join(in, " and "))
	}
	return c.problem(n.at, "unknown column %q%s", n.text, nearest(n.text, sorted(names)))
}

// ambiguous says how to name the table.
func (c *checker) ambiguous(tables []string, roots []*node) error {
	at, example := 0, "count("+tables[0]+")"
	for _, root := range slices.Backward(roots) {
		root.walk(func(n *node) bool {
			if n.kind == columnInfo {
				at, example = n.at, tables[0]+"."+n.text
			}
			return true
		})
	}
	return c.problem(at, "which table is this about, %s? Say it, as in %s", strings.Join(tables, " or "), example)
}

// use is the place of a column among those that are read.
func (c *plan) use(name string) int {
	i := slices.Index(c.columns, name)
	if i < 0 {
		i = len(c.columns)
		c.columns = append(c.columns, name)
	}
	return i
}

// row checks an expression about single rows: no aggregates in it.
func (c *checker) row(n *node) error {
	if n.kind == call {
		return c.problem(n.at, "an aggregate cannot stand inside of another, nor behind where")
	}
	if n.kind == columnInfo {
		return c.column(n)
	}
	for _, k := range n.kids {
		if err := c.row(k); err != nil {
			return err
		}
	}
	return c.operands(n)
}

func (c *checker) column(n *node) error {
	col := c.kinds[n.text]
	switch col.Kind {
	case column.Text:
		n.typ = Text
	case column.Bool:
		n.typ = Bool
	case column.Time:
		n.typ = Time
	case column.Number:
		n.typ = Number
		if strings.HasSuffix(n.text, "_us") {
			n.unit = Duration
		} else if strings.HasSuffix(n.text, "_nanousd") {
			n.unit = Money
		}
	default:
		return c.problem(n.at, "%s is a list: expressions take single values (see docs/query.md for DuckDB, which unnests lists)", n.text)
	}
	n.slot = c.use(n.text)
	if n.text == "solved" && c.scored == nil {
		c.scored = []int{n.slot, c.use("status"), c.use("infra_error")}
	}
	return nil
}

// total checks an expression of aggregates: no column outside of them.
func (c *checker) total(n *node) error {
	switch n.kind {
	case columnInfo:
		return c.problem(n.at, "%s differs from row to row: aggregate it, as in mean(%s) or share(%s)", n.text, n.text, n.text)
	case call:
		return c.call(n)
	}
	for _, k := range n.kids {
		if err := c.total(k); err != nil {
			return err
		}
	}
	return c.operands(n)
}

// call checks an aggregate and gives it its slot.
func (c *checker) call(n *node) error {
	name := n.op
	if name == "p" {
		name = n.text
	}
	n.typ = Number
	if len(n.kids) > 0 {
		arg := n.kids[0]
		if err := c.row(arg); err != nil {
			return err
		}
		want := []Type{Number}
		switch n.op {
		case "count", "share":
			want = []Type{Bool}
		case "rate":
			want = []Type{Number, Bool}
		case "min", "max":
			want = []Type{Number, Time}
		}
		if !slices.Contains(want, arg.typ) {
			hint := ""
			if n.op == "count" {
				hint = "; rows that have a value are count(… is not null)"
			}
			return c.problem(arg.at, "%s(…) takes %s, not %s%s", name, typeNames[want[0]], typeNames[arg.typ], hint)
		}
		n.unit = arg.unit
		if arg.typ == Time {
			n.typ = Time
		}
	}
	if n.op == "share" {
		n.unit = Percent
	}
	n.slot = c.gather(n)
	return nil
}

// gather is the slot of an aggregate.
func (c *checker) gather(n *node) int {
	s := slot{}
	if len(n.kids) > 0 {
		s.arg, s.text = n.kids[0], n.kids[0].canonical()
	}
	i := slices.IndexFunc(c.slots, func(have slot) bool { return have.text == s.text })
	if i < 0 {
		i = len(c.slots)
		c.slots = append(c.slots, s)
	}
	c.slots[i].values = c.slots[i].values || n.op == "p"
	if n.op == "rate" {
		c.slots[i].episodes = true
		c.use("episode_id")
	}
	return i
}

// canonical tells expressions apart.
func (n *node) canonical() string {
	parts := []string{fmt.Sprint(n.kind, n.op, n.num, n.is), fmt.Sprintf("%q", n.text)}
	for _, k := range n.kids {
		parts = append(parts, k.canonical())
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// operands checks what an operator is given, and types what it gives.
func (c *checker) operands(n *node) error {
	switch n.kind {
	case isNull:
		n.typ = Bool
	case unary:
		n.typ, n.unit = n.kids[0].typ, n.kids[0].unit
		if want := map[string]Type{"not": Bool, "-": Number}[n.op]; n.typ != want {
			return c.problem(n.kids[0].at, "%q takes %s, not %s", n.op, typeNames[want], typeNames[n.typ])
		}
	case in:
		n.typ = Bool
		for _, k := range n.kids[1:] {
			if err := c.alike(n.at, "in", n.kids[0], k); err != nil {
				return err
			}
		}
	case binary:
		return c.binary(n)
	}
	return nil
}

func (c *checker) binary(n *node) error {
	a, b := n.kids[0], n.kids[1]
	switch n.op {
	case "and", "or":
		n.typ = Bool
		for _, k := range n.kids {
			if k.typ != Bool {
				return c.problem(k.at, "%q takes conditions, not %s", n.op, typeNames[k.typ])
			}
		}
		return nil
	case "+", "-", "*", "/":
		return c.arithmetic(n)
	}
	n.typ = Bool
	if err := c.alike(n.at, n.op, a, b); err != nil {
		return err
	}
	if a.typ == Bool && n.op != "==" && n.op != "!=" {
		return c.problem(n.at, "conditions have no order: use ==, != or not")
	}
	return nil
}

// alike refuses to compare what cannot be compared. A text beside a time is read
// as one.
func (c *checker) alike(at int, op string, a, b *node) error {
	for _, pair := range [][2]*node{{a, b}, {b, a}} {
		if pair[0].typ == Time && pair[1].typ == Text && pair[1].kind == literal {
			if err := c.time(pair[1]); err != nil {
				return err
			}
		}
	}
	if a.typ != b.typ {
		return c.problem(at, "%q compares %s with %s", op, typeNames[a.typ], typeNames[b.typ])
	}
	return c.units(at, a, b)
}

var unitNames = map[Unit]string{None: "a plain number", Duration: "a duration", Money: "money", Percent: "a share"}

// plain units need not be told apart.
func plain(u Unit) bool { return u == None || u == Percent }

// units refuses two numbers of different units. A literal without one is in the
// base of the other.
func (c *checker) units(at int, a, b *node) error {
	bare := func(n *node) bool { return n.unit == None && n.constant() }
	if a.unit == b.unit || bare(a) || bare(b) || plain(a.unit) && plain(b.unit) {
		return nil
	}
	return c.problem(at, "%s beside %s", unitNames[a.unit], unitNames[b.unit])
}

func (c *checker) arithmetic(n *node) error {
	a, b := n.kids[0], n.kids[1]
	for _, k := range n.kids {
		if k.typ != Number {
			return c.problem(k.at, "%q takes numbers, not %s", n.op, typeNames[k.typ])
		}
	}
	n.typ = Number
	switch n.op {
	case "+", "-":
		n.unit = max(a.unit, b.unit)
		if plain(a.unit) && plain(b.unit) {
			n.unit = min(a.unit, b.unit)
		}
		return c.units(n.at, a, b)
	case "*":
		if !plain(a.unit) && !plain(b.unit) {
			return c.problem(n.at, "%s times %s", unitNames[a.unit], unitNames[b.unit])
		}
		n.unit = a.unit
		if plain(a.unit) {
			n.unit = b.unit
		}
	case "/":
		if n.unit = a.unit; !plain(b.unit) {
			n.unit = None
		}
	}
	if n.unit == Percent {
		n.unit = None
	}
	return nil
}

// time makes a literal of a date, or of a date and time in UTC.
func (c *checker) time(n *node) error {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, n.text); err == nil {
			n.typ, n.num, n.text = Time, float64(t.UnixMicro()), ""
			return nil
		}
	}
	return c.problem(n.at, "not a time: write 2026-11-21 or 2026-11-21T15:00:00Z")
}
