package expr

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/column"
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

// ParseQuery reads a query. An error is an *Error.
func ParseQuery(text string) (q *Query, err error) {
	defer rescue(&err)
	p := parser{lexer: newLexer(text)}
	q = &Query{items: p.items()}
	where := p.condition()
	q.group = p.groupBy()
	p.end("where", "group")
	var values []*node
	for _, it := range q.items {
		values = append(values, it.node)
	}
	c := p.check(values, q.group, where)
	for _, n := range values {
		if c.types(n, false); n.constant() {
			c.fail(n.at, "nothing is aggregated: write count(), mean(…), p95(…) or another function")
		}
	}
	for _, n := range q.group {
		c.column(n)
	}
	q.plan = c.plan
	return q, nil
}

const (
	maxGroups = 100_000  // bounds the rows of a result
	maxValues = 32 << 20 // bounds what percentiles keep, in all: 256 MB
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
// with the rows, except for the values of percentiles, which are exact; too many groups
// or such values are an error. The result does not depend on the number of
// processors.
func (q *Query) Run(ctx context.Context, dirs ...string) (Result, error) {
	r := &run{Query: q, at: map[string]int{}}
	if len(q.group) == 0 {
		_ = r.add(make([]group, 1)) // there is a result even without rows
	}
	for _, dir := range dirs {
		if err := r.read(ctx, dir); err != nil {
			return Result{}, err
		}
	}
	return r.result(), nil
}

// run is a query at work.
type run struct {
	*Query
	Result
	at     map[string]int // of groups by key
	groups []group
	values int
}

// group is a row of the result.
type group struct {
	id    string // tells keys apart
	key   []Cell
	cells []cell
}

// read adds the rows of one ledger. Several row groups are read at a time, and added in
// their order.
func (r *run) read(ctx context.Context, dir string) error {
	if column.InEpisodes(r.table) {
		return r.readEpisodes(ctx, dir)
	}
	columns := r.columns
	if len(columns) == 0 {
		columns = []string{"trial"} // counts the rows
	}
	file, err := column.Open(dir, r.table, columns)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	var wanted []int
	for g := range file.Groups() {
		if possible(r.where, func(i int) column.Bounds { return file.Bounds(g, i) }) {
			wanted = append(wanted, g)
		}
	}
	r.Skipped += file.Groups() - len(wanted)
	n := runtime.GOMAXPROCS(0)
	vectors, groups, errs := make([][]column.Vector, n), make([][]group, n), make([]error, n)
	for list := range slices.Chunk(wanted, n) {
		var all sync.WaitGroup
		for i, g := range list {
			all.Go(func() {
				if vectors[i] == nil {
					vectors[i] = make([]column.Vector, len(columns))
				}
				if errs[i] = file.Read(g, vectors[i]); errs[i] == nil {
					groups[i] = r.fold(file.Rows(g), vectors[i], r.group)
				}
			})
		}
		all.Wait()
		for i, g := range list {
			r.Read += int64(file.Rows(g))
			if err := cmp.Or(errs[i], ctx.Err()); err != nil {
				return err
			}
			if err := r.add(groups[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readEpisodes adds the rows of a table of one ledger that has no file of its own.
func (r *run) readEpisodes(ctx context.Context, dir string) error {
	source := column.NewRows(r.table, r.columns)
	for rec, err := range ledger.Scan(dir) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		rows, vectors, ok := source.Set(&rec)
		if !ok {
			return fmt.Errorf("episode %s has a number that is beyond 2^53 or not finite", rec.Episode.EpisodeID)
		}
		r.Read += int64(rows)
		if err := r.add(r.fold(rows, vectors, r.group)); err != nil {
			return err
		}
	}
	return nil
}

// add merges what was gathered of rows that follow.
func (r *run) add(groups []group) error {
	for _, of := range groups {
		i, ok := r.at[of.id]
		if !ok {
			if i = len(r.groups); i == maxGroups {
				return fmt.Errorf("more than %d groups: group by columns of fewer values", maxGroups)
			}
			for j := range of.key {
				of.key[j].Text = strings.Clone(of.key[j].Text) // and not all texts of the row group
			}
			r.at[of.id] = i
			r.groups = append(r.groups, group{key: of.key, cells: make([]cell, len(r.slots))})
		}
		for s := range of.cells {
			r.values += len(of.cells[s].values)
			r.groups[i].cells[s].merge(&of.cells[s])
		}
		if r.values > maxValues {
			return fmt.Errorf("percentiles of more than %d values: narrow the query with where, or use DuckDB as docs/query.md shows", maxValues)
		}
	}
	return nil
}

// fold gathers the rows that are wanted, by group in the order of their first rows.
func (p *plan) fold(rows int, columns []column.Vector, by []*node) (groups []group) {
	episode := slices.Index(p.columns, "episode_id")
	s := scope{columns: columns}
	at := map[string]int{}
	var id, last []byte
	g := -1 // the group of the row before
	for s.row = range rows {
		if p.where != nil {
			if v := s.eval(p.where); v.Null || !v.Bool {
				continue
			}
		}
		id = id[:0]
		for _, n := range by {
			id = s.eval(n).appendTo(id)
		}
		if g < 0 || !bytes.Equal(id, last) {
			var ok bool
			if g, ok = at[string(id)]; !ok {
				g = len(groups)
				groups = append(groups, group{id: string(id), cells: make([]cell, len(p.slots))})
				at[groups[g].id] = g
				for _, n := range by {
					groups[g].key = append(groups[g].key, s.eval(n))
				}
			}
			last = append(last[:0], id...)
		}
		for i := range p.slots {
			c, slot := &groups[g].cells[i], &p.slots[i]
			if slot.arg == nil {
				c.known++
			} else {
				c.add(s.eval(slot.arg), slot.values)
			}
			if slot.episodes {
				v := &columns[episode]
				c.addEpisode(v.Words[v.Index[s.row]])
			}
		}
	}
	return groups
}

// appendTo appends what tells cells of one type apart.
func (c Cell) appendTo(id []byte) []byte {
	if c.Null {
		return append(id, 0)
	}
	id = append(id, 1)
	if c.Bool {
		id[len(id)-1] = 2
	}
	id = binary.LittleEndian.AppendUint64(id, math.Float64bits(c.Number+0)) // -0 is 0
	return append(binary.AppendUvarint(id, uint64(len(c.Text))), c.Text...)
}

func (r *run) result() Result {
	out := r.Result
	for _, g := range r.group {
		out.Columns = append(out.Columns, Column{Name: g.name, Type: g.typ, Unit: g.unit})
	}
	for _, it := range r.items {
		c := Column{Name: it.name, Type: it.node.typ, Unit: it.node.unit}
		for n := range it.node.all {
			for i := range r.groups {
				if n.kind == call {
					c.Missing += r.groups[i].cells[n.slot].missing
				}
			}
		}
		out.Columns = append(out.Columns, c)
	}
	for i := range r.groups {
		g := &r.groups[i]
		row := g.key
		for _, it := range r.items {
			row = append(row, (&scope{cells: g.cells}).eval(it.node))
		}
		out.Rows = append(out.Rows, row)
	}
	keys := len(r.group)
	slices.SortFunc(out.Rows, func(a, b []Cell) int { return slices.CompareFunc(a[:keys], b[:keys], Cell.compare) })
	return out
}

func (c Cell) compare(o Cell) int {
	order := func(b bool) int { return map[bool]int{true: 1}[b] }
	return cmp.Or(order(c.Null)-order(o.Null), cmp.Compare(c.Text, o.Text), cmp.Compare(c.Number, o.Number), order(c.Bool)-order(o.Bool))
}
