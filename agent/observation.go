package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Bounds of what an observation shows, in characters.
const (
	maxArgs     = 300
	maxData     = 600
	maxProgress = 160 // of a folded observation
	maxName     = 64  // of a tool's name or error code, folded
)

// observation is one thing the model gets to see of what happened.
type observation struct {
	class obsClass
	// line shows it in full; folded, on the way out, in at most maxProgress
	// characters: few are ever folded.
	line   string
	folded func() string
}

// obsClass says how long an observation stays in full.
type obsClass int

const (
	obsResult  obsClass = iota // of a tool
	obsNote                    // a refusal or a violation
	obsReply                   // the user's answer: stays long
	obsSummary                 // of the compressor: stays until the next summary
)

// sawResult shows the result of a tool call. args is its canonical arguments.
func sawResult(turn int, name, args string, r tool.Result, deduped bool) observation {
	verdict, data := "ok", ""
	if r.Outcome == tool.OK {
		data = showJSON(canonical(r.Value), maxData)
	} else {
		verdict = string(r.Outcome)
		if r.Code != "" {
			verdict += " " + oneLine(r.Code, maxName)
		}
		data = oneLine(r.Message, maxData)
	}
	args = showJSON(args, maxArgs)
	again := ""
	if deduped {
		again = " (same as before, not run again)"
	}
	return observation{
		class:  obsResult,
		line:   "tool result: turn " + strconv.Itoa(turn) + " " + name + " " + args + " -> " + verdict + again + " " + dataOpen + data + dataClose,
		folded: func() string { return foldResult(turn, name, args, verdict, data) },
	}
}

// foldResult shortens a result: first its arguments give way, then its data.
func foldResult(turn int, name, args, verdict, data string) string {
	head := fmt.Sprintf("turn %d %s", turn, clip.Fit(name, maxName))
	verdict = " -> " + verdict + " "
	room := maxProgress - utf8.RuneCountInString(head+verdict) - len(dataOpen+dataClose)
	data = clip.Fit(data, room)
	if args = clip.Fit(args, room-utf8.RuneCountInString(data)-1); args != "" {
		head += " " + args
	}
	return head + verdict + dataOpen + data + dataClose
}

// sawReply shows the user's answer to a question.
func sawReply(turn int, question, answer string) observation {
	return observation{
		class: obsReply,
		line:  fmt.Sprintf("user reply: turn %d asked %s answered %s", turn, fenceLine(question, maxData), fenceLine(answer, maxData)),
		folded: func() string {
			return fmt.Sprintf("turn %d user reply -> %s", turn, fenceLine(answer, maxProgress/2))
		},
	}
}

// sawRejected shows the field errors of a call that was not run.
func sawRejected(turn int, name string, fields []string) observation {
	return note(fmt.Sprintf("tool rejected: turn %d %s %s", turn, name, oneLine(strings.Join(fields, ", "), maxData)))
}

// sawNoBudget states that a call was not run because the tool budget is used up.
func sawNoBudget() observation { return note("budget: no tool calls left, respond now") }

// sawViolation states what was wrong with the turn's output.
func sawViolation(turn int, codes []string) observation {
	return note(fmt.Sprintf("violation: turn %d %s; output exactly ONE JSON object", turn, oneLine(strings.Join(codes, ", "), maxData)))
}

func note(line string) observation {
	return observation{class: obsNote, line: line, folded: func() string { return clip.Fit(line, maxProgress) }}
}

// canonical is the canonical form of any JSON value, or the text itself where
// there is none.
func canonical(value []byte) string {
	const before, after = `{"v":`, `}`
	wrapped := make([]byte, 0, len(before)+len(value)+len(after))
	wrapped = append(append(append(wrapped, before...), value...), after...)
	out, err := tool.Canonical(wrapped)
	if err != nil {
		return string(value)
	}
	return string(out[len(before) : len(out)-len(after)])
}

