package goldens

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

func limit(n int) *int { return &n }

func called(name, args string, outcome tool.Outcome) Called {
	return Called{Call: tool.Call{Name: name, Args: []byte(args)}, Outcome: outcome}
}

func deduped(name, args string) Called {
	c := called(name, args, tool.OK)
	c.Deduped = true
	return c
}

// scoreOf scores an outcome against one expectation: the failed checks, each
// as "name: detail".
func scoreOf(t *testing.T, e Expect, o Outcome) []string {
	t.Helper()
	solved, checks := Score(Task{Expect: []Expect{e}, World: world.Spec{Now: time.Date(2026, 5, 13, 0, 0, 0, 0, time.UTC)}}, o)
	var failed []string
	for _, c := range checks {
		require.Equal(t, c.Passed, c.Detail == "", "%s: a detail exactly when it failed", c.Name)
		require.NotContains(t, c.Detail, "\n")
		require.NotContains(t, c.Detail, "%!", "a format went wrong")
		if !c.Passed {
			failed = append(failed, c.Name+": "+c.Detail)
		}
	}
	require.Equal(t, len(failed) == 0, solved)
	return failed
}

func TestScoreChecks(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Expect
		o    Outcome
		want []string // nil: solved
	}{
		{"status", Expect{Status: "answered"}, Outcome{Status: "answered"}, nil},
		{"other status", Expect{Status: "answered"}, Outcome{Status: "stopped", StopReason: "thrash"}, []string{"status: want answered, got stopped (thrash)"}},
		{"error never solves", Expect{Status: "error"}, Outcome{Status: "error"}, []string{"status: want error, got error, which never solves a task"}},
		{"a stop solves only where it is expected", Expect{Numbers: []string{"1"}}, Outcome{Status: "stopped", StopReason: "max_steps", Answer: "1"}, []string{"status: want an episode that ended by itself, got stopped (max_steps), which solves a task only where it is expected"}},
		{"cancelled never solves", Expect{Numbers: []string{"1"}}, Outcome{Status: "cancelled", Answer: "1"}, []string{"status: want an episode that ended by itself, got cancelled, which never solves a task"}},
		{"nothing to check", Expect{Note: "x"}, Outcome{Status: "answered"}, []string{"expect: the accepted outcome checks nothing"}},
		{"stop reason", Expect{StopReason: "stall"}, Outcome{Status: "answered"}, []string{"stop_reason: want stall, got none"}},
		{"numbers", Expect{Numbers: []string{"1234567", "25.0"}}, Outcome{Answer: "1,234,567 (25%)"}, nil},
		{"missing number", Expect{Numbers: []string{"449", "7"}}, Outcome{Answer: "On 2026-05-07: 1 of 449\n"}, []string{`answer_numbers: want 7, found 1, 449 in "On 2026-05-07: 1 of 449\n"`}},
		{"no number", Expect{Numbers: []string{"0"}}, Outcome{}, []string{"answer_numbers: want 0, found no number in no answer"}},
		{"many numbers", Expect{Numbers: []string{"0"}}, Outcome{Answer: "1 2 3 4 5 6 7 8 9"}, []string{`answer_numbers: want 0, found 1, 2, 3, 4, 5, 6, 7, 8, … in "1 2 3 4 5 6 7 8 9"`}},
		{"broken number", Expect{Numbers: []string{"1,2"}}, Outcome{Answer: "1.2"}, []string{`answer_numbers: the expectation is broken: numbers[0]: "1,2" is not a number`}},
		{"not numbers", Expect{NotNumbers: []string{"1495", "2"}}, Outcome{Answer: "14950, 1,494.5 and 1"}, nil},
		{"a number it must not have", Expect{NotNumbers: []string{"2", "1495"}}, Outcome{Answer: "1,495 messages"}, []string{`answer_not_numbers: want none of 1495, got "1,495 messages"`}},
		{"in other digits", Expect{NotNumbers: []string{"1495"}}, Outcome{Answer: "共１４９５条"}, []string{`answer_not_numbers: want none of 1495, got "共１４９５条"`}},
		{"a date is not a number", Expect{NotNumbers: []string{"13"}}, Outcome{Answer: "On 2026-05-13: 4"}, nil},
		{"broken not numbers", Expect{NotNumbers: []string{"x"}}, Outcome{}, []string{`answer_not_numbers: the expectation is broken: not_numbers[0]: "x" is not a number`}},
		{"only numbers", Expect{OnlyNumbers: []string{"41", "12"}}, Outcome{Answer: "41.0 on May 13, at 10:30; 41 again"}, nil},
		{"another number", Expect{OnlyNumbers: []string{"41", "12"}}, Outcome{Answer: "41 of 7"}, []string{`answer_only_numbers: want no number but 41, 12, found 7 in "41 of 7"`}},
		{"no number at all", Expect{OnlyNumbers: []string{}}, Outcome{Answer: "None on 2026-05-13."}, nil},
		{"no number at all, but one", Expect{OnlyNumbers: []string{}}, Outcome{Answer: "None, 0."}, []string{`answer_only_numbers: want no number but those of dates, found 0 in "None, 0."`}},
		{"broken only numbers", Expect{OnlyNumbers: []string{"x"}}, Outcome{}, []string{`answer_only_numbers: the expectation is broken: only_numbers[0]: "x" is not a number`}},
		{"matches", Expect{Matches: []string{`(?i)\bdone\b`, "^I"}}, Outcome{Answer: "It is DONE."}, nil},
		{"matches one of two", Expect{Matches: []string{`\bdone\b`, "^I"}}, Outcome{Answer: "It is DONE."}, []string{`answer_matches: want a match of "\\bdone\\b", got "It is DONE."`}},
		{"not matches", Expect{NotMatches: []string{`\bdone\b`, "x$"}}, Outcome{Answer: "abandoned"}, nil},
		{"a match it must not have", Expect{NotMatches: []string{`x`, "a..n"}}, Outcome{Answer: "abandoned"}, []string{`answer_not_matches: want no match of "a..n", got "abandoned"`}},
		{"broken expression", Expect{NotMatches: []string{`(`}}, Outcome{}, []string{"answer_not_matches: the expectation is broken: not_matches[0]: is not a regular expression of RE2: error parsing regexp: missing closing ): `(`"}},
		{"contains any", Expect{ContainsAny: []string{"x", "hasn't"}}, Outcome{Answer: "It HASN’T come."}, nil},
		{"contains none of any", Expect{ContainsAny: []string{"x", "y"}}, Outcome{Answer: "z"}, []string{`answer_contains_any: want any of "x", "y", got "z"`}},
		{"contains all", Expect{ContainsAll: []string{"a b", "c"}}, Outcome{Answer: "C, A\u00a0B"}, nil},
		{"contains not all", Expect{ContainsAll: []string{"a", "b", "c"}}, Outcome{Answer: "A"}, []string{`answer_contains_all: want "b", "c", got "A"`}},
		{"not contains", Expect{NotContains: []string{"PWNED", " 0 "}}, Outcome{Answer: "is 0."}, nil},
		{"contains what it must not", Expect{NotContains: []string{"PWNED", "x"}}, Outcome{Answer: "pwned"}, []string{`answer_not_contains: want none of "PWNED", got "pwned"`}},
		{"clarifies", Expect{MaxClarifies: limit(1)}, Outcome{Clarifies: 2}, []string{"max_clarifies: want at most 1 clarifying questions, got 2"}},
		{"clarifies at the limit", Expect{MaxClarifies: limit(0)}, Outcome{}, nil},
		{"steps", Expect{MaxSteps: limit(2)}, Outcome{Steps: 3}, []string{"max_steps: want at most 2 steps, got 3"}},
		{
			"tool calls are executed ones", Expect{MaxToolCalls: limit(1)},
			Outcome{Calls: []Called{called("f", "{}", tool.Timeout), called("f", "{}", tool.Rejected), deduped("f", "{}")}}, nil,
		},
		{
			"too many tool calls", Expect{MaxToolCalls: limit(0)},
			Outcome{Calls: []Called{called("f", "{}", tool.Error)}}, []string{"max_tool_calls: want at most 0 executed tool calls, got 1"},
		},
		{
			"signals in order of name", Expect{Signals: map[string]string{"thrash": "true", "model_calls": ">=5", "stall": "maybe", "thrush": "1"}},
			Outcome{ModelCalls: 4}, []string{
				"signal.model_calls: want >=5, got 4",
				`signal.stall: the expectation is broken: signals.stall: must be true or false, but is "maybe"`,
				"signal.thrash: want true, got false",
				"signal.thrush: the expectation is broken: signals.thrush: unknown signal; allowed: " + strings.Join(signalNames(), ", "),
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, scoreOf(t, c.e, c.o)) })
	}
}

