package view

import (
	"strings"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// causes put signatures into words, one after the other.
var causes = []struct {
	pattern *lazyregexp.Regexp
	text    string
}{
	{lazyregexp.New(`^ended as clarify`), "asked a question"},
	{lazyregexp.New(`^ended as answered_after_clarify`), "answered after a question"},
	{lazyregexp.New(`^ended as cannot_proceed`), "gave up"},
	{lazyregexp.New(`^ended as respond_error`), "rejected the request"},
	{lazyregexp.New(`^ended as answered`), "answered"},
	{lazyregexp.New(`, not answered_after_clarify\b`), " instead of asking first"},
	{lazyregexp.New(`, not answered\b`), " instead of answering"},
	{lazyregexp.New(`, not cannot_proceed\b`), " instead of giving up"},
	{lazyregexp.New(`, not respond_error\b`), " instead of rejecting the request"},
	{lazyregexp.New(`, not clarify\b`), " instead of asking a question"},
	{lazyregexp.New(`^no tool called, `), "called no tool, "},
	{lazyregexp.New(`^no tool called$`), "called no tool"},
	{lazyregexp.New(`^other arguments of (\S+?)(,|$)`), "called $1 with wrong arguments$2"},
	{lazyregexp.New(`^no call of `), "did not call "},
	{lazyregexp.New(`^forbidden call of `), "made a forbidden call of "},
	{lazyregexp.New(`^stopped: thrash of `), "stopped for repeating calls of "},
	{lazyregexp.New(`^stopped: thrash`), "stopped for repeating calls"},
	{lazyregexp.New(`^stopped: stall`), "stopped for only asking questions"},
	{lazyregexp.New(`^stopped: failed_step of `), "stopped after a failed step, with repeated calls of "},
	{lazyregexp.New(`^max_steps of the task`), "took more steps than the task allows"},
	{lazyregexp.New(`^max_tool_calls of the task`), "made more tool calls than the task allows"},
	{lazyregexp.New(`^max_tool_calls`), "used up its tool calls"},
	{lazyregexp.New(`^max_steps`), "used up its steps"},
	{lazyregexp.New(`(^|after )error (\S+) of (\S+?)(,|$)`), "${1}error $2 from $3$4"},
	{lazyregexp.New(`^rejected (\S+) of (\S+?),`), "call of $2 rejected ($1),"},
	{lazyregexp.New(`, answered all the same$`), ", then answered anyway"},
	{lazyregexp.New(`, blamed the input$`), ", then rejected the request"},
	{lazyregexp.New(`, (asked the user|gave up)$`), ", then $1"},
	{lazyregexp.New(`^answer_\w+: no number$`), "no number in the answer"},
	{lazyregexp.New(`^answer_\w+: wrong number$`), "wrong number in the answer"},
	{lazyregexp.New(`^answer_\w+: text missing$`), "required text missing from the answer"},
	{lazyregexp.New(`^answer_\w+: (text|number) that must not be there$`), "forbidden $1 in the answer"},
	{lazyregexp.New(`^answer_\w+: no match$`), "answer does not match the pattern"},
	{lazyregexp.New(`^answer_table: wrong day or count$`), "wrong day or count in the answer"},
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
