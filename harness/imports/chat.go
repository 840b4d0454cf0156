package imports

import "strings"

// Roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Chat fills in the turns, the calls, the request and the answer of an episode that is a list of
// messages. Each message of the assistant is a turn, and its calls are answered by the tool messages
// after it, by their ids or else in their order. A call without an answer was asked for and not made.
// The times of turns and calls are unknown, which is 0.
func (e *Episode) Chat(list []Message) {
	var prompt []Message
	var system []string
	var open []Call // of the last turn, not answered yet
	for i := range list {
		switch m := &list[i]; m.Role {
		case RoleSystem:
			system = append(system, m.Text)
		case RoleAssistant:
			t := Turn{Said: Said{System: strings.Join(system, "\n\n"), Messages: prompt, More: len(e.Turns) > 0, Calls: m.Calls}}
			if m.Text != "" || len(m.Calls) == 0 {
				t.Said.Output = new(m.Text)
			}
			if t.Said.More {
				t.Said.System = ""
			}
			e.Turns = append(e.Turns, t)
			prompt, open = nil, nil
			for _, p := range m.Calls {
				open = append(open, Call{Turn: len(e.Turns), Proposed: true, Name: p.Name, ID: p.ID, Args: new(p.Args)})
			}
		case RoleTool:
			at := answered(open, m.CallID)
			if at < 0 {
				prompt = append(prompt, *m)
				continue
			}
			c := open[at]
			c.Result, c.Failed = new(m.Text), m.Failed
			e.Calls, open = append(e.Calls, c), append(open[:at:at], open[at+1:]...)
		default:
			if e.Request == nil {
				e.Request = new(m.Text)
			}
			if n := len(e.Turns); n > 0 && len(e.Turns[n-1].Said.Calls) == 0 && len(prompt) == 0 {
				e.Clarifies++
			}
			prompt = append(prompt, *m)
		}
	}
	if n := len(e.Turns); n > 0 && len(e.Turns[n-1].Said.Calls) == 0 {
		e.Answer = e.Turns[n-1].Said.Output
	}
}

// answered is the place of the call that a tool message answers: the first of its id, or the first
// without one; -1 if there is none.
func answered(open []Call, id string) int {
	for i, c := range open {
		if c.ID == id {
			return i
		}
	}
	if id == "" && len(open) > 0 {
		return 0
	}
	return -1
}