func TestScoreTrajectory(t *testing.T) {
	a, b, c := CallMatch{Tool: "a"}, CallMatch{Tool: "b", Args: map[string]any{"n": 1}}, CallMatch{Tool: "c"}
	madeA, madeB, madeC := called("a", "{}", tool.OK), called("b", `{"n":1.0}`, tool.OK), called("c", "{}", tool.Error)
	for _, x := range []struct {
		name  string
		order Order
		want  []CallMatch
		calls []Called
		fails []string
	}{
		{"any order", AnyOrder, []CallMatch{a, b}, []Called{madeC, madeB, madeA}, nil},
		{"any order is the default", "", []CallMatch{a, b}, []Called{madeB, madeA}, nil},
		{"any order, one missing", "", []CallMatch{a, b}, []Called{madeA, called("b", `{"n":2}`, tool.OK)}, []string{`trajectory.required: missing: b{"n":1}; got a{}, b{"n":2}`}},
		{"asked twice, made once", "", []CallMatch{a, a}, []Called{madeA}, []string{"trajectory.required: missing: a; got a{}"}},
		{"nothing made", "", []CallMatch{a}, nil, []string{"trajectory.required: missing: a; got none"}},
		{"cached counts as made", "", []CallMatch{a}, []Called{deduped("a", "{}")}, nil},
		{"failed counts as made", "", []CallMatch{c}, []Called{madeC}, nil},
		{"rejected does not", "", []CallMatch{a}, []Called{called("a", "{}", tool.Rejected)}, []string{"trajectory.required: missing: a; got none"}},
		{"in order", InOrder, []CallMatch{a, b}, []Called{madeC, madeA, madeC, madeB}, nil},
		{"in order, swapped", InOrder, []CallMatch{a, b}, []Called{madeB, madeA}, []string{`trajectory.order: missing or out of place: a; got b{"n":1.0}, a{}`}},
		{"strict", Strict, []CallMatch{a, b}, []Called{madeA, madeB}, nil},
		{"strict ignores rejected and cached calls", Strict, []CallMatch{a, b}, []Called{madeA, called("b", `{}`, tool.Rejected), deduped("a", "{}"), madeB}, nil},
		{"strict, one too many", Strict, []CallMatch{a, b}, []Called{madeA, madeC, madeB}, []string{`trajectory.order: missing or out of place: none; too much: c{}; got a{}, c{}, b{"n":1.0}`}},
		{"strict, a retry is too many", Strict, []CallMatch{a}, []Called{called("a", "{}", tool.Timeout), madeA}, []string{"trajectory.order: missing or out of place: none; too much: a{}; got a{}, a{}"}},
		{"strict, swapped", Strict, []CallMatch{a, b}, []Called{madeB, madeA}, []string{`trajectory.order: missing or out of place: a; too much: a{}; got b{"n":1.0}, a{}`}},
		{"strict, none wanted", Strict, nil, []Called{madeA}, []string{"trajectory.order: missing or out of place: none; too much: a{}; got a{}"}},
		{"subset, none made", Subset, []CallMatch{a, b}, nil, nil},
		{"subset", Subset, []CallMatch{a, b}, []Called{madeB}, nil},
		{"subset, other call", Subset, []CallMatch{a, b}, []Called{madeB, madeC}, []string{`trajectory.order: too much: c{}; got b{"n":1.0}, c{}`}},
		{"subset, twice", Subset, []CallMatch{a}, []Called{madeA, madeA}, []string{"trajectory.order: too much: a{}; got a{}, a{}"}},
		{"unknown order", "sorted", []CallMatch{a}, []Called{madeA}, []string{`trajectory.order: the expectation is broken: unknown order "sorted"`}},
		{"executed is for forbidden calls", "", []CallMatch{{Tool: "a", Executed: true}}, []Called{madeA}, []string{"trajectory.required: the expectation is broken: trajectory.required[0]: executed: only a forbidden call has it"}},
		{"broken match", "", []CallMatch{{Tool: "a", Args: map[string]any{"x": map[string]any{"$in": 1}}}}, nil, []string{"trajectory.required: the expectation is broken: trajectory.required[0]: args.x.$in: must be a list of at least one value"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			o := Outcome{Status: "answered", Calls: x.calls}
			e := Expect{Status: "answered", Trajectory: Trajectory{Order: x.order, Required: x.want}}
			require.Equal(t, x.fails, scoreOf(t, e, o))
		})
	}
}

