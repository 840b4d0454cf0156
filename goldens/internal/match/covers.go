package match

import (
	"reflect"
	"slices"
)

// Covers reports whether p surely accepts every call that q does.
func (p Call) Covers(q Call) bool {
	return p.tool == q.tool && (p.args == nil || q.args != nil && covers(p.args, q.args))
}

// covers reports whether an expected value surely accepts every value that another
// does.
func covers(wide, narrow any) bool {
	if reflect.DeepEqual(wide, narrow) {
		return true
	}
	name, operand, matcher := Matcher(narrow)
	if !matcher && !HasMatcher(narrow) {
		accepts, err := Value(wide, "")
		return err == nil && accepts(narrow)
	}
	if name == "$in" {
		items, _ := operand.([]any)
		return !slices.ContainsFunc(items, func(item any) bool { return !covers(wide, item) })
	}
	if wider, _, _ := Matcher(wide); wider == "$any" {
		return name != "$optional" // which may be absent
	}
	if matcher {
		return false
	}
	switch narrow := narrow.(type) {
	case map[string]any:
		wide, ok := wide.(map[string]any)
		if !ok || len(wide) != len(narrow) {
			return false
		}
		for key, member := range narrow {
			if same, ok := wide[key]; !ok || !covers(same, member) {
				return false
			}
		}
		return true
	case []any:
		wide, ok := wide.([]any)
		return ok && slices.EqualFunc(wide, narrow, covers)
	}
	return false
}

// Matcher takes a matcher apart.
func Matcher(v any) (name string, operand any, ok bool) {
	m, _ := v.(map[string]any)
	if len(m) != 1 {
		return "", nil, false
	}
	for name, operand = range m {
	}
	return name, operand, len(name) > 0 && name[0] == '$'
}
