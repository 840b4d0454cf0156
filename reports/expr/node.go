// Package expr is the language of queries and of criteria of one's own: it
// aggregates columns of the ledger, as in
//
//	p95(duration_us) <= 4s where role == "main"
//
// A text is parsed and checked against the ledger's schema when it is loaded;
// nothing of it is ever run otherwise. The language has no loops, no user
// functions and no way to reach anything but columns, so a text from anywhere
// costs one pass over the rows.
package expr

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

var typeNames = map[Type]string{Number: "a number", Bool: "a condition", Text: "text", Time: "a time"}

// kind is what a node does.
type kind int

const (
	literal kind = iota
	null
	columnInfo
	call  // an aggregate
	unary // not, -
	binary
	in     // the first child among the others
	isNull // op is "not" for: is not null
)

// node is a part of an expression.
type node struct {
	kind kind
	at   int // in the source
	typ  Type
	unit Unit
	op   string // of unary and binary, or the name of an aggregate
	kids []*node

	num  float64
	text string // a literal, or a column's name
	is   bool

	table string  // as written before a column
	slot  int     // of a column or aggregate, once resolved
	rank  float64 // of a percentile, 0…1
}

// walk calls f for n and everything below it, until f says no.
func (n *node) walk(f func(*node) bool) bool {
	if n == nil {
		return true
	}
	if !f(n) {
		return false
	}
	for _, k := range n.kids {
		if !k.walk(f) {
			return false
		}
	}
	return true
}

// constant says that there is no column and no aggregate in n.
func (n *node) constant() bool {
	return n.walk(func(m *node) bool { return m.kind != columnInfo && m.kind != call })
}
