package failure

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// byHarness: a cassette, a tool's program, the suite or cupel itself.
func (e *episode) byHarness() string {
	switch e.Excluded() {
	case ledger.LostToHarness:
		return cmp.Or(name(e.ErrorKind), "no error kind")
	case ledger.LostToCap:
		return "cut off by a cap of the run"
	}
	return ""
}

// byProvider: the last model call had no reply.
func (e *episode) byProvider() string {
	if e.Excluded() != ledger.LostToInfra {
		return ""
	}
	says := cmp.Or(name(e.ErrorKind), "no error kind")
	if n := len(e.turns); n > 0 {
		switch role := e.turns[n-1].Role; role {
		case "", ledger.RoleMain:
		case ledger.RolePlanner, ledger.RoleStep:
			says += ", turn of role " + role // asked of the same model as ever
		default:
			says += ", model of role " + name(role)
		}
	}
	return says
}

// cutOff: the run ended before the episode did.
func (e *episode) cutOff() string {
	switch {
	case e.Excluded() == ledger.LostToUser:
		return "cut off by an interruption"
	case e.Status == statusError:
		return "error without a cause"
	}
	return ""
}

// byUser: the simulated user broke its rules.
func (e *episode) byUser() string {
	if e.UserFaults == "" {
		return ""
	}
	fault, _, _ := strings.Cut(e.UserFaults, ";")
	fault, _, _ = strings.Cut(fault, ":") // the name of a fact
	return "simulated user: " + name(fault)
}

// unusable: outputs that break the strategy's protocol ended the episode.
func (e *episode) unusable() string {
	if e.Status != ledger.StatusStopped {
		return ""
	}
	switch e.StopReason {
	case stopContract:
	case stopPlan:
		return "no valid plan (" + e.lastViolation(ledger.RolePlanner) + ")"
	case stopFinal:
		return "no final answer of the form asked for (" + e.lastViolation("") + ")"
	case stopStep:
		return e.unfinished()
	default:
		return ""
	}
	code, _ := e.invalidOutput()
	says := "unusable outputs (" + cmp.Or(name(code), "no violation") + ")"
	if t := e.lastTurn(); t != nil && t.Kind == kindRescue {
		says += ", the rescue turn's too"
	}
	return says
}

// failedCall applies if the last tool call failed and the outcome is wrong. A call that was refused
// because a budget was spent belongs to outOfBudget.
func (e *episode) failedCall() string {
	c := e.lastCall()
	if c == nil || c.Outcome == outcomeOK || c.ErrorCode == codeBudget {
		return ""
	}
	if e.Status != ledger.StatusStopped && e.failed[ofEnding] == "" && e.failed[ofCalls] == "" && e.failed[ofAnswer] == "" {
		return "" // it coped, with too much effort
	}
	return failing(c) + ", " + e.ending()
}

// ending says in words how the episode ended.
func (e *episode) ending() string {
	switch e.Status {
	case ledger.StatusStopped:
		return "until " + cmp.Or(name(e.StopReason), "it was stopped")
	case "answered", "answered_after_clarify":
		return "answered all the same"
	case "respond_error":
		return "blamed the input"
	case "clarify":
		return "asked the user"
	case "cannot_proceed":
		return "gave up"
	}
	return "ended as " + cmp.Or(name(e.Status), "nothing")
}

// outOfBudget applies if a guard ended the episode because its steps, calls, time, tokens or money
// were spent.
func (e *episode) outOfBudget() string {
	if c := e.lastCall(); c != nil && c.ErrorCode == codeBudget {
		return "max_tool_calls" + e.spentOn()
	}
	if e.Status == ledger.StatusStopped && strings.HasPrefix(e.StopReason, "max_") {
		return name(e.StopReason) + e.spentOn()
	}
	return ""
}

// spentOn says what used most steps up to no end, where anything did: unusable
// outputs, failed calls, repetition, in this order where they are as many.
func (e *episode) spentOn() string {
	code, invalid := e.invalidOutput()
	call, failed := e.firstFailed()
	tool, circles := e.repeated()
	switch most := max(invalid, failed, circles); most {
	case 0:
		return ""
	case invalid:
		return ", after unusable outputs (" + cmp.Or(name(code), "no violation") + ")"
	case failed:
		return ", after " + failing(call)
	}
	return ", after repeated calls" + of(tool)
}

// stopped: another guard ended it.
func (e *episode) stopped() string {
	if e.Status != ledger.StatusStopped {
		return ""
	}
	says := "stopped: " + cmp.Or(name(e.StopReason), "no reason")
	if tool, n := e.repeated(); n > 0 {
		says += of(tool)
	}
	return says
}

