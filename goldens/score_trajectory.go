package goldens

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/match"
	"github.com/cupel-eval/cupel/internal/clip"
)

// trajectory checks the calls made. Under Strict only executed calls count; a
// call answered from an earlier result also meets a requirement of the other
// orders. A rejected call meets no requirement, but it was asked for, and so breaks a
// prohibition that is not narrowed to executed calls.
func (s *scorer) trajectory(e *Expect) {
	t := e.Trajectory
	required, err := compileCalls("required", t.Required)
	if err != nil {
		s.broken("trajectory.required", err)
		return
	}
	calls := s.considered(t.Order)
	f := fitting(t.Required, required, calls)
	s.required(t.Order, required, calls, f)
	s.forbidden(t.Forbidden)
	s.order(t.Order, required, calls, f)
}

// considered are the calls an order looks at.
func (s *scorer) considered(order Order) []madeCall {
	if order != Strict {
		return s.calls
	}
	var out []madeCall
	for _, c := range s.calls {
		if c.Executed() {
			out = append(out, c)
		}
	}
	return out
}

// required checks that every required call was made, in any order.
func (s *scorer) required(order Order, required []match.Call, calls []madeCall, f match.Fits) {
	if len(required) == 0 || order == Subset {
		return
	}
	missing, _ := match.Unpaired(match.Assign(len(required), len(calls), f), len(calls))
	s.check("trajectory.required", len(missing) == 0, "missing: %s; got %s", some(missing, required), calledList(calls))
}

// order checks how the required calls relate to the calls made.
func (s *scorer) order(order Order, required []match.Call, calls []madeCall, f match.Fits) {
	switch order {
	case "", AnyOrder:
	case InOrder:
		if len(required) > 0 {
			missing, _ := match.Unpaired(match.Chain(len(required), len(calls), f), len(calls))
			s.check("trajectory.order", len(missing) == 0, "missing or out of place: %s; got %s", some(missing, required), calledList(calls))
		}
	case Strict:
		missing, extra := match.Unpaired(match.Chain(len(required), len(calls), f), len(calls))
		s.check("trajectory.order", len(missing)+len(extra) == 0, "missing or out of place: %s; too much: %s; got %s",
			some(missing, required), some(extra, calls), calledList(calls))
	case Subset:
		_, extra := match.Unpaired(match.Assign(len(required), len(calls), f), len(calls))
		s.check("trajectory.order", len(extra) == 0, "too much: %s; got %s", some(extra, calls), calledList(calls))
	default:
		s.check("trajectory.order", false, "the expectation is broken: unknown order %q", order)
	}
}

// forbidden checks that no call of these was asked for, or executed.
func (s *scorer) forbidden(forbidden []CallMatch) {
	if len(forbidden) == 0 {
		return
	}
	patterns, err := compileCalls("forbidden", forbidden)
	if err != nil {
		s.broken("trajectory.forbidden", err)
		return
	}
	for i, p := range patterns {
		for _, c := range s.asked {
			if only := forbidden[i].Executed; p.Match(c.Call.Name, c.args) && (!only || c.Executed()) && forbidden[i].byRole(c) {
				s.check("trajectory.forbidden", false, "want no %s, %s %s", p, map[bool]string{false: "got", true: "executed"}[only], c)
				return
			}
		}
	}
	s.check("trajectory.forbidden", true, "")
}

// compileCalls compiles a list of matches; the error joins every fault.
func compileCalls(field string, matches []CallMatch) ([]match.Call, error) {
	out, errs := make([]match.Call, len(matches)), []error(nil)
	for i, m := range matches {
		var err error
		if out[i], err = match.NewCall(m.Tool, m.Args); err != nil {
			errs = append(errs, fmt.Errorf("trajectory.%s[%d]: %w", field, i, err))
		}
		if m.Executed && field == "required" {
			errs = append(errs, fmt.Errorf("trajectory.required[%d]: executed: only a forbidden call has it", i))
		}
	}
	return out, errors.Join(errs...)
}

// fitting compares every required call with every call made once.
func fitting(wanted []CallMatch, required []match.Call, calls []madeCall) match.Fits {
	table := make([]bool, len(required)*len(calls))
	for i, p := range required {
		for j, c := range calls {
			table[i*len(calls)+j] = p.Match(c.Call.Name, c.args) && wanted[i].byRole(c)
		}
	}
	return func(i, j int) bool { return table[i*len(calls)+j] }
}

// byRole reports whether a call is of the role that a match demands.
func (m CallMatch) byRole(c madeCall) bool { return m.Role == "" || m.Role == c.Role }

// madeCall is a call of an outcome with its arguments decoded.
type madeCall struct {
	Called
	args any // not a map when the arguments are not a JSON object
}

// String writes the call as the model did, bounded and on one line.
func (c madeCall) String() string {
	text := clip.Bytes(c.Call.Name, 60) + clip.Bytes(string(c.Call.Args), 120)
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		text = strings.Map(func(r rune) rune { return max(r, ' ') }, text) // one line
	}
	return text
}

// selection lists the items at some indexes, a few at most. It is written out
// only if a detail is.
type selection[T fmt.Stringer] struct {
	at    []int
	items []T
}

func some[T fmt.Stringer](at []int, items []T) selection[T] { return selection[T]{at, items} }

// String lists the items.
func (l selection[T]) String() string {
	const most = 6
	if len(l.at) == 0 {
		return "none"
	}
	out := make([]string, 0, most+1)
	for n, i := range l.at {
		if n == most {
			out = append(out, fmt.Sprintf("… %d more", len(l.at)-most))
			break
		}
		out = append(out, l.items[i].String())
	}
	return strings.Join(out, ", ")
}

// calledList lists all calls.
type calledList []madeCall

// String lists the calls.
func (l calledList) String() string {
	all := make([]int, len(l))
	for i := range all {
		all[i] = i
	}
	return some(all, l).String()
}
