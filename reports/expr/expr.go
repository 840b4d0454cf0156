// Package expr is the language of queries and of custom criteria: it
// aggregates columns of the ledger, as in
//
//	p95(duration_us) <= 4s where role == "main"
//
// A text is parsed and checked against the ledger's schema when it is loaded;
// nothing of it is ever run otherwise. The language has no loops, no user
// functions and no way to reach anything but columns, so a text from anywhere
// costs one pass over the rows.
package expr

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/reports/words"
)

// Unit says what a number counts. Its zero value is a plain number.
type Unit int

// The units. Numbers of a unit are in its base: microseconds, nano-USD, and
// shares from 0 to 1.
const (
	None Unit = iota
	Duration
	Money
	Percent
)

// Type is the type of a value.
type Type int

// The types.
const (
	Number Type = iota + 1
	Bool
	Text
	Time // microseconds since the Unix epoch
)

var (
	typeNames = map[Type]string{Number: "a number", Bool: "a condition", Text: "text", Time: "a time"}
	unitNames = map[Unit]string{None: "a plain number", Duration: "a duration", Money: "money", Percent: "a share"}
)

// kind is what a node does.
type kind int

const (
	literal kind = iota
	columnName
	call   // an aggregate
	prefix // not, -
	infix
	in     // the first child among the others
	isNull // op is "not" for: is not null
)

// node is a part of an expression.
type node struct {
	kind kind
	at   int // in the source
	typ  Type
	unit Unit
	op   string  // of prefix and infix, or the name of an aggregate
	kids []*node // of solved: status and infra_error

	value Cell    // of a literal
	name  string  // of a column, or of an aggregate as it was written
	table string  // as written before a column
	slot  int     // of a column or aggregate, once resolved
	rank  float64 // of a percentile, 0…1
}

// all are n and everything below it.
func (n *node) all(yield func(*node) bool) { n.walk(yield) }

func (n *node) walk(yield func(*node) bool) bool {
	return yield(n) && !slices.ContainsFunc(n.kids, func(k *node) bool { return !k.walk(yield) })
}

// constant says that there is no column and no aggregate in n.
func (n *node) constant() bool {
	return n.walk(func(m *node) bool { return m.kind != columnName && m.kind != call })
}

// Format is v as the language writes it: 3.21s, $0.0012, 98.5%, 42.
func (u Unit) Format(v float64) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	switch u {
	case Duration:
		switch {
		case v < 1e3:
			return sign + words.Coordinate(v, 0) + "us"
		case v < 1e6:
			return sign + words.Coordinate(v/1e3, 1) + "ms"
		}
		return sign + words.Coordinate(v/1e6, 3) + "s"
	case Money:
		v /= 1e9
		if v > 0 && v < 0.01 { // three significant digits
			return sign + "$" + words.Coordinate(v, min(12, 2-int(math.Floor(math.Log10(v)))))
		}
		return sign + "$" + words.Coordinate(v, 4)
	case Percent:
		return sign + words.Coordinate(100*v, 2) + "%"
	}
	return sign + words.Coordinate(v, 4)
}

// Format is the cell for people: a value in the unit of its column, a time in UTC,
// nothing for null, and no character that a terminal would act on.
func (c Column) Format(cell Cell) string {
	switch v := c.Value(cell).(type) {
	case string:
		return printable(v)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return c.Unit.Format(v)
	}
	return ""
}

// Value is the cell for programs: nil, a string, a bool or a float64 in the base
// of its unit; a time is a string, RFC 3339 in UTC.
func (c Column) Value(cell Cell) any {
	switch {
	case cell.Null:
		return nil
	case c.Type == Text:
		return cell.Text
	case c.Type == Bool:
		return cell.Bool
	case c.Type == Time:
		return time.UnixMicro(int64(cell.Number)).UTC().Format(time.RFC3339Nano)
	}
	return cell.Number
}
