package interp

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// simpleEval evaluates the expressions that random graphs have. It reads the text while it
// computes, and knows nothing of package formula: operators have parentheses around them.
type simpleEval struct {
	text string
	item *simpleItem
	// first, now and node are what $input.first(), $now and $('node') read.
	first Item
	now   string
	node  func(name string, first bool) (Item, error)
	// off says that what is read counts for nothing: the branch that is not taken.
	off int
}

// simpleText fills a text; one that is a single expression keeps the type of its value.
func simpleText(s string, e simpleEval) (any, error) {
	if strings.HasPrefix(s, "{{") && strings.Count(s, "{{") == 1 && strings.HasSuffix(s, "}}") {
		e.text = s[2 : len(s)-2]
		return e.expr()
	}
	out := ""
	for {
		before, rest, found := strings.Cut(s, "{{")
		out += before
		if !found {
			return out, nil
		}
		e.text, s, _ = strings.Cut(rest, "}}")
		v, err := e.expr()
		if err != nil {
			return nil, err
		}
		out += simpleString(v)
	}
}

func simpleString(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v+0, 'f', -1, 64)
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func simpleName(v any) string {
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

func simpleTruth(v any) bool { return v != nil && v != false && v != 0.0 && v != "" }

func (e *simpleEval) eat(s string) bool {
	e.text = strings.TrimLeft(e.text, " ")
	rest, ok := strings.CutPrefix(e.text, s)
	if ok {
		e.text = rest
	}
	return ok
}

func (e *simpleEval) until(end string) string {
	before, rest, _ := strings.Cut(e.text, end)
	e.text = rest
	return before
}

func (e *simpleEval) expr() (any, error) {
	v, err := e.atom()
	for err == nil && e.eat(".") {
		i := strings.IndexFunc(e.text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
		if i < 0 {
			i = len(e.text)
		}
		name := e.text[:i]
		if e.text = e.text[i:]; !e.eat("(") {
			v = simpleMember(v, name)
			continue
		}
		var arg any
		if !e.eat(")") {
			if arg, err = e.expr(); err != nil {
				return nil, err
			}
			e.eat(")")
		}
		if v != nil && e.off == 0 {
			v, err = simpleCall(name, v, arg)
		}
	}
	return v, err
}

func simpleMember(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[name]
	case string:
		if name == "length" {
			return float64(len([]rune(v)))
		}
	case []any:
		if name == "length" {
			return float64(len(v))
		}
	}
	return nil
}

func simpleCall(name string, v, arg any) (any, error) {
	text, isText := v.(string)
	list, isList := v.([]any)
	switch name {
	case "toUpperCase":
		if isText {
			return strings.ToUpper(text), nil
		}
		return nil, fmt.Errorf("toUpperCase() needs a text, not %s", simpleName(v))
	case "includes":
		if isText {
			return strings.Contains(text, simpleString(arg)), nil
		}
		if isList {
			for _, x := range list {
				if reflect.DeepEqual(x, arg) {
					return true, nil
				}
			}
			return false, nil
		}
		return nil, fmt.Errorf("includes() needs a text or a list, not %s", simpleName(v))
	case "split":
		if isText {
			out := []any{}
			for _, s := range strings.Split(text, arg.(string)) {
				out = append(out, s)
			}
			return out, nil
		}
		return nil, fmt.Errorf("split() needs two texts, not %s and a text", simpleName(v))
	case "join":
		if isList {
			var out []string
			for _, x := range list {
				out = append(out, simpleString(x))
			}
			return strings.Join(out, arg.(string)), nil
		}
		return nil, errors.New("join() needs a list and a text")
	}
	if n, ok := v.(float64); ok && name == "round" {
		return math.Floor(n+0.5) + 0, nil
	}
	return nil, errors.New("round() needs a number, and at most ten digits")
}

func (e *simpleEval) atom() (any, error) {
	switch {
	case e.eat("("):
		return e.operation()
	case e.eat("!"):
		v, err := e.expr()
		return !simpleTruth(v), err
	case e.eat("-"):
		v, err := e.expr()
		if n, ok := v.(float64); ok {
			return 0 - n, err
		}
		if err == nil && v != nil && e.off == 0 {
			err = fmt.Errorf("- needs a number, not %s", simpleName(v))
		}
		return nil, err
	case e.eat("$json"):
		return any(e.item.json), nil
	case e.eat("$now"):
		return e.now, nil
	case e.eat("$input.first().json"):
		return any(e.first), nil
	case e.eat("$('"):
		name := e.until("').")
		first := e.eat("first().json")
		if !first {
			e.eat("item.json")
		}
		if e.off > 0 {
			return nil, nil
		}
		v, err := e.node(name, first)
		return any(v), err
	case e.eat("'"):
		return e.until("'"), nil
	case e.eat("["):
		list := []any{}
		for !e.eat("]") {
			v, err := e.expr()
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			e.eat(",")
		}
		return list, nil
	}
	for _, word := range []string{"true", "false", "null"} {
		if e.eat(word) {
			return map[string]any{"true": true, "false": false}[word], nil
		}
	}
	i := strings.IndexFunc(e.text, func(r rune) bool { return r < '0' || r > '9' })
	if i < 0 {
		i = len(e.text)
	}
	n, err := strconv.ParseFloat(e.text[:i], 64)
	e.text = e.text[i:]
	return n, err
}

// operation reads `a op b)` or `a ? b : c)`.
func (e *simpleEval) operation() (any, error) {
	a, err := e.expr()
	if err != nil {
		return nil, err
	}
	if e.eat("?") {
		return e.branches(simpleTruth(a))
	}
	e.text = strings.TrimLeft(e.text, " ")
	op, rest, _ := strings.Cut(e.text, " ")
	e.text = rest
	skip := op == "&&" && !simpleTruth(a) || op == "||" && simpleTruth(a)
	if skip {
		e.off++
	}
	b, err := e.expr()
	if skip {
		e.off--
	}
	e.eat(")")
	if err != nil || skip || e.off > 0 {
		return a, err
	}
	return simpleCompute(op, a, b)
}

func (e *simpleEval) branches(yes bool) (any, error) {
	var out any
	for _, taken := range []bool{yes, !yes} {
		if !taken {
			e.off++
		}
		v, err := e.expr()
		if !taken {
			e.off--
		} else {
			out = v
		}
		if err != nil {
			return nil, err
		}
		e.eat(":")
	}
	e.eat(")")
	return out, nil
}

func simpleCompute(op string, a, b any) (any, error) {
	x, isX := a.(float64)
	y, isY := b.(float64)
	s, isS := a.(string)
	u, isU := b.(string)
	switch op {
	case "&&", "||":
		return b, nil
	case "==":
		return reflect.DeepEqual(a, b), nil
	case "!=":
		return !reflect.DeepEqual(a, b), nil
	case "<", ">=":
		if a == nil || b == nil {
			return false, nil
		}
		if isX && isY {
			return (x < y) == (op == "<"), nil
		}
		if isS && isU {
			return (s < u) == (op == "<"), nil
		}
		return nil, fmt.Errorf("%s cannot compare %s with %s", op, simpleName(a), simpleName(b))
	}
	if op == "+" && (isS || isU) {
		return simpleString(a) + simpleString(b), nil
	}
	if a != nil && !isX || b != nil && !isY {
		return nil, fmt.Errorf("%s cannot take %s and %s", op, simpleName(a), simpleName(b))
	}
	if a == nil || b == nil {
		return nil, nil
	}
	if y == 0 && (op == "/" || op == "%") {
		return nil, errors.New("division by zero")
	}
	return map[string]float64{"+": x + y, "-": x - y, "*": x * y, "/": x / y, "%": math.Mod(x, y)}[op] + 0, nil
}
