package ledger

import (
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/cupel-eval/cupel/harness/ledger/work"
)

// records are a column that is a list of records.
type records interface {
	encode(*encoder)
	decode(*decoder)
	clean()
	columns() []column
}

// recordsOf returns the list that a field of record.fields points to; nil if that is another
// column.
func recordsOf(field any) records {
	switch p := field.(type) {
	case *[]Check:
		return recordList[Check, *Check]{p}
	case *[]Score:
		return recordList[Score, *Score]{p}
	case *[]work.Label:
		return recordList[work.Label, *work.Label]{p}
	case *[]work.Request:
		return recordList[work.Request, *work.Request]{p}
	case *[]work.Task:
		return recordList[work.Task, *work.Task]{p}
	}
	return nil
}

// Members appends a pointer to every member in schema order.
func (c *Check) Members(dst []any) []any { return append(dst, &c.Name, &c.Passed, &c.Detail) }

// Members is like that of Check.
func (s *Score) Members(dst []any) []any {
	return append(dst, &s.Name, &s.Score, &s.AtLeast, &s.Pass, &s.Digest, &s.Reason)
}

// recordList is a list of records, whose members are of the types of record.fields and no lists.
type recordList[E any, P interface {
	*E
	Members(dst []any) []any
}] struct{ to *[]E }

func (l recordList[E, P]) members(i int, dst []any) []any { return P(&(*l.to)[i]).Members(dst[:0]) }

func (l recordList[E, P]) encode(e *encoder) {
	e.uint(uint64(len(*l.to)))
	for i := range *l.to {
		e.members = l.members(i, e.members)
		for _, f := range e.members {
			e.field(f)
		}
	}
}

func (l recordList[E, P]) decode(d *decoder) {
	*l.to = nil
	for range d.count(len(P(new(E)).Members(nil))) { // a member has at least a byte
		*l.to = append(*l.to, *new(E))
		for _, f := range l.members(len(*l.to)-1, nil) {
			d.field(f)
		}
	}
}

// clean copies the list, because others may share its memory.
func (l recordList[E, P]) clean() {
	*l.to = slices.Clone(*l.to)
	for i := range *l.to {
		for _, f := range l.members(i, nil) {
			if s, ok := f.(*string); ok {
				*s = validUTF8(*s)
			}
		}
	}
}

// columns returns a leaf for each member: the first appends the records, each sets its member.
func (l recordList[E, P]) columns() []column {
	out := make([]column, len(P(new(E)).Members(nil)))
	for i := range out {
		out[i] = &memberColumn[E, P]{recordList: l, member: i}
	}
	return out
}

// memberColumn is the leaf of one member of the records of a list.
type memberColumn[E any, P interface {
	*E
	Members(dst []any) []any
}] struct {
	recordList[E, P]
	member, at int   // at is the record of the next value
	pointers   []any // for reuse
}

func (c *memberColumn[E, P]) reset() {
	if c.at = 0; c.member == 0 {
		*c.to = nil
	}
}

func (c *memberColumn[E, P]) set(v parquet.Value) {
	if v.DefinitionLevel() == 0 {
		return // an empty list
	}
	if c.member == 0 {
		*c.to = append(*c.to, *new(E))
	}
	c.pointers = c.members(c.at, c.pointers)
	c.at++
	setScalar(c.pointers[c.member], v)
}
