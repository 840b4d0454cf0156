package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

// Violations of native tool calling; truncated is one, too.
const (
	violationUnknownTool = "call.unknown_tool"
	violationNotJSON     = "call.not_json"
	violationArgs        = "call.args"
	violationEmpty       = "empty"
	violationNotFinal    = "final.not_json"
	violationFinal       = "final.schema"
	violationReact       = "react.format"
	violationConclude    = "conclude.call" // a tool call where only an answer was left
)

// fault is what is wrong with a reply or a call: a violation, and for the model what
// is to be repaired.
type fault struct{ Code, Detail string }

func (f fault) String() string {
	if f.Detail == "" {
		return f.Code
	}
	return f.Code + ": " + f.Detail
}

// slotKind is what a call is for.
type slotKind int

const (
	slotTool slotKind = iota
	slotFinal
	slotAsk
	slotGiveUp
)

// slot is one call of a turn and what is shown for it.
type slot struct {
	kind   slotKind
	call   providers.ToolCall // its ID is unique in the loop
	faults []fault
	value  json.RawMessage // of slotFinal
	// question is what slotAsk asks, and why slotGiveUp gives up.
	question string

	spec     tool.Spec
	run      CallTool
	deferred bool // until another of the same key has returned

	ran    bool // it was executed
	failed bool // it ran and failed

	text string // the observation
	bad  bool   // it reports a failure
}

// answer fills in the observation.
func (s *slot) answer(text string, bad bool) { s.text, s.bad = text, bad }

// parsedReply is a reply as the loop reads it.
type parsedReply struct {
	parsedReply string // what of it is kept; of ReAct only
	text        string // the answer where nothing is called
	calls       []providers.ToolCall
	fault       *fault // why it cannot be read at all
}

// read takes a reply apart.
func (l *loop) read(text string, calls []providers.ToolCall) parsedReply {
	if l.react {
		return readReact(text)
	}
	return parsedReply{text: text, calls: calls}
}

// withoutThoughts is a text without the thoughts that some models write into it, which are
// no part of any answer.
func withoutThoughts(text string) string {
	if !strings.Contains(text, "<think") {
		return text
	}
	return strings.TrimSpace(plan.WithoutThinking(text))
}

// notJSON reports that a violation leaves no readable output.
func notJSON(code string) bool {
	return strings.HasSuffix(code, "not_json") || code == truncated || code == violationEmpty || code == violationReact
}

// sort classifies the calls of a turn and finds what is wrong with each. A cut
// reply's arguments that are not JSON are attributed to the cut.
func (l *loop) sort(calls []providers.ToolCall, cut bool) []slot {
	slots := make([]slot, len(calls))
	turn := fmt.Sprintf("call_t%d", l.turns)
	for i, c := range calls {
		if strings.TrimSpace(c.Args) == "" {
			c.Args = "{}"
		}
		s := slot{call: c}
		s.call.ID = l.ids.unique(c.ID, turn, i)
		switch {
		case l.final != nil && c.Name == l.final.tool.Name:
			s.kind = slotFinal
			s.value, s.faults = l.final.check(c.Args, true)
		case l.asks && c.Name == askUserTool.Name:
			s.kind = slotAsk
			s.question, s.faults = textArg(c.Args, "question")
		case (l.asks || l.givesUp) && c.Name == cannotProceedTool.Name:
			s.kind = slotGiveUp
			s.question, s.faults = textArg(c.Args, "reason")
		default:
			var known bool
			if s.spec, known = l.tools.Spec(c.Name); !known {
				s.call.Name = l.unknownName(c.Name)
			}
			s.faults = l.callFaults(c)
		}
		if cut && len(s.faults) > 0 && notJSON(s.faults[0].Code) {
			s.faults = []fault{{truncated, tellCut}}
		}
		slots[i] = s
	}
	return slots
}

// callIDs are the ids of a conversation's calls.
type callIDs map[string]bool

// unique returns an id that no other call has, call i of a turn's own if it is one:
// providers may send one twice, and wires make up new ones for every reply.
func (ids callIDs) unique(id, turn string, i int) string {
	for n := i + 1; id == "" || ids[id]; n++ {
		id = fmt.Sprintf("%s_%d", turn, n)
	}
	ids[id] = true
	return id
}

// textArg is the one argument of a special tool.
func textArg(args, name string) (string, []fault) {
	object, _, ok := tool.ParseJSON(args)
	if !ok || object.Kind != '{' {
		return "", []fault{{violationNotJSON, tellNoObject}}
	}
	value, _ := object.Get(name)
	if text := strings.TrimSpace(clean(value.Text())); text != "" {
		return text, nil
	}
	return "", []fault{{violationArgs, "args." + name + " must be a text"}}
}

// callFaults is what is wrong with a call of an ordinary tool.
func (l *loop) callFaults(c providers.ToolCall) []fault {
	if l.concluding {
		return []fault{{violationConclude, tellTooLate}}
	}
	if l.host.forbids(l, c.Name) {
		return []fault{{violationRole, tellRole}}
	}
	if !l.tools.Has(c.Name) {
		return []fault{{violationUnknownTool, tellUnknown(tool.Label(c.Name), l.known())}}
	}
	fields := l.tools.Validate(tool.Call{Name: c.Name, Args: json.RawMessage(c.Args)})
	switch {
	case len(fields) == 0:
		return nil
	case fields[0] == "args:not_json" || fields[0] == "args:not_object":
		return []fault{{violationNotJSON, tellNoObject}}
	}
	return []fault{{violationArgs, strings.Join(fields, ", ")}}
}

// known lists what may be called.
func (l *loop) known() string {
	var names []string
	for _, t := range l.offer() {
		names = append(names, t.Name)
	}
	return clip.Fit(strings.Join(names, ", "), maxData)
}

// unknownName is the name of a call that no tool answers to, as wires take it; it is
// not that of a tool, which was not called.
func (l *loop) unknownName(name string) string {
	said := wireName(name)
	if l.tools.Has(said) {
		said = said[:min(len(said), maxName-1)] + "_"
	}
	return said
}

// wireName makes a name that no tool has one that wires take.
func wireName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(name[:min(len(name), maxName)], "_")
}
