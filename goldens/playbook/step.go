package playbook

import (
	"github.com/cupel-eval/cupel/goldens/internal/expression"
)

// step is one step of a solution. Its kind decides which fields it uses.
type step struct {
	kind stepKind
	line int

	// For a call, as is the name of its result and until the condition that its result must
	// meet. A failed call is repeated up to retry times, or depending on its code if retry is
	// nil; then onError runs.
	tool    string
	args    []binding
	until   *expression.Program
	retry   *int
	onError *[]step

	// as is also the name of the user's reply, and of the item of an each.
	as string

	// An each has list and block, an if has cond, block and other. listed is the name of the
	// input that is the list, empty if it is not an input. item are the reads of the block from
	// each item, inner its reads from other values.
	list        *expression.Program
	listed      string
	item, inner expression.Need
	cond        *expression.Program
	block       []step
	other       []step

	lets []binding

	// A plan, delegate or build has parts and handlers.
	parts    []part
	handlers [onMessage + 1][]step

	// text is a question, an answer or the reason for giving up, value the answer as JSON.
	text  *expression.Program
	value *expression.Program

	// reads are the parts of named values that its expressions read, binds the names that later
	// steps may use, without duplicates. Both include those of inner steps.
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
	aPlan
	aDelegate
	aBuild
	aReply
)

// binding is one name of a let, or one argument.
type binding struct {
	name  string
	value *expression.Program
}
