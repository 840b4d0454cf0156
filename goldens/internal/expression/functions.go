package expression

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// The functions of the library that expressions may use. Those of shallow take work in
// proportion to the length of their arguments, those of deep to all that these contain.
var (
	predicates = []string{"all", "any", "count", "filter", "find", "findIndex", "findLast", "findLastIndex", "groupBy", "map", "none", "one", "reduce", "sortBy", "sum"}
	shallow    = []string{"abs", "ceil", "concat", "first", "float", "floor", "get", "hasPrefix", "hasSuffix", "indexOf", "int", "last", "lastIndexOf", "len", "lower", "reverse", "round", "sort", "split", "take", "trim", "trimPrefix", "trimSuffix", "type", "upper"}
	deep       = []string{"flatten", "max", "mean", "median", "min", "uniq"}
)

// function is one of ours, with the number of its arguments.
type function struct {
	args int
	call func(m *meter, args []any) (any, error)
}

// functions are those that replace the library's, whose order or size is not fixed, and
// those that worlds and playbooks need besides.
var functions = map[string]function{
	"string":      {1, func(m *meter, a []any) (any, error) { return m.asText(a[0]) }},
	"join":        {2, join},
	"replace":     {3, replace},
	"keys":        {1, func(m *meter, a []any) (any, error) { return entries(m, a[0], func(k string, _ any) any { return k }) }},
	"values":      {1, func(m *meter, a []any) (any, error) { return entries(m, a[0], func(_ string, v any) any { return v }) }},
	"nextID":      {2, nextID},
	"addDays":     {2, func(_ *meter, a []any) (any, error) { return addDate(a[0], 0, a[1]) }},
	"addMonths":   {2, func(_ *meter, a []any) (any, error) { return addDate(a[0], a[1], 0) }},
	"daysBetween": {2, daysBetween},
	"weekday":     {1, weekday},
}

// internal are the functions that guard writes into programs; their names begin with $,
// which no name of a suite does.
var internal = map[string]function{
	"$list": {2, func(m *meter, a []any) (any, error) { return m.items(a[0], a[1].(int)) }},
	"$size": {1, func(m *meter, a []any) (any, error) { return a[0], m.shallow(a[0]) }},
	"$deep": {1, func(m *meter, a []any) (any, error) { return a[0], m.deep(a[0], 0) }},
	"$uniq": {1, func(m *meter, a []any) (any, error) { return a[0], m.pairs(a[0], a[0]) }},
	"$in": {2, func(m *meter, a []any) (any, error) {
		if err := m.pairs(a[0], a[1]); err != nil {
			return nil, err
		}
		return runtime.In(a[0], a[1]), nil
	}},
	"$equal": {2, func(m *meter, a []any) (any, error) {
		if err := m.deep(a[0], 0); err != nil {
			return nil, err
		}
		return runtime.Equal(a[0], a[1]), nil
	}},
	"$add": {2, add},
	"$sub": {2, func(_ *meter, a []any) (any, error) {
		return exact(a, runtime.Subtract, func(x, y int) (int, bool) { return x - y, (x-y < x) == (y > 0) })
	}},
	"$mul": {2, func(_ *meter, a []any) (any, error) {
		return exact(a, runtime.Multiply, func(x, y int) (int, bool) { return x * y, x == 0 || (x*y)/x == y && (x != -1 || y >= 0 || x*y >= 0) })
	}},
}

// functionTable is what the library calls them by. Each takes the meter first.
var functionTable = func() map[string]*builtin.Function {
	table := map[string]*builtin.Function{}
	for _, set := range []map[string]function{functions, internal} {
		for name, f := range set {
			table[name] = &builtin.Function{Name: name, Func: func(args ...any) (any, error) { return f.call(args[0].(*meter), args[1:]) }}
		}
	}
	return table
}()

// language is every function an expression may call, sorted.
var language = slices.Sorted(slices.Values(slices.Concat(predicates, shallow, deep, slices.Collect(maps.Keys(functions)))))

func add(m *meter, a []any) (any, error) {
	if x, ok := a[0].(string); ok {
		if y, ok := a[1].(string); ok {
			return x + y, m.text(len(x) + len(y))
		}
	}
	return exact(a, runtime.Add, func(x, y int) (int, bool) { return x + y, (x+y > x) == (y > 0) })
}

// exact computes with integers where both values are, and says when the result does not
// fit; anything else is the library's.
func exact(a []any, other func(a, b any) any, ints func(x, y int) (int, bool)) (any, error) {
	x, isInt := a[0].(int)
	y, both := a[1].(int)
	if !isInt || !both {
		return other(a[0], a[1]), nil
	}
	v, ok := ints(x, y)
	if !ok {
		return nil, fmt.Errorf("the integers %d and %d give a result beyond 64 bits", x, y)
	}
	return v, nil
}

