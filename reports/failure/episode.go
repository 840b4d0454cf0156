package failure

import (
	"cmp"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// Words of the ledger that the rules look at.
const (
	statusError    = "error"
	kindRescue     = "rescue"
	stopContract   = "contract_violation"
	stopPlan       = "invalid_plan"
	stopFinal      = "final_schema"
	stopStep       = "failed_step"
	outcomeOK      = "ok"
	outcomeTimeout = "timeout"
	codeBudget     = "E_BUDGET"
	checkState     = "state"
	checkStateHash = "state_hash"
	checkFunctions = "function_calls"
	checkUnchanged = "unchanged"
)

// episode is what the rules look at.
type episode struct {
	*ledger.Episode
	turns []ledger.Turn
	calls []ledger.ToolCall
	// failed are the first failing checks of each sort, with their details.
	failed, details [ofSuite + 1]string
}

// sort is what a check is about.
type sort int

const (
	ofEnding  sort = iota // status, stop_reason
	ofCalls               // calls that must, or must not, be made, and what they change
	ofAnswer              // answer_*, and unknown names
	ofWay                 // order, questions, repetition
	ofLimits              // steps, calls, time
	ofOutputs             // validity of outputs
	ofSuite               // the task cannot be judged
)

// sortOf knows the checks of package goldens by name.
func sortOf(check string) sort {
	switch check {
	case "status", "stop_reason":
		return ofEnding
	case "trajectory.required", "trajectory.forbidden", checkFunctions, checkState, checkStateHash, checkUnchanged:
		return ofCalls
	case "max_steps", "max_tool_calls", "signal.elapsed_seconds", "signal.model_calls", "signal.tool_executions":
		return ofLimits
	case "signal.all_turns_valid_json", "signal.repaired", "signal.valid_raw", "signal.violations":
		return ofOutputs
	case "expect":
		return ofSuite
	case "max_clarifies":
		return ofWay
	}
	if strings.HasPrefix(check, "trajectory.") || strings.HasPrefix(check, "signal.") {
		return ofWay
	}
	return ofAnswer
}

func (e *episode) readChecks() {
	for i := range e.Checks {
		c := &e.Checks[i]
		if c.Passed {
			continue
		}
		s := sortOf(c.Name)
		if e.failed[s] != "" {
			continue
		}
		e.failed[s], e.details[s] = cmp.Or(c.Name, "a check without a name"), c.Detail
	}
}

// lastCall is the last tool call, nil without any.
func (e *episode) lastCall() *ledger.ToolCall {
	if len(e.calls) == 0 {
		return nil
	}
	return &e.calls[len(e.calls)-1]
}

// lastTurn is the last model call that was a step, nil without any.
func (e *episode) lastTurn() *ledger.Turn {
	for i := len(e.turns) - 1; i >= 0; i-- {
		if t := &e.turns[i]; t.Role != ledger.RoleCompress {
			return t
		}
	}
	return nil
}

// invalidOutput is the first violation of the last turn whose output could not be
// used, not even repaired, and how many such turns there are.
func (e *episode) invalidOutput() (code string, n int) {
	for i := range e.turns {
		t := &e.turns[i]
		if t.Role == ledger.RoleCompress || t.ErrorKind != "" || t.Actionable || t.Repaired {
			continue
		}
		n++
		code = ""
		if len(t.Violations) > 0 {
			code = t.Violations[0]
		}
	}
	return code, n
}

// lastViolation is the first violation of the last turn of a role that has one; of
// all decisions where the role is empty.
func (e *episode) lastViolation(role string) string {
	for i := len(e.turns) - 1; i >= 0; i-- {
		t := &e.turns[i]
		if t.Judged() && len(t.Violations) > 0 && (role == "" || t.Role == role) {
			return cmp.Or(name(t.Violations[0]), "no violation")
		}
	}
	return "no violation"
}

// unfinished says that a step of the plan, or one of its items, ended with an output
// that could not be used; empty where none did.
func (e *episode) unfinished() string {
	later := map[string]bool{}
	for i := len(e.turns) - 1; i >= 0; i-- {
		t := &e.turns[i]
		if t.Role != ledger.RoleStep || !t.Judged() || later[t.PlanStep] {
			continue
		}
		later[t.PlanStep] = true
		if len(t.Violations) == 0 {
			continue
		}
		what := "a step"
		if strings.HasSuffix(t.PlanStep, "]") {
			what = "an item of a step"
		}
		return what + " was not finished (" + cmp.Or(name(t.Violations[0]), "no violation") + ")"
	}
	return ""
}

// firstFailed returns the first failed tool call and the number of failed ones. Calls that were
// refused because a budget was spent are not failures.
func (e *episode) firstFailed() (call *ledger.ToolCall, n int) {
	for i := range e.calls {
		c := &e.calls[i]
		if c.Outcome == outcomeOK || c.ErrorCode == codeBudget {
			continue
		}
		if n++; n == 1 {
			call = c
		}
	}
	return call, n
}

// repeated names the tool of the first turn that went in circles, and how many
// turns did.
func (e *episode) repeated() (tool string, n int) {
	for i := range e.turns {
		t := &e.turns[i]
		if !t.Thrash {
			continue
		}
		if n++; n > 1 {
			continue
		}
		tool = t.NextActionName
		for k := range e.calls {
			if e.calls[k].Turn == t.Turn {
				tool = e.calls[k].ToolName
				break
			}
		}
	}
	return tool, n
}