// showJSON puts JSON text on one line without a "<", so that it can neither end
// nor begin a fence.
func showJSON(text string, limit int) string {
	return clip.Fit(strings.ReplaceAll(singleLine(text), "<", `\u003c`), limit)
}

// Bounds of the scratchpad.
const (
	maxGoal      = 300 // characters
	maxPlan      = 600 // characters
	maxPlanLines = 6
	maxRecent    = 3 // observations of one class shown in full
	maxFolded    = 8 // lines of PROGRESS
	maxReplies   = 8 // answers of the user shown in full
)

// scratchpad is what the contract strategy remembers between turns. The whole
// prompt is rendered from it again every turn; the ledger is never part of it.
type scratchpad struct {
	goal, constraints string
	plan              string   // as shown
	progress          []string // older observations, folded to a line each
	obs               []observation

	normalPlan string // the whole plan, white space normalised; empty before the first
	planRev    int
}

// observe adds an observation; the oldest of its class makes room for it.
func (p *scratchpad) observe(o observation) {
	p.obs = append(p.obs, o)
	most := maxRecent
	if o.class == obsReply {
		most = maxReplies
	}
	oldest, count := -1, 0
	for i, other := range p.obs {
		if other.class == o.class {
			if oldest < 0 {
				oldest = i
			}
			count++
		}
	}
	if count <= most {
		return
	}
	p.progress = append(p.progress, p.obs[oldest].folded())
	p.progress = p.progress[max(0, len(p.progress)-maxFolded):]
	p.obs = append(p.obs[:oldest], p.obs[oldest+1:]...)
}

// replan takes the plan of a turn. A blank one leaves the plan as it is; the
// first is revision 0, each different one after it the next.
func (p *scratchpad) replan(text string) {
	normal := strings.Join(strings.Fields(text), " ")
	if normal == "" || normal == p.normalPlan {
		return
	}
	if p.normalPlan != "" {
		p.planRev++
	}
	p.normalPlan = normal
	lines := strings.SplitN(clean(text), "\n", maxPlanLines+1)
	p.plan = oneLine(strings.Join(lines[:min(len(lines), maxPlanLines)], "\n"), maxPlan)
}

// evidence is what an episode has shown about its input. It distinguishes an answer
// from a complaint about the input, regardless of the answer.
type evidence struct {
	request string // as the user wrote it
	inputs  []strategy.Input
	tools   *tool.Set
	replies []string // what the user answered to questions

	succeeded bool // a tool call has succeeded
	refused   bool // arguments were rejected, or a call failed
}

func newEvidence(p Params) evidence {
	return evidence{request: p.Request, inputs: p.Inputs, tools: p.Tools}
}

// called takes the result of a tool call. A refusal for another reason than the
// arguments, such as a spent budget, says nothing about the input.
func (e *evidence) called(r tool.Result) {
	e.succeeded = e.succeeded || r.Outcome == tool.OK
	e.refused = e.refused || isFailure(r) || r.Outcome == tool.Rejected && r.Code == codeArgs
}

// replied takes what the user answered to a question.
func (e *evidence) replied(text string) { e.replies = append(e.replies, text) }

// status is that of an episode that ends with an answer. One that fits a schema which
// the task asks for is never a complaint.
func (e *evidence) status(fits bool) Status {
	switch {
	case !fits && !e.succeeded && (e.refused || e.badValue()):
		return respondError
	case len(e.replies) > 0:
		return answeredAfterClarify
	}
	return Answered
}

// badValue reports whether no tool takes a value that the user gave.
func (e *evidence) badValue() bool {
	if slices.ContainsFunc(append([]string{e.request}, e.replies...), e.tools.RefusesValueIn) {
		return true
	}
	for _, in := range e.inputs {
		value, _, ok := tool.ParseJSON(string(in.Value))
		if !ok || value.Kind == '{' || value.Kind == '[' {
			continue // of which a tool takes a part
		}
		if e.tools.RefusesArgument(in.Name, in.Value) || e.tools.RefusesValueIn(value.Text()) {
			return true
		}
	}
	return false
}
