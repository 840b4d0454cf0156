// Package playbook reads playbook.yaml, the reference solutions of a suite's tasks, and
// follows them: from what a prompt shows, it says what the solution does next. Simulated
// models follow playbooks, and suites are proved with them. A solution is independent of the protocol,
// no expectation and no world.
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

// Task is what a playbook needs to know of a task.
type Task struct {
	ID, Request string
	// Tools are what the task offers, Writes the names of those that may change the
	// world: a plan keeps their order.
	Tools  *tool.Set
	Writes []string
	// Inputs are the names of the values that come with the request. Each, if not
	// empty, is the one whose items are worked on one by one.
	Inputs []string
	Each   string
	// Schema reports that the answer must fit a JSON Schema, so that it needs a value.
	Schema bool
}

// Book holds the reference solutions of one suite. It is immutable and safe for
// concurrent use. The nil Book has no task.
type Book struct {
	plays   []*Play
	missing []string
	excuses map[string][]Excuse // by task
}

// Play is the reference solution of one task, or one Stage of it. It is immutable and
// safe for concurrent use.
type Play struct {
	task    Task
	request string // made plain
	steps   []step
	file    string
	// handed is what a stage hands on: what the stages behind it read of the names it
	// binds. needs are the names that it must be given; not nil of a stage.
	handed expression.Need
	needs  []string
	// each is the each that a stage finds the list of, which is then all it hands on, item
	// the name of the item that a stage is done for, lists those of needs that such stages
	// hand on: without any item they are empty.
	each  *step
	item  string
	lists []string
}

// Seen is what a prompt shows, regardless of the protocol.
type Seen struct {
	// Results are those of tool calls, in the order in which they came, Replies what the
	// user said, in order. What is said and found in earlier tasks of a session is not
	// among them.
	Results []Result
	Replies []string
	// Given are values by name: inputs of the request, "item" where one item is worked
	// on, and the members of what earlier stages handed on.
	Given map[string]json.RawMessage
	// From is where the solution had come to, as Save returned it, nil for the
	// beginning. Results are then those that came since; Replies still are all.
	From json.RawMessage
}

// Result is the result of one tool call.
type Result struct {
	Tool string
	// Args is the arguments object in any spelling.
	Args json.RawMessage
	// Value is the JSON result; of a call that failed it is nil, and Code is not empty.
	Value         json.RawMessage
	Code, Message string
}

// Kind says what an Action does.
type Kind string

// The kinds. Hand ends a Stage that is not the last: its Value is an object with the
// names that the stage bound.
const (
	Call   Kind = "call"
	Ask    Kind = "ask"
	Answer Kind = "answer"
	GiveUp Kind = "give_up"
	Hand   Kind = "hand"
)

// Action is one thing that a solution does.
type Action struct {
	Kind Kind
	// Tool and Args are those of a Call. Args is canonical.
	Tool string
	Args json.RawMessage
	// Text is the question, the answer, or why the solution gives up.
	Text string
	// Value is the answer as JSON where the solution gives one, and what a Stage hands
	// on, also when it gives up; else nil.
	Value json.RawMessage
	// Code is the code of the call whose failure made the solution give up; empty if it
	// gives up for another reason.
	Code string
	// Line is the step's line in the playbook.
	Line int
}

// Plays are the solutions in the order of the file.
func (b *Book) Plays() []*Play {
	if b == nil {
		return nil
	}
	return b.plays
}

// Missing are the ids of the tasks that no solution is for, in the order of the suite.
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

// Find returns the solution of the task whose request a prompt shows, with the items of a
// batch filled in or not. Of several such tasks it is the one whose tools are most like
// those available. White space, characters that draw nothing and broken fences in the
// request do not matter.
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

// ID is the id of the task.
func (p *Play) ID() string { return p.task.ID }

// Writes are the tools of the task that may change the world. The slice must not be
// modified.
func (p *Play) Writes() []string { return p.task.Writes }

// asks reports whether a request, made plain, is that of the play's task.
func (p *Play) asks(request string) bool {
	return p.request == request || p.task.Each != "" && filledIn(p.request, request)
}

// differs counts the tools that only one of the task and the offer has.
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

// plain is a request without what prompts change in one: line breaks, characters that
// draw nothing, and the backslash that breaks a fence.
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

// filledIn reports whether text is the template of a batch with an item in it.
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
