package contract

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/tool"
)

// Version names the rules by which outputs are judged and repaired; it goes into
// digests and changes whenever a verdict could.
const Version = "contract/2"

// Judge reads one raw output against the available tools. Keys are matched
// exactly; the last of repeated keys wins and is warned about, except within a
// call's arguments, where repetition is a field error. An output beyond 64 KiB,
// 8192 values or 64 levels is not acted on. Violations come in the order of the
// contract, warnings in a fixed order, at most 32. Judge is safe for concurrent
// use.
func Judge(raw string, tools *tool.Set) Verdict {
	root, shape, ok := tool.ParseJSON(raw)
	j := judge{tools: tools, v: Verdict{ValidJSON: ok && root.Kind == '{'}}
	switch {
	case !ok:
		j.violate(codeNotJSON, "", fatal)
	case root.Kind != '{':
		j.violate(codeNotObject, "", fatal)
	case shape.TooLarge():
		j.violate(codeTooLarge, "", fatal)
	default:
		if shape.TooDeep() {
			j.violate(codeTooDeep, "", fatal)
		}
		j.object(root)
	}
	return j.verdict()
}

// Whether a violation is fatal.
const (
	fatal = true
	soft  = false
)

// judge collects the verdict on one output.
type judge struct {
	tools *tool.Set
	v     Verdict
	// done is control.done where it is a boolean, nil otherwise.
	done *bool
}

func (j *judge) violate(code, pointer string, isFatal bool) {
	j.v.Violations = append(j.v.Violations, Violation{Code: code, Fatal: isFatal, Pointer: pointer})
}

// verdict draws the conclusions.
func (j *judge) verdict() Verdict {
	v := &j.v
	v.Valid = len(v.Violations) == 0
	v.Actionable = !slices.ContainsFunc(v.Violations, func(b Violation) bool { return b.Fatal })
	v.Warnings = v.Warnings[:min(len(v.Warnings), maxWarnings)]
	switch {
	case !v.Actionable:
		v.Disposition = Violated
	case v.Turn.Type == typeClarify:
		v.Disposition = AskAndPause
	case v.Turn.Type == typeRespond && v.Turn.Reason == reasonCannotProceed:
		v.Disposition = CannotProceed
	case v.Turn.Type == typeRespond:
		v.Disposition = AnswerAndExit
	case len(v.ArgsViolations) > 0:
		v.Disposition = RejectArgs
	default:
		v.Disposition = RunTool
	}
	return *v
}

// object judges the three blocks of a contract object.
func (j *judge) object(root tool.JSON) {
	j.warnKeys(root)
	control, _ := root.Get(blockControl)
	action, _ := root.Get(blockAction)
	update, _ := root.Get(blockUpdate)
	j.control(control)
	j.action(action)
	j.update(update)
	j.warnContradictions()
	j.warnTurn(action)
}

func (j *judge) control(c tool.JSON) {
	if c.Kind != '{' {
		j.violate(codeControl, "/control", fatal)
		return
	}
	switch done, _ := c.Get("done"); done.Kind {
	case 't', 'f':
		j.v.Turn.Done = done.Kind == 't'
		j.done = &j.v.Turn.Done
	default:
		j.violate(codeControlDone, "/control/done", fatal)
	}
	reason, _ := c.Get("reason")
	switch text := reason.Text(); text {
	case reasonOK, reasonCannotProceed, reasonNeedClarification:
		j.v.Turn.Reason = text
	default:
		j.violate(codeControlReason, "/control/reason", soft)
	}
}

func (j *judge) action(a tool.JSON) {
	if a.Kind != '{' {
		j.violate(codeAction, "/next_action", fatal)
		return
	}
	kind, _ := a.Get("type")
	switch text := kind.Text(); text {
	case typeTool:
		j.v.Turn.Type = text
		j.toolCall(a)
	case typeRespond, typeClarify:
		j.v.Turn.Type = text
		j.message(a)
	default:
		j.violate(codeActionType, "/next_action/type", fatal)
	}
}

func (j *judge) toolCall(a tool.JSON) {
	name, _ := a.Get("name")
	j.v.Turn.Name = name.Text()
	known := j.tools.Has(j.v.Turn.Name)
	switch {
	case j.v.Turn.Name == "":
		j.violate(codeName, "/next_action/name", fatal)
	case !known:
		j.violate(codeUnknownTool, "/next_action/name", fatal)
	}
	args, _ := a.Get("args")
	if args.Kind != '{' {
		j.violate(codeArgs, "/next_action/args", fatal)
		return
	}
	j.v.Turn.Args = json.RawMessage(args.Raw)
	if known {
		j.v.ArgsViolations = j.tools.Validate(tool.Call{Name: j.v.Turn.Name, Args: j.v.Turn.Args})
	}
}

func (j *judge) message(a tool.JSON) {
	message, _ := a.Get("message")
	switch text := message.Text(); {
	case message.Kind != '"':
		j.violate(codeMessage, "/next_action/message", fatal)
	case invisible.Blank(text):
		j.violate(codeMessageBlank, "/next_action/message", fatal)
	default:
		j.v.Turn.Message = text
	}
}

func (j *judge) update(u tool.JSON) {
	if u.Kind != '{' {
		j.violate(codeUpdate, "/state_update", soft)
		return
	}
	plan, _ := u.Get("plan")
	if j.v.Turn.Plan = plan.Text(); plan.Kind != '"' {
		j.violate(codePlan, "/state_update/plan", soft)
	}
	observation, _ := u.Get("observation")
	if j.v.Turn.Observation = observation.Text(); observation.Kind != '"' {
		j.violate(codeObservation, "/state_update/observation", soft)
	}
	confidence, _ := u.Get("confidence")
	if confidence.Kind != '0' {
		j.violate(codeConfidence, "/state_update/confidence", soft)
		return
	}
	c, err := strconv.ParseFloat(confidence.Raw, 64) // the only error is overflow, to ±Inf
	if err != nil || c < 0 || c > 1 {
		j.violate(codeConfidenceRange, "/state_update/confidence", soft)
		return
	}
	c = math.Abs(c) // -0 is 0
	j.v.Turn.Confidence = &c
}
