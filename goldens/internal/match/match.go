// Package match compares tool calls with expected ones: arguments with matchers such as
// {"$regex": …}, and a list of calls with another.
package match

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// Call accepts calls of one tool whose arguments match.
type Call struct {
	tool string
	// args are the expected arguments; nil accepts any.
	args    map[string]any
	accepts Pattern // nil: any arguments
}

// Pattern reports whether a JSON value, numbers as json.Number, is accepted.
type Pattern func(v any) bool

// Match reports whether a call is accepted. args are decoded by decodeArgs.
func (p Call) Match(tool string, args any) bool {
	return tool == p.tool && (p.accepts == nil || p.accepts(args))
}

// String names the tool and the arguments wanted.
func (p Call) String() string {
	text := p.tool
	if p.args != nil {
		args, _ := plainjson.Marshal(p.args) // compileCall has done so, or need not
		text += string(args)
	}
	return clip.Bytes(text, 120)
}

// NewCall compiles an expected call; nil args accept any arguments. The error
// names the argument.
func NewCall(tool string, want map[string]any) (Call, error) {
	p := Call{tool: tool, args: want}
	if tool == "" {
		return p, errors.New("tool: must not be empty")
	}
	if want == nil {
		return p, nil
	}
	var args any = want
	if !isDecoded(args, maxPlainDepth) {
		text, err := plainjson.Marshal(want)
		if err != nil {
			return p, fmt.Errorf("args: %w", err)
		}
		if args, err = DecodeArgs(text); err != nil {
			return p, fmt.Errorf("args: %w", err)
		}
	}
	var err error
	p.accepts, err = compileObject(args.(map[string]any), "args")
	return p, err
}

// maxPlainDepth bounds how deep isDecoded looks: a program may make cycles.
const maxPlainDepth = 64

// isDecoded reports whether v, written as JSON and read back, is v: what a suite
// was loaded with is, what a program made may not be.
func isDecoded(v any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case nil, bool:
		return true
	case string:
		return utf8.ValidString(v)
	case json.Number:
		digits := v.String()
		return digits != "" && strings.Trim(digits, "0123456789") == "" && (digits == "0" || digits[0] != '0')
	case []any:
		return v != nil && !slices.ContainsFunc(v, func(e any) bool { return !isDecoded(e, depth-1) })
	case map[string]any:
		for key, member := range v {
			if !utf8.ValidString(key) || !isDecoded(member, depth-1) {
				return false
			}
		}
		return v != nil
	}
	return false
}

// Value compiles an expected value; at is its path.
func Value(v any, at string) (Pattern, error) {
	switch v := v.(type) {
	case map[string]any:
		if slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(k string) bool { return strings.HasPrefix(k, "$") }) {
			return compileMatcher(v, at)
		}
		return compileObject(v, at)
	case []any:
		return compileList(v, at)
	case json.Number:
		want, err := toDecimal(v, at)
		return func(v any) bool { got, ok := AsDecimal(v); return ok && got == want }, err
	}
	return func(got any) bool { return got == v }, nil // string, bool or nil
}

// member is a compiled member of an expected object.
type member struct {
	key      string
	matches  Pattern
	optional bool
}

// compileObject demands exactly these keys; optional ones may be absent.
func compileObject(members map[string]any, at string) (Pattern, error) {
	keys := slices.AppendSeq(make([]string, 0, len(members)), maps.Keys(members))
	slices.Sort(keys)
	compiled := make([]member, len(keys))
	var errs []error
	for i, key := range keys {
		var err error
		if compiled[i], err = compileMember(key, members[key], at+"."+key); err != nil {
			errs = append(errs, err)
		}
	}
	return func(v any) bool {
		got, ok := v.(map[string]any)
		if !ok || len(got) > len(compiled) {
			return false
		}
		met := 0
		for _, m := range compiled {
			switch value, ok := got[m.key]; {
			case ok && m.matches(value):
				met++
			case ok || !m.optional:
				return false
			}
		}
		return met == len(got)
	}, errors.Join(errs...)
}

// compileMember compiles a member, which {"$optional": …} lets be absent: with true
// it may have any value, else one that matches.
func compileMember(key string, v any, at string) (member, error) {
	m, _ := v.(map[string]any)
	operand, optional := m["$optional"]
	if !optional || len(m) != 1 {
		p, err := Value(v, at)
		return member{key, p, false}, err
	}
	at += ".$optional"
	switch operand {
	case true:
		return member{key, func(any) bool { return true }, true}, nil
	case false:
		return member{}, fmt.Errorf("%s: must be true, a value or a matcher; write {$in: [false]} for the value false", at)
	}
	p, err := Value(operand, at)
	return member{key, p, true}, err
}