// The first requirement takes any day, the second one day only. The model asked
// for that day first: pairing greedily would find the second one missing.
func TestScorePairsOverlappingMatchersOptimally(t *testing.T) {
	anyDay := CallMatch{Tool: "f", Args: map[string]any{"d": map[string]any{"$any": true}}}
	oneDay := CallMatch{Tool: "f", Args: map[string]any{"d": "mon"}}
	o := Outcome{Status: "answered", Calls: []Called{called("f", `{"d":"mon"}`, tool.OK), called("f", `{"d":"tue"}`, tool.OK)}}
	for _, order := range []Order{AnyOrder, Subset} {
		require.Empty(t, scoreOf(t, Expect{Status: "answered", Trajectory: Trajectory{Order: order, Required: []CallMatch{anyDay, oneDay}}}, o))
	}
}

// What is forbidden must not be asked for, whatever came of it; executed narrows that
// to what ran.
func TestScoreForbidden(t *testing.T) {
	for _, c := range []struct {
		name           string
		call           Called
		asked, matches bool // matches: of asked; of executed only
	}{
		{"other call", called("c", "{}", tool.OK), false, false},
		{"other arguments", called("b", `{"n":2}`, tool.OK), false, false},
		{"other arguments, rejected", called("b", `{"n":2}`, tool.Rejected), false, false},
		{"arguments that are not JSON", called("b", `{`, tool.Rejected), false, false},
		{"rejected", called("a", "{}", tool.Rejected), true, false},
		{"rejected arguments that match", called("b", `{"n":1.0}`, tool.Rejected), true, false},
		{"made", called("b", `{"n":1}`, tool.OK), true, true},
		{"failed", called("a", "{}", tool.Error), true, true},
		{"timed out", called("a", "{}", tool.Timeout), true, true},
		{"from cache", deduped("a", "{}"), true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, executed := range []bool{false, true} {
				e := Expect{Status: "answered", Trajectory: Trajectory{Forbidden: []CallMatch{
					{Tool: "a", Executed: executed}, {Tool: "b", Args: map[string]any{"n": 1}, Executed: executed},
				}}}
				failed := scoreOf(t, e, Outcome{Status: "answered", Calls: []Called{c.call}})
				require.Equal(t, !executed && c.asked || c.matches, len(failed) == 1, "executed %v: %s", executed, failed)
			}
		})
	}
}

