package goldens

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/answer"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
	"github.com/cupel-eval/cupel/goldens/internal/match"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Score checks an outcome against the task's accepted outcomes. When one is
// met, its checks are returned and solved is true; otherwise those of the
// accepted outcome that failed fewest, the first on a tie. It is pure and safe
// for concurrent use.
//
// Checks are named for what they check: status, stop_reason, answer_numbers,
// answer_not_numbers, answer_only_numbers, answer_near, answer_contains_any,
// answer_contains_all, answer_not_contains, answer_matches, answer_not_matches,
// answer_schema (of a task that has one, where an answer is expected), answer_table,
// max_clarifies, max_steps, max_tool_calls, trajectory.required,
// trajectory.forbidden, trajectory.order, before, approvals.NAME, state, unchanged, state_hash and signal.NAME. An accepted outcome
// that checks nothing is not met, nor is one whose checks cannot be read (see
// Expect.Validate), nor any by an episode whose status is error or cancelled.
//
// A task with Fails has one check, fails, instead.
func Score(t Task, o Outcome) (solved bool, checks []CheckResult) {
	if len(t.Fails) > 0 {
		return scoreFails(t, o)
	}
	if len(t.Expect) == 0 {
		return false, []CheckResult{{Name: "expect", Detail: "the task lists no accepted outcome"}}
	}
	s := newScorer(t, o)
	fewest := -1
	for i := range t.Expect {
		s.checks = nil
		s.score(&t.Expect[i])
		switch failed := s.failed(); {
		case failed == 0:
			return true, s.checks
		case fewest < 0 || failed < fewest:
			fewest, checks = failed, s.checks
		}
	}
	return false, checks
}

// scorer checks one outcome against one Expect after another.
type scorer struct {
	task   Task
	o      Outcome
	answer func() answer.Text // read once, by the first check of its numbers
	folded string             // the answer as text checks see it
	calls  []madeCall         // all but the rejected ones: executed or answered from cache
	asked  []madeCall         // all that were asked for
	checks []CheckResult
}

func newScorer(t Task, o Outcome) *scorer {
	s := &scorer{task: t, o: o, folded: answer.Fold(o.Answer)}
	s.answer = sync.OnceValue(func() answer.Text { return answer.Read(s.o.Answer, s.task.World.Now.Year()) })
	for _, c := range o.Calls {
		s.add(c)
	}
	for _, c := range o.Asked {
		args, _ := match.DecodeArgs(c.Args)
		s.asked = append(s.asked, madeCall{Called{Call: c, Outcome: tool.Rejected}, args})
	}
	return s
}

// add adds a call.
func (s *scorer) add(c Called) {
	args, _ := match.DecodeArgs(c.Call.Args) // nil, which only any arguments match
	s.asked = append(s.asked, madeCall{c, args})
	if made(c) {
		s.calls = append(s.calls, madeCall{c, args})
	}
}

// made reports whether a call counts as made: a rejected one never happened,
// one answered from an earlier result did, and so did one that failed.
func made(c Called) bool { return c.Outcome != tool.Rejected }

func (s *scorer) failed() int {
	n := 0
	for _, c := range s.checks {
		if !c.Passed {
			n++
		}
	}
	return n
}

// check adds a check; the detail is dropped when it passed.
func (s *scorer) check(name string, passed bool, format string, args ...any) {
	c := CheckResult{Name: name, Passed: passed}
	if !passed {
		c.Detail = fmt.Sprintf(format, args...)
	}
	s.checks = append(s.checks, c)
}

