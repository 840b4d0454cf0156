package bfcl

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// second is a second implementation of the rules of docs/functions.md. It shares no code with the first:
// it follows the numbered list, rule by rule, over plain values of JSON.
type second struct {
	category  string
	functions []any // declarations
	accepted  []secondCall
}

type secondCall struct {
	name string
	args any // argument → list of accepted values
}

// right is rules 1, 2 and 3. Calls are {name, text of the arguments}.
func (s second) right(calls [][2]string) bool {
	type read struct {
		name string
		args map[string]any
	}
	var answer []read
	readable := true
	for _, c := range calls {
		args, ok := secondJSON(c[1]).(map[string]any)
		if c[1] == "" {
			args, ok = map[string]any{}, true
		}
		readable = readable && ok
		answer = append(answer, read{c[0], args})
	}
	if s.category == "relevance" { // rule 1
		return len(calls) == 0 || !readable
	}
	if !readable || len(answer) != len(s.accepted) {
		return false
	}
	used := map[int]bool{}
	for _, want := range s.accepted { // rule 2: greedily, in order
		var declared map[string]any
		for _, f := range s.functions {
			f := f.(map[string]any)
			if declared == nil && (s.category == "simple" || strings.Contains(want.name, f["name"].(string))) {
				declared = f
			}
		}
		met := false
		for i, got := range answer {
			if met || used[i] || declared == nil {
				continue
			}
			// Rule 3: every interface of cupel forbids dots.
			name := strings.ReplaceAll(declared["name"].(string), ".", "_")
			if got.name == name && secondFits(declared["parameters"].(map[string]any), want.args, got.args) {
				met, used[i] = true, true
			}
		}
		if !met {
			return false
		}
	}
	return true
}

// secondFits is rules 4 and 5 over all arguments of a call.
func secondFits(declared map[string]any, accepted any, args map[string]any) bool {
	properties, _ := declared["properties"].(map[string]any)
	want, ok := accepted.(map[string]any)
	if !ok {
		return false
	}
	required, _ := declared["required"].([]any)
	for _, name := range required { // rule 4
		if _, ok := args[name.(string)]; !ok {
			return false
		}
	}
	for name, value := range args {
		property, ok1 := properties[name].(map[string]any)
		values, ok2 := want[name].([]any)
		if !ok1 || !ok2 {
			return false
		}
		var real []any
		for _, v := range values {
			if v != "" {
				real = append(real, v)
			}
		}
		if !secondValue(property, real, value) {
			return false
		}
	}
	for name, values := range want { // rule 5
		optional := false
		for _, v := range values.([]any) {
			optional = optional || v == ""
		}
		if _, ok := args[name]; !ok && !optional {
			return false
		}
	}
	return true
}

// secondType is the type of a value in the words of the declarations.
func secondType(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if regexp.MustCompile(`^-?[0-9]+$`).MatchString(string(v)) {
			return "integer"
		}
		return "float"
	}
	return "dict"
}

func secondDeclared(property map[string]any) string {
	name, _ := property["type"].(string)
	switch name {
	case "any":
		return "string"
	case "tuple":
		return "array"
	}
	return name
}

// secondValue is rules 6 and 7 for one argument.
func secondValue(property map[string]any, accepted []any, v any) bool {
	declared, got := secondDeclared(property), secondType(v)
	typed := got == declared || declared == "float" && got == "integer"
	if got == "array" && declared == "array" {
		items, _ := property["items"].(map[string]any)
		typed = false
		for _, a := range accepted {
			list, isList := a.([]any)
			all := isList
			for _, e := range v.([]any) {
				own := secondType(e) == secondDeclared(items)
				first := isList && len(list) > 0 && secondType(e) == secondType(list[0])
				all = all && (own || first)
			}
			typed = typed || all
		}
		if !typed {
			return false
		}
	}
	if !typed { // a variable or an expression
		if len(accepted) == 0 || got != secondType(accepted[0]) {
			return false
		}
		for _, a := range accepted {
			if secondSame(v, a) {
				return true
			}
		}
		return false
	}
	for _, a := range accepted {
		switch got {
		case "string":
			text, ok := a.(string)
			if ok && secondText(v.(string)) == secondText(text) {
				return true
			}
		case "dict":
			if dict, ok := a.(map[string]any); ok && secondDict(v.(map[string]any), dict) {
				return true
			}
		case "array":
			if list, ok := a.([]any); ok && secondList(v.([]any), list) {
				return true
			}
		default:
			if secondSame(v, a) {
				return true
			}
		}
	}
	return false
}

func secondText(s string) string {
	s = regexp.MustCompile(`[ ,./\-_*^]`).ReplaceAllString(s, "")
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.ReplaceAll(b.String(), "'", `"`)
}

func secondList(got, want []any) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		a, textual := got[i].(string)
		b, alsoText := want[i].(string)
		x, dict := got[i].(map[string]any)
		y, alsoDict := want[i].(map[string]any)
		switch {
		case textual && alsoText && secondText(a) == secondText(b):
		case dict && alsoDict && secondDict(x, y):
		case !alsoText && !alsoDict && secondSame(got[i], want[i]):
		default:
			return false
		}
	}
	return true
}

func secondDict(got, want map[string]any) bool {
	if len(got) != len(want) {
		return false
	}
	for key, v := range got {
		values, ok := want[key].([]any)
		if nested, direct := want[key].(map[string]any); direct {
			values, ok = []any{nested}, true
		}
		if !ok {
			return false
		}
		met := false
		for _, a := range values {
			text, isText := a.(string)
			mine, alsoText := v.(string)
			nested, isDict := a.(map[string]any)
			inner, alsoDict := v.(map[string]any)
			switch {
			case isText && alsoText:
				met = met || secondText(mine) == secondText(text)
			case isDict && alsoDict:
				met = met || secondDict(inner, nested)
			default:
				met = met || secondSame(v, a)
			}
		}
		if !met {
			return false
		}
	}
	return true
}

// secondSame compares unchanged values: 1 and 1.0 are equal.
func secondSame(a, b any) bool {
	x, isNumber := a.(json.Number)
	y, alsoNumber := b.(json.Number)
	if isNumber && alsoNumber {
		return secondNumber(string(x)).Cmp(secondNumber(string(y))) == 0
	}
	if isNumber || alsoNumber || secondType(a) != secondType(b) {
		return false
	}
	switch a := a.(type) {
	case []any:
		b := b.([]any)
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if !secondSame(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b := b.(map[string]any)
		for key := range a {
			if _, ok := b[key]; !ok || !secondSame(a[key], b[key]) {
				return false
			}
		}
		return len(a) == len(b)
	}
	return a == b
}

func secondNumber(text string) *big.Rat {
	if !strings.ContainsAny(text, ".eE") {
		n, _ := new(big.Rat).SetString(text)
		return n
	}
	f, _ := strconv.ParseFloat(text, 64)
	return new(big.Rat).SetFloat64(f)
}

// secondJSON reads a value; nil if it is not JSON.
func secondJSON(text string) any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return nil
	}
	return v
}

// secondCalls reads accepted calls in their order.
func secondCalls(text string) (out []secondCall) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	_, _ = dec.Token()
	for dec.More() {
		name, _ := dec.Token()
		var args any
		if dec.Decode(&args) != nil {
			return nil
		}
		out = append(out, secondCall{name.(string), args})
	}
	return out
}
