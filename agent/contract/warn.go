package contract

import (
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
)

// Bounds beyond which an output is warned about.
const (
	maxWarnings      = 32
	maxPlanLines     = 6
	maxQuestionRunes = 200
)

// The words of the contract.
const (
	typeTool    = "tool"
	typeRespond = "respond"
	typeClarify = "clarify"

	reasonOK                = "ok"
	reasonCannotProceed     = "cannot_proceed"
	reasonNeedClarification = "need_clarification"
)

// contradiction begins the warnings of turns that contradict themselves.
const contradiction = "contradiction:"

func (j *judge) warn(code, pointer string) {
	j.v.Warnings = append(j.v.Warnings, Warning{code, pointer})
}

// warnKeys reports repeated keys anywhere and unknown keys at the top.
func (j *judge) warnKeys(root tool.JSON) {
	for _, d := range root.Duplicates(maxWarnings) {
		j.warn(warnDuplicateKey+d.Path, d.Pointer)
	}
	for _, m := range root.Members {
		switch m.Name {
		case blockControl, blockAction, blockUpdate:
		default:
			w := Warning{warnExtraKey + tool.Label(m.Name), tool.Pointer(m.Name)}
			if len(j.v.Warnings) < maxWarnings && !slices.Contains(j.v.Warnings, w) {
				j.v.Warnings = append(j.v.Warnings, w)
			}
		}
	}
}

// warnContradictions reports a done flag or reason that does not go with the action.
func (j *judge) warnContradictions() {
	t := j.v.Turn
	if j.done != nil {
		switch {
		case t.Type == typeTool && t.Done:
			j.warn(warnDoneWithTool, "/control/done")
		case t.Type == typeRespond && !t.Done && t.Reason == reasonCannotProceed:
			j.warn(warnGaveUpNotDone, "/control/done")
		case t.Type == typeRespond && !t.Done:
			j.warn(warnRespondNotDone, "/control/done")
		case t.Type == typeClarify && t.Done:
			j.warn(warnDoneWithClarify, "/control/done")
		}
	}
	switch {
	case t.Reason == "":
	case t.Type == typeTool && t.Reason != reasonOK:
		j.warn(warnToolReason+t.Reason, "/control/reason")
	case t.Type == typeRespond && t.Reason == reasonNeedClarification:
		j.warn(warnRespondNeedsInput, "/control/reason")
	case t.Type == typeClarify && t.Reason != reasonNeedClarification:
		j.warn(warnClarifyReason+t.Reason, "/control/reason")
	}
}

// warnTurn reports what is legal but not asked for in the plan and the action.
func (j *judge) warnTurn(action tool.JSON) {
	if lines(j.v.Turn.Plan) > maxPlanLines {
		j.warn(warnLongPlan, "/state_update/plan")
	}
	switch kind := j.v.Turn.Type; kind {
	case typeTool:
		j.warnIgnored(action, "message", warnMessageIgnored)
		args, _ := action.Get("args")
		j.warnDates(args)
	case typeRespond, typeClarify:
		j.warnIgnored(action, "name", warnNameIgnored+kind)
		j.warnIgnored(action, "args", warnArgsIgnored+kind)
		if kind == typeClarify {
			j.warnQuestion(j.v.Turn.Message)
		}
	}
}

// warnIgnored reports a member of the action that its type does not use, unless the
// member is empty.
func (j *judge) warnIgnored(action tool.JSON, member, code string) {
	v, ok := action.Get(member)
	empty := v.Kind == 'n' || v.Raw == `""` || v.Kind == '{' && len(v.Members) == 0
	if ok && !empty {
		j.warn(code, "/next_action/"+member)
	}
}

// warnQuestion reports a clarification that is not one concise question.
func (j *judge) warnQuestion(message string) {
	if message == "" {
		return
	}
	questions, runes := 0, 0
	for _, r := range message {
		runes++
		if r == '?' || r == '？' || r == '؟' {
			questions++
		}
	}
	switch {
	case questions == 0:
		j.warn(warnNoQuestion, "/next_action/message")
	case questions > 1:
		j.warn(warnQuestions, "/next_action/message")
	}
	if runes > maxQuestionRunes {
		j.warn(warnLongQuestion, "/next_action/message")
	}
}

// warnDates reports arguments written YYYY-MM-DD that are not dates of the
// calendar, and a start_X that is after its end_X.
func (j *judge) warnDates(args tool.JSON) {
	var real map[string]string
	for _, field := range j.tools.Fields(j.v.Turn.Name) {
		value, _ := args.Get(field)
		text := value.Text()
		if !looksLikeDate(text) {
			continue
		}
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			j.warn("args."+tool.Label(field)+warnNoDate, "/next_action/args"+tool.Pointer(field))
			continue
		}
		if real == nil {
			real = map[string]string{}
		}
		real[field] = text
	}
	for _, field := range j.tools.Fields(j.v.Turn.Name) {
		what, isStart := strings.CutPrefix(field, "start_")
		end := real["end_"+what]
		if isStart && end != "" && real[field] > end {
			j.warn("args."+tool.Label(field)+warnAfterEnd+tool.Label(what), "/next_action/args"+tool.Pointer(field))
		}
	}
}

// looksLikeDate reports whether s is four, two and two ASCII digits with hyphens.
func looksLikeDate(s string) bool {
	if len(s) != len(time.DateOnly) {
		return false
	}
	for i := range len(s) {
		hyphen := i == 4 || i == 7
		if hyphen && s[i] != '-' || !hyphen && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// lines counts the lines of s, however they end.
func lines(s string) int {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}