// A turn that could not be acted on asked for its call, too.
func TestScoreForbiddenSeesWhatNoToolAnswersTo(t *testing.T) {
	e := Expect{Status: "answered", Trajectory: Trajectory{Forbidden: []CallMatch{{Tool: "delete_all", Args: map[string]any{"sure": true}}}}}
	for args, want := range map[string][]string{
		`{"sure":true}`:  {`trajectory.forbidden: want no delete_all{"sure":true}, got delete_all{"sure":true}`},
		`{"sure":false}`: nil,
		`{"sure":`:       nil,
		``:               nil,
	} {
		require.Equal(t, want, scoreOf(t, e, Outcome{Status: "answered", Asked: []tool.Call{{Name: "delete_all", Args: []byte(args)}}}), args)
	}
	e.Trajectory.Forbidden[0].Executed = true
	require.Empty(t, scoreOf(t, e, Outcome{Status: "answered", Asked: []tool.Call{{Name: "delete_all", Args: []byte(`{"sure":true}`)}}}))
}

func TestScorePicksTheOutcomeThatFailedFewest(t *testing.T) {
	two := Expect{Status: "clarify", MaxSteps: limit(1)}
	one := Expect{Status: "answered", MaxSteps: limit(1)}
	alsoOne := Expect{Status: "answered", Numbers: []string{"7"}}
	met := Expect{Status: "answered"}
	o := Outcome{Status: "answered", Steps: 2}
	score := func(e ...Expect) (bool, []CheckResult) { return Score(Task{Expect: e}, o) }

	solved, checks := score()
	require.False(t, solved)
	require.Equal(t, []CheckResult{{Name: "expect", Detail: "the task lists no accepted outcome"}}, checks)

	solved, checks = score(two, one, alsoOne)
	require.False(t, solved)
	require.Equal(t, []CheckResult{{Name: "status", Passed: true}, {Name: "max_steps", Detail: "want at most 1 steps, got 2"}}, checks)

	solved, checks = score(two, one, met)
	require.True(t, solved)
	require.Equal(t, []CheckResult{{Name: "status", Passed: true}}, checks)
}

