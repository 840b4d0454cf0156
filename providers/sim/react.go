package sim

import (
	"regexp"
	"strings"
)

// The text protocol says a call or an answer in lines:
//
//	Thought: …
//	Action: <tool>
//	Action Input: <JSON object>
//
// or "Final Answer: …" after the thought.

var (
	actionLine = regexp.MustCompile(`(?m)^\s*Action:[ \t]*(\S+)[ \t]*$`)
	inputLine  = regexp.MustCompile(`(?ms)^\s*Action Input:\s*(.*)$`)
)

// spokenCall is the call that a text of the protocol makes, nil if it makes none.
func spokenCall(text string) *invocation {
	name := actionLine.FindStringSubmatch(text)
	if name == nil {
		return nil
	}
	c := &invocation{name: name[1]}
	if input := inputLine.FindStringSubmatch(text); input != nil {
		c.args = strings.TrimSpace(input[1])
	}
	return c
}

// speakText answers a conversation in the text protocol. The tools on offer are those
// that the system prompt lists.
func (p profile) speakText(q modelRequest, d draws) (out spoken, ok bool) {
	q.tools, q.schemas = nil, nil
	for l := range strings.Lines(q.talk.system) {
		if m := toolLine.FindStringSubmatch(l); m != nil {
			q.offer(m[1], nil)
		} else if schema, ok := strings.CutPrefix(l, "schema = "); ok && len(q.tools) > 0 {
			q.schemas[q.tools[len(q.tools)-1]] = []byte(schema)
		}
	}
	at := q.requestAt()
	if at < 0 || !q.callsTools() {
		return out, false
	}
	pr := q.heard(at)
	a := p.decide(pr, d, true)[0]
	text := q.render([]action{a}).inText(a)
	if slip, drawn := pick(d.format, p.text, formScale[textSlip](p, pr)); drawn {
		text = misspeak(slip, text, a, d.formatDetail)
	}
	return spoken{text: text}, true
}

// inText writes a call or an answer in the text protocol.
func (s spoken) inText(a action) string {
	thought := a.plan
	if thought == "" {
		thought = "I know what to do next"
	}
	thought = "Thought: " + oneLine(thought) + "."
	if len(s.calls) == 0 {
		return thought + "\nFinal Answer: " + s.text
	}
	return thought + "\nAction: " + s.calls[0].name + "\nAction Input: " + s.calls[0].args
}

// textSlip is a mistake in the text protocol.
type textSlip string

const (
	noInput textSlip = "no input" // an action without its input
	chatter textSlip = "chatter"  // words around the protocol
	noLines textSlip = "no lines" // what would be done or said, without the protocol
)

// misspeak puts a slip into a text of the protocol.
func misspeak(slip textSlip, text string, a action, detail uint64) string {
	switch slip {
	case noInput:
		return inputLine.ReplaceAllString(text, "")
	case chatter:
		return preambles[detail%uint64(len(preambles))] + "\n" + text + "\nI hope this helps!"
	case noLines:
		if a.kind == useTool {
			return announcements[detail%uint64(len(announcements))]
		}
		return a.message
	}
	return text
}
