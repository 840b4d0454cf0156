// Package formula parses and evaluates the expressions of workflow nodes: texts with
// `{{ … }}`, each of which holds one expression over the items that a node gets.
//
// Values are those of encoding/json: nil, bool, float64, string, []any and
// map[string]any. A path that does not exist is null. The language has no loops, and an evaluation
// makes at most 10,000 operations, so each of them ends soon.
package formula

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	maxText       = 64 << 10 // bytes of a text with expressions
	maxOperations = 10_000   // of one evaluation; 16 bytes of text that is read or made are one
	maxDepth      = 100      // levels of an expression, and of a value that holds templates
)

// ErrLimit is what the error of an evaluation wraps that needs too many operations.
var ErrLimit = errors.New("more than 10000 operations in an expression")

// Error is a mistake in a template.
type Error struct {
	// Column is the place in the text in characters, from 1.
	Column int
	// Detail says what is wrong.
	Detail string
}

// Error prints the column and the detail.
func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Detail) }

// Env is what the expressions of a node read for one item. It counts the operations of an
// evaluation, so several evaluations must not share it at one time.
type Env struct {
	// JSON is $json, the current item.
	JSON map[string]any
	// First is $input.first().json, the first item that the node got.
	First map[string]any
	// Now is $now, such as 2026-03-02T09:00:00Z.
	Now string
	// Node returns $('name').item.json, the item of a node that the current one was made
	// of, or with first $('name').first().json, the first one that the node put out.
	Node func(name string, first bool) (map[string]any, error)

	spent int
}

func (e *Env) spend(n int) error {
	if e.spent += n; e.spent > maxOperations {
		return ErrLimit
	}
	return nil
}

// Template is a parsed text, or a JSON value whose texts are parsed. It does not change
// and is safe for concurrent use.
type Template struct {
	// constant is the value of a template without an expression.
	constant any
	// parts are the texts and expressions of a text in their order.
	parts []expression
	// whole says that parts is one expression, whose value keeps its type.
	whole bool
	// items are the parts of a list, or of an object with these keys.
	items []*Template
	keys  []string
	nodes []string
}

// Parse reads a text. A text that begins with `=` and has expressions may come from an
// editor that marks them so; the mark is dropped. The error is an *Error.
func Parse(text string) (*Template, error) {
	if !strings.Contains(text, "{{") {
		return &Template{constant: text}, nil
	}
	if len(text) > maxText {
		return nil, &Error{1, fmt.Sprintf("a text with expressions has at most %d bytes", maxText)}
	}
	p := parser{text: text}
	if text[0] == '=' {
		p.at = 1
	}
	t := &Template{}
	var plain strings.Builder // what is between the expressions, to tell whether they are alone
	for {
		begin := strings.Index(text[p.at:], "{{")
		if begin < 0 {
			break
		}
		t.addText(text[p.at : p.at+begin])
		plain.WriteString(text[p.at : p.at+begin])
		p.at += begin + 2
		e, err := p.template()
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, e)
	}
	t.addText(text[p.at:])
	plain.WriteString(text[p.at:])
	t.nodes = p.nodes
	if t.whole = p.expressions == 1 && strings.TrimSpace(plain.String()) == ""; t.whole {
		t.parts = slices.DeleteFunc(t.parts, func(e expression) bool { _, isText := e.(between); return isText })
	}
	return t, nil
}

func (t *Template) addText(text string) {
	if text != "" {
		t.parts = append(t.parts, between{text})
	}
}

// Compile parses all texts of a JSON value. It calls bad with the path of each that has a
// mistake, such as `fields[0].value`, and "" for the value itself.
func Compile(v any, bad func(path string, err error)) *Template {
	return compile(v, "", 0, bad)
}

func compile(v any, path string, level int, bad func(path string, err error)) *Template {
	if level > maxDepth {
		bad(path, &Error{1, fmt.Sprintf("it is nested more than %d levels deep", maxDepth)})
		return &Template{}
	}
	out := &Template{constant: v}
	switch v := v.(type) {
	case string:
		t, err := Parse(v)
		if err != nil {
			bad(path, err)
			return out
		}
		return t
	case []any:
		for i, item := range v {
			out.items = append(out.items, compile(item, path+"["+strconv.Itoa(i)+"]", level+1, bad))
		}
	case map[string]any:
		out.keys = slices.Sorted(maps.Keys(v))
		for _, key := range out.keys {
			out.items = append(out.items, compile(v[key], strings.TrimPrefix(path+"."+key, "."), level+1, bad))
		}
	}
	if !slices.ContainsFunc(out.items, func(t *Template) bool { return !t.isConstant() }) {
		return &Template{constant: v}
	}
	for _, item := range out.items {
		out.nodes = append(out.nodes, item.nodes...)
	}
	return out
}

func (t *Template) isConstant() bool { return t.parts == nil && t.items == nil }

// Nodes returns the names of the nodes that the expressions read, in their order, each as
// often as it is read.
func (t *Template) Nodes() []string { return t.nodes }

// Eval returns the value of the template for an item. The error says what could not be
// computed; it wraps ErrLimit where the operations did not suffice, and the error of
// env.Node. The value may share parts with the items and must not be changed.
func (t *Template) Eval(env *Env) (any, error) {
	env.spent = 0
	return t.eval(env)
}

// Spent returns how many operations the last evaluation or comparison made.
func (e *Env) Spent() int { return e.spent }

func (t *Template) eval(env *Env) (any, error) {
	switch {
	case t.whole:
		return t.parts[0].eval(env)
	case t.parts != nil:
		return t.text(env)
	case t.items == nil:
		return t.constant, nil
	}
	values := make([]any, len(t.items))
	for i, item := range t.items {
		v, err := item.eval(env)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	if t.keys == nil {
		return values, nil
	}
	object := make(map[string]any, len(values))
	for i, v := range values {
		object[t.keys[i]] = v
	}
	return object, nil
}

func (t *Template) text(env *Env) (any, error) {
	var room [128]byte
	out := room[:0]
	for _, part := range t.parts {
		v, err := part.eval(env)
		if err != nil {
			return nil, err
		}
		text, err := env.text(v)
		if err != nil {
			return nil, err
		}
		out = append(out, text...)
	}
	return string(out), nil
}
