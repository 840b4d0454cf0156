package expr

import (
	"cmp"
	"slices"
)

// Form says what a criterion's value is, and so what interval it can have.
type Form int

// The forms.
const (
	// Share is how many of the rows meet a condition.
	Share Form = iota + 1
	// Ratio is a mean, a rate, or a sum or count divided by another.
	Ratio
	// Percentile is the Rank-quantile of the rows.
	Percentile
	// Bare is a sum, count, minimum or maximum: a fact about these rows, without
	// an interval.
	Bare
)

// Criterion is a threshold that was parsed and checked:
//
//	p95(duration_us) <= 4s where role == "main"
//
// It is not modified by use, and safe for concurrent use.
type Criterion struct {
	plan
	left *node
	// Form and Name (the function, "ratio" for a division) say what Value is.
	Form Form
	Name string
	// Rank of a percentile, between 0 and 1.
	Rank float64
	// Threshold is in the base of Unit. AtLeast says that values above it are good,
	// Strict that it is not good itself.
	Threshold       float64
	Unit            Unit
	AtLeast, Strict bool
}

// PessimisticEnd names the end of the interval that may decide alone without passing
// on too little data: lower where values must be at least the threshold, else upper.
func (c *Criterion) PessimisticEnd() string {
	if c.AtLeast {
		return "lower"
	}
	return "upper"
}

// ParseCriterion reads a criterion: an aggregate, or a ratio of sums and counts,
// compared with a constant, and a condition behind where. An error is an *Error.
func ParseCriterion(text string) (c *Criterion, err error) {
	defer rescue(&err)
	p := parser{lexer: newLexer(text)}
	n := p.expression(0)
	where := p.condition()
	p.end("where")
	if n.kind != infix || !slices.Contains([]string{"<", "<=", ">", ">="}, n.op) {
		p.fail(n.at, "a criterion compares a value with a threshold by <, <=, > or >=, as in p95(elapsed_us) <= 4s")
	}
	left, right := n.kids[0], n.kids[1]
	if !right.constant() {
		p.fail(right.at, "the threshold stands on the right, and is a constant")
	}
	check := p.check([]*node{left}, nil, where)
	check.types(left, false)
	check.types(right, false)
	c = &Criterion{plan: check.plan, left: left, Unit: left.unit, AtLeast: n.op[0] == '>', Strict: len(n.op) == 1}
	if c.Form, c.Name = formOf(left); c.Form == 0 {
		p.fail(left.at, "a criterion is about one aggregate of numbers, or a sum or count divided by another")
	}
	c.Rank = left.rank
	check.comparable(n.at, n.op, left, right)
	if !plain(left.unit) && plain(right.unit) {
		p.fail(right.at, "%s needs a unit here: write 4s or 250ms, or $2", unitNames[left.unit])
	}
	threshold := new(scope).eval(right)
	if c.Threshold = threshold.Number; threshold.Null {
		p.fail(right.at, "the threshold is divided by 0")
	}
	if c.Form == Share && (c.Threshold < 0 || c.Threshold > 1) {
		p.fail(right.at, "a share lies between 0%% and 100%%")
	}
	return c, nil
}

// formOf finds out what kind of value a criterion has, and its name; 0 for none.
func formOf(n *node) (Form, string) {
	switch {
	case n.kind == infix && n.op == "/" && summed(n.kids[0]) && summed(n.kids[1]):
		return Ratio, "ratio"
	case n.kind != call:
		return 0, ""
	case n.op == "share":
		return Share, n.name
	case n.op == "mean", n.op == "rate":
		return Ratio, n.name
	case n.op == "p":
		return Percentile, n.name
	case n.typ == Number:
		return Bare, n.name
	}
	return 0, ""
}

func summed(n *node) bool { return n.kind == call && (n.op == "sum" || n.op == "count") }

// Compare compares a value with the threshold: -1 is less, 0 equal, +1 greater.
func (c *Criterion) Compare(v float64) int { return cmp.Compare(v, c.Threshold) }