// compileList demands these items in this order.
func compileList(items []any, at string) (Pattern, error) {
	patterns, err := compileEach(items, at)
	return func(v any) bool {
		got, ok := v.([]any)
		if !ok || len(got) != len(patterns) {
			return false
		}
		for i, p := range patterns {
			if !p(got[i]) {
				return false
			}
		}
		return true
	}, err
}

func compileEach(items []any, at string) ([]Pattern, error) {
	patterns := make([]Pattern, len(items))
	errs := make([]error, len(items))
	for i, item := range items {
		patterns[i], errs[i] = Value(item, fmt.Sprintf("%s[%d]", at, i))
	}
	return patterns, errors.Join(errs...)
}

// compileMatcher compiles {"$regex": …} and its like.
func compileMatcher(m map[string]any, at string) (Pattern, error) {
	if len(m) != 1 {
		return nil, fmt.Errorf("%s: an object with a matcher has other keys; remove them", at)
	}
	for name, operand := range m {
		at += "." + name
		switch name {
		case "$regex":
			return compileRegex(operand, at)
		case "$in":
			return compileIn(operand, at)
		case "$any":
			if operand != true {
				return nil, fmt.Errorf("%s: must be true", at)
			}
			return func(any) bool { return true }, nil
		case "$optional":
			return nil, fmt.Errorf("%s: only an argument, or a member of an object, may be absent", at)
		case "$normalize":
			return compileNormalize(operand, at)
		case "$gte":
			return compileBound(operand, at, func(c int) bool { return c >= 0 })
		case "$lte":
			return compileBound(operand, at, func(c int) bool { return c <= 0 })
		}
	}
	return nil, fmt.Errorf("%s: unknown matcher; allowed: %s", at, strings.Join(Names, ", "))
}

// compileRegex accepts strings in which the expression (RE2) is found; ^ and $
// anchor it.
func compileRegex(operand any, at string) (Pattern, error) {
	text, ok := operand.(string)
	if !ok {
		return nil, fmt.Errorf("%s: must be a string", at)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return func(v any) bool { s, ok := v.(string); return ok && re.MatchString(s) }, nil
}

func compileIn(operand any, at string) (Pattern, error) {
	items, _ := operand.([]any)
	if len(items) == 0 {
		return nil, fmt.Errorf("%s: must be a list of at least one value", at)
	}
	patterns, err := compileEach(items, at)
	return func(v any) bool {
		return slices.ContainsFunc(patterns, func(p Pattern) bool { return p(v) })
	}, err
}

func compileBound(operand any, at string, holds func(int) bool) (Pattern, error) {
	n, ok := operand.(json.Number)
	if !ok {
		return nil, fmt.Errorf("%s: must be a number", at)
	}
	bound, err := toDecimal(n, at)
	return func(v any) bool { got, ok := AsDecimal(v); return ok && holds(got.Compare(bound)) }, err
}

func toDecimal(n json.Number, at string) (decimal.Decimal, error) {
	d, ok := decimal.Parse(n.String())
	if !ok {
		return d, fmt.Errorf("%s: %s is not a number in bounds", at, n)
	}
	return d, nil
}

// AsDecimal reads a number of JSON; false for any other value.
func AsDecimal(v any) (decimal.Decimal, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return decimal.Decimal{}, false
	}
	return decimal.Parse(n.String())
}

// DecodeArgs reads an arguments object; no text at all is an empty object.
func DecodeArgs(text []byte) (any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]any{}, nil
	}
	if v, shape, ok := tool.ParseJSON(string(text)); ok && v.Kind == '{' && !shape.TooLarge() && !shape.TooDeep() {
		return v.Decoded(), nil
	}
	return decodeAnyArgs(text)
}

// decodeAnyArgs reads what package tool does not, such as text that is not valid
// UTF-8.
func decodeAnyArgs(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var args map[string]any
	if err := dec.Decode(&args); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	if args == nil {
		return nil, errors.New("null is not an object")
	}
	return args, nil
}

// Names are the keys of a matcher.
var Names = []string{"$regex", "$in", "$any", "$gte", "$lte", "$normalize", "$optional"}

// HasMatcher reports whether an expected value leaves anything open.
func HasMatcher(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if strings.HasPrefix(key, "$") || HasMatcher(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, HasMatcher)
	}
	return false
}
