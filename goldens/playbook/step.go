package playbook

import (
	"github.com/cupel-eval/cupel/goldens/internal/expression"
)

// step is one step of a solution: its kind says which fields it has.
type step struct {
	kind stepKind
	line int

	// A call of a tool: as is the name of its result, until what must hold of it. A call
	// that failed is repeated up to retry times, or if that is nil by its code; then
	// onError runs.
	tool    string
	args    []binding
	until   *expression.Program
	retry   *int
	onError *[]step

	// as is also the name of the user's reply, and of the item of an each.
	as string

	// list and block are an each, cond, block and other an if. listed is the name of the
	// input that the list is, empty if it is not one; item is what the block reads of each
	// item, inner what it reads of other values.
	list        *expression.Program
	listed      string
	item, inner expression.Need
	cond        *expression.Program
	block       []step
	other       []step

	lets []binding

	// text is a question, an answer or why the solution gives up, value the answer as JSON.
	text  *expression.Program
	value *expression.Program

	// reads is what its expressions read of the values of names, binds are the names it
	// leaves, each once; both with those of the steps in it.
	reads expression.Need
	binds []string
}

type stepKind int

const (
	aCall stepKind = iota
	anEach
	anIf
	aLet
	anAsk
	anAnswer
	aGiveUp
)

// binding is one name of a let, or one argument.
type binding struct {
	name  string
	value *expression.Program
}
