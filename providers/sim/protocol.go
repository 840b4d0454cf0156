package sim

import (
	"regexp"
	"slices"
	"strings"
)

// spoken is what a model puts out where it may do more than write one text.
type spoken struct {
	text  string
	calls []invocation
}

var (
	// stepOpening is how the system prompt of a step of a plan begins.
	stepOpening = regexp.MustCompile(`(?m)^You work on one step of a plan\.`)
	// condensing is how the system prompt begins that asks for a summary of a step.
	condensing = regexp.MustCompile(`(?m)^You condense the history of one step of a plan`)
	// textFormat is the format of the text protocol.
	textFormat = regexp.MustCompile(`(?m)^\s*Action Input: ?`)
)

// converse answers prompts of other protocols than the contract; ok is false if the
// modelRequest speaks none of them.
func (p profile) converse(q modelRequest, d draws) (out spoken, ok bool) {
	if _, compressing := q.talk.rawLog(); compressing {
		return out, false
	}
	if _, contract := q.talk.prompt(); contract {
		return out, false
	}
	q = q.unfolded()
	switch {
	case condensing.MatchString(q.talk.system):
		return q.condense()
	case slices.Contains(q.tools, createTask):
		return p.makePlan(q, d)
	case stepOpening.MatchString(q.talk.system):
		return p.workStep(q, d)
	case q.callsTools():
		return p.useTools(q, d)
	case textFormat.MatchString(q.talk.system):
		return p.speakText(q, d)
	}
	return out, false
}

// speaker begins a message where a conversation is one text.
var speaker = regexp.MustCompile(`(?:^|\n\n)(System|User|Assistant): ?`)

// unfolded takes a conversation apart that came as one text, as wires without
// messages have it.
func (q modelRequest) unfolded() modelRequest {
	if len(q.messages) != 1 || q.talk.system != "" || !strings.HasPrefix(q.messages[0].text, "System: ") {
		return q
	}
	text := q.messages[0].text
	q.messages = nil
	marks := speaker.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		said := strings.TrimSpace(text[m[1]:end])
		switch who := text[m[2]:m[3]]; {
		case who == "System" && i == 0:
			q.talk.system = said
		case said != "":
			q.messages = append(q.messages, utterance{at: i, own: who == "Assistant", text: said})
		}
	}
	return q
}

// callsTools reports whether a tool that some mind knows is on offer, or was called.
func (q modelRequest) callsTools() bool {
	if slices.ContainsFunc(q.tools, knownTool) {
		return true
	}
	return slices.ContainsFunc(q.messages, func(m utterance) bool {
		return slices.ContainsFunc(m.calls, func(c invocation) bool { return knownTool(c.name) })
	})
}

// decide decides what to do next, with the slips of decisions. One action alone is
// taken where only one may be or the model is used to no more.
func (p profile) decide(pr prompt, d draws, single bool) []action {
	pr.trusting = d.trust < p.trusting
	mind := think(p, pr)
	acts := mind.acts()
	if single || !p.parallel {
		acts = acts[:1]
	}
	slip, drawn := pick(d.decision, p.decision, pr.decisionScale(p))
	if !drawn || slip == needlessClarify && !pr.tools[askUser] {
		return acts
	}
	at := int(d.decisionDetail % uint64(len(acts)))
	wrong, fits := mind.misjudge(slip, acts[at], d.decisionDetail)
	switch {
	case !fits:
	case wrong.kind == useTool && slip != repeatCall:
		acts[at] = wrong
	default:
		acts = []action{wrong}
	}
	return acts
}

// line is what follows a heading in a text, on the same line.
func line(text, heading string) string {
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, heading); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// handedIn matches the values that a message hands over.
var handedIn = regexp.MustCompile(`(?s)(?:^|\n)(RESULT OF |INPUT |ITEM)([^:\n]*):\n<data>(.*?)</data>`)

// handOver takes the values out of a message, and returns what comes before them.
func (p *prompt) handOver(text string) (before string) {
	for _, m := range handedIn.FindAllStringSubmatch(text, -1) {
		name := m[2]
		if m[1] == theItem {
			name = theItem
		}
		p.given = append(p.given, handed{name, m[3]})
	}
	if at := handedIn.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	return strings.TrimSpace(text)
}