// otherEnding: it ended, but not in the way the task expects.
func (e *episode) otherEnding() string {
	if e.failed[ofEnding] == "" {
		return ""
	}
	says := "ended as " + cmp.Or(name(e.Status), "nothing")
	if e.ExpectedStatus != "" && e.ExpectedStatus != e.Status {
		says += ", not " + name(e.ExpectedStatus)
	}
	if len(e.calls) == 0 {
		says += ", no tool called"
	}
	return says
}

// wrongCalls: a required call is missing, a forbidden one was made, or what calls left
// behind is wrong.
func (e *episode) wrongCalls() string {
	says := e.callFault()
	if says != "" && e.failed[ofAnswer] != "" {
		says += ", wrong answer"
	}
	return says
}

func (e *episode) callFault() string {
	check := e.failed[ofCalls]
	switch {
	case check == "":
		return ""
	case check == "trajectory.forbidden":
		return "forbidden call" + of(toolAfter("want no ", e.details[ofCalls]))
	case check == checkFunctions: // what the answer is wrong by comes first
		class, _, _ := strings.Cut(e.details[ofCalls], ":")
		return "function calls: " + name(class)
	case len(e.calls) == 0:
		return "no tool called"
	case check == checkUnchanged:
		return "change where nothing may change"
	case check == checkState || check == checkStateHash:
		if !slices.ContainsFunc(e.calls, func(c ledger.ToolCall) bool { return c.Changes != nil && *c.Changes > 0 }) {
			return "nothing changed"
		}
		return "wrong final state"
	}
	tool := toolAfter("missing: ", e.details[ofCalls])
	switch {
	case tool == "":
		return "required call missing"
	case slices.ContainsFunc(e.calls, func(c ledger.ToolCall) bool { return c.ToolName == tool }):
		return "other arguments" + of(tool)
	}
	return "no call" + of(tool)
}

// toolAfter reads the tool's name where a check's detail shows a call, as in
// `missing: get_counts{"label":"angry"}, …`; empty where it shows none.
func toolAfter(lead, detail string) string {
	rest, ok := strings.CutPrefix(detail, lead)
	if end := strings.IndexAny(rest, "{,;"); ok && end >= 0 {
		return rest[:end]
	}
	return ""
}

// wrongAnswer: it went as it should and said the wrong thing.
func (e *episode) wrongAnswer() string {
	check := e.failed[ofAnswer]
	switch check {
	case "":
		return ""
	case "answer_numbers":
		_, found, _ := strings.Cut(e.details[ofAnswer], "found ") // what was wanted are numbers
		if strings.HasPrefix(found, "no number in ") {
			return check + ": no number"
		}
		return check + ": wrong number"
	case "answer_contains_any", "answer_contains_all":
		return check + ": text missing"
	case "answer_not_contains", "answer_not_matches":
		return check + ": text that must not be there"
	case "answer_not_numbers", "answer_only_numbers":
		return check + ": number that must not be there"
	case "answer_near":
		return check + ": wrong number"
	case "answer_matches":
		return check + ": no match"
	case "answer_table":
		return check + ": wrong day or count"
	}
	return name(check)
}

// detour: all is well but the way there.
func (e *episode) detour() string {
	check := e.failed[ofWay]
	if check == "" && e.failed[ofLimits] == "" {
		return ""
	}
	if tool, n := e.repeated(); n > 0 {
		return "repeated calls" + of(tool)
	}
	switch check {
	case "":
		return "" // only the limits, and no circle
	case "max_clarifies":
		return "more questions than allowed"
	case "trajectory.order":
		return "calls out of order or too many"
	}
	return name(check)
}

// overLimit: it took more than the task allows.
func (e *episode) overLimit() string {
	if e.failed[ofLimits] == "" {
		return ""
	}
	return name(e.failed[ofLimits]) + " of the task" + e.spentOn()
}

// invalid: it ended well, but the task demands better outputs.
func (e *episode) invalid() string { return name(e.failed[ofOutputs]) }

// nothingSaid: the task accepts nothing, or the rows contradict themselves.
func (e *episode) nothingSaid() string {
	if e.failed[ofSuite] != "" {
		return "the task accepts no outcome"
	}
	return "no failing check"
}

// failing says how a tool call failed: "error E_RATE of get_counts".
func failing(c *ledger.ToolCall) string {
	says := cmp.Or(name(c.Outcome), "no outcome")
	if c.ErrorCode != "" && c.Outcome != outcomeTimeout {
		says += " " + name(c.ErrorCode)
	}
	return says + of(c.ToolName)
}

func of(tool string) string {
	if tool == "" {
		return ""
	}
	return " of " + name(tool)
}
