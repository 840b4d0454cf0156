package contract

import (
	"slices"
	"strings"
	"time"
	"unicode"

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
		case "control", "next_action", "state_update":
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
	switch j.v.Turn.Type {
	case typeTool:
		if m, ok := action.Get("message"); ok && m.Kind != 'n' && m.Raw != `""` {
			j.warn(warnMessageIgnored, "/next_action/message")
		}
		args, _ := action.Get("args")
		j.warnDates(args)
	case typeClarify:
		j.warnQuestion(j.v.Turn.Message)
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

// warnDates reports arguments written YYYY-MM-DD that are no date of the
// calendar, and a start_X that lies after its end_X.
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

// isBlank reports whether s shows nothing: white space and invisible characters.
func isBlank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !isInvisible(r) }) < 0
}

// isInvisible reports white space, a byte-order mark or a zero-width character.
func isInvisible(r rune) bool {
	switch r {
	case '\u200B', '\u200C', '\u200D', '\u2060', '\uFEFF':
		return true
	}
	return unicode.IsSpace(r)
}
