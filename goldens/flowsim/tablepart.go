package flowsim

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/flowsim/table"
	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/world"
)

// tables is the part of the state that has the data tables. A change replaces a table and the
// rows that it changes, and no others: so only these are written to tell what has changed, and
// a table is written as a whole when the state is.
type tables struct {
	all map[string]*table.Table
	raw map[string]json.RawMessage // of those that have not changed since it was written
	// before has, as they were at the last report, the tables that have changed since; nil
	// stands for one that did not exist.
	before map[string]*table.Table
}

func newTables() tables {
	return tables{all: map[string]*table.Table{}, raw: map[string]json.RawMessage{}, before: map[string]*table.Table{}}
}

func (s *tables) clone() tables {
	return tables{maps.Clone(s.all), maps.Clone(s.raw), map[string]*table.Table{}}
}

// changed takes note of a change; nil stands for a table that does not exist.
func (s *tables) changed(before, after *table.Table) {
	id := cmp.Or(after, before).ID
	if _, touched := s.before[id]; !touched {
		s.before[id] = before
	}
	delete(s.raw, id)
	if s.all[id] = after; after == nil {
		delete(s.all, id)
	}
}

// forget writes the present state, and makes it the one that changes are compared with.
func (s *tables) forget() {
	clear(s.before)
	_ = s.appendJSON(nil)
}

func (s *tables) appendJSON(out []byte) []byte {
	e := encoder{out: out}
	members(&e, s.all, func(t *table.Table) {
		if s.raw[t.ID] == nil {
			s.raw[t.ID] = writeTable(t)
		}
		e.value(s.raw[t.ID])
	})
	return e.out
}

// takeChanges appends what has changed since it was called last.
func (s *tables) takeChanges(out []world.Change, name string) []world.Change {
	if len(s.before) == 0 { // after most calls
		return out
	}
	for _, id := range sortedKeys(s.before) {
		out = appendTableDiff(out, state.Path{name, id}, s.before[id], s.all[id])
	}
	clear(s.before)
	return out
}

// appendTableDiff is appendDiff of the texts of two tables, of which one may be nil.
func appendTableDiff(out []world.Change, p state.Path, from, to *table.Table) []world.Change {
	if from == nil || to == nil || from.Name != to.Name || !slices.Equal(from.Columns, to.Columns) {
		return appendDiff(out, p, writeTable(from), writeTable(to))
	}
	type pair struct {
		id      string
		was, is *table.Row
	}
	var differ []pair
	was, is := from.Rows, to.Rows
	for len(was) > 0 || len(is) > 0 { // in the same order, and new ones at the end
		switch {
		case len(was) == 0:
			differ, is = append(differ, pair{is[0].ID, nil, is[0]}), is[1:]
		case len(is) == 0 || was[0].ID != is[0].ID:
			differ, was = append(differ, pair{was[0].ID, was[0], nil}), was[1:]
		default:
			if was[0] != is[0] {
				differ = append(differ, pair{was[0].ID, was[0], is[0]})
			}
			was, is = was[1:], is[1:]
		}
	}
	slices.SortFunc(differ, func(a, b pair) int { return strings.Compare(a.id, b.id) })
	columns := names(to, "id")
	for _, d := range differ {
		out = appendDiff(out, append(slices.Clip(p), "rows", d.id), writeRow(d.was, columns), writeRow(d.is, columns))
	}
	return out
}

// writeTable writes a table with its rows by id, without the times of their changes; nothing
// of nil.
func writeTable(t *table.Table) json.RawMessage {
	if t == nil {
		return nil
	}
	e := encoder{out: make([]byte, 0, 64*(len(t.Columns)+len(t.Rows)+1))}
	e.add(`{"columns":`)
	array(&e, append([]table.Column{}, t.Columns...), func(c table.Column) {
		e.add(`{"name":`).text(c.Name)
		e.add(`,"type":`).text(c.Type)
		e.add("}")
	})
	e.add(`,"id":`).text(t.ID)
	e.add(`,"name":`).text(t.Name)
	e.add(`,"rows":{`)
	columns := names(t, "id")
	rows := slices.Clone(t.Rows)
	slices.SortFunc(rows, func(a, b *table.Row) int { return strings.Compare(a.ID, b.ID) })
	for i, r := range rows {
		if i > 0 {
			e.add(",")
		}
		e.text(r.ID)
		e.add(":").row(r, columns)
	}
	e.add("}}")
	return e.out
}

// names are those of a table's columns and of others, in order.
func names(t *table.Table, others ...string) []string {
	for _, c := range t.Columns {
		others = append(others, c.Name)
	}
	slices.Sort(others)
	return others
}

// row writes columns of a row.
func (e *encoder) row(r *table.Row, columns []string) {
	for i, name := range columns {
		if i > 0 {
			e.add(",")
		} else {
			e.add("{")
		}
		e.text(name)
		if e.add(":"); name == "id" {
			e.text(r.ID)
		} else {
			e.value(r.Cell(name))
		}
	}
	e.add("}")
}

func writeRow(r *table.Row, columns []string) json.RawMessage {
	if r == nil {
		return nil
	}
	e := encoder{out: make([]byte, 0, 128)}
	e.row(r, columns)
	return e.out
}
