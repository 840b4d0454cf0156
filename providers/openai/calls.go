package openai

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// toolCall is a call, or a piece of one, as servers write it.
type toolCall struct {
	Index        place           `json:"index"`
	ID           word            `json:"id"`
	Type         word            `json:"type"`
	Function     calledFunction  `json:"function"`
	Custom       calledCustom    `json:"custom"`
	ExtraContent json.RawMessage `json:"extra_content"`

	custom bool
}

// calledCustom is a call of a tool that takes free text.
type calledCustom struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"input"`
}

// place is the index of a call, counted from 1; 0 means no index, as does what is not an index,
// such as -1.
type place int

// UnmarshalJSON never fails.
func (p *place) UnmarshalJSON(raw []byte) error {
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil && n >= 0 && n < wire.MaxCount && n == math.Trunc(n) {
		*p = place(n) + 1
	}
	return nil
}

type calledFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// word is a text that some servers write as a number; anything else is ignored.
type word string

// UnmarshalJSON never fails.
func (w *word) UnmarshalJSON(raw []byte) error {
	switch c := raw[0]; {
	case c == '"':
		s, _ := wire.Unquote(raw) // what is broken is replaced
		*w = word(s)
	case c == '-' || c >= '0' && c <= '9':
		*w = word(raw)
	}
	return nil
}

// text is the arguments: text, or, of servers that parse them, the JSON as it came.
func (f calledFunction) text() string {
	args := string(f.Arguments)
	if args == "null" {
		return ""
	}
	if strings.HasPrefix(args, `"`) {
		args, _ = wire.Unquote(f.Arguments) // it is a string: it has been parsed before
	}
	return args
}

// listed reads the calls of a message. A list of another form has no calls; one
// call may occur without a list.
func (m *answer) listed(b *wire.Builder) []toolCall {
	var calls []toolCall
	switch raw := m.ToolCalls; {
	case len(raw) > 0 && raw[0] == '{':
		var one toolCall
		if wire.Unmarshal(raw, &one) == nil && (one.ID != "" || one.Function.Name != "" || len(one.Function.Arguments) > 0) {
			calls = append(calls, one)
		}
	case len(raw) > 0 && wire.Unmarshal(raw, &calls) != nil:
		b.LeftOut("tool_calls of an unknown form")
		calls = nil
	}
	for i := range calls {
		calls[i].settle(b)
	}
	if len(calls) > 0 || !wire.Given(m.FunctionCall) {
		return calls
	}
	// The single call of before there were tools. Servers write an empty one for none.
	var f calledFunction
	if wire.Unmarshal(m.FunctionCall, &f) == nil && (f.Name != "" || f.text() != "") {
		calls = []toolCall{{Function: f}}
	}
	return calls
}

// settle makes one form of the calls of functions and of custom tools, and names a call
// of another type. Servers write the form that they do not use with nothing in it.
func (c *toolCall) settle(b *wire.Builder) {
	switch {
	case c.Function.Name != "" || c.Function.text() != "":
	case c.Custom.Name != "" || calledFunction(c.Custom).text() != "":
		c.Function, c.custom = calledFunction(c.Custom), true
	case c.Type != "" && c.Type != "function" && c.Type != "custom": // which may come before its name
		b.LeftOut(string(c.Type))
	}
}

// wholeCalls reads the calls of a whole message.
func (d *decoder) wholeCalls(b *wire.Builder, m *answer) {
	for _, c := range m.listed(b) {
		if c.ID == "" && c.Function.Name == "" && c.Function.text() == "" {
			continue // calls nothing
		}
		d.kept.call(d.dialect, b.Calls(), c.ExtraContent)
		call := b.Call("", string(c.ID), c.Function.Name)
		call.Custom = c.custom
		call.Args(c.Function.text())
	}
}

// openCall is a call of a stream.
type openCall struct {
	*wire.ToolCall
	at   int // as we count
	args strings.Builder
	json shape
}

// deltaCalls adds pieces of calls.
func (d *decoder) deltaCalls(b *wire.Builder, m *answer) {
	for _, c := range m.listed(b) {
		args := c.Function.text()
		open := d.find(c)
		switch {
		case open == nil && c.ID == "" && c.Function.Name == "" && args == "":
			continue // calls nothing
		case open == nil || open.isOver(c, args):
			open = &openCall{ToolCall: b.Call("", string(c.ID), c.Function.Name), at: b.Calls() - 1}
			d.calls.add(open, c.Index)
		case open.repeats(c, args):
			continue
		}
		open.Custom = open.Custom || c.custom
		open.ID = cmp.Or(open.ID, string(c.ID))
		open.Name = cmp.Or(open.Name, c.Function.Name)
		d.kept.call(d.dialect, open.at, c.ExtraContent)
		open.add(args)
	}
}

// find returns the latest call a piece may belong to: of its index; without one,
// of its id; without that, the latest of all.
func (d *decoder) find(c toolCall) *openCall {
	switch {
	case c.Index > 0:
		return d.calls.byIndex[c.Index]
	case c.ID != "":
		return d.calls.byID[string(c.ID)]
	}
	return d.calls.last
}

// openCalls are the calls of a stream, each found without a search: their number
// is the server's.
type openCalls struct {
	byIndex map[place]*openCall
	byID    map[string]*openCall
	last    *openCall
}

func (o *openCalls) add(c *openCall, index place) {
	if o.byIndex == nil {
		o.byIndex, o.byID = map[place]*openCall{}, map[string]*openCall{}
	}
	if index > 0 {
		o.byIndex[index] = c
	}
	if c.ID != "" {
		o.byID[c.ID] = c
	}
	o.last = c
}

// isOver reports whether a piece begins another call although its index is that of
// o: servers send parallel calls under one index, or under none.
func (o *openCall) isOver(c toolCall, args string) bool {
	name := c.Function.Name
	switch {
	case c.ID != "" && o.ID != "" && string(c.ID) != o.ID:
		return true
	case name == "":
		return false
	case o.Name != "" && name != o.Name:
		return true
	}
	another := c.ID == "" || args != o.args.String() && o.args.String() != "{}"
	return another && o.json.whole() && strings.HasPrefix(strings.TrimSpace(args), "{")
}

// repeats reports whether a piece repeats a call that is complete.
func (o *openCall) repeats(c toolCall, args string) bool {
	return c.ID != "" && string(c.ID) == o.ID && o.json.whole() && args == o.args.String()
}

func (o *openCall) add(args string) {
	if args == "" {
		return
	}
	if o.args.String() == "{}" { // stood for arguments to come
		o.args.Reset()
		o.json = shape{}
		o.SetArgs("")
	}
	o.args.WriteString(args)
	o.json.add(args)
	o.Args(args)
}

// shape follows the brackets of a JSON text.
type shape struct {
	depth                int
	begun, quoted, slash bool
}

func (s *shape) add(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case s.slash:
			s.slash = false
		case s.quoted:
			s.slash, s.quoted = c == '\\', c != '"'
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.begun = true
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
	}
}

// whole reports whether an object has come to its end.
func (s *shape) whole() bool { return s.begun && s.depth == 0 && !s.quoted }