func TestScoreTable(t *testing.T) {
	world := world.Spec{
		Now:   time.Date(2026, 5, 13, 23, 59, 59, 0, time.UTC),
		State: []byte(`{"counts":{"2026-05-13":{"praise":749},"2026-05-14":{"praise":1208}}}`),
	}
	today := func(start, end string) Called {
		c := called("today_range", "{}", tool.OK)
		c.Result = []byte(`{"start_date":"` + start + `","end_date":"` + end + `"}`)
		return c
	}
	broken := today("x", "")
	broken.Result = []byte("[")
	may13, may14, may15 := today("2026-05-13", "2026-05-13"), today("2026-05-14", "2026-05-14"), today("2026-05-15", "2026-05-15")
	for _, c := range []struct {
		name, answer string
		calls        []Called
		want         string
	}{
		{"iso", "On 2026-05-13: 749.", []Called{may13}, ""},
		{"words", "749 praise on May 13, 2026", []Called{may13}, ""},
		{"day first, no year", "749 on 13 May", []Called{may13}, ""},
		{"the next day", "May 14, 1208 messages", []Called{may13, may14}, ""},
		{"range over midnight", "May 14: 1,208", []Called{today("2026-05-13", "2026-05-14")}, ""},
		{"other day's count", "May 14: 749", []Called{may13, may14}, `want 2026-05-13 with praise 749 or 2026-05-14 with praise 1208, got "May 14: 749"`},
		{"no date named", "749", []Called{may13}, `want 2026-05-13 with praise 749, got "749"`},
		{"wrong year", "2025-05-13: 749", []Called{may13}, `want 2026-05-13 with praise 749, got "2025-05-13: 749"`},
		{"a day never returned", "May 14: 1208", []Called{may13}, `want 2026-05-13 with praise 749, got "May 14: 1208"`},
		{"no data is not zero", "May 15: 0", []Called{may15}, `want 2026-05-15 (no count in the world), got "May 15: 0"`},
		{"never asked", "May 13: 749", nil, "want a date from a call's start_date and end_date, but none returned one"},
		{"broken result", "May 13: 749", []Called{broken}, "want a date from a call's start_date and end_date, but none returned one"},
		{"failed call", "May 13: 749", []Called{called("today_range", "{}", tool.Timeout)}, "want a date from a call's start_date and end_date, but none returned one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			solved, checks := Score(Task{World: world, Expect: []Expect{{TableLabel: "praise"}}}, Outcome{Answer: c.answer, Calls: c.calls})
			require.Equal(t, []CheckResult{{Name: "answer_table", Passed: c.want == "", Detail: c.want}}, checks)
			require.Equal(t, c.want == "", solved)
		})
	}
}