// broken fails a check that cannot be made.
func (s *scorer) broken(name string, err error) {
	s.check(name, false, "the expectation is broken: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
}

func (s *scorer) score(e *Expect) {
	for _, c := range scored {
		if c.score != nil {
			c.score(s, e)
		}
	}
	if len(s.checks) == 0 {
		s.check("expect", false, "the accepted outcome checks nothing")
	}
}

// The statuses of an episode that says nothing about the candidate.
const (
	statusError     = "error"
	statusCancelled = "cancelled"
)

// statusStopped is the status of an episode that a guard ended.
const statusStopped = "stopped"

func (s *scorer) status(e *Expect) {
	switch {
	case s.o.Status == statusError || s.o.Status == statusCancelled:
		want := cmp.Or(e.Status, "an episode that ended by itself")
		s.check("status", false, "want %s, got %s, which never solves a task", want, s.o.Status)
	case e.Status == "" && s.o.Status == statusStopped:
		s.check("status", false, "want an episode that ended by itself, got %s%s, which solves a task only where it is expected", s.o.Status, because(s.o.StopReason))
	case e.Status != "":
		s.check("status", s.o.Status == e.Status, "want %s, got %s%s", e.Status, orNone(s.o.Status), because(s.o.StopReason))
	}
	if e.StopReason != "" {
		s.check("stop_reason", s.o.StopReason == e.StopReason, "want %s, got %s", e.StopReason, orNone(s.o.StopReason))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// foundNumbers lists numbers, a few at most.
type foundNumbers []decimal.Decimal

// String lists the numbers.
func (l foundNumbers) String() string {
	const most = 8
	if len(l) == 0 {
		return "no number"
	}
	out := make([]string, 0, most+1)
	for i, n := range l {
		if i == most {
			out = append(out, "…")
			break
		}
		out = append(out, clip.Bytes(n.String(), 30))
	}
	return strings.Join(out, ", ")
}

func (s *scorer) has(text string) bool   { return strings.Contains(s.folded, answer.Fold(text)) }
func (s *scorer) lacks(text string) bool { return !s.has(text) }

func (s *scorer) containsAny(e *Expect) {
	if len(e.ContainsAny) > 0 {
		s.check("answer_contains_any", slices.ContainsFunc(e.ContainsAny, s.has), "want any of %s, got %s", quotedList(e.ContainsAny), s.quoted())
	}
}

func (s *scorer) containsAll(e *Expect) {
	if len(e.ContainsAll) > 0 {
		missing := keep(e.ContainsAll, s.lacks)
		s.check("answer_contains_all", len(missing) == 0, "want %s, got %s", quotedList(missing), s.quoted())
	}
}

func (s *scorer) notContains(e *Expect) {
	if len(e.NotContains) > 0 {
		present := keep(e.NotContains, s.has)
		s.check("answer_not_contains", len(present) == 0, "want none of %s, got %s", quotedList(present), s.quoted())
	}
}

func keep[T any](list []T, f func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(v T) bool { return !f(v) })
}

// quotedList writes texts in quotes.
type quotedList []string

// String writes the list.
func (l quotedList) String() string {
	out := make([]string, len(l))
	for i, s := range l {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}

// quotedText writes an answer in quotes and bounds: it is untrusted text.
type quotedText string

// String writes the text.
func (t quotedText) String() string {
	if t == "" {
		return "no answer"
	}
	return strconv.Quote(clip.Bytes(string(t), 160))
}

func (s *scorer) quoted() quotedText { return quotedText(s.o.Answer) }

func (s *scorer) caps(e *Expect) {
	for _, c := range capsOf {
		if limit := *c.of(e); limit != nil {
			found := c.count(s.o)
			s.check(c.check, found <= *limit, "want at most %d %s, got %d", *limit, c.what, found)
		}
	}
}

func (s *scorer) signals(e *Expect) {
	for _, name := range slices.Sorted(maps.Keys(e.Signals)) {
		text := e.Signals[name]
		holds, err := parseCondition(name, text)
		if err != nil {
			s.broken("signal."+name, err)
			continue
		}
		passed, found := holds(s.o)
		s.check("signal."+name, passed, "want %s, got %s", text, found)
	}
}

// scoreFails scores a task that proves the scoring: it is solved if its script
// fails the named checks, and no others, of the accepted outcome that it fails
// least.
func scoreFails(t Task, o Outcome) (solved bool, checks []CheckResult) {
	want := slices.Sorted(slices.Values(t.Fails))
	t.Fails = nil
	met, checks := Score(t, o)
	var failed []string
	for _, c := range checks {
		if !c.Passed {
			failed = append(failed, c.Name)
		}
	}
	slices.Sort(failed)
	c := CheckResult{Name: "fails", Passed: !met && slices.Equal(want, failed)}
	if !c.Passed {
		c.Detail = fmt.Sprintf("want exactly these checks to fail: %s; failed: %s", strings.Join(want, ", "), orNone(strings.Join(failed, ", ")))
	}
	return c.Passed, []CheckResult{c}
}
