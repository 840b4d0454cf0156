package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

// finisher describes how a loop ends with a value: a special tool has it in its arguments.
type finisher struct {
	// tool is available besides the others.
	tool providers.Tool
	// check reads the arguments of its call, or with called false the text of a reply
	// that calls nothing. Faults say what does not fit; then there is no value.
	check func(text string, called bool) (json.RawMessage, []fault)
	// tries is how many values that do not fit are sent back.
	tries int
	// stop is the reason to stop at one more.
	stop StopReason
	// action is what the Judgement calls it.
	action string
}

// finalTool takes the final answer where it has a schema.
const finalTool = "format_final_json_response"

// outputMember may hold the answer, alone in an object.
const outputMember = "output"

// newFinalAnswer makes the finisher of an answer that is to fit a schema. Only an
// object can be the arguments of a call; any other answer is its member "output".
func newFinalAnswer(schema json.RawMessage, tries int) (*finisher, error) {
	wrapped := false
	root, _, ok := tool.ParseJSON(string(schema))
	if !ok || root.Kind != '{' {
		return nil, errors.New("answer schema: must be a JSON object that is a JSON Schema")
	}
	if kind, ok := root.Get("type"); ok && kind.Text() != "object" {
		wrapped = true
		defs := ""
		if d, ok := root.Get("$defs"); ok { // references begin at the root
			defs = `,"$defs":` + d.Raw
		}
		schema = json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:%s},"required":[%q],"additionalProperties":false%s}`, outputMember, schema, outputMember, defs))
	}
	set, err := tool.NewSet([]tool.Spec{{Name: finalTool, Schema: schema}})
	if err != nil {
		return nil, fmt.Errorf("answer schema: %w", err)
	}
	a := answerSchema{set, wrapped}
	return &finisher{
		tool: providers.Tool{
			Name:        finalTool,
			Description: "Gives the final answer to the user. Call it once, when you know the answer.",
			Schema:      schema,
		},
		check: a.check, tries: tries, stop: stoppedFinalSchema, action: typeFinish,
	}, nil
}

// answerSchema judges final answers.
type answerSchema struct {
	set     *tool.Set
	wrapped bool // the schema is of an object with the answer as "output"
}

// check implements finisher.check. The text of a reply may have a code fence and the
// like around it, and the answer an object with nothing but "output".
func (a answerSchema) check(text string, called bool) (json.RawMessage, []fault) {
	value, _, ok := tool.ParseJSON(strings.Trim(text, " \n\t\r"))
	if !ok && !called {
		if object, found := contract.Object(text); found {
			value, _, ok = tool.ParseJSON(object)
		}
	}
	if !ok {
		return nil, []fault{{violationNotFinal, "the answer must be JSON"}}
	}
	answers := []string{value.Raw}
	if inner, ok := value.Get(outputMember); ok && len(value.Members) == 1 {
		answers = append(answers, inner.Raw)
		if a.wrapped {
			answers[0], answers[1] = answers[1], answers[0]
		}
	}
	faults := a.faults(answers[0])
	switch {
	case len(faults) == 0:
		return json.RawMessage(answers[0]), nil
	case len(answers) > 1 && len(a.faults(answers[1])) == 0:
		return json.RawMessage(answers[1]), nil
	}
	return nil, []fault{{violationFinal, strings.Join(faults, ", ")}}
}

// faults is how an answer breaks the schema.
func (a answerSchema) faults(answer string) []string {
	if a.wrapped {
		answer = fmt.Sprintf(`{%q:%s}`, outputMember, answer)
	}
	faults := a.set.Validate(tool.Call{Name: finalTool, Args: json.RawMessage(answer)})
	for i, f := range faults {
		faults[i] = "answer" + strings.TrimPrefix(f, "args")
	}
	return faults
}

// ending is how a loop ended.
type ending struct {
	// Status is Answered, Clarify, CannotProceed, Stopped or Failed.
	Status Status
	// Reason is why it was Stopped.
	Reason StopReason
	// Text is the answer, the open question or the reason; when Stopped, the last text.
	Text string
	// Value is the answer that the finisher accepted; nil otherwise.
	Value json.RawMessage
	// Err is the failure behind Failed. Unanswered says that a replay would not meet it,
	// so that nothing may be made of it.
	Err        error
	Unanswered bool
}

// ofEpisode reports that the loop was stopped by a budget that all loops share.
func (e ending) ofEpisode() bool {
	return slices.Contains([]StopReason{MaxSteps, MaxSeconds, MaxTokens, MaxCost}, e.Reason)
}

// problem says what went wrong, for the user. It is never empty.
func (e ending) problem() string {
	switch {
	case e.Status == CannotProceed:
		return "cannot proceed: " + oneLine(e.Text, maxData)
	case e.Status == Clarify:
		return "nobody answered the question: " + oneLine(e.Text, maxData)
	case e.Reason == stoppedFinalSchema:
		return "the model's output does not fit the required format"
	case e.Reason == stoppedIterations:
		return "the iterations were used up before there was an answer"
	case e.Status == Stopped:
		return fmt.Sprintf("stopped: %s", e.Reason)
	}
	text := ""
	if e.Err != nil {
		text = oneLine(e.Err.Error(), maxData)
	}
	switch strings.ToLower(strings.TrimRight(text, ".: ")) {
	case "", "error":
		return "the model call failed and did not say why"
	}
	return text
}

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
