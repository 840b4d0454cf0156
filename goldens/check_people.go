package goldens

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// requests is the field approvals.
type requests struct{}

var approvalsFields = []string{"asked", "denied", "at_most"}

func (requests) set(e *Expect, p yamlfile.Place, _ bool) {
	e.Approvals = human.Approvals{}
	o := p.Object(approvalsFields)
	yamlfile.Read(o, "asked", &e.Approvals.Asked, yamlfile.Place.Words)
	yamlfile.Read(o, "denied", &e.Approvals.Denied, yamlfile.Place.Words)
	yamlfile.Read(o, "at_most", &e.Approvals.AtMost, func(p yamlfile.Place) *int { return new(int(p.Integer(0, maxCap))) })
}

func (requests) takeAway(e *Expect) bool { e.Approvals = human.Approvals{}; return true }

func (requests) write(is, was *Expect) *yaml.Node {
	return changed(is.Approvals, was.Approvals, is.Approvals.Empty(), func(a human.Approvals) *yaml.Node {
		var list []any
		for i, tools := range [][]string{a.Asked, a.Denied} {
			if len(tools) > 0 {
				list = append(list, approvalsFields[i], tools)
			}
		}
		if a.AtMost != nil {
			list = append(list, "at_most", *a.AtMost)
		}
		return yamlfile.Fields(yaml.FlowStyle, list...)
	})
}

func (requests) parts(key string, e *Expect) []Part {
	if e.Approvals.Empty() {
		return nil
	}
	return []Part{whole(key, func(to *Expect) { to.Approvals = e.Approvals })}
}

// approvals checks what people were asked for.
func (s *scorer) approvals(e *Expect) {
	asked := func(denied bool) func(tool string) bool {
		return func(tool string) bool {
			return !slices.ContainsFunc(s.o.Requests, func(r human.Requested) bool { return r.Tool == tool && (!denied || r.Say == person.Deny) })
		}
	}
	if want := e.Approvals.Asked; len(want) > 0 {
		missing := keep(want, asked(false))
		s.check("approvals.asked", len(missing) == 0, "want requests for %s, got %s", quotedList(missing), requestedList(s.o.Requests))
	}
	if want := e.Approvals.Denied; len(want) > 0 {
		missing := keep(want, asked(true))
		s.check("approvals.denied", len(missing) == 0, "want denied requests for %s, got %s", quotedList(missing), requestedList(s.o.Requests))
	}
	if most := e.Approvals.AtMost; most != nil {
		made := keep(s.o.Requests, func(r human.Requested) bool { return r.Kind != person.Question })
		s.check("approvals.at_most", len(made) <= *most, "want at most %d requests, got %s", *most, requestedList(made))
	}
}

// requestedList lists requests with their answers, a few at most.
type requestedList []human.Requested

// String lists the requests.
func (l requestedList) String() string {
	all := make([]int, len(l))
	for i := range all {
		all[i] = i
	}
	return some(all, []human.Requested(l)).String()
}

// before checks that each tool of a list has succeeded before a call of the next one.
func (s *scorer) before(e *Expect) {
	if len(e.Before) == 0 {
		return
	}
	done := map[string]bool{}
	for _, c := range s.calls {
		i := slices.Index(e.Before, c.Call.Name)
		if i > 0 && !done[e.Before[i-1]] {
			s.check("before", false, "want %s to succeed before %s, got %s", e.Before[i-1], c, calledList(s.calls))
			return
		}
		done[c.Call.Name] = done[c.Call.Name] || c.Outcome == "ok"
	}
	s.check("before", true, "")
}
