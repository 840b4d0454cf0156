package formula

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// truth returns whether a value counts as true: null, false, 0 and "" do not.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	}
	return true
}

// Compare orders two numbers or two texts; ok is false for other values.
func Compare(a, b any) (c int, ok bool) {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return compareNumbers(a, b), ok
	case string:
		b, ok := b.(string)
		return strings.Compare(a, b), ok
	}
	return 0, false
}

func compareNumbers(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Equal returns whether two values are the same, without any conversion. The error is
// ErrLimit where they are too large to tell.
func Equal(a, b any) (bool, error) { return (&Env{}).equal(a, b) }

// Equal is the function Equal, whose operations are counted.
func (e *Env) Equal(a, b any) (bool, error) {
	e.spent = 0
	return e.equal(a, b)
}

// Includes returns whether a text has a part, or a list an item. Null has nothing; the error
// says that the value is neither, or is ErrLimit.
func (e *Env) Includes(of, part any) (bool, error) {
	e.spent = 0
	if of == nil {
		return false, nil
	}
	v, err := includes(e, of, []any{part})
	return v == true, err
}

func (e *Env) equal(a, b any) (bool, error) {
	if err := e.spend(1); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && a == b, e.spend(min(len(a), len(b)) / 16)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		for i := range a {
			if same, err := e.equal(a[i], b[i]); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		for _, key := range slices.Sorted(maps.Keys(a)) {
			other, ok := b[key]
			if same, err := e.equal(a[key], other); !ok || !same || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	switch b.(type) {
	case []any, map[string]any:
		return false, nil
	}
	return a == b, nil
}

// Text returns what a value is within a text: nothing for null, lists and objects as JSON.
// The error is ErrLimit where that is too long.
func Text(v any) (string, error) { return (&Env{}).text(v) }

func (e *Env) text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, e.spend(len(v) / 16)
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return number(v), nil
	}
	if err := e.spend(Size(v, maxOperations*16+16) / 16); err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// number prints integers without an exponent, as long as they are exact to a digit.
func number(v float64) string {
	if math.Abs(v) < 1e21 {
		return strconv.FormatFloat(v+0, 'f', -1, 64) // +0: no negative zero
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Size returns about how many bytes of JSON a value takes. It stops counting at most.
func Size(v any, most int) int {
	n := 8
	switch v := v.(type) {
	case string:
		n = len(v) + 2
	case []any:
		for i := 0; i < len(v) && n < most; i++ {
			n += Size(v[i], most-n) + 1
		}
	case map[string]any:
		for key, item := range v {
			if n += len(key) + 4; n >= most {
				break
			}
			n += Size(item, most-n)
		}
	}
	return min(n, most)
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	}
	return "an object"
}
