package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
)

func named(name string, verdict stat.Verdict, failed ...string) model.Candidate {
	c := model.Candidate{Verdict: verdict, Sentence: "meets all 2 criteria."}
	c.Name, c.Simulated = name, true
	for _, title := range failed {
		c.Criteria = append(c.Criteria, model.Criterion{Title: title, Verdict: stat.Fail})
	}
	return c
}

func TestOpening(t *testing.T) {
	r := model.Report{Run: manifest.Manifest{Mode: "replay", SuitePath: "builtin:counts", SuiteDigest: "eeb917a1b34866172ce8", Simulated: true}}
	r.Candidates = []model.Candidate{named("strong", stat.Pass), named("weak", stat.Fail, "Tasks solved", "Valid outputs"), named("erratic", stat.Fail, "Tasks solved", "Valid outputs"), named("mid", stat.Inconclusive)}
	r.Candidates[0].CostKnown = 1_430_000_000
	require.Equal(t, Opening{
		Standings: "strong passes. mid is inconclusive. weak and erratic fail tasks solved and valid outputs.", AllMet: "strong meets all 2 criteria.",
		When: "Replay of recorded cassettes · $1.43 when recorded · suite revision eeb917a1b348", Command: "cupel run --suite counts", AllSimulated: true,
	}, OpeningOf(r))

	for _, test := range []struct {
		days manifest.Days
		want string
	}{
		{manifest.Days{First: "2026-11-22", Last: "2026-11-22"}, "Replay of cassettes recorded on 22 Nov 2026 · "},
		{manifest.Days{First: "2026-10-01", Last: "2026-11-22"}, "Replay of cassettes recorded from 1 Oct 2026 to 22 Nov 2026 · "},
		{manifest.Days{First: "<b>", Last: "<b>"}, "Replay of cassettes recorded on <b> · "}, // the renderer escapes it
	} {
		r.Run.Recorded = test.days
		require.Contains(t, OpeningOf(r).When, test.want)
	}

	r.Run.Recorded = manifest.Days{}
	r.Run.Mode, r.Run.Started, r.Run.SuitePath, r.Run.Trials, r.Run.SuiteDigest = "record", "2026-11-22T14:41:00+01:00", "my suites/it's", 3, ""
	r.Candidates = r.Candidates[:1]
	r.Candidates[0].Unpriced, r.Candidates[0].Simulated = 2, false
	require.Equal(t, Opening{
		AllMet: "strong meets all 2 criteria.", When: "Recorded 22 Nov 2026, 13:41 UTC · at least $1.43", Command: `cupel run --suite 'my suites/it'\''s' --mode record --trials 3`,
	}, OpeningOf(r))
}

func TestManyNamesInStandings(t *testing.T) {
	var r model.Report
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		r.Candidates = append(r.Candidates, named(name, stat.Pass))
	}
	require.Equal(t, "a, b, c, d, e, f and 2 more pass.", standings(r))
}

func TestReasons(t *testing.T) {
	value := 0.58
	j := Judgement{Verdict: stat.Fail, Criteria: []model.Criterion{
		{Title: "Tasks solved", Kind: "share", Value: &value, Threshold: 0.8, AtLeast: true, Verdict: stat.Fail}, {Title: "Valid outputs", Kind: "share", Threshold: 0.95, AtLeast: true, Verdict: stat.Fail}, {Verdict: stat.Pass},
	}}
	j.Sentence = model.SentenceOf(j.Criteria)
	require.Equal(t, []string{"Fails: tasks solved 58.0% (needs ≥ 80%)", "Fails: valid outputs no data (needs ≥ 95%)"}, j.Reasons())
	j.Sentence = "has no verdict: lost."
	require.Equal(t, []string{"Has no verdict: lost."}, j.Reasons(), "episodes without a result decided")
}

func TestCauses(t *testing.T) {
	for signature, want := range map[string]string{
		"trajectory: ended as clarify, not answered, no tool called":           "Asked a question instead of answering, no tool called",
		"trajectory: ended as answered, not answered_after_clarify":            "Answered instead of asking first",
		"trajectory: other arguments of get_counts, wrong answer":              "Called get_counts with wrong arguments, wrong answer",
		"trajectory: no tool called, wrong answer":                             "Called no tool, wrong answer",
		"trajectory: stopped: thrash of extract":                               "Stopped for repeating calls of extract",
		"budget: max_steps of the task, after error E_BAD_RANGE of get_counts": "Took more steps than the task allows, after error E_BAD_RANGE from get_counts",
		"tool handling: rejected E_ARGS of list_orders, blamed the input":      "Call of list_orders rejected (E_ARGS), then rejected the request",
		"answer: answer_only_numbers: number that must not be there":           "Forbidden number in the answer",
		"contract: a step was not finished (step.schema)":                      "A step was not finished (step.schema)",
		"infrastructure: overloaded":                                           "Overloaded",
	} {
		kind, _, _ := cutKind(signature)
		require.Equal(t, want, Cause(model.Cluster{Cause: failure.Cause{Kind: kind, Signature: signature}}))
	}
}

func cutKind(signature string) (failure.Kind, string, bool) {
	for _, k := range failure.Kinds() {
		if len(signature) > len(k) && signature[:len(k)] == string(k) {
			return k, signature[len(k):], true
		}
	}
	return "", signature, false
}

func TestExpectation(t *testing.T) {
	for in, want := range map[string][3]string{
		"status: want answered, got clarify":                {"status", "answered", "clarify"},
		`answer_numbers: want 231, found 456 in "x, got 4"`: {"answer_numbers", "231", `456 in "x, got 4"`},
		`trajectory.required: missing: a{"n":1}; got b{}`:   {"trajectory.required", `a{"n":1}`, "b{}"},
		"own: is wrong": {"own", "", "is wrong"},
		"stopped":       {"", "", "stopped"},
	} {
		check, expected, actual := expectation(in)
		require.Equal(t, want, [3]string{check, expected, actual}, in)
	}
}
