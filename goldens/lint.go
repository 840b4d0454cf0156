package goldens

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
)

// Lint reports what does not keep a suite from running but is likely a
// mistake: a tool no built-in world implements, a tool or world no task uses.
// Like Load's, the error joins a *Problem for each.
func (s *Suite) Lint() error { return (&findings{list: s.advice}).join() }

// advice collects what Lint reports.
func (l *loader) advice(s *Suite) []*Problem {
	found := &findings{}
	say := func(p place, format string, args ...any) {
		found.list = append(found.list, &Problem{File: p.src.file, Line: p.at(), Field: p.path, Detail: fmt.Sprintf(format, args...)})
	}
	for _, spec := range s.Tools {
		at := l.tools.places[spec.Name]
		_, builtIn := implementations[spec.Name]
		if _, overHTTP := s.HTTP[spec.Name]; !builtIn && !overHTTP {
			say(at, "no world implements tool %s, and it has no http; the built-in ones are: %s", spec.Name, strings.Join(slices.Sorted(maps.Keys(implementations)), ", "))
		}
		if !slices.ContainsFunc(s.Tasks, func(t Task) bool { return slices.Contains(t.Tools, spec.Name) }) {
			say(at, "no task offers tool %s", spec.Name)
		}
	}
	for _, name := range l.worldNames {
		if w := l.worlds[name]; !w.used {
			say(w.place, "no task uses world %s", name)
		}
	}
	return found.list
}

// crossCheck holds the fields of every task against each other: an outcome that
// no episode can reach would fail every candidate and say nothing.
func (l *loader) crossCheck(s *Suite) {
	if len(l.found.list) > 0 {
		return // half-read tasks would be accused of what they do not say
	}
	all, err := tool.NewSet(s.Tools)
	if err != nil {
		l.found.list = append(l.found.list, &Problem{File: path.Join(l.label, suiteFile), Line: 1, Field: "tools", Detail: err.Error()})
		return
	}
	l.checkSessions(s)
	for i, t := range s.Tasks {
		asks := func(name string) bool { return s.Approval(name) == ApproveAsk }
		if len(t.Approvals) > 0 && !slices.ContainsFunc(t.Tools, asks) {
			l.where[i].object.fieldAt("approvals").failf("the task offers no tool whose calls need approval")
		}
		for k, e := range t.Expect {
			at := l.where[i].expect[k]
			checkStatus(at, t, e)
			l.checkCalls(at, t, e, all)
			checkBudgets(at, t, e)
			if e.TableLabel != "" && !hasLabel(t.World.Counts, e.TableLabel) {
				at.fieldAt("table_label").failf("the task's world counts no label %q", e.TableLabel)
			}
		}
	}
}

// checkStatus reports fields that contradict the expected status.
func checkStatus(at object, t Task, e Expect) {
	if e.StopReason != "" && e.Status != "stopped" {
		at.fieldAt("stop_reason").failf("only status stopped has a stop reason, and the status is %s", e.Status)
	}
	asks := e.Status == "clarify" || e.Status == "answered_after_clarify"
	if asks && e.MaxClarifies != nil && *e.MaxClarifies == 0 {
		at.fieldAt("at_most").fieldAt("clarifies").failf("is 0, but status %s takes a clarifying question", e.Status)
	}
	if e.Status == "answered_after_clarify" && len(t.Replies) == 0 {
		at.fieldAt("status").failf("is answered_after_clarify, but the task has no replies: nobody would answer")
	}
	for _, c := range []struct {
		reason, field string
		none          bool
	}{{"max_tokens", "max_tokens_total", t.Budgets.MaxTokens == 0}, {"max_cost", "max_cost_usd", t.Budgets.MaxCostNanoUSD == 0}} {
		if e.StopReason == c.reason && c.none {
			at.fieldAt("stop_reason").failf("no episode can stop so: the task has no budget %s", c.field)
		}
	}
	if over := t.Budgets.MaxSteps; e.MaxSteps != nil && over > 0 && *e.MaxSteps > over {
		at.fieldAt("at_most").fieldAt("steps").failf("is %d, above the task's hard cap max_steps of %d", *e.MaxSteps, over)
	}
}

// checkBudgets reports budgets under which no agent reaches the outcome. It takes
// a turn to call tools and another to say something; the same call with the same
// arguments may be answered from its earlier result, and so counts once.
func checkBudgets(at object, t Task, e Expect) {
	if e.Trajectory.Order == Subset {
		return
	}
	calls := map[string]bool{}
	for _, c := range e.Trajectory.Required {
		if c.Args != nil && !hasMatcher(c.Args) {
			args, _ := json.Marshal(c.Args) // read from YAML
			calls[c.Tool+string(args)] = true
		}
	}
	if over := t.Budgets.MaxToolCalls; over > 0 && len(calls) > over {
		at.fieldAt("calls").failf("are %d different calls, above the task's hard cap max_tool_calls of %d", len(calls), over)
	}
	turns := min(len(calls), 1)
	switch e.Status {
	case "answered", "respond_error", "cannot_proceed", "clarify":
		turns++
	case "answered_after_clarify":
		turns += 2
	}
	if over := t.Budgets.MaxSteps; over > 0 && turns > over {
		at.fieldAt("status").failf("takes at least %d turns, above the task's hard cap max_steps of %d", turns, over)
	}
	if e.MaxSteps != nil && turns > *e.MaxSteps {
		at.fieldAt("at_most").fieldAt("steps").failf("is %d, but the outcome takes at least %d", *e.MaxSteps, turns)
	}
}

// checkCalls reports expected calls that could never be made.
func (l *loader) checkCalls(at object, t Task, e Expect, all *tool.Set) {
	calls := at.fieldAt("calls")
	for i, c := range e.Trajectory.Required {
		here := calls.item(i)
		if !slices.Contains(t.Tools, c.Tool) {
			here.failf("the task offers no tool %q%s; it offers: %s", c.Tool, suggest(c.Tool, t.Tools), listed(t.Tools))
			continue
		}
		if c.Args != nil && !hasMatcher(c.Args) {
			args, err := json.Marshal(c.Args)
			if bad := all.Validate(tool.Call{Name: c.Tool, Args: args}); err == nil && len(bad) > 0 {
				here.failf("no call can look like this, since the arguments break the tool's schema: %s", strings.Join(bad, ", "))
			}
		}
		if slices.ContainsFunc(e.Trajectory.Forbidden, func(f CallMatch) bool { return f.Tool == c.Tool && f.Args == nil }) {
			here.failf("tool %s is forbidden too", c.Tool)
		}
	}
	if n := len(e.Trajectory.Required); e.MaxToolCalls != nil && *e.MaxToolCalls < n && e.Trajectory.Order != Subset {
		at.fieldAt("at_most").fieldAt("tool_calls").failf("is %d, but %d calls are required", *e.MaxToolCalls, n)
	}
}

// hasMatcher reports whether an expected value leaves anything open.
func hasMatcher(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if strings.HasPrefix(key, "$") || hasMatcher(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasMatcher)
	}
	return false
}

func hasLabel(counts map[string]map[string]int64, label string) bool {
	for _, day := range counts {
		if _, ok := day[label]; ok {
			return true
		}
	}
	return false
}
