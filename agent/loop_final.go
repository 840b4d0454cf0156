package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
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
	switch e.Reason {
	case MaxSteps, MaxSeconds, MaxTokens, MaxCost:
		return true
	}
	return false
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
