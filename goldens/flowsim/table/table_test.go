package table

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)

// people is a set with one table of three rows.
func people(t testing.TB) (*Set, *Table) {
	s := &Set{}
	_, err := s.Create("", "People", []Column{{"name", "string"}, {"age", "number"}, {"member", "boolean"}, {"born", "date"}})
	require.NoError(t, err)
	_, err = s.Insert(s.named("People"), []map[string]any{
		{"name": "Ada", "age": 36.0, "member": true, "born": "1815-12-10"},
		{"name": "Alan", "age": 41.0, "member": false, "born": "1912-06-23T00:00:00Z"},
		{"name": "Al_n"},
	}, noon)
	require.NoError(t, err)
	return s, s.named("People")
}

func TestFilters(t *testing.T) {
	_, people := people(t)
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "Ada Alan Al_n"},
		{Filter{Filters: []Condition{{"name", "eq", "Ada"}}}, "Ada"},
		{Filter{Filters: []Condition{{"name", "neq", "Ada"}}}, "Alan Al_n"},
		{Filter{Filters: []Condition{{"age", "eq", nil}}}, "Al_n"},
		{Filter{Filters: []Condition{{"age", "neq", nil}}}, "Ada Alan"},
		{Filter{Filters: []Condition{{"age", "gt", 36.0}}}, "Alan"},
		{Filter{Filters: []Condition{{"age", "gte", 36.0}, {"member", "eq", true}}}, "Ada"},
		{Filter{Type: "or", Filters: []Condition{{"age", "lt", 40.0}, {"name", "eq", "Al_n"}}}, "Ada Al_n"},
		{Filter{Filters: []Condition{{"age", "lte", 36.0}}}, "Ada"},
		{Filter{Filters: []Condition{{"born", "lt", "1900-01-01T00:00:00+02:00"}}}, "Ada"},
		{Filter{Filters: []Condition{{"name", "like", "Al%"}}}, "Alan Al_n"},
		{Filter{Filters: []Condition{{"name", "like", "_d%"}}}, "Ada"},
		{Filter{Filters: []Condition{{"id", "eq", "row_2"}}}, "Alan"},
		{Filter{Filters: []Condition{{"createdAt", "gte", "2026-05-13"}}}, "Ada Alan Al_n"},
	} {
		rows, count, err := people.Query(c.filter, 0, 10)
		require.NoError(t, err)
		var names []string
		for _, r := range rows {
			names = append(names, fmt.Sprint(r.Cell("name")))
		}
		require.Equal(t, c.want, strings.Join(names, " "), "%v", c.filter)
		require.Equal(t, len(rows), count)
	}
}

func TestRefusals(t *testing.T) {
	for code, do := range map[string]func(s *Set, p *Table) error{
		"E_UNKNOWN_COLUMN": func(s *Set, p *Table) error {
			_, err := s.Insert(p, []map[string]any{{"nam": "x"}}, noon)
			return err
		},
		"E_BAD_TYPE": func(s *Set, p *Table) error {
			_, err := s.Insert(p, []map[string]any{{"name": "x"}, {"born": "soon"}}, noon)
			return err
		},
		"E_RESERVED":    func(s *Set, p *Table) error { return s.AddColumn(p, Column{"id", "string"}) },
		"E_NAME_IN_USE": func(s *Set, p *Table) error { _, err := s.Create("", "People", nil); return err },
		"E_BAD_ARGS":    func(s *Set, p *Table) error { return s.AddColumn(p, Column{"__proto__", "string"}) },
		"E_NO_FILTER":   func(s *Set, p *Table) error { _, err := s.DeleteRows(p, Filter{}); return err },
		"E_NOT_FOUND":   func(s *Set, p *Table) error { _, err := s.Find("../x"); return err },
		"E_LIMIT": func(s *Set, p *Table) error {
			_, err := s.Insert(p, []map[string]any{{"name": strings.Repeat("x", maxText+1)}}, noon)
			return err
		},
	} {
		s, p := people(t)
		before := *p
		err := do(s, p)
		var fault *Error
		require.ErrorAs(t, err, &fault, code)
		require.Equal(t, code, fault.Code)
		after, err := s.Find("dt_1")
		require.NoError(t, err)
		require.Equal(t, before, *after, "what is refused changes nothing")
	}
}

// The tables are full at a number of bytes, and an update cannot pass it either.
func TestFull(t *testing.T) {
	s, _ := people(t)
	long := strings.Repeat("x", maxText)
	var err error
	for i := 0; err == nil; i++ {
		require.Less(t, i, maxBytes/maxText+1)
		p, _ := s.Find("dt_1")
		_, err = s.Insert(p, []map[string]any{{"name": long}}, noon)
	}
	p, _ := s.Find("dt_1")
	_, err = s.Update(p, Filter{Filters: []Condition{{"name", "like", "A%"}}}, map[string]any{"name": long}, noon)
	require.ErrorContains(t, err, "full")
	require.LessOrEqual(t, s.bytes, maxBytes)
}

// A clone does not see what happens to the original, nor the other way.
func TestClone(t *testing.T) {
	s, p := people(t)
	changes := 0
	s.OnChange = func(_, _ *Table) { changes++ }
	c := s.Clone()
	_, err := c.Insert(p, []map[string]any{{"name": "Clone"}}, noon)
	require.NoError(t, err)
	_, err = s.Insert(p, []map[string]any{{"name": "Original"}}, noon)
	require.NoError(t, err)
	require.Equal(t, 1, changes)
	for set, want := range map[*Set]string{s: "Original", c: "Clone"} {
		found, err := set.Find("dt_1")
		require.NoError(t, err)
		require.Len(t, found.Rows, 4)
		require.Equal(t, want, found.Rows[3].Cell("name"))
	}
	require.Len(t, p.Rows, 3)
}

func TestColumns(t *testing.T) {
	s, p := people(t)
	require.NoError(t, s.RenameColumn(p, "name", "called"))
	p, _ = s.Find("dt_1")
	require.Equal(t, "Ada", p.Rows[0].Cell("called"))
	require.NoError(t, s.DeleteColumn(p, "called"))
	p, _ = s.Find("dt_1")
	require.Nil(t, p.Rows[0].Cell("called"))
	require.Len(t, p.Columns, 3)
	s.Delete(p)
	require.Zero(t, s.rows)
	require.Zero(t, s.bytes)
}

func FuzzLike(f *testing.F) {
	f.Add("Alan", "A%n")
	f.Add("", "%_%")
	f.Fuzz(func(t *testing.T, text, pattern string) {
		if got := like(text, "%"+text+"%"); !strings.ContainsAny(text, "%_") {
			require.True(t, got)
		}
		_ = like(text, pattern)
	})
}
