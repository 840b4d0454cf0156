package expr

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger/column"
)

const (
	// maxGroups bounds the rows of a result.
	maxGroups = 100_000
	// maxValues bounds what percentiles keep, in all: 256 MB.
	maxValues = 32 << 20
)

// Result is a table.
type Result struct {
	Columns []Column
	// Rows are sorted by the columns grouped by; without any there is one.
	Rows [][]Cell
	// Read counts the rows that were read, Skipped the row groups that were not,
	// since their bounds rule them out.
	Read    int64
	Skipped int
}

// Column is one of a result.
type Column struct {
	// Name is a column of the ledger, or the text of a value.
	Name string
	Type Type
	Unit Unit
	// Missing counts the rows that have no value, which are left out.
	Missing int64
}

// Cell is a value of its column's type.
type Cell struct {
	Null   bool
	Text   string
	Number float64 // also of a Time
	Bool   bool
}

// Run runs the query over the ledgers in dirs, as one table. Memory does not grow
// with the rows but for the values of percentiles, which are exact; too many groups
// or such values are an error. The result does not depend on the number of
// processors.
func (q *Query) Run(ctx context.Context, dirs ...string) (Result, error) {
	r := &run{Query: q, ctx: ctx, at: map[string]int{}}
	if len(q.group) == 0 {
		_, _ = r.group(nil) // there is a result even without rows
	}
	for _, dir := range dirs {
		if err := r.read(dir); err != nil {
			return Result{}, err
		}
	}
	return r.result(), nil
}

// run is a query at work.
type run struct {
	*Query
	ctx      context.Context
	at       map[string]int
	groups   []group
	values   int64
	rowsRead int64
	skipped  int
}

// group is a row of the result.
type group struct {
	key   []Cell
	cells []cell
}

// part is what a worker gathered of one row group.
type part struct {
	groups []group
	rows   int
	err    error
}

// read adds the rows of one ledger. Row groups are read by several workers and
// added in their order.
func (r *run) read(dir string) error {
	columns := r.columns
	if len(columns) == 0 {
		columns = []string{"trial"} // counts the rows
	}
	file, err := column.Open(dir, r.table, columns)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	count := min(runtime.GOMAXPROCS(0), max(1, file.Groups()))
	idle := make(chan *worker, count)
	for range count {
		idle <- newWorker(r.Query, file)
	}
	pending := make(chan chan part, count)
	stop := make(chan struct{})
	go func() {
		defer close(pending)
		for g := range file.Groups() {
			if !possible(r.where, func(column int) column.Bounds { return file.Bounds(g, column) }) {
				r.skipped++
				continue
			}
			out := make(chan part, 1)
			select {
			case <-stop:
				return
			case pending <- out:
			}
			w := <-idle
			go func() {
				out <- w.gather(g)
				idle <- w
			}()
		}
	}()
	for out := range pending {
		p := <-out
		if err == nil {
			if err = cmp.Or(p.err, r.ctx.Err()); err == nil {
				err = r.add(p)
			}
			if err != nil {
				close(stop)
			}
		}
	}
	for range count { // all of them have ended
		<-idle
	}
	return err
}

// add merges what was gathered of a row group.
func (r *run) add(p part) error {
	r.rowsRead += int64(p.rows)
	for i := range p.groups {
		g, err := r.group(p.groups[i].key)
		if err != nil {
			return err
		}
		for s := range g.cells {
			c := &p.groups[i].cells[s]
			if r.slots[s].values {
				if r.values += c.known; r.values > maxValues {
					return fmt.Errorf("percentiles of more than %d values: narrow the query with where, or use DuckDB as docs/query.md shows", maxValues)
				}
			}
			g.cells[s].merge(c)
		}
	}
	return nil
}

// group is that of a key, a new one if need be.
func (r *run) group(key []Cell) (*group, error) {
	id := keyText(key)
	i, ok := r.at[id]
	if !ok {
		if len(r.groups) == maxGroups {
			return nil, fmt.Errorf("more than %d groups: group by columns of fewer values", maxGroups)
		}
		i = len(r.groups)
		r.at[strings.Clone(id)] = i
		own := slices.Clone(key)
		for j := range own {
			own[j].Text = strings.Clone(own[j].Text)
		}
		r.groups = append(r.groups, group{key: own, cells: make([]cell, len(r.slots))})
	}
	return &r.groups[i], nil
}

func keyText(key []Cell) string {
	var b strings.Builder
	for _, c := range key {
		fmt.Fprintf(&b, "%v %v %v %d:%s;", c.Null, c.Bool, c.Number, len(c.Text), c.Text)
	}
	return b.String()
}

func (r *run) result() Result {
	out := Result{Read: r.rowsRead, Skipped: r.skipped}
	for _, g := range r.Query.group {
		out.Columns = append(out.Columns, Column{Name: g.text, Type: g.typ, Unit: g.unit})
	}
	for _, it := range r.items {
		c := Column{Name: it.name, Type: it.node.typ, Unit: it.node.unit}
		it.node.walk(func(n *node) bool {
			if n.kind == call {
				for i := range r.groups {
					c.Missing += r.groups[i].cells[n.slot].missing
				}
			}
			return true
		})
		out.Columns = append(out.Columns, c)
	}
	for i := range r.groups {
		g := &r.groups[i]
		row := g.key
		for _, it := range r.items {
			v, ok := total(it.node, g.cells)
			if !ok {
				v = 0
			}
			row = append(row, Cell{Null: !ok, Number: v})
		}
		out.Rows = append(out.Rows, row)
	}
	keys := len(r.Query.group)
	slices.SortFunc(out.Rows, func(a, b []Cell) int { return slices.CompareFunc(a[:keys], b[:keys], Cell.compare) })
	return out
}

func (c Cell) compare(o Cell) int {
	return cmp.Or(order(c.Null, o.Null), cmp.Compare(c.Text, o.Text), cmp.Compare(c.Number, o.Number), order(c.Bool, o.Bool))
}

// order puts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
