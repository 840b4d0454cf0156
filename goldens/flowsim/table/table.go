// Package table holds the data tables of a simulated automation instance: typed columns,
// rows that match conditions, and what may be called what. Tables and rows are immutable:
// a change replaces them, so that a copy of a Set costs no copy of its rows.
package table

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// The bounds of data tables.
const (
	MaxRowsACall = 100     // rows that one call reads or writes
	MaxRows      = 100_000 // rows of all tables
	maxTables    = 200
	maxColumns   = 50
	maxName      = 128     // characters of a name
	maxText      = 10_000  // characters of a value
	maxBytes     = 6 << 20 // of all rows, about
)

// Types are the types of columns.
var Types = []string{"string", "number", "boolean", "date"}

// reserved are the columns that every table has, besides its own.
var reserved = []string{"id", "createdAt", "updatedAt"}

// columnName is what columns may be called: no name that means something to a script.
var columnName = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_ -]{0,127}$`)

// Error is a refusal: Code is one such as E_NOT_FOUND, Message says to a model what is wrong.
type Error struct{ Code, Message string }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func refuse(code, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Column is a column of a table.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Row is one row. Values holds, by column, strings, float64 numbers and booleans; a column
// that is absent is null.
type Row struct {
	ID      string
	Values  map[string]any
	Created time.Time
	Updated time.Time
}

// Cell returns the value of a column, or of one of the reserved ones.
func (r *Row) Cell(column string) any {
	switch column {
	case "id":
		return r.ID
	case "createdAt":
		return stamp(r.Created)
	case "updatedAt":
		return stamp(r.Updated)
	}
	return r.Values[column]
}

// stamp writes a time as dates of rows are written.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Table is one table: its rows are in the order in which they were inserted.
type Table struct {
	ID, Name string
	Columns  []Column
	Rows     []*Row
}

// Column returns a column by its name.
func (t *Table) Column(name string) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}

// Object returns a row as an item: the columns of its table and the reserved ones.
func (t *Table) Object(r *Row) map[string]any {
	out := map[string]any{}
	for _, name := range reserved {
		out[name] = r.Cell(name)
	}
	for _, c := range t.Columns {
		out[c.Name] = r.Values[c.Name]
	}
	return out
}

// Set is all tables of an instance. The zero value has none. It is not safe for concurrent
// use.
type Set struct {
	tables      map[string]*Table
	lastTable   int
	lastRow     int
	rows, bytes int
	// OnChange is called with a table before and after each change; nil stands for one that
	// does not exist.
	OnChange func(before, after *Table)
}

// Clone returns a copy, whose changes are not seen in s, without OnChange.
func (s *Set) Clone() *Set {
	out := *s
	out.tables, out.OnChange = maps.Clone(s.tables), nil
	return &out
}

// All returns the tables by the number of their id.
func (s *Set) All() []*Table {
	return slices.SortedFunc(maps.Values(s.tables), func(a, b *Table) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
}

// Find returns a table by its id, or by its name.
func (s *Set) Find(idOrName string) (*Table, error) {
	if t, ok := s.tables[idOrName]; ok {
		return t, nil
	}
	if t := s.named(idOrName); t != nil {
		return t, nil
	}
	return nil, refuse("E_NOT_FOUND", "there is no data table %q; list-data-tables shows those that exist", quoted(idOrName))
}

func (s *Set) named(name string) *Table {
	for _, t := range s.tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// quoted bounds a text that a model chose.
func quoted(s string) string { return clip.Runes(s, 64) }

// put replaces a table; after of nil deletes it.
func (s *Set) put(before, after *Table) {
	if s.tables == nil {
		s.tables = map[string]*Table{}
	}
	if after == nil {
		delete(s.tables, before.ID)
	} else {
		s.tables[after.ID] = after
	}
	if s.OnChange != nil {
		s.OnChange(before, after)
	}
}

// Put adds or replaces a table as it is.
func (s *Set) Put(t *Table) {
	before := s.tables[t.ID]
	for _, change := range []struct {
		of   *Table
		sign int
	}{{before, -1}, {t, 1}} {
		if change.of != nil {
			s.rows += change.sign * len(change.of.Rows)
			for _, r := range change.of.Rows {
				s.bytes += change.sign * size(r.Values)
			}
		}
	}
	s.lastTable = max(s.lastTable, number(t.ID))
	for _, r := range t.Rows {
		s.lastRow = max(s.lastRow, number(r.ID))
	}
	s.put(before, t)
}

// number is the number of an id; 0 if it has none.
func number(id string) int {
	_, text, _ := strings.Cut(id, "_")
	n, _ := strconv.Atoi(text)
	return n
}

// Create makes a table; with an empty id, it gets the next one. Its rows are none.
func (s *Set) Create(id, name string, columns []Column) (*Table, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if other := s.named(name); other != nil {
		return nil, refuse("E_NAME_IN_USE", "the name %q is in use by data table %s; use that one, or choose another name", quoted(name), other.ID)
	}
	if len(s.tables) >= maxTables {
		return nil, refuse("E_LIMIT", "an instance has at most %d data tables", maxTables)
	}
	t := &Table{ID: id, Name: name}
	for _, c := range columns {
		if err := t.checkColumn(c); err != nil {
			return nil, err
		}
		t.Columns = append(t.Columns, c)
	}
	if id == "" {
		s.lastTable++
		t.ID = "dt_" + strconv.Itoa(s.lastTable)
	}
	s.lastTable = max(s.lastTable, number(t.ID))
	s.put(nil, t)
	return t, nil
}

func checkName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case n < 1 || n > maxName:
		return refuse("E_BAD_ARGS", "the name of a data table has 1 to %d characters, but this has %d", maxName, n)
	case slices.ContainsFunc([]rune(name), unicode.IsControl):
		return refuse("E_BAD_ARGS", "the name of a data table has no control characters")
	}
	return nil
}

func (t *Table) checkColumn(c Column) error {
	_, exists := t.Column(c.Name)
	switch {
	case slices.Contains(reserved, c.Name):
		return refuse("E_RESERVED", "the column %s is reserved: every table has it", c.Name)
	case !columnName.MatchString(c.Name):
		return refuse("E_BAD_ARGS", "%q cannot be the name of a column: it starts with a letter, followed by letters, digits, _, - or spaces, at most %d characters", quoted(c.Name), maxName)
	case exists:
		return refuse("E_NAME_IN_USE", "data table %s has a column %q already", t.ID, c.Name)
	case !slices.Contains(Types, c.Type):
		return refuse("E_BAD_ARGS", "column %s: %q is not a type; use string, number, boolean or date", c.Name, quoted(c.Type))
	case len(t.Columns) >= maxColumns:
		return refuse("E_LIMIT", "a data table has at most %d columns of its own", maxColumns)
	}
	return nil
}

// Delete deletes a table with its rows.
func (s *Set) Delete(t *Table) {
	s.rows -= len(t.Rows)
	for _, r := range t.Rows {
		s.bytes -= size(r.Values)
	}
	s.put(t, nil)
}

// AddColumn adds a column, which is null in every row.
func (s *Set) AddColumn(t *Table, c Column) error {
	if err := t.checkColumn(c); err != nil {
		return err
	}
	after := *t
	after.Columns = append(slices.Clip(t.Columns), c)
	s.put(t, &after)
	return nil
}

// DeleteColumn deletes a column with its values.
func (s *Set) DeleteColumn(t *Table, name string) error {
	return s.changeColumn(t, name, func(after *Table, i int) error {
		after.Columns = slices.Delete(slices.Clone(after.Columns), i, i+1)
		return nil
	}, func(values map[string]any) { delete(values, name) })
}

// RenameColumn gives a column another name.
func (s *Set) RenameColumn(t *Table, name, to string) error {
	return s.changeColumn(t, name, func(after *Table, i int) error {
		without := Table{ID: t.ID, Columns: slices.Delete(slices.Clone(after.Columns), i, i+1)}
		c := Column{to, t.Columns[i].Type}
		if err := without.checkColumn(c); err != nil {
			return err
		}
		after.Columns = slices.Clone(after.Columns)
		after.Columns[i] = c
		return nil
	}, func(values map[string]any) {
		if v, ok := values[name]; ok {
			delete(values, name)
			values[to] = v
		}
	})
}

func (s *Set) changeColumn(t *Table, name string, change func(after *Table, i int) error, row func(values map[string]any)) error {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return t.noColumn(name)
	}
	after := *t
	if err := change(&after, i); err != nil {
		return err
	}
	after.Rows = make([]*Row, len(t.Rows))
	for i, r := range t.Rows {
		changed := *r
		changed.Values = maps.Clone(r.Values)
		row(changed.Values)
		s.bytes += size(changed.Values) - size(r.Values)
		after.Rows[i] = &changed
	}
	s.put(t, &after)
	return nil
}

func (t *Table) noColumn(name string) error {
	if slices.Contains(reserved, name) {
		return refuse("E_RESERVED", "the column %s is reserved: it cannot be written, renamed or deleted", name)
	}
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return refuse("E_UNKNOWN_COLUMN", "data table %s has no column %q; its columns are: %v", t.ID, quoted(name), names)
}
