package expr

import (
	"github.com/cupel-eval/cupel/harness/ledger/column"
)

// value is an expression's value in each row of a batch: num, is or index, by its
// type.
type value struct {
	num   []float64 // Number and Time
	is    []bool
	index []int32 // of words
	words []string
	null  []bool // nil where every row has a value
}

// batch is what an expression is evaluated over.
type batch struct {
	rows    int
	columns []column.Vector
}

// evaluator computes an expression. What it returns is good until it is called
// again; it is not safe for concurrent use.
type evaluator func(b *batch) value

func compile(n *node) evaluator {
	switch n.kind {
	case literal:
		return compileLiteral(n)
	case columnInfo:
		return func(b *batch) value {
			v := &b.columns[n.slot]
			return value{num: v.Numbers, is: v.Bools, index: v.Index, words: v.Words, null: v.Nulls}
		}
	case unary:
		return compileUnary(n)
	case isNull:
		return compileNull(n)
	case in:
		return compileIn(n)
	}
	switch a, b := n.kids[0], n.kids[1]; n.op {
	case "and", "or":
		return compileLogic(n.op == "and", compile(a), compile(b))
	case "+", "-", "*", "/":
		return compileArithmetic(n.op, compile(a), compile(b))
	default:
		return compileComparison(n)
	}
}

// fit is s with n elements, whatever they are.
func fit[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func compileLiteral(n *node) evaluator {
	var v value
	have := 0
	return func(b *batch) value {
		if have < b.rows {
			have = b.rows
			v = value{words: []string{n.text}}
			switch n.typ {
			case Text:
				v.index = make([]int32, have)
			case Bool:
				v.is = make([]bool, have)
				fill(v.is, n.is)
			default:
				v.num = make([]float64, have)
				fill(v.num, n.num)
			}
		}
		return v
	}
}

func fill[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

func compileUnary(n *node) evaluator {
	of := compile(n.kids[0])
	var out value
	return func(b *batch) value {
		v := of(b)
		out.null = v.null
		if n.op == "not" {
			out.is = fit(out.is, b.rows)
			for i := range out.is {
				out.is[i] = !v.is[i]
			}
			return out
		}
		out.num = fit(out.num, b.rows)
		for i := range out.num {
			out.num[i] = -v.num[i]
		}
		return out
	}
}

func compileNull(n *node) evaluator {
	of, want := compile(n.kids[0]), n.op != "not"
	var out []bool
	return func(b *batch) value {
		v := of(b)
		out = fit(out, b.rows)
		for i := range out {
			out[i] = (v.null != nil && v.null[i]) == want
		}
		return value{is: out}
	}
}

func compileIn(n *node) evaluator {
	of := compile(n.kids[0])
	var out, hit []bool
	if n.kids[0].typ == Text {
		set := map[string]bool{}
		for _, k := range n.kids[1:] {
			set[k.text] = true
		}
		return func(b *batch) value {
			v := of(b)
			out, hit = fit(out, b.rows), fit(hit, len(v.words))
			for i, w := range v.words {
				hit[i] = set[w]
			}
			for i := range out {
				out[i] = hit[v.index[i]]
			}
			return value{is: out, null: v.null}
		}
	}
	var found evaluator // an or of equalities
	for _, k := range n.kids[1:] {
		one := compileComparison(&node{kind: binary, op: "==", kids: []*node{n.kids[0], k}})
		if found == nil {
			found = one
		} else {
			found = compileLogic(false, found, one)
		}
	}
	return found
}

// compileLogic is and, or or, where a row without a value decides nothing.
func compileLogic(and bool, left, right evaluator) evaluator {
	var out, null []bool
	return func(b *batch) value {
		x, y := left(b), right(b)
		out = fit(out, b.rows)
		if x.null == nil && y.null == nil {
			for i := range out {
				if and {
					out[i] = x.is[i] && y.is[i]
				} else {
					out[i] = x.is[i] || y.is[i]
				}
			}
			return value{is: out}
		}
		null = fit(null, b.rows)
		for i := range out {
			p, pn := x.is[i], x.null != nil && x.null[i]
			q, qn := y.is[i], y.null != nil && y.null[i]
			decided := !pn && p != and || !qn && q != and // a false of and, a true of or
			out[i], null[i] = !and, !decided && (pn || qn)
			if !decided {
				out[i] = and
			}
		}
		return value{is: out, null: null}
	}
}

// either says which rows lack one of two values.
func either(a, b []bool) []bool {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	out := make([]bool, len(a))
	for i := range out {
		out[i] = a[i] || b[i]
	}
	return out
}

// compileArithmetic is + - * /; what is divided by 0 has no value.
func compileArithmetic(op string, left, right evaluator) evaluator {
	var out []float64
	var null []bool
	return func(b *batch) value {
		x, y := left(b), right(b)
		out = fit(out, b.rows)
		u, v := x.num[:b.rows], y.num[:b.rows]
		missing := either(x.null, y.null)
		switch op {
		case "+":
			for i := range out {
				out[i] = u[i] + v[i]
			}
		case "-":
			for i := range out {
				out[i] = u[i] - v[i]
			}
		case "*":
			for i := range out {
				out[i] = u[i] * v[i]
			}
		default:
			null = fit(null, b.rows)
			for i := range out {
				null[i] = v[i] == 0 || missing != nil && missing[i]
				if out[i] = 0; v[i] != 0 {
					out[i] = u[i] / v[i]
				}
			}
			missing = null
		}
		return value{num: out, null: missing}
	}
}
