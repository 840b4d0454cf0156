package expr

import (
	"cmp"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger/column"
)

// possible says whether any row within the bounds can make the condition true. It
// errs towards yes.
func possible(n *node, bounds func(column int) column.Bounds) bool {
	switch {
	case n == nil:
		return true
	case n.kind == binary && n.op == "and":
		return possible(n.kids[0], bounds) && possible(n.kids[1], bounds)
	case n.kind == binary && n.op == "or":
		return possible(n.kids[0], bounds) || possible(n.kids[1], bounds)
	case n.kind == columnInfo: // a condition by itself
		b := bounds(n.slot)
		return !b.Known || b.High > 0
	case n.kind == unary && n.op == "not" && n.kids[0].kind == columnInfo:
		b := bounds(n.kids[0].slot)
		return !b.Known || b.Low < 1
	case n.kind == in && n.kids[0].kind == columnInfo:
		for _, k := range n.kids[1:] {
			if k.kind != literal || within("==", bounds(n.kids[0].slot), k) {
				return true
			}
		}
		return false
	case n.kind == binary && n.kids[0].kind == columnInfo && n.kids[1].kind == literal:
		return within(n.op, bounds(n.kids[0].slot), n.kids[1])
	}
	return true
}

// within says whether a value within the bounds can compare so with a literal.
func within(op string, b column.Bounds, n *node) bool {
	if !b.Known {
		return true
	}
	low, high := cmp.Compare(b.Low, n.num), cmp.Compare(b.High, n.num)
	switch n.typ {
	case Text:
		low, high = strings.Compare(b.First, n.text), strings.Compare(b.Last, n.text)
	case Bool:
		v := 0.0
		if n.is {
			v = 1
		}
		low, high = cmp.Compare(b.Low, v), cmp.Compare(b.High, v)
	}
	switch op {
	case "==":
		return low <= 0 && high >= 0
	case "!=":
		return low != 0 || high != 0
	case "<":
		return low < 0
	case "<=":
		return low <= 0
	case ">":
		return high > 0
	case ">=":
		return high >= 0
	}
	return true
}
