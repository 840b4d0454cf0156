package expr

import (
	"math"
	"strings"
)

// cell is what is gathered of one slot in one group.
type cell struct {
	known, missing int64 // rows with a value, and without
	yes            int64 // of a condition
	sum, low, high float64
	values         [][]float64 // all of them, in pieces; empty where no percentile asks
	episodes       int64
	first, last    string // episodes; of a group of the whole, the last only
}

// add gathers a slot over the rows that are in a group: group[i] is row i's, or
// negative.
func (s *slot) add(v value, group []int32, cells []cell) {
	switch {
	case s.arg == nil:
		for _, g := range group {
			if g >= 0 {
				cells[g].known++
			}
		}
	case s.arg.typ == Bool:
		for i, g := range group {
			if g < 0 {
				continue
			}
			c := &cells[g]
			if v.null != nil && v.null[i] {
				c.missing++
				continue
			}
			c.known++
			if v.is[i] {
				c.yes++
			}
		}
	default:
		s.addNumbers(v, group, cells)
	}
}

func (s *slot) addNumbers(v value, group []int32, cells []cell) {
	known := int64(0)
	for i, g := range group {
		if g < 0 {
			continue
		}
		c, x := &cells[g], v.num[i]
		if v.null != nil && v.null[i] || x != x {
			c.missing++
			continue
		}
		if c.known == 0 {
			c.low, c.high = x, x
		}
		known++
		c.known++
		c.sum += x
		c.low, c.high = min(c.low, x), max(c.high, x)
	}
	if !s.values {
		return
	}
	all := make([]float64, known)
	for g := range cells {
		n := cells[g].known
		cells[g].values = [][]float64{all[:0:n]}
		all = all[n:]
	}
	for i, g := range group {
		if g >= 0 && !(v.null != nil && v.null[i] || v.num[i] != v.num[i]) {
			c := &cells[g]
			c.values[0] = append(c.values[0], v.num[i])
		}
	}
}

// addEpisodes counts the episodes of each group. Rows of one episode come together.
func addEpisodes(v value, group []int32, cells []cell) {
	last := make([]int32, len(cells))
	for i, g := range group {
		if g < 0 {
			continue
		}
		c, w := &cells[g], v.index[i]
		if c.episodes > 0 && (last[g] == w || v.words[w] == c.last) {
			continue
		}
		if last[g] = w; c.episodes == 0 {
			c.first = v.words[w]
		}
		c.last = v.words[w]
		c.episodes++
	}
}

// merge adds what was gathered of the rows that follow.
func (c *cell) merge(o *cell) {
	if o.known > 0 && c.known == 0 {
		c.low, c.high = o.low, o.high
	} else if o.known > 0 {
		c.low, c.high = min(c.low, o.low), max(c.high, o.high)
	}
	c.known, c.missing, c.yes = c.known+o.known, c.missing+o.missing, c.yes+o.yes
	c.sum += o.sum
	if len(o.values) > 0 && len(o.values[0]) > 0 {
		c.values = append(c.values, o.values...)
	}
	if o.episodes > 0 {
		if c.episodes > 0 && c.last == o.first {
			c.episodes--
		}
		c.episodes += o.episodes
		c.last = strings.Clone(o.last) // and not all ids of the row group
	}
}

// all is every value gathered, in one piece.
func (c *cell) all() []float64 {
	if len(c.values) == 0 {
		return nil
	}
	if len(c.values) > 1 {
		whole := make([]float64, 0, c.known)
		for _, part := range c.values {
			whole = append(whole, part...)
		}
		c.values = [][]float64{whole}
	}
	return c.values[0]
}

// total is an expression of aggregates; ok is false where it has no value.
func total(n *node, cells []cell) (v float64, ok bool) {
	switch n.kind {
	case literal:
		return n.num, true
	case call:
		return aggregate(n, &cells[n.slot])
	case unary:
		v, ok = total(n.kids[0], cells)
		return -v, ok
	}
	a, okA := total(n.kids[0], cells)
	b, okB := total(n.kids[1], cells)
	if !okA || !okB {
		return 0, false
	}
	switch n.op {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	}
	return a / b, b != 0
}

func aggregate(n *node, c *cell) (v float64, ok bool) {
	boolean := len(n.kids) > 0 && n.kids[0].typ == Bool
	switch n.op {
	case "count":
		if boolean {
			return float64(c.yes), true
		}
		return float64(c.known), true
	case "share":
		return float64(c.yes) / float64(c.known), c.known > 0
	case "mean":
		return c.sum / float64(c.known), c.known > 0
	case "sum":
		return c.sum, c.known > 0
	case "min":
		return c.low, c.known > 0
	case "max":
		return c.high, c.known > 0
	case "rate":
		if boolean {
			return float64(c.yes) / float64(c.episodes), c.episodes > 0
		}
		return c.sum / float64(c.episodes), c.episodes > 0 && c.known > 0
	}
	return quantile(c.all(), n.rank)
}

// quantile is that of type 7, as stat.Quantile has it, of values in any order,
// which it changes.
func quantile(values []float64, p float64) (q float64, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	h := p * float64(len(values)-1)
	i := int(math.Floor(h))
	nth(values, i)
	low := values[i]
	if i+1 == len(values) {
		return low, true
	}
	high := values[i+1]
	for _, v := range values[i+1:] {
		high = min(high, v)
	}
	return low + (h-float64(i))*(high-low), true
}
