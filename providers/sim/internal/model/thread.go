package model

import (
	"slices"

	"github.com/cupel-eval/cupel/goldens/playbook"
)

// opening is the first message that somebody else wrote; -1 if there is none.
func (c Conversation) opening() int {
	return slices.IndexFunc(c.Messages, func(m Message) bool { return !m.Own && m.Text != "" })
}

// readThread reads the conversation of an orchestrator; ok is false if it is not about a known request.
func (t *turn) readThread() (ok bool) {
	at := t.opening()
	if at < 0 {
		return false
	}
	t.view.constraints, t.view.tools = line(t.System, "CONSTRAINTS:"), offered(t.Tools)
	t.view.ask(t.Messages[at].Text)
	if _, known := t.find(t.view.request); !known && !t.within(t.Messages[at].Text) {
		return false
	}
	t.wrapped, t.view.seen.Orchestrates = false, true
	t.history(at)
	return true
}

// readHanded reads the conversation of a sub-agent, and finds its part of a solution.
func (t *turn) readHanded() (play *playbook.Play, ok bool) {
	at := t.opening()
	for _, b := range t.books {
		if at < 0 || ok {
			break
		}
		if play, t.view.seen.Given, ok = b.HandedTo(t.Messages[at].Text); ok {
			t.view.request, t.view.tools = t.Messages[at].Text, offered(t.Tools)
			t.history(at)
		}
	}
	return play, ok
}
