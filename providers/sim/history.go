package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The tools by which a model says something to the agent rather than look something
// up.
const (
	askUser       = "ask_user"
	cannotProceed = "cannot_proceed"
	finalAnswer   = "format_final_json_response"
	finishStep    = "finish_step"
	createTask    = "create_task"
)

var agentTools = []string{askUser, cannotProceed, finalAnswer, finishStep, createTask}

// Errors of tools that say more than that the tool failed.
const (
	codeArgs        = "E_ARGS"
	codeBudget      = "E_BUDGET"
	codeDenied      = "E_DENIED"
	codeUnknownTool = "E_UNKNOWN_TOOL"
)

// comment matches what the agent itself says to the model in a user's place: it is
// no request.
var comment = regexp.MustCompile(`^(?:Observation:|Nothing new came of that\.|That could not be used:|The answer was not accepted:|` + noRoom + `)`)

// noRoom begins what the agent says where only an answer is left.
const noRoom = "There is no room for more"

// history reads the messages into a prompt: what was called and what came of it
// become the lines that a scratchpad has of them. The request is what the user said
// in messages[at]; what comes before is from earlier in the session.
func (q modelRequest) history(at int, p *prompt) {
	for i := 1; i < at; i++ {
		if said, heard := q.messages[i-1], q.messages[i]; !said.own && heard.own && len(heard.calls) == 0 && said.text != "" {
			p.earlier = append(p.earlier, exchange{said.text, heard.text})
		}
	}
	var open []invocation   // calls without a result
	var pending *invocation // of the text protocol
	turn := 0
	for _, m := range q.messages[at+1:] {
		if m.own {
			turn++
			p.reflect = false
			open = slices.Clone(m.calls)
			pending = spokenCall(m.text)
			continue
		}
		for _, r := range m.results {
			at := slices.IndexFunc(open, func(c invocation) bool { return c.id == r.id && (r.id != "" || c.name == r.name) })
			if at < 0 {
				continue // it answers nothing
			}
			p.entries = append(p.entries, q.entry(turn, open[at], r))
			open = slices.Delete(open, at, at+1)
		}
		if m.text == "" {
			continue
		}
		p.reflect = strings.Contains(m.text, "\nREFLECT:")
		observed, isObserved := strings.CutPrefix(m.text, "Observation:")
		switch {
		case isObserved && pending != nil:
			observed, _, _ = strings.Cut(observed, "\n\n")
			p.entries = append(p.entries, q.entry(turn, *pending, result{text: strings.TrimSpace(observed)}))
		case strings.HasPrefix(m.text, noRoom):
			p.entries = append(p.entries, "budget: "+oneLine(m.text))
		case !p.reflect:
			p.entries = append(p.entries, fmt.Sprintf("violation: turn %d %s", turn, oneLine(m.text)))
		}
	}
}

// requestAt finds the message with the user's latest request; -1 if there is none.
func (q modelRequest) requestAt() int {
	for i := len(q.messages) - 1; i >= 0; i-- {
		if m := q.messages[i]; !m.own && m.text != "" && len(m.results) == 0 && !comment.MatchString(m.text) {
			return i
		}
	}
	return -1
}

// entry is the line of one call and its result.
func (q modelRequest) entry(turn int, c invocation, r result) string {
	args := compact(c.args)
	code, message, failed := r.failure()
	switch {
	case c.name == askUser && !failed:
		return fmt.Sprintf("user reply: turn %d asked %s answered %s", turn, inData(oneLine(askedIn(c.args))), inData(oneLine(textOf(r.text))))
	case slices.Contains(agentTools, c.name), failed && (code == codeUnknownTool || !q.fits(c)):
		return fmt.Sprintf("violation: turn %d %s %s", turn, c.name, oneLine(message))
	case !failed:
		return fmt.Sprintf("tool result: turn %d %s %s -> ok %s", turn, c.name, args, inData(compact(r.text)))
	case code == codeArgs:
		return fmt.Sprintf("tool rejected: turn %d %s %s", turn, c.name, oneLine(message))
	case code == codeBudget:
		return "budget: " + oneLine(message)
	case code == codeDenied:
		return fmt.Sprintf("denied: turn %d %s %s", turn, c.name, args)
	}
	return fmt.Sprintf("tool result: turn %d %s %s -> error %s %s", turn, c.name, args, code, inData(oneLine(message)))
}

// failure is the error a result tells.
func (r result) failure() (code, message string, failed bool) {
	text := strings.TrimPrefix(r.text, "error: ") // as wires put it that know no failed result
	var told struct {
		Error *struct{ Code, Message string }
	}
	if json.Unmarshal([]byte(text), &told) == nil && told.Error != nil {
		return told.Error.Code, told.Error.Message, true
	}
	return "", text, r.failed
}

// fits reports whether a call was well formed: its arguments an object that has all
// that is required. If not, it is the model's own slip that the tool complains of.
func (q modelRequest) fits(c invocation) bool {
	var args map[string]json.RawMessage
	var schema struct{ Required []string }
	if json.Unmarshal([]byte(c.args), &args) != nil || args == nil {
		return false
	}
	_ = json.Unmarshal(q.schemas[c.name], &schema) // none requires nothing
	return !slices.ContainsFunc(schema.Required, func(name string) bool { return args[name] == nil })
}

// askedIn is the question of a call of ask_user.
func askedIn(args string) string {
	var a struct{ Question string }
	_ = json.Unmarshal([]byte(args), &a) // an unreadable one is empty
	return a.Question
}

// compact is JSON in one line and without anything that looks like a fence; other
// text becomes one line.
func compact(text string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(text)) != nil {
		return oneLine(text)
	}
	return strings.ReplaceAll(out.String(), "<", `\u003c`)
}

// oneLine is a text as one line that neither ends nor begins a fence.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "<", "(")
}

// inData fences one line.
func inData(line string) string { return fenceOpen + line + fenceClose }
