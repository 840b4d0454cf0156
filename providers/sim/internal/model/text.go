package model

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// The text protocol says a call or an answer in lines:
//
//	Thought: …
//	Action: <tool>
//	Action Input: <JSON object>
//
// or "Final Answer: …" after the thought.
var (
	textFormat = lazyregexp.New(`(?m)^\s*Action Input: ?`)
	actionLine = lazyregexp.New(`(?m)^\s*Action:[ \t]*(\S+)[ \t]*$`)
	inputLine  = lazyregexp.New(`(?ms)^\s*Action Input:\s*(.*)$`)
)

// spokenCall is the call that a text of the protocol makes, nil if it makes none.
func spokenCall(text string) *Call {
	name := actionLine.FindStringSubmatch(text)
	if name == nil {
		return nil
	}
	c := &Call{Name: name[1]}
	if input := inputLine.FindStringSubmatch(text); input != nil {
		c.Args = strings.TrimSpace(input[1])
	}
	return c
}

// readText reads a conversation in the text protocol. The available tools are those that
// the system prompt lists.
func (t *turn) readText() (ok bool) {
	t.Tools, t.Schemas = nil, map[string]json.RawMessage{}
	for l := range strings.Lines(t.System) {
		if m := toolLine.FindStringSubmatch(l); m != nil {
			t.Tools = append(t.Tools, m[1])
		} else if schema, ok := strings.CutPrefix(l, "schema = "); ok && len(t.Tools) > 0 {
			t.Schemas[t.Tools[len(t.Tools)-1]] = json.RawMessage(schema)
		}
	}
	return t.readConversation()
}

func (t *turn) sayText(play *playbook.Play) Said {
	d := t.decide(play, true)
	text := t.render(d.acts).inText(d.acts[0])
	if slip, drawn := pick(t.draws.form, t.profile.text, formScale[textSlip](t)); drawn {
		text = misspeak(slip, text, d.acts[0], t.draws.formDetail)
	}
	return Said{Text: text}
}

// inText writes a call or an answer in the text protocol.
func (s Said) inText(a playbook.Action) string {
	thought := "Thought: I know what to do next."
	if a.Kind == playbook.Call {
		thought = "Thought: I need what " + a.Tool + " returns."
	}
	if len(s.Calls) == 0 {
		return thought + "\nFinal Answer: " + s.Text
	}
	return thought + "\nAction: " + s.Calls[0].Name + "\nAction Input: " + s.Calls[0].Args
}

// textSlip is a mistake in the text protocol.
type textSlip string

const (
	noInput textSlip = "no input" // an action without its input
	chatter textSlip = "chatter"  // words around the protocol
	noLines textSlip = "no lines" // what would be done or said, without the protocol
)

func misspeak(slip textSlip, text string, a playbook.Action, detail uint64) string {
	switch slip {
	case noInput:
		return inputLine.ReplaceAllString(text, "")
	case chatter:
		return preambles[detail%uint64(len(preambles))] + "\n" + text + "\nI hope this helps!"
	case noLines:
		if a.Kind == playbook.Call {
			return announcements[detail%uint64(len(announcements))]
		}
		return a.Text
	}
	return text
}
