package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

// Violations of a step's end.
const (
	violationNoFinish = "step.no_finish" // a text that is not a result
	violationNoResult = "step.no_result" // finish_step without one
	violationStep     = "step.schema"    // a result that does not fit
)

// stepRun is a step in progress: one conversation or, of mode process, one for each
// item.
type stepRun struct {
	plan.Step
	tools   *tool.Set
	final   *finisher         // nil where a text ends it
	items   []json.RawMessage // of mode process
	texts   []string          // the instructions of each item
	begun   int
	active  int
	results []json.RawMessage // in item order
	failed  string            // why it fails once all that is active has ended
}

// newStepRun prepares a step. What it needs is there: the error is one of the plan
// or of what an earlier step found.
func (m *planMachine) newStepRun(s plan.Step) (*stepRun, error) {
	r := &stepRun{Step: s, tools: m.Tools, texts: []string{s.Instructions}}
	if s.Tools != nil { // no others are run
		r.tools = m.Tools.Only(s.Tools)
	}
	schema := s.OutputSchema
	if s.Mode == plan.Process {
		schema = s.PerItemSchema
		if err := r.readItems(m.results[s.List]); err != nil {
			return nil, err
		}
	}
	var err error
	if r.final, err = m.finisherOf(s, schema); err != nil {
		return nil, err
	}
	r.results = make([]json.RawMessage, len(r.texts))
	return r, nil
}

// readItems finds the items of a process step and writes the instructions of each.
func (r *stepRun) readItems(list json.RawMessage) error {
	items, ok := plan.Items(list)
	switch {
	case !ok:
		return fmt.Errorf("%s is not a list", r.List)
	case len(items) > maxItems:
		return fmt.Errorf("%s has %d items; at most %d", r.List, len(items), maxItems)
	}
	r.items, r.texts = items, nil
	for i, item := range items {
		text, err := plan.Fill(r.PerItem, item)
		if err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
		r.texts = append(r.texts, text)
	}
	return nil
}

// finisherOf is how a step ends with a value; nil if it ends with a text.
func (m *planMachine) finisherOf(s plan.Step, schema json.RawMessage) (*finisher, error) {
	if schema == nil {
		return nil, nil
	}
	result, err := plan.NewResult(schema)
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	tries := m.MaxIterations - 1
	if s.ID == m.last && m.answer != nil {
		tries = finalRetries(m.Params)
	}
	e := stepEnd{result, s.Mode == plan.Discover}
	spec := result.Spec
	return &finisher{
		tool:  providers.Tool{Name: spec.Name, Description: spec.Description, Schema: spec.Schema},
		check: e.check, tries: tries, stop: stoppedFinalSchema, action: typeFinish,
	}, nil
}

// stepEnd judges results of a step.
type stepEnd struct {
	result *plan.Result
	list   bool // nothing but a list will do
}

// check implements finisher.check: the arguments of finish_step, or a text that is
// the result, or {"status":"completed","result":…}, perhaps in a fence.
func (e stepEnd) check(text string, called bool) (json.RawMessage, []fault) {
	if !called {
		return e.checkText(text)
	}
	args, _, ok := tool.ParseJSON(strings.TrimSpace(text))
	if !ok || args.Kind != '{' {
		return nil, []fault{{violationNotJSON, tellNoObject}}
	}
	result, ok := args.Get("result")
	if !ok {
		return nil, []fault{{violationNoResult, "Missing result in " + plan.Finish + " call"}}
	}
	return e.checkValue(result)
}

func (e stepEnd) checkText(text string) (json.RawMessage, []fault) {
	text = strings.TrimSpace(plan.WithoutThinking(text))
	value, _, ok := tool.ParseJSON(text)
	if !ok || value.Kind != '{' && value.Kind != '[' {
		found, isObject := plan.FromText(text)
		if !isObject {
			return nil, []fault{{violationNoFinish, "the step is not finished by a text; its result must fit the schema " + e.schema()}}
		}
		value, _, _ = tool.ParseJSON(found)
	}
	bare, faults := e.checkValue(value)
	status, _ := value.Get("status")
	if len(faults) == 0 || status.Text() != "completed" {
		return bare, faults
	}
	result, ok := value.Get("result")
	if !ok {
		return nil, []fault{{violationNoResult, "Missing 'result' beside the status completed"}}
	}
	return e.checkValue(result)
}

// maxSubmitted bounds what is shown of a result that does not fit, and of the schema,
// in characters.
const maxSubmitted = 1000

func (e stepEnd) checkValue(v tool.JSON) (json.RawMessage, []fault) {
	wrong := e.result.Check(json.RawMessage(v.Raw))
	if len(wrong) == 0 {
		if _, ok := plan.Items(json.RawMessage(v.Raw)); ok || !e.list {
			return json.RawMessage(v.Raw), nil
		}
		wrong = []string{"result: must be a list"}
	}
	return nil, []fault{{violationStep, fmt.Sprintf("%s. The result must fit the schema %s. You submitted: %s",
		strings.Join(wrong, ", "), e.schema(), oneLine(v.Raw, maxSubmitted))}}
}

func (e stepEnd) schema() string { return clip.Fit(singleLine(string(e.result.Schema)), maxSubmitted) }

// joined is the result of a process step, the list of its items' results, which its
// own schema must take, if it has one.
func (r *stepRun) joined() (json.RawMessage, error) {
	parts := make([]string, len(r.results))
	for i, result := range r.results {
		parts[i] = string(result)
	}
	list := json.RawMessage("[" + strings.Join(parts, ",") + "]")
	if r.OutputSchema == nil {
		return list, nil
	}
	result, err := plan.NewResult(r.OutputSchema)
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	if wrong := result.Check(list); len(wrong) > 0 {
		return nil, errors.New("the list of results does not fit output_schema: " + strings.Join(wrong, ", "))
	}
	return list, nil
}
