package goldens

import (
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/answer"
	"github.com/cupel-eval/cupel/goldens/internal/match"
	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/internal/clip"
)

// The bounds of a drafted expectation.
const (
	maxPinnedCalls   = 100
	maxPinnedNumbers = 20
	maxPinnedText    = 200 // bytes
	maxPinnedChanges = 20
)

// Pin drafts the expectation that a solved outcome meets and that says what
// happened: how it ended, every number of the answer (its text where it has none),
// the executed calls in order, what changed in the state of the world, and the steps,
// calls and questions it took. What the
// accepted outcome it met says beyond that stays. It is what a person edits next,
// and meant to be too narrow.
func Pin(t Task, o Outcome) Expect {
	var e Expect
	for _, accepted := range t.Expect {
		one := t
		one.Expect = []Expect{accepted}
		if met, _ := Score(one, o); met {
			e = accepted
			break
		}
	}
	e.Status, e.StopReason, e.Note = o.Status, "", ""
	if o.Status == "stopped" {
		e.StopReason = o.StopReason
	}
	e.Numbers = pinNumbers(t, o)
	if e.Numbers == nil && e.ContainsAny == nil && e.ContainsAll == nil && e.Matches == nil && saysSomething[o.Status] && strings.TrimSpace(o.Answer) != "" {
		e.ContainsAll = []string{clip.FirstBytes(o.Answer, maxPinnedText)}
	}
	steps, calls, clarifies := o.Steps, o.Executions(), o.Clarifies
	e.MaxSteps, e.MaxToolCalls, e.MaxClarifies = &steps, &calls, &clarifies
	pinState(&e, o)
	e.Trajectory = Trajectory{Order: Strict, Required: pinCalls(o), Forbidden: e.Trajectory.Forbidden}
	if calls > maxPinnedCalls {
		e.Trajectory.Order = InOrder
	}
	return e
}

// saysSomething are the statuses whose answer's wording is worth a check: that of a
// question or an apology is not.
var saysSomething = map[string]bool{"answered": true, "answered_after_clarify": true, "respond_error": true}

// pinNumbers are the numbers of the answer, each once, as suites write numbers.
func pinNumbers(t Task, o Outcome) (out []string) {
	for _, n := range answer.Read(o.Answer, t.World.Now.Year()).Numbers {
		text := n.String()
		if plainNumber.MatchString(text) && !slices.Contains(out, text) && len(out) < maxPinnedNumbers {
			out = append(out, text)
		}
	}
	return out
}

// pinState asks for what the episode changed, or for no change where it changed nothing. A
// value that is long, or that a suite would read as a matcher, only has to be there.
func pinState(e *Expect, o Outcome) {
	if o.StateAfter == nil {
		return
	}
	changes := state.Diff(o.StateBefore, o.StateAfter)
	e.State, e.StateHash = nil, ""
	if len(changes) == 0 {
		e.Unchanged = []string{state.Path{}.String()}
	}
	for _, c := range changes[:min(len(changes), maxPinnedChanges)] {
		wants := map[string]any{"exists": c.To != nil}
		if value := yamlfile.DecodeJSON(c.To); c.To != nil && len(c.To) <= maxPinnedText && !match.HasMatcher(value) {
			wants = map[string]any{"is": value}
		}
		e.State = append(e.State, StateCheck{Path: c.Path.String(), Wants: wants})
	}
}

// pinCalls are the executed calls. Arguments that a suite would read as matchers
// are left open.
func pinCalls(o Outcome) (out []CallMatch) {
	for _, c := range o.Calls {
		if !c.Executed() || len(out) == maxPinnedCalls {
			continue
		}
		m := CallMatch{Tool: c.Call.Name}
		if args, err := match.DecodeArgs(c.Call.Args); err == nil && !match.HasMatcher(args) {
			m.Args, _ = args.(map[string]any)
		}
		out = append(out, m)
	}
	return out
}
