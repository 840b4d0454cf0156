// Package expression compiles and evaluates the expressions that suites hold: the rules
// of declared worlds and the steps of playbooks. The language is that of
// github.com/expr-lang/expr without its clock, its method calls and what reads a machine.
// Values are those of JSON: nil, bool, int, float64, string, []any and map[string]any; an
// integer beyond 64 bits is a json.Number, which expressions can only pass on.
//
// Every evaluation is bounded: at most maxSteps units of work, maxValues list items and
// strings of maxText bytes. Equal programs on equal environments give equal values.
package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/internal/clip"
)

// The bounds of one expression and of one evaluation.
const (
	maxSource = 8 << 10   // bytes of an expression
	maxNodes  = 1000      // values, operators and calls in it
	maxSteps  = 1_000_000 // units of work: iterations, items and bytes/64 that functions read
	maxValues = 1_000_000 // list items made
	maxText   = 1 << 20   // bytes of a string made
	maxNested = 200       // levels of a value compared or written
)

// Error is a mistake in an expression, found when it is compiled or evaluated.
type Error struct {
	// Text is the expression, or the string around it.
	Text string
	// Line and Column are the place in Text, from 1; Column counts characters.
	Line, Column int
	// Detail says what is wrong.
	Detail string
}

// Error prints the detail and the expression.
func (e *Error) Error() string {
	return fmt.Sprintf("%s (column %d of %q)", e.Detail, e.Column, clip.Runes(e.Text, 100))
}

// Program is a compiled expression, template or value. It is safe for concurrent use.
type Program struct {
	// scope are the names that it may use, names those that it uses.
	scope, names []string
	members      []Member
	// constant is the value of a program that has no eval.
	constant any
	eval     func(*Env) (any, error)
	// parts are those of an object or a list in a file that are computed, before the texts of
	// what precedes each as JSON, and after of what follows all. An object has the keys of its
	// parts, and all its members with the values of those that are not parts.
	parts  []*Program
	before []string
	after  string
	keys   []string
	object map[string]any
	needs  func(want Need) Need // nil if it reads nothing
}

// Names returns the names that the program uses, sorted, each once.
func (p *Program) Names() []string { return p.names }

// Member is a member of a name that a program reads, as `orders` is in state.orders.
type Member struct {
	Of, Name string
	// line and column are the place in the string at at.
	line, column int
	at           yamlfile.Place
}

// Failf records a problem where a program that was read from a file names the member.
func (m Member) Failf(format string, args ...any) { m.at.FailInside(m.line, m.column, format, args...) }

// Members returns the members of names that the program reads, in no order.
func (p *Program) Members() []Member { return p.members }

// Constant returns the value of a program that evaluates no expression; ok is false for
// any other program.
func (p *Program) Constant() (value any, ok bool) { return p.constant, p.eval == nil }

// Eval returns the program's value where names have these values; the others are null. It
// may share parts with them, and holds lists of Go types that only expressions make: Plain
// or JSON make it a value to keep. The error is an *Error.
func (p *Program) Eval(values map[string]any) (any, error) {
	var env Env
	env.Reset(p.scope)
	for _, name := range p.names {
		env.Set(slices.Index(p.scope, name), values[name])
	}
	return p.EvalIn(&env)
}

// EvalIn is Eval with the values of an environment.
func (p *Program) EvalIn(env *Env) (any, error) {
	if p.eval == nil {
		return p.constant, nil
	}
	return p.eval(env)
}

// Holds returns the value of a condition. Any value other than true or false is an error.
func (p *Program) Holds(values map[string]any) (bool, error) {
	v, err := p.Eval(values)
	if err != nil {
		return false, err
	}
	holds, ok := v.(bool)
	if !ok {
		return false, &Error{Line: 1, Column: 1, Detail: "a condition must be true or false, but is " + Kind(v)}
	}
	return holds, nil
}

// Compile compiles an expression that may use the names given, and the functions of the
// language. The error is an *Error.
func Compile(text string, names []string) (*Program, error) {
	if len(text) > maxSource {
		return nil, &Error{Text: text, Line: 1, Column: 1, Detail: fmt.Sprintf("an expression may have %d bytes, but has %d", maxSource, len(text))}
	}
	config := conf.CreateNew()
	config.Optimize, config.MaxNodes = false, maxNodes
	known := types.Map{meterName: types.Any}
	for _, name := range names {
		known[name] = types.Any
	}
	config.WithEnv(known)
	for name := range config.Builtins {
		if !slices.Contains(predicates, name) && !slices.Contains(shallow, name) && !slices.Contains(deep, name) {
			config.Disabled[name] = true
			delete(config.Builtins, name)
		}
	}
	config.Functions = functionTable
	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil, located(text, err, names)
	}
	if _, err := checker.Check(tree, config); err != nil {
		return nil, located(text, err, names)
	}
	short := scope(names).direct(tree.Node)
	guard := &guard{names: names}
	guard.rewrite(&tree.Node)
	if guard.err != nil {
		return nil, located(text, guard.err.Bind(tree.Source), names)
	}
	if _, err := checker.Check(tree, config); err != nil {
		return nil, located(text, err, names)
	}
	code, err := compiler.Compile(tree, config)
	if err != nil {
		return nil, located(text, err, names)
	}
	for i, m := range guard.members {
		at := located(text, (&file.Error{Location: file.Location{From: m.column}}).Bind(tree.Source), nil)
		guard.members[i].line, guard.members[i].column = at.Line, at.Column
	}
	slices.Sort(guard.used)
	needs := func(want Need) Need {
		d := demand{needs: Need{}}
		if tree, err := parser.ParseWithConfig(text, config); err == nil { // as above, without what guard adds
			d.read(tree.Node, want)
		}
		return d.needs
	}
	return &Program{scope: names, names: slices.Compact(guard.used), members: guard.members, eval: either(text, short, code), needs: needs}, nil
}

// either evaluates an expression directly, where that is possible, or by a machine.
func either(text string, short evaluator, code *vm.Program) func(*Env) (any, error) {
	return func(env *Env) (any, error) {
		env.left, env.item = maxSteps, nil
		if short != nil {
			if v, ok := short(env); ok {
				return v, nil
			}
		}
		return run(text, code, env)
	}
}

var machines = sync.Pool{New: func() any { return &vm.VM{MemoryBudget: maxValues} }}

// run evaluates an expression by a machine.
func run(text string, code *vm.Program, env *Env) (any, error) {
	env.left = maxSteps
	machine := machines.Get().(*vm.VM)
	defer machines.Put(machine)
	v, err := machine.Run(code, env.named())
	if err != nil {
		return nil, located(text, err, nil)
	}
	return v, nil
}

// located makes an *Error of what the library says.
func located(text string, err error, names []string) *Error {
	out := &Error{Text: text, Line: 1, Column: 1}
	var at *file.Error
	if !errors.As(err, &at) {
		out.Detail = firstLine(err.Error())
		return out
	}
	out.Line, out.Column = max(at.Line, 1), at.Column+1
	out.Detail = plainDetail(firstLine(at.Message))
	if name, ok := strings.CutPrefix(at.Message, "unknown name "); ok {
		out.Detail = unknown(name, names)
	}
	return out
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
