package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// view is what a prompt shows, regardless of the protocol.
type view struct {
	request     string // the user's, or the objective of the plan
	constraints string
	tools       []string // the available tools of the suite
	seen        playbook.Seen
	// steps and calls are what was used, the others what is allowed, 0 without a limit.
	steps, maxSteps, calls, maxCalls int
	reflect                          bool   // the last call was repeated too often
	gaveUp, silent                   bool   // the model has said so by the tool for it; the user does not answer
	cut                              bool   // arguments were cut
	violated                         bool   // an output was not of the form asked for
	noCalls                          string // why no tool may be called, empty if one may
	// known is the turn up to which seen.From holds all results, latest that of the newest.
	known, latest int
	memory        string // seen.From as the plan has it
}

// The tools by which a model says something to the agent rather than call something.
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
	codeIgnored     = "E_IGNORED"
	codeOneQuestion = "E_ONE_QUESTION"
	codeUnknownTool = "E_UNKNOWN_TOOL"
)

const (
	fenceOpen  = "<data>"
	fenceClose = "</data>"
)

var (
	// speaker begins a message where a conversation is one text.
	speaker = lazyregexp.New(`(?:^|\n\n)(System|User|Assistant): ?`)
	// handedIn matches the values that a message hands over.
	handedIn = lazyregexp.New(`(?s)(?:^|\n)(RESULT OF |INPUT |ITEM)([^:\n]*):\n(?:<data>)?(.*?)(?:</data>|\n\n|$)`)
	// below begins what agents write below a request.
	below = lazyregexp.New(`(?m)^(?:INPUT [^:\n]{1,80}:|ITEM:|EARLIER:|Do this for each item of INPUT )`)
)

// ask notes a request and the values below it.
func (v *view) ask(text string) {
	v.request = strings.TrimSpace(text)
	at := below.FindStringIndex(text)
	if at == nil {
		return
	}
	v.request = strings.TrimSpace(text[:at[0]])
	v.give(text[at[0]:])
}

// give stores the values in a text. The output of an earlier step is an object with names.
func (v *view) give(text string) {
	if v.seen.Given == nil {
		v.seen.Given = map[string]json.RawMessage{}
	}
	for _, m := range handedIn.FindAllStringSubmatch(text, 200) {
		name, value := strings.TrimSpace(m[2]), json.RawMessage(strings.TrimSpace(m[3]))
		if !json.Valid(value) {
			continue
		}
		var names map[string]json.RawMessage
		switch {
		case m[1] == "ITEM":
			name = "item"
		case m[1] == "RESULT OF " && json.Unmarshal(playbook.Collect(value), &names) == nil:
			maps.Copy(v.seen.Given, names)
		}
		v.seen.Given[name] = value
	}
}

// result notes the result of a call.
func (v *view) result(name, args, value, code, message string) {
	r := playbook.Result{Tool: name, Args: json.RawMessage(args)}
	if code == "" {
		r.Value = json.RawMessage(value)
	} else {
		r.Code, r.Message = code, message
	}
	v.seen.Results = append(v.seen.Results, r)
}

// lastResult is the newest result; nil if there is none.
func (v view) lastResult() *playbook.Result {
	if n := len(v.seen.Results); n > 0 {
		return &v.seen.Results[n-1]
	}
	return nil
}

// offered are the available tools of the suite.
func offered(tools []string) []string {
	return slices.DeleteFunc(slices.Clone(tools), func(name string) bool { return slices.Contains(agentTools, name) })
}

// compact is JSON in one line; other text becomes a JSON string.
func compact(text string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(text)) != nil {
		return string(JSON(text))
	}
	return out.String()
}

// JSON is v as services write it: on one line, without escapes for HTML. v is of plain values.
func JSON(v any) json.RawMessage { return json.RawMessage(plainjson.Text(v)) }

// oneLine is a text as one line that neither ends nor begins a fence.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "<", "(")
}

// inFence is text up to the end of its fence; a cut line has none.
func inFence(text string) string {
	inside, _, _ := strings.Cut(text, fenceClose)
	return inside
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