func join(m *meter, a []any) (any, error) {
	if err := m.shallow(a[0]); err != nil {
		return nil, err
	}
	list, ok := asList(a[0])
	if !ok {
		return nil, wrongType("join", "a list", a[0])
	}
	glue, ok := a[1].(string)
	if !ok {
		return nil, wrongType("join", "a string to put between", a[1])
	}
	var parts []string
	size := 0
	for _, item := range list {
		s, err := m.asText(item)
		if err != nil {
			return nil, err
		}
		if size += len(s) + len(glue); size > maxText {
			return nil, tooMuch()
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, glue), m.text(size)
}

func replace(m *meter, a []any) (any, error) {
	var s [3]string
	for i, v := range a {
		text, ok := v.(string)
		if !ok {
			return nil, wrongType("replace", "strings", v)
		}
		s[i] = text
	}
	if err := m.text(len(s[0]) + strings.Count(s[0], s[1])*len(s[2])); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s[0], s[1], s[2]), nil
}

// entries returns part of every entry of an object, in order of its keys.
func entries(m *meter, v any, part func(key string, value any) any) (any, error) {
	if err := m.shallow(v); err != nil {
		return nil, err
	}
	object, err := asObject(v)
	if err != nil {
		return nil, err
	}
	out := make([]any, 0, len(object))
	var few [32]string
	names := slices.AppendSeq(few[:0], maps.Keys(object))
	slices.Sort(names)
	for _, key := range names {
		out = append(out, part(key, object[key]))
	}
	return out, nil
}

// nextID returns prefix and the number after the largest that follows it in a collection:
// an object's keys, or the id of each record of a list.
func nextID(m *meter, a []any) (any, error) {
	prefix, ok := a[1].(string)
	if !ok {
		return nil, wrongType("nextID", "a prefix, such as R", a[1])
	}
	if err := m.shallow(a[0]); err != nil {
		return nil, err
	}
	most := 0
	switch v := a[0].(type) {
	case map[string]any:
		for key := range v {
			most = max(most, numberAfter(prefix, key))
		}
	case []any:
		for _, item := range v {
			record, _ := item.(map[string]any)
			id, _ := record["id"].(string)
			most = max(most, numberAfter(prefix, id))
		}
	case nil:
	default:
		return nil, wrongType("nextID", "an object or a list of records with an id", v)
	}
	return prefix + strconv.Itoa(most+1), nil
}

// numberAfter returns the number of at most 31 bits that follows prefix in an id; 0 if none does.
func numberAfter(prefix, id string) (n int) {
	if !strings.HasPrefix(id, prefix) {
		return 0
	}
	for _, digit := range []byte(id[len(prefix):]) {
		if n = 10*n + int(digit-'0'); digit < '0' || digit > '9' || n > math.MaxInt32 {
			return 0
		}
	}
	return n
}

// asDate reads a date, or the date of a time, as text.
func asDate(v any) (time.Time, error) {
	text, _ := v.(string)
	if len(text) > len(time.DateOnly) && text[len(time.DateOnly)] == 'T' {
		text = text[:len(time.DateOnly)]
	}
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return d, fmt.Errorf("%s is not a date such as 2026-05-13", described(v))
	}
	return d, nil
}

func addDate(date, months, days any) (any, error) {
	d, err := asDate(date)
	if err != nil {
		return nil, err
	}
	m, okMonths := months.(int)
	n, okDays := days.(int)
	if !okMonths || !okDays || max(m, -m, n, -n) > 1_000_000 {
		return nil, fmt.Errorf("addDays and addMonths need a whole number of at most a million")
	}
	moved := d.AddDate(0, m, 0)
	if moved.Day() != d.Day() { // a shorter month: its last day
		moved = moved.AddDate(0, 0, -moved.Day())
	}
	moved = moved.AddDate(0, 0, n)
	if moved.Year() < 0 || moved.Year() > 9999 {
		return nil, fmt.Errorf("%s moved by %d months and %d days is not in the years 0 to 9999", described(date), m, n)
	}
	return moved.Format(time.DateOnly), nil
}

func daysBetween(_ *meter, a []any) (any, error) {
	from, err := asDate(a[0])
	if err != nil {
		return nil, err
	}
	to, err := asDate(a[1])
	if err != nil {
		return nil, err
	}
	return int((to.Unix() - from.Unix()) / (24 * 60 * 60)), nil
}

// weekday counts from 1, Monday, to 7, Sunday.
func weekday(_ *meter, a []any) (any, error) {
	d, err := asDate(a[0])
	if err != nil {
		return nil, err
	}
	return (int(d.Weekday())+6)%7 + 1, nil
}

func wrongType(name, wants string, v any) error {
	return fmt.Errorf("%s needs %s, but has %s", name, wants, Kind(v))
}
