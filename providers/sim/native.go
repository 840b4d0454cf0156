package sim

import (
	"encoding/json"
	"slices"
	"strings"
)

// useTools answers a conversation with native tool calls.
func (p profile) useTools(q modelRequest, d draws) (out spoken, ok bool) {
	at := q.requestAt()
	if at < 0 {
		return out, false
	}
	return p.perform(q, q.heard(at), d), true
}

// heard is the prompt that a conversation comes to, whose request is messages[at].
func (q modelRequest) heard(at int) prompt {
	pr := prompt{constraints: line(q.talk.system, "CONSTRAINTS:")}
	pr.request = pr.handOver(q.messages[at].text)
	q.history(at, &pr)
	q.offered(&pr)
	return pr
}

// offered notes the tools that may be called.
func (q modelRequest) offered(pr *prompt) {
	pr.tools = map[string]bool{}
	if q.choice == choiceNone {
		pr.entries = append(pr.entries, "budget: no tool may be called")
	}
	for _, name := range q.tools {
		pr.tools[name] = true
	}
	switch {
	case q.choice == choiceNamed && slices.Contains(agentTools, q.tool):
		pr.entries = append(pr.entries, "budget: only "+q.tool+" may be called")
	case !slices.ContainsFunc(q.tools, knownTool) && slices.ContainsFunc(pr.entries, func(e string) bool { return strings.HasPrefix(e, "tool result:") }):
		pr.entries = append(pr.entries, "budget: no tool is left")
	}
}

// perform decides and says so in native calls.
func (p profile) perform(q modelRequest, pr prompt, d draws) spoken {
	acts := p.decide(pr, d, q.serial)
	said := q.render(acts)
	if slip, drawn := pick(d.format, p.native, formScale[nativeSlip](p, pr)); drawn {
		said = q.fumble(slip, said, acts[0], d.formatDetail)
	}
	return said
}

// render says actions in calls of tools on offer, or in a text.
func (q modelRequest) render(acts []action) spoken {
	a := acts[0]
	may := func(tool string) bool {
		return q.choice != choiceNone && slices.Contains(q.tools, tool) && (q.choice != choiceNamed || q.tool == tool)
	}
	if a.kind == useTool && may(a.name) {
		var out spoken
		for _, a := range acts {
			out.calls = append(out.calls, invocation{name: a.name, args: string(encodeJSON(a.arguments()))})
		}
		return out
	}
	say := func(tool string, args any) spoken {
		return spoken{calls: []invocation{{name: tool, args: string(encodeJSON(args))}}}
	}
	switch {
	case a.kind == clarify && may(askUser):
		return say(askUser, obj{"question": a.message})
	case a.stuck && may(cannotProceed):
		return say(cannotProceed, obj{"reason": a.message})
	case may(finalAnswer):
		return say(finalAnswer, fill(q.schemas[finalAnswer], a))
	case may(finishStep):
		return say(finishStep, fill(q.schemas[finishStep], a))
	case q.choice == choiceAny || q.choice == choiceNamed:
		return say(q.tool, fill(q.schemas[q.tool], a))
	}
	return spoken{text: a.message}
}

// nativeSlip is a mistake in the form of native calls.
type nativeSlip string

const (
	cutArguments    nativeSlip = "cut arguments"    // arguments that are not JSON
	unknownTool     nativeSlip = "unknown tool"     // a name that is not on offer
	missingArgument nativeSlip = "missing argument" // one that is required is left out
	announce        nativeSlip = "announce"         // says that it will call, and does not
	emptyReply      nativeSlip = "empty reply"      // nothing at all
	finalAsText     nativeSlip = "final as text"    // the text of an answer instead of the tool for it
	wrongType       nativeSlip = "wrong type"       // a value of another type in an answer
)

// fumble puts a slip into what was said; one that does not fit does not happen. A
// tool that must be called leaves no room for a text instead.
func (q modelRequest) fumble(slip nativeSlip, said spoken, a action, detail uint64) spoken {
	forced := q.choice == choiceAny || q.choice == choiceNamed
	if slip == emptyReply && !forced {
		return spoken{}
	}
	if len(said.calls) == 0 {
		return said
	}
	c := &said.calls[detail%uint64(len(said.calls))]
	closing := c.name == finalAnswer || c.name == finishStep
	switch slip {
	case cutArguments:
		c.args = c.args[:(len(c.args)+1)/2]
	case unknownTool:
		if q.choice != choiceNamed {
			c.name = misspelt(c.name, detail)
		}
	case missingArgument:
		c.args = withoutOne(c.args, detail)
	case announce:
		if !forced && !closing {
			return spoken{text: announcements[detail%uint64(len(announcements))]}
		}
	case finalAsText:
		if !forced && closing {
			return spoken{text: a.message}
		}
	case wrongType:
		if closing {
			c.args = mistyped(c.args)
		}
	}
	return said
}

var announcements = []string{
	"Let me look that up for you.",
	"I will call the tool now and report back.",
	"First I need to check the data.",
}

// misspelt is a name with a slip in it.
func misspelt(name string, detail uint64) string {
	if detail&1 == 0 {
		return name + "s"
	}
	return strings.ReplaceAll(name, "_", "") + "_tool"
}

// withoutOne leaves out one member of an object.
func withoutOne(args string, detail uint64) string {
	names, members := memberNames(args)
	if len(names) == 0 {
		return args
	}
	delete(members, names[detail%uint64(len(names))])
	return string(encodeJSON(members))
}

// mistyped gives the first member of an object that is a number, or else the first
// of all, another type; within "result" if there is one.
func mistyped(args string) string {
	names, members := memberNames(args)
	if inner := members["result"]; len(names) == 1 && len(inner) > 0 && inner[0] == '{' {
		members["result"] = json.RawMessage(mistyped(string(inner)))
		return string(encodeJSON(members))
	}
	if len(names) == 0 {
		return args
	}
	at := max(0, slices.IndexFunc(names, func(n string) bool { return members[n][0] == '-' || members[n][0] >= '0' && members[n][0] <= '9' }))
	value := members[names[at]]
	if value[0] == '"' {
		members[names[at]] = json.RawMessage("[" + string(value) + "]")
	} else {
		members[names[at]] = encodeJSON("about " + string(value))
	}
	return string(encodeJSON(members))
}
