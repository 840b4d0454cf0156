package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// What a loop sends to the model besides results.
const (
	tellIgnored     = "ignored: the answer was given"
	tellOneQuestion = "one question at a time: ask again once the other is answered, if you still need to"
	tellTooMany     = "too many calls in one turn: it was not run"
	tellNoCalls     = "no tool calls left: it was not run. Do not call it again; answer with what you have"
	tellCircuitOpen = "the tool keeps failing and is not called for now"
	tellDenied      = "STOP this course of action: do not make this call again and do not work around the refusal. Go on without it, or tell the user what cannot be done."
	tellCut         = "the output was cut off; write less"
	tellEmpty       = "the output was empty"
	tellNoObject    = "the arguments must be a JSON object"
	tellTooLate     = "no tool is called any more; answer now"
	noOutput        = "(no output)" // in the place of an empty message, which wires refuse
	tellConclude    = "There is no room for more results. Call no more tools: answer now with what you have."
)

func tellUnknown(name, known string) string {
	return fmt.Sprintf("no tool is called %q; known: %s", name, known)
}

func tellRepeated(tools string) string {
	return "Nothing new came of that.\n" + reflectHeading + "you repeated " + tools + " with identical arguments; choose a different action."
}

func tellWrongText(faults []fault, finish string) string {
	return "The answer was not accepted:\n" + list(faults) + "\nCall " + finish + " with an answer that fits."
}

func tellUnusable(f fault, react bool) string {
	how := "Call a tool, or answer."
	if react {
		how = "Write exactly one of these forms:\n" + reactForms
	}
	return "That could not be used:\n" + list([]fault{f}) + "\n" + how
}

// list shows faults, one a line.
func list(faults []fault) string {
	var w strings.Builder
	for i, f := range faults {
		if i > 0 {
			w.WriteByte('\n')
		}
		w.WriteString("- " + f.String())
	}
	return w.String()
}

// shownResult is what the model sees of a result: the JSON value, or what went wrong.
// It is never empty.
func shownResult(r tool.Result) (text string, bad bool) {
	if r.Outcome == tool.OK {
		return cmp.Or(bounded(strings.TrimSpace(strings.ToValidUTF8(string(r.Value), "\uFFFD"))), "null"), false
	}
	message := cmp.Or(strings.TrimSpace(clean(r.Message)), "the tool failed and did not say why")
	if r.Code == codeDenied {
		message = "The user rejected this call (" + message + "). " + tellDenied
	}
	return failure(cmp.Or(r.Code, "E_"+strings.ToUpper(string(r.Outcome))), message), true
}

// failure is an error as the model sees it.
func failure(code, message string) string {
	type detail struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	text, _ := json.Marshal(struct { // strings always encode
		Error detail `json:"error"`
	}{detail{oneLine(code, maxName), bounded(message)}})
	return string(text)
}

// maxShown bounds what a conversation shows of one result, in characters.
const maxShown = 20_000

// bounded cuts text to maxShown characters.
func bounded(text string) string {
	if cut := clip.FirstRunes(text, maxShown); len(cut) < len(text) {
		return cut + "... [truncated]"
	}
	return text
}

// loopSample shows everything a loop can say to the model once.
func loopSample(t conversationSpec) string {
	var w strings.Builder
	for _, o := range t.offer() {
		w.WriteString(o.Name + o.Description + string(o.Schema))
	}
	faults := []fault{{"c", "d"}}
	finish := ""
	if t.final != nil {
		finish = t.final.tool.Name
	}
	for _, text := range []string{
		tellIgnored, tellOneQuestion, tellTooMany, tellNoCalls, tellCircuitOpen, tellCut, tellEmpty, tellNoObject, tellTooLate, tellConclude,
		tellRepeated("t"), tellWrongText(faults, finish), tellUnusable(faults[0], t.react), tellUnknown("t", "k"), noOutput,
	} {
		w.WriteString(text + "\n")
	}
	for _, r := range []tool.Result{{Outcome: tool.OK}, {Outcome: tool.Error}, {Outcome: tool.Rejected, Code: codeDenied}} {
		text, _ := shownResult(r)
		w.WriteString(text + "\n")
	}
	return w.String()
}