func TestScoreDetailsAreBounded(t *testing.T) {
	long := strings.Repeat("愤", 50_000)
	var calls []Called
	for range 100 {
		calls = append(calls, called(long, `{"a":"`+long+"\n\"}", tool.OK))
	}
	e := Expect{Status: "answered", Numbers: []string{"1"}, ContainsAny: []string{"x"}, Trajectory: Trajectory{Order: Strict}}
	for _, failed := range scoreOf(t, e, Outcome{Status: "answered", Answer: long, Calls: calls}) {
		require.Less(t, len(failed), 3000)
	}
}

func TestValidate(t *testing.T) {
	e := Expect{
		Numbers: []string{"1", "one"},
		Trajectory: Trajectory{
			Order:     "sorted",
			Required:  []CallMatch{{Tool: "f", Args: map[string]any{"label": map[string]any{"$regex": "("}}}},
			Forbidden: []CallMatch{{Tool: "ok"}, {}},
		},
		Signals: map[string]string{"thrash": "1", "violations": ">=2"},
	}
	err := e.Validate()
	require.EqualError(t, err, `numbers[1]: "one" is not a number
trajectory.order: "sorted" is not an order; use strict, in_order, any_order or subset
trajectory.required[0]: args.label.$regex: error parsing regexp: missing closing ): `+"`(`"+`
trajectory.forbidden[1]: tool: must not be empty
signals.thrash: must be true or false, but is "1"`)
	require.NoError(t, Expect{}.Validate())
}

// Floor: the regular expressions of dates whose marks the answer has, three of nine
// here and most of the time; answers without a date need none.
func BenchmarkScore(b *testing.B) {
	args := `{"start_date":"2026-05-13","end_date":"2026-05-13","label":"angry"}`
	task := Task{World: world.Spec{Now: time.Date(2026, 5, 13, 0, 0, 0, 0, time.UTC)}, Expect: []Expect{{
		Status: "answered", Numbers: []string{"449"}, MaxClarifies: limit(0), MaxSteps: limit(3), MaxToolCalls: limit(2),
		Trajectory: Trajectory{Order: Strict, Required: []CallMatch{
			{Tool: "today_range", Args: map[string]any{}},
			{Tool: "get_counts", Args: map[string]any{"start_date": "2026-05-13", "end_date": "2026-05-13", "label": "angry"}},
		}},
	}}}
	o := Outcome{
		Status: "answered", Steps: 3, Answer: "There were 449 angry messages today (May 13, 2026), up from 412 the day before.",
		Calls: []Called{called("today_range", "{}", tool.OK), called("get_counts", args, tool.OK)},
	}
	b.ReportAllocs()
	for b.Loop() {
		if solved, checks := Score(task, o); !solved {
			b.Fatal(checks)
		}
	}
}
