// Package playbook reads playbook.yaml, the reference solutions of a suite's tasks, and follows
// them: from the content of a prompt it computes the next actions of the solution. Simulated
// models follow playbooks, and `cupel suite prove` proves suites with them. A solution does not
// depend on the protocol, and has no access to expectations and worlds.
package playbook

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/expression"
)

// File is the name of the playbook in a suite folder.
const File = "playbook.yaml"

// Task has the properties of a task that a playbook depends on.
type Task struct {
	ID, Request string
	// Tools are the tools of the task, Writes the names of those that may change the world, so
	// that a plan keeps their order.
	Tools  *tool.Set
	Writes []string
	// Inputs are the names of the values that the request contains. Each, if not empty, is the
	// input whose items are processed one by one.
	Inputs []string
	Each   string
	// Schema means that the answer must match a JSON Schema, so that it needs a value.
	Schema bool
}

// Book has the reference solutions of one suite. It is immutable and safe for concurrent use. A
// nil *Book is empty.
type Book struct {
	plays   []*Play
	missing []string
	tools   []string
	excuses map[string][]Excuse // by task
	judges  []judge
}

// Play is the reference solution of one task, or one Stage of it. It is immutable and safe for
// concurrent use.
type Play struct {
	task    Task
	request string // normalised by plain
	steps   []step
	file    string
	// outputs are the names that a stage binds and later stages read. needs are the names that a
	// stage must receive; it is nil only if the play is not a stage.
	outputs expression.Need
	needs   []string
	// each is the step whose list a stage computes, which is then its only output. item is the
	// name of the item for a stage that is repeated per item. lists are the needs that such
	// stages output: without any item they are empty.
	each  *step
	item  string
	lists []string
	// title is that of the work of a sub-agent, and reads the parts of its needs that it reads;
	// both are empty if the play is not one.
	title string
	reads expression.Need
}

// Seen is the content of a prompt, independent of the protocol.
type Seen struct {
	// Results are the results of tool calls, Replies the replies of the user, both in order. They
	// do not include those of earlier tasks of a session.
	Results []Result
	Replies []string
	// Given are values by name: inputs of the request, "item" for the current item, and the
	// outputs of earlier stages.
	Given map[string]json.RawMessage
	// From is the state of the solution, as Save returned it; nil means the beginning. Results
	// are then only the later ones, but Replies are all.
	From json.RawMessage
	// Orchestrates means that the prompt is that of an agent that hands work to sub-agents. Settled
	// is what these returned, in order, Checkpoint the planned check that is to be done now, and
	// Ended how many plans have ended. Said are the further messages of the user; a sub-agent's
	// are corrections. Notice sets them.
	Orchestrates bool
	Settled      []Settled
	Checkpoint   string
	Ended        int
	Said         []string
}

// Result is the result of one tool call.
type Result struct {
	Tool string
	// Args is the arguments object in any spelling.
	Args json.RawMessage
	// Value is the JSON result. For a failed call it is nil and Code is not empty.
	Value         json.RawMessage
	Code, Message string
}

// Kind is the kind of an Action.
type Kind string

// The kinds. Output ends a Stage that is not the last, or the work of a sub-agent: its Value is an
// object with the names that it bound. Wait says something to the user without ending the solution.
const (
	Call   Kind = "call"
	Ask    Kind = "ask"
	Answer Kind = "answer"
	GiveUp Kind = "give_up"
	Output Kind = "output"
	Wait   Kind = "wait"
)

// Action is one action of a solution.
type Action struct {
	Kind Kind
	// Tool and Args are those of a Call. Args is canonical.
	Tool string
	Args json.RawMessage
	// Text is the question, the answer, or the reason for giving up.
	Text string
	// Value is the answer as JSON if the solution has one, or the output of a Stage, also if it
	// gives up; otherwise nil.
	Value json.RawMessage
	// Code is the error code of the call whose failure made the solution give up; empty if there
	// is another reason.
	Code string
	// Line is the step's line in the playbook.
	Line int
}

// Plays returns the solutions in the order of the file.
func (b *Book) Plays() []*Play {
	if b == nil {
		return nil
	}
	return b.plays
}

// Missing returns the ids of the tasks without a solution, in the order of the suite.
func (b *Book) Missing() []string {
	if b == nil {
		return nil
	}
	return b.missing
}

// Of returns the solution of a task by its id.
func (b *Book) Of(id string) (*Play, bool) {
	for _, p := range b.Plays() {
		if p.task.ID == id {
			return p, true
		}
	}
	return nil, false
}

// Find returns the solution of the task whose request a prompt contains, also with the items of a
// batch filled in. If there are several such tasks, it returns the one whose tools differ least
// from the available ones. It ignores white space, invisible characters and escaped fences in
// the request.
func (b *Book) Find(request string, tools []string) (*Play, bool) {
	request = plain(request)
	var best *Play
	least := 0
	for _, p := range b.Plays() {
		if !p.asks(request) {
			continue
		}
		if n := p.differs(tools); best == nil || n < least {
			best, least = p, n
		}
	}
	return best, best != nil
}

// Tools returns the names of the tools of all tasks, without duplicates. The caller must not modify
// the slice.
func (b *Book) Tools() []string {
	if b == nil {
		return nil
	}
	return b.tools
}

// ID returns the id of the task.
func (p *Play) ID() string { return p.task.ID }

// Writes returns the tools of the task that may change the world. The caller must not modify the
// slice.
func (p *Play) Writes() []string { return p.task.Writes }

// asks reports whether a request, normalised by plain, is that of the play's task.
func (p *Play) asks(request string) bool {
	return p.request == request || p.task.Each != "" && filledIn(p.request, request)
}

// differs counts the tools that are either only in the task or only in tools.
func (p *Play) differs(tools []string) int {
	n := 0
	for _, s := range p.task.Tools.Specs() {
		if !slices.Contains(tools, s.Name) {
			n++
		}
	}
	for _, name := range tools {
		if !p.task.Tools.Has(name) {
			n++
		}
	}
	return n
}

// plain normalises a request: it removes line breaks, invisible characters and the backslash that
// escapes a fence, because prompts change these.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case invisible.Rune(r):
			return -1
		}
		return r
	}, strings.ReplaceAll(text, `<\`, "<"))
	return strings.Join(strings.Fields(text), " ")
}

// filledIn reports whether text is the template of a batch with an item filled in.
func filledIn(template, text string) bool {
	for first := true; ; first = false {
		open := strings.IndexByte(template, '{')
		end := strings.IndexByte(template, '}')
		if open < 0 || end < open {
			return !first && strings.HasSuffix(text, template)
		}
		at := strings.Index(text, template[:open])
		if at < 0 || first && at > 0 {
			return false
		}
		text, template = text[at+open:], template[end+1:]
	}
}
