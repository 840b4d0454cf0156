package expr

import "cmp"

// accepts says which of less, equal and greater an operator takes.
var accepts = map[string][3]bool{
	"==": {false, true, false}, "!=": {true, false, true},
	"<": {true, false, false}, "<=": {true, true, false},
	">": {false, false, true}, ">=": {false, true, true},
}

func compileComparison(n *node) evaluator {
	a, b := n.kids[0], n.kids[1]
	take := accepts[n.op]
	left, right := compile(a), compile(b)
	switch {
	case a.typ == Text && b.kind == literal:
		return compareWords(left, b.text, take)
	case a.typ == Text:
		return compareTexts(left, right, take)
	case a.typ == Bool:
		return compareBools(left, right, n.op == "==")
	}
	var out []bool
	return func(b *batch) value {
		x, y := left(b), right(b)
		out = fit(out, b.rows)
		compareNumbers(n.op, x.num[:b.rows], y.num[:b.rows], out)
		return value{is: out, null: either(x.null, y.null)}
	}
}

// compareWords looks every word up once.
func compareWords(left evaluator, with string, take [3]bool) evaluator {
	var out, hit []bool
	return func(b *batch) value {
		x := left(b)
		out, hit = fit(out, b.rows), fit(hit, len(x.words))
		for i, w := range x.words {
			hit[i] = take[1+cmp.Compare(w, with)]
		}
		for i, w := range x.index[:b.rows] {
			out[i] = hit[w]
		}
		return value{is: out, null: x.null}
	}
}

func compareTexts(left, right evaluator, take [3]bool) evaluator {
	var out []bool
	return func(b *batch) value {
		x, y := left(b), right(b)
		out = fit(out, b.rows)
		for i := range out {
			out[i] = take[1+cmp.Compare(x.words[x.index[i]], y.words[y.index[i]])]
		}
		return value{is: out, null: either(x.null, y.null)}
	}
}

func compareBools(left, right evaluator, equal bool) evaluator {
	var out []bool
	return func(b *batch) value {
		x, y := left(b), right(b)
		out = fit(out, b.rows)
		for i := range out {
			out[i] = (x.is[i] == y.is[i]) == equal
		}
		return value{is: out, null: either(x.null, y.null)}
	}
}

func compareNumbers(op string, x, y []float64, out []bool) {
	switch op {
	case "==":
		for i := range out {
			out[i] = x[i] == y[i]
		}
	case "!=":
		for i := range out {
			out[i] = x[i] != y[i]
		}
	case "<":
		for i := range out {
			out[i] = x[i] < y[i]
		}
	case "<=":
		for i := range out {
			out[i] = x[i] <= y[i]
		}
	case ">":
		for i := range out {
			out[i] = x[i] > y[i]
		}
	default:
		for i := range out {
			out[i] = x[i] >= y[i]
		}
	}
}
