package table

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Condition is what one column of a row must be. The operators are eq, neq, like, gt, gte,
// lt and lte; like takes % for any characters and _ for one.
type Condition struct {
	Column   string `json:"columnName"`
	Operator string `json:"condition"`
	Value    any    `json:"value"`
}

// Filter joins conditions: Type is and, which is the default, or or.
type Filter struct {
	Type    string      `json:"type,omitempty"`
	Filters []Condition `json:"filters"`
}

// Operators are the operators of conditions.
var Operators = []string{"eq", "neq", "like", "gt", "gte", "lt", "lte"}

// check reports what no row of the table could be compared with.
func (t *Table) check(f Filter) error {
	if f.Type != "" && f.Type != "and" && f.Type != "or" {
		return refuse("E_BAD_ARGS", "a filter's type is and or or, not %q", quoted(f.Type))
	}
	for i, c := range f.Filters {
		column, ok := t.Column(c.Column)
		switch {
		case slices.Contains(reserved, c.Column):
			column = Column{c.Column, "string"}
		case !ok:
			return t.noColumn(c.Column)
		}
		if !slices.Contains(Operators, c.Operator) {
			return refuse("E_BAD_ARGS", "%q is not a condition; use eq, neq, like, gt, gte, lt or lte", quoted(c.Operator))
		}
		_, isText := c.Value.(string)
		switch {
		case c.Operator == "like" && !isText:
			return refuse("E_BAD_TYPE", "like needs a text; condition %d has none", i+1)
		case c.Operator == "like":
		case c.Value == nil && c.Operator != "eq" && c.Operator != "neq":
			return refuse("E_BAD_TYPE", "%s cannot compare with null; condition %d does", c.Operator, i+1)
		default:
			if err := column.check(c.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// check reports a value that is not of the column's type. Null is of every type.
func (c Column) check(v any) error {
	ok := v == nil
	switch v := v.(type) {
	case string:
		if n := utf8.RuneCountInString(v); n > maxText {
			return refuse("E_LIMIT", "column %s: a value has at most %d characters, but this has %d", c.Name, maxText, n)
		}
		if ok = c.Type == "string"; c.Type == "date" {
			_, ok = date(v)
		}
	case float64:
		ok = c.Type == "number" && !math.IsNaN(v) && !math.IsInf(v, 0)
	case bool:
		ok = c.Type == "boolean"
	}
	if !ok {
		hint := ""
		if c.Type == "date" {
			hint = "; write dates as 2026-05-13 or 2026-05-13T12:00:00Z"
		}
		return refuse("E_BAD_TYPE", "column %s holds values of type %s, and this is not one%s", c.Name, c.Type, hint)
	}
	return nil
}

// date reads a date or a time.
func date(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// Matches reports whether a row of the table meets a filter. One without conditions is met
// by every row.
func (t *Table) Matches(r *Row, f Filter) bool {
	if len(f.Filters) == 0 {
		return true
	}
	meets := func(c Condition) bool {
		column, _ := t.Column(c.Column)
		return c.meets(r.Cell(c.Column), column.Type == "date" || c.Column == "createdAt" || c.Column == "updatedAt")
	}
	if f.Type == "or" {
		return slices.ContainsFunc(f.Filters, meets)
	}
	return !slices.ContainsFunc(f.Filters, func(c Condition) bool { return !meets(c) })
}

func (c Condition) meets(v any, isDate bool) bool {
	if c.Operator == "like" {
		text, ok := v.(string)
		return ok && like(text, c.Value.(string))
	}
	order, comparable := compare(v, c.Value, isDate)
	switch c.Operator {
	case "eq":
		return v == nil && c.Value == nil || comparable && order == 0
	case "neq":
		return (v != nil || c.Value != nil) && (!comparable || order != 0)
	case "gt":
		return comparable && order > 0
	case "gte":
		return comparable && order >= 0
	case "lt":
		return comparable && order < 0
	}
	return comparable && order <= 0
}

// compare orders two values of one type; ok is false where a value is null.
func compare(a, b any, isDate bool) (order int, ok bool) {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		if isDate {
			x, isX := date(a)
			y, isY := date(b)
			if isX && isY {
				return x.Compare(y), ok
			}
		}
		return strings.Compare(a, b), ok
	case float64:
		b, ok := b.(float64)
		switch {
		case a < b:
			return -1, ok
		case a > b:
			return 1, ok
		}
		return 0, ok
	case bool:
		b, ok := b.(bool)
		if a == b {
			return 0, ok
		}
		return 1, ok && a // false is before true
	}
	return 0, false
}

// like reports whether a text is like a pattern. It takes time in proportion to the
// product of their lengths.
func like(text, pattern string) bool {
	t, p := []rune(text), []rune(pattern)
	i, j, star, from := 0, 0, -1, 0
	for i < len(t) {
		switch {
		case j < len(p) && p[j] == '%':
			star, from = j, i
			j++
		case j < len(p) && (p[j] == '_' || p[j] == t[i]):
			i++
			j++
		case star >= 0:
			from++
			i, j = from, star+1
		default:
			return false
		}
	}
	for j < len(p) && p[j] == '%' {
		j++
	}
	return j == len(p)
}

// Query returns the rows that meet a filter, from the skipped ones on, at most limit of
// them, and how many meet it.
func (t *Table) Query(f Filter, skip, limit int) (rows []*Row, count int, err error) {
	if err := t.check(f); err != nil {
		return nil, 0, err
	}
	for _, r := range t.Rows {
		if !t.Matches(r, f) {
			continue
		}
		if count++; count > skip && len(rows) < limit {
			rows = append(rows, r)
		}
	}
	return rows, count, nil
}

// Fits reports the first value that no row of the table could have, by the order of the
// columns' names: every column must exist, and have a value of its type. The error is an
// *Error.
func (t *Table) Fits(values map[string]any) error {
	var few [8]string
	names := slices.AppendSeq(few[:0], maps.Keys(values))
	slices.Sort(names)
	for _, name := range names {
		c, ok := t.Column(name)
		if !ok {
			return t.noColumn(name)
		}
		if err := c.check(values[name]); err != nil {
			return err
		}
	}
	return nil
}

// set gives columns their values; null takes a value away.
func set(row, values map[string]any) {
	for name, v := range values {
		if v == nil {
			delete(row, name)
		} else {
			row[name] = v
		}
	}
}

// size is about how many bytes values take.
func size(values map[string]any) int {
	n := 64
	for name, v := range values {
		n += len(name) + 16
		if text, ok := v.(string); ok {
			n += len(text)
		}
	}
	return n
}

// Insert adds rows, all or none, and returns them.
func (s *Set) Insert(t *Table, rows []map[string]any, at time.Time) ([]*Row, error) {
	read := make([]*Row, len(rows))
	bytes := s.bytes
	for i, given := range rows {
		if err := t.Fits(given); err != nil {
			return nil, err
		}
		values := make(map[string]any, len(given))
		set(values, given)
		bytes += size(values)
		read[i] = &Row{Values: values, Created: at, Updated: at}
	}
	if s.rows+len(rows) > MaxRows || bytes > maxBytes {
		return nil, s.full()
	}
	for _, r := range read {
		s.lastRow++
		r.ID = "row_" + strconv.Itoa(s.lastRow)
	}
	s.rows, s.bytes = s.rows+len(rows), bytes
	after := *t
	after.Rows = append(slices.Clip(t.Rows), read...)
	s.put(t, &after)
	return read, nil
}

func (s *Set) full() error {
	return refuse("E_LIMIT", "the data tables are full: %d rows, about %d MiB", s.rows, s.bytes>>20)
}

// Update changes the values of the rows that meet a filter, and returns the rows.
func (s *Set) Update(t *Table, f Filter, changes map[string]any, at time.Time) ([]*Row, error) {
	if err := cmp.Or(t.Fits(changes), t.check(f)); err != nil {
		return nil, err
	}
	after, bytes := *t, s.bytes
	after.Rows = slices.Clone(t.Rows)
	var changed []*Row
	for i, r := range t.Rows {
		if !t.Matches(r, f) {
			continue
		}
		next := &Row{ID: r.ID, Values: maps.Clone(r.Values), Created: r.Created, Updated: at}
		set(next.Values, changes)
		bytes += size(next.Values) - size(r.Values)
		after.Rows[i] = next
		changed = append(changed, next)
	}
	if bytes > max(s.bytes, maxBytes) {
		return nil, s.full()
	}
	if s.bytes = bytes; len(changed) > 0 {
		s.put(t, &after)
	}
	return changed, nil
}

// DeleteRows deletes the rows that meet a filter, and returns them. A filter without
// conditions is refused.
func (s *Set) DeleteRows(t *Table, f Filter) ([]*Row, error) {
	if len(f.Filters) == 0 {
		return nil, refuse("E_NO_FILTER", "the deletion of rows needs a filter with at least one condition")
	}
	if err := t.check(f); err != nil {
		return nil, err
	}
	after := *t
	after.Rows = nil
	var deleted []*Row
	for _, r := range t.Rows {
		if t.Matches(r, f) {
			deleted = append(deleted, r)
			s.rows--
			s.bytes -= size(r.Values)
		} else {
			after.Rows = append(after.Rows, r)
		}
	}
	if len(deleted) > 0 {
		s.put(t, &after)
	}
	return deleted, nil
}
