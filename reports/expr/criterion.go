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
func ParseCriterion(text string) (*Criterion, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	n, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	where, err := p.condition()
	if err != nil {
		return nil, err
	}
	if err := p.end("where"); err != nil {
		return nil, err
	}
	return p.criterion(n, where)
}

func (p *parser) criterion(n, where *node) (*Criterion, error) {
	if n.kind != binary || !slices.Contains([]string{"<", "<=", ">", ">="}, n.op) {
		return nil, p.problem(n.at, "a criterion compares a value with a threshold by <, <=, > or >=, as in p95(elapsed_us) <= 4s")
	}
	left, right := n.kids[0], n.kids[1]
	if !right.constant() {
		return nil, p.problem(right.at, "the threshold stands on the right, and is a constant")
	}
	c := checker{parser: p}
	if err := c.resolve(left, where); err != nil {
		return nil, err
	}
	if err := c.filter(where); err != nil {
		return nil, err
	}
	for _, err := range []error{c.total(left), c.total(right)} {
		if err != nil {
			return nil, err
		}
	}
	out := &Criterion{plan: c.plan, left: left, Unit: left.unit, AtLeast: n.op[0] == '>', Strict: len(n.op) == 1}
	if err := p.form(out, left); err != nil {
		return nil, err
	}
	if err := c.alike(n.at, n.op, left, right); err != nil {
		return nil, err
	}
	if !plain(left.unit) && plain(right.unit) {
		return nil, p.problem(right.at, "%s needs a unit here: write 4s or 250ms, or $2", unitNames[left.unit])
	}
	var ok bool
	if out.Threshold, ok = total(right, nil); !ok {
		return nil, p.problem(right.at, "the threshold is divided by 0")
	}
	if out.Form == Share && (out.Threshold < 0 || out.Threshold > 1) {
		return nil, p.problem(right.at, "a share lies between 0%% and 100%%")
	}
	return out, nil
}

// form finds out what kind of value a criterion has.
func (p *parser) form(c *Criterion, n *node) error {
	c.Name = n.op
	switch {
	case n.kind == call && n.op == "share":
		c.Form = Share
	case n.kind == call && (n.op == "mean" || n.op == "rate"):
		c.Form = Ratio
	case n.kind == call && n.op == "p":
		c.Form, c.Name, c.Rank = Percentile, n.text, n.rank
	case n.kind == call && n.typ == Number:
		c.Form = Bare
	case n.kind == binary && n.op == "/" && summed(n.kids[0]) && summed(n.kids[1]):
		c.Form, c.Name = Ratio, "ratio"
	default:
		return p.problem(n.at, "a criterion is about one aggregate of numbers, or a sum or count divided by another")
	}
	return nil
}

func summed(n *node) bool { return n.kind == call && (n.op == "sum" || n.op == "count") }

// Table is the table the criterion is about.
func (c *Criterion) Table() string { return c.table }

// Compare compares a value with the threshold: -1 is less, 0 equal, +1 greater.
func (c *Criterion) Compare(v float64) int { return cmp.Compare(v, c.Threshold) }
