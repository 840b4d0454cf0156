package view

import (
	"regexp"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// causes put signatures into words, one after the other.
var causes = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`^ended as clarify`), "asked a question"},
	{regexp.MustCompile(`^ended as answered_after_clarify`), "answered after a question"},
	{regexp.MustCompile(`^ended as cannot_proceed`), "gave up"},
	{regexp.MustCompile(`^ended as respond_error`), "rejected the request"},
	{regexp.MustCompile(`^ended as answered`), "answered"},
	{regexp.MustCompile(`, not answered_after_clarify\b`), " instead of asking first"},
	{regexp.MustCompile(`, not answered\b`), " instead of answering"},
	{regexp.MustCompile(`, not cannot_proceed\b`), " instead of giving up"},
	{regexp.MustCompile(`, not respond_error\b`), " instead of rejecting the request"},
	{regexp.MustCompile(`, not clarify\b`), " instead of asking a question"},
	{regexp.MustCompile(`^no tool called, `), "called no tool, "},
	{regexp.MustCompile(`^no tool called$`), "called no tool"},
	{regexp.MustCompile(`^other arguments of (\S+?)(,|$)`), "called $1 with wrong arguments$2"},
	{regexp.MustCompile(`^no call of `), "did not call "},
	{regexp.MustCompile(`^forbidden call of `), "made a forbidden call of "},
	{regexp.MustCompile(`^stopped: thrash of `), "stopped for repeating calls of "},
	{regexp.MustCompile(`^stopped: thrash`), "stopped for repeating calls"},
	{regexp.MustCompile(`^stopped: stall`), "stopped for only asking questions"},
	{regexp.MustCompile(`^stopped: failed_step of `), "stopped after a failed step, with repeated calls of "},
	{regexp.MustCompile(`^max_steps of the task`), "took more steps than the task allows"},
	{regexp.MustCompile(`^max_tool_calls of the task`), "made more tool calls than the task allows"},
	{regexp.MustCompile(`^max_tool_calls`), "used up its tool calls"},
	{regexp.MustCompile(`^max_steps`), "used up its steps"},
	{regexp.MustCompile(`(^|after )error (\S+) of (\S+?)(,|$)`), "${1}error $2 from $3$4"},
	{regexp.MustCompile(`^rejected (\S+) of (\S+?),`), "call of $2 rejected ($1),"},
	{regexp.MustCompile(`, answered all the same$`), ", then answered anyway"},
	{regexp.MustCompile(`, blamed the input$`), ", then rejected the request"},
	{regexp.MustCompile(`, (asked the user|gave up)$`), ", then $1"},
	{regexp.MustCompile(`^answer_\w+: no number$`), "no number in the answer"},
	{regexp.MustCompile(`^answer_\w+: wrong number$`), "wrong number in the answer"},
	{regexp.MustCompile(`^answer_\w+: text missing$`), "required text missing from the answer"},
	{regexp.MustCompile(`^answer_\w+: (text|number) that must not be there$`), "forbidden $1 in the answer"},
	{regexp.MustCompile(`^answer_\w+: no match$`), "answer does not match the pattern"},
	{regexp.MustCompile(`^answer_table: wrong day or count$`), "wrong day or count in the answer"},
}

// Cause is the signature of a cluster in words, without its kind: "Asked a question
// instead of answering".
func Cause(c model.Cluster) string {
	text := strings.TrimPrefix(c.Signature, string(c.Kind)+": ")
	for _, k := range causes {
		text = k.pattern.ReplaceAllString(text, k.text)
	}
	return words.UpperFirst(text)
}

// expectation splits what a failed check says into what was expected and what was found;
// expected is empty if the check does not tell them apart.
func expectation(failure string) (check, expected, actual string) {
	check, rest, ok := strings.Cut(failure, ": ")
	if !ok {
		return "", "", failure
	}
	wanted, found := strings.CutPrefix(rest, "want ")
	if missing, ok := strings.CutPrefix(rest, "missing: "); !found && ok {
		wanted, found = missing, true
	}
	if !found {
		return check, "", rest
	}
	for _, between := range []string{", found ", ", got ", "; got "} {
		if expected, actual, ok := strings.Cut(wanted, between); ok {
			return check, expected, actual
		}
	}
	return check, "", rest
}
