package interp

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
)

// Filter selects rows of a data table. Without a condition it selects all.
type Filter struct {
	// Any selects rows for which one condition holds; else all must.
	Any        bool
	Conditions []Condition
}

// Condition compares a column with a value: eq, neq, like, gt, gte, lt or lte; "" is eq.
// Null is equal to null, and neither greater nor less than anything. Like takes % for any
// characters and ignores case.
type Condition struct {
	Column, Operator string
	Value            any
}

// Match reports whether a row is selected. The error names a condition that cannot be
// computed, because of its operator or its type.
func (f Filter) Match(row Item) (bool, error) {
	for _, c := range f.Conditions {
		holds, err := c.holds(row[c.Column])
		if err != nil {
			return false, fmt.Errorf("condition on column %s: %w", c.Column, err)
		}
		if holds == f.Any {
			return holds, nil
		}
	}
	return !f.Any || len(f.Conditions) == 0, nil
}

func (c Condition) holds(v any) (bool, error) {
	switch c.Operator {
	case "", "eq", "neq":
		same, err := formula.Equal(v, c.Value)
		return same == (c.Operator != "neq"), err
	case "like":
		pattern, ok := c.Value.(string)
		if !ok {
			return false, fmt.Errorf("like needs a text")
		}
		text, ok := v.(string)
		return ok && like(strings.ToLower(text), strings.ToLower(pattern)), nil
	case "gt", "gte", "lt", "lte":
		if v == nil || c.Value == nil {
			return false, nil
		}
		order, ok := formula.Compare(v, c.Value)
		if !ok {
			return false, fmt.Errorf("%s cannot compare %v with %v", c.Operator, v, c.Value)
		}
		return order > 0 && c.Operator[0] == 'g' || order < 0 && c.Operator[0] == 'l' || order == 0 && len(c.Operator) == 3, nil
	}
	return false, fmt.Errorf("unknown operator %q; want eq, neq, like, gt, gte, lt or lte", c.Operator)
}

// like matches a text with a pattern, in which % stands for any characters.
func like(text, pattern string) bool {
	parts := strings.Split(pattern, "%")
	if len(parts) == 1 {
		return text == pattern
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
