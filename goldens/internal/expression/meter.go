package expression

import (
	"fmt"
	"math"
)

// meter counts down the work that an evaluation may still do.
type meter struct{ left int }

func tooMuch() error {
	return fmt.Errorf("the evaluation takes too much work or memory; an expression may take %d steps, make %d list items and strings of %d KiB", maxSteps, maxValues, maxText>>10)
}

// use takes n units of work.
func (m *meter) use(n int) error {
	if m.left -= n; m.left < 0 {
		m.left = 0
		return tooMuch()
	}
	return nil
}

// text takes the work of making a string of n bytes.
func (m *meter) text(n int) error {
	if n > maxText {
		return tooMuch()
	}
	return m.use(n/64 + 1)
}

// shallow takes the work of reading a value without what its items contain.
func (m *meter) shallow(v any) error { return m.use(length(v) + 1) }

// length returns the number of a value's items, or of 64 bytes of a string.
func length(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) / 64
	case map[string]any:
		return len(v)
	case map[any][]any:
		return len(v)
	case []any:
		return len(v)
	case []int:
		return len(v)
	case []float64:
		return len(v)
	case []string:
		return len(v)
	}
	return 0
}

// deep takes the work of reading a value with all it contains. A part that several share
// counts for each, since whoever reads the value reads it as often.
func (m *meter) deep(v any, level int) error {
	if err := m.shallow(v); err != nil {
		return err
	}
	if level > maxNested {
		return fmt.Errorf("the value is nested deeper than %d levels", maxNested)
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := m.deep(item, level+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := m.deep(item, level+1); err != nil {
				return err
			}
		}
	case map[any][]any:
		for _, item := range v {
			if err := m.deep(item, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// pairs takes the work of comparing all of a with each item of b.
func (m *meter) pairs(a, b any) error {
	before := m.left
	if err := m.deep(a, 0); err != nil {
		return err
	}
	each, items := before-m.left, length(b)
	if items > 0 && each > math.MaxInt/items {
		return tooMuch()
	}
	return m.use(each * items)
}

// items returns what a predicate goes through: a list, or an object's values in order of
// its keys. For each item it takes the work of a predicate with so many nodes.
func (m *meter) items(v any, nodes int) (any, error) {
	if n := length(v); n > maxValues {
		return nil, tooMuch()
	} else if err := m.use(n*nodes + 1); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case []any, []int, []float64, []string:
		return v, nil
	case map[string]any, map[any][]any:
		return entries(m, v, func(_ string, v any) any { return v })
	}
	return nil, fmt.Errorf("a list is needed, but the value is %s", Kind(v))
}

// asList returns a list as a list of any values.
func asList(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []int:
		return anys(v), true
	case []float64:
		return anys(v), true
	case []string:
		return anys(v), true
	}
	return nil, false
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// asText returns a value as a template shows it: a string as it is, anything else as JSON.
func (m *meter) asText(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, m.text(len(s))
	}
	out, err := JSON(v, maxText)
	if err != nil {
		return "", err
	}
	return string(out), m.text(len(out))
}
