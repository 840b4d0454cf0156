package reporttest

import (
	"fmt"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// ComparisonFixture has one of everything that a comparison can show: a pair that
// regressed and one of two names that passed.
func ComparisonFixture() compare.Comparison {
	share := func(low, high float64) *stat.Interval { return &stat.Interval{Low: low, High: high} }
	expired := &compare.KnownFlaky{Task: "G09", Owner: "bo", Expires: "2026-01-31", Expired: true}
	unexpired := &compare.KnownFlaky{Task: "G07", Candidate: "strong", Owner: "ann@example.org", Expires: "2026-12-31", Reason: "clock skew, issue 12"}
	return compare.Comparison{
		Format: 3, Verdict: stat.Fail, Headline: "Regression: 15.6 points fewer tasks solved (strong)",
		Baseline: compare.Side{RunID: "01JX0000000000000000000001", Suite: "counts", Mode: "replay", Status: "complete", CodeVersion: "v1.2.0", Trials: 3, Simulated: true},
		Pooled: []compare.Side{
			{RunID: "01JX0000000000000000000003", Suite: "counts", Mode: "replay", Status: "complete", CodeVersion: "v1.2.0", Trials: 3, Simulated: true},
			{RunID: "01JX0000000000000000000004", Suite: "counts", Mode: "record", Status: "complete", Started: "2026-06-01T02:17:00Z", CodeVersion: "v1.2.0", Trials: 5, Simulated: true},
		},
		New: compare.Side{RunID: "01JX0000000000000000000002", Suite: "counts", Mode: "record", Status: "partial", Started: "2026-06-02T02:17:00Z", CodeVersion: "v1.3.0", Trials: 3, Simulated: true},
		Differences: []compare.Difference{
			{What: "prompt", Where: "strong", Baseline: "seed", New: "schema"},
			{What: "checks", Where: "G01, G02", Baseline: "as it was", New: "changed", Misleads: true},
			{What: "code", Baseline: "v1.2.0", New: "v1.3.0"},
		},
		Rules: compare.Rules{Alpha: 0.05, MaxDrop: 0.05, MaxInvalid: 0.02, MaxCost: 0.1, Detectable: 0.1, OnUnclear: compare.OnUnclearPass, Changed: compare.Keep, Flaky: []compare.KnownFlaky{*unexpired, *expired}, Today: time.Date(2026, 6, 2, 0, 0, 0, 0, time.UTC)},
		Pairs: []compare.Pair{
			{
				Labels:   compare.Names{Baseline: "baseline", New: "new"},
				Baseline: manifest.Candidate{Name: "strong", Provider: "sim-openai", Model: "sim-strong", Simulated: true},
				New:      manifest.Candidate{Name: "strong", Provider: "sim-openai", Model: "sim-strong", Simulated: true},
				Verdict:  stat.Fail, Sentence: "The new run solves 80% of its episodes in 45 tasks, the baseline 95.6%: −15.6 points (95% CI −22.1 to −9.0). The loss is significant (adjusted p < 0.0001).",
				Metrics: []compare.Metric{
					{Name: "solved", Title: "Solved tasks", Unit: "share", HigherIsBetter: true, Gates: true, Baseline: new(0.956), New: new(0.8), Effect: new(-0.156), Interval: share(-0.221, -0.09), N: 135, Clusters: 45, P: new(0.00001), Adjusted: new(0.00003), Margin: new(0.05), Test: "paired permutation by task", Verdict: stat.Fail, Power: "A loss of 6 points would have been detected."},
					{Name: "contract_valid", Title: "Contract-valid outputs", Unit: "share", HigherIsBetter: true, Gates: true, Baseline: new(0.99), New: new(0.985), Effect: new(-0.005), Interval: share(-0.03, 0.02), N: 400, Clusters: 45, P: new(0.31), Adjusted: new(0.62), Margin: new(0.02), Test: "cluster t", Verdict: stat.Inconclusive, Power: "Twice the trials would tell.", Note: "2 turns without a reply left out."},
					{Name: "cost", Title: "Cost an episode", Unit: "nano-USD", Gates: true, Baseline: new(2.1e6), New: new(2.1e6), Effect: new(0.0), Interval: share(-1e5, 2e6), N: 135, Clusters: 45, P: new(0.5), Adjusted: new(0.62), Margin: new(2.1e5), Test: "cluster t", Verdict: stat.Pass},
					{Name: "latency", Title: "Time an episode", Unit: "us", Baseline: new(4.2e6), New: new(5.1e6), Effect: new(0.9e6), Interval: share(0.7e6, 1.1e6), N: 135, Clusters: 45, P: new(0.001), Adjusted: new(0.005), Test: "Wilcoxon", Verdict: stat.NotJudged},
					{Name: "tokens", Title: "Tokens an episode", Unit: "tokens", Baseline: new(12345.6), Effect: nil, Verdict: stat.NotJudged, Note: "unknown in the new run."},
					{Name: "steps", Title: "Steps a solved episode", Unit: "steps", Baseline: new(3.25), New: new(3.5), Effect: new(0.25), N: 4, Clusters: 1, Test: "none", Verdict: stat.NotJudged},
				},
				Tasks: fixtureTasks(expired, unexpired),
				FailureChanges: []compare.FailureChange{
					{Kind: failure.Contract, Baseline: 1, New: 2, BaselineOf: 135, NewOf: 135, P: new(0.5), Adjusted: new(0.7)},
					{Kind: failure.Answer, BaselineOf: 135, NewOf: 135},
					{Kind: failure.Budget, Baseline: 2, New: 20, BaselineOf: 135, NewOf: 135, P: new(0.0002), Adjusted: new(0.0014), Changed: true},
				},
				Episodes: 135, NewOnly: 3, WithoutResult: 1, Known: 3,
			},
			{
				Labels:   compare.Names{Baseline: "baseline", New: "new"},
				Baseline: manifest.Candidate{Name: "weak"}, New: manifest.Candidate{Name: "weak-2"}, Verdict: stat.Pass, Sentence: "The new run solves 52% of its episodes in 45 tasks, the baseline 50%: +2.0 points (95% CI −1.0 to +5.0). Ruled out: a loss of 0.4 points or more of solved episodes.",
				Metrics: []compare.Metric{{Name: "solved", Title: "Solved tasks", Unit: "share", HigherIsBetter: true, Gates: true, Baseline: new(0.5), New: new(0.52), Effect: new(0.02), Interval: share(-0.01, 0.05), N: 135, Clusters: 45, P: new(0.8), Adjusted: new(0.8), Margin: new(0.05), Verdict: stat.Pass}},
				Tasks:   []compare.Task{{ID: "G02", Baseline: stat.Trials{N: 1}, New: stat.Trials{Passed: 1, N: 1}, Class: flake.Unclear}, {ID: "G03", Baseline: stat.Trials{Passed: 1, N: 1}, New: stat.Trials{N: 1}, Class: flake.Unclear}, {ID: "G01", Baseline: stat.Trials{Passed: 3, N: 3}, New: stat.Trials{Passed: 3, N: 3}, Class: flake.StablePass}}, Episodes: 135,
			},
			{
				Labels:   compare.Names{Baseline: "baseline", New: "new"},
				Baseline: manifest.Candidate{Name: "mid"}, New: manifest.Candidate{Name: "mid"}, Verdict: stat.NoRegression,
				Sentence: "The new run solves 88% of its episodes in 45 tasks, the baseline 90%: −2.0 points (95% CI −7.0 to +3.0). The test would have detected a loss of 10 points with 80% power, and found none; a loss of the margin (5 points) is not ruled out.",
				Metrics:  []compare.Metric{{Name: "solved", Title: "Solved tasks", Unit: "share", HigherIsBetter: true, Gates: true, Baseline: new(0.9), New: new(0.88), Effect: new(-0.02), Interval: share(-0.07, 0.03), N: 405, Clusters: 45, P: new(0.21), Adjusted: new(0.42), Margin: new(0.05), Detectable: new(0.071), Verdict: stat.NoRegression, Power: "A loss of 7.1 points would have been detected with 80% power."}},
				Tasks:    []compare.Task{{ID: "G01", Baseline: stat.Trials{Passed: 9, N: 9}, New: stat.Trials{Passed: 3, N: 3}, Class: flake.StablePass}}, Episodes: 405,
			},
		},
		Notes: []string{"Checks changed in 2 tasks, which were compared anyway."},
	}
}

// fixtureTasks are tasks of every class, some of them known to be flaky.
func fixtureTasks(expired, unexpired *compare.KnownFlaky) []compare.Task {
	return []compare.Task{
		{ID: "G01", Title: "One", Baseline: stat.Trials{Passed: 3, N: 3}, New: stat.Trials{Passed: 3, N: 3}, Class: flake.StablePass, P: 1, Adjusted: 1, Evidence: "3 of 3 on both sides"},
		{ID: "G04", Title: "Four", Baseline: stat.Trials{Passed: 3, N: 3}, New: stat.Trials{N: 3}, Class: flake.NewlyBroken, P: 0.05, Adjusted: 0.05, Evidence: "solved: baseline 3 of 3, new 0 of 3; significant (p 0.05)", Episodes: []compare.EpisodePair{
			{Trial: 1, BaselineID: "B1", NewID: "T1", BaselineEnded: "answered", NewEnded: "stopped: thrash", Turn: 3, What: "baseline calls get_counts, new answers"},
			{Trial: 2, BaselineID: "B2", NewID: "T2", BaselineEnded: "answered", NewEnded: "answered"},
		}},
		{ID: "G05", Baseline: stat.Trials{N: 3}, New: stat.Trials{Passed: 3, N: 3}, Class: flake.NewlyFixed, P: 0.05, Adjusted: 0.05, Evidence: "solved: baseline 0 of 3, new 3 of 3; significant (p 0.05)"},
		{ID: "G06", Baseline: stat.Trials{Passed: 1, N: 3}, New: stat.Trials{Passed: 2, N: 3}, Class: flake.Flaky, P: 0.5, Adjusted: 1, Evidence: "solved: baseline 1 of 3, new 2 of 3; both outcomes on one side"},
		{ID: "G07", Baseline: stat.Trials{Passed: 3, N: 3}, New: stat.Trials{N: 3}, Class: flake.NewlyBroken, P: 0.05, Adjusted: 0.05, Evidence: "solved: baseline 3 of 3, new 0 of 3; significant", Known: unexpired},
		{ID: "G08", Baseline: stat.Trials{N: 3}, New: stat.Trials{N: 3}, Class: flake.StableFail, P: 1, Adjusted: 1, Evidence: "0 of 3 on both sides"},
		{ID: "G09", Baseline: stat.Trials{Passed: 3, N: 3}, New: stat.Trials{N: 3}, Class: flake.NewlyBroken, P: 0.05, Adjusted: 0.05, Evidence: "solved: baseline 3 of 3, new 0 of 3; significant", Known: expired},
		{ID: "G10", Baseline: stat.Trials{Passed: 1, N: 1}, Class: flake.Unknown, P: 1, Adjusted: 1, Evidence: "no trial in the new run"},
	}
}

// OneRunFixture compares two candidates of one run.
func OneRunFixture() compare.Comparison {
	c := ComparisonFixture()
	c.OneRun, c.Baseline, c.Pooled = true, c.New, nil
	c.Headline = "Regression: 15.6 points fewer tasks solved"
	c.Pairs = c.Pairs[:1]
	p := &c.Pairs[0]
	p.Labels, p.New.Name, p.Sentence = compare.Names{Baseline: "strong", New: "weak"}, "weak", "weak solves 80% of its episodes in 45 tasks, strong 95.6%: −15.6 points (95% CI −22.1 to −9.0). The loss is significant (adjusted p < 0.0001)."
	words := strings.NewReplacer("the new run", "weak", "baseline", "strong", "new", "weak")
	for i := range p.Metrics {
		p.Metrics[i].Note = words.Replace(p.Metrics[i].Note)
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Evidence = words.Replace(t.Evidence)
		for k := range t.Episodes {
			t.Episodes[k].What = words.Replace(t.Episodes[k].What)
		}
	}
	return c
}

// SidesFixture has an episode for every id that the fixture names: in the new run
// the third turn repeats the call instead of answering.
func SidesFixture(isNew bool, task, candidate string, n int) (rows ledger.EpisodeRows, said transcript.Detail, ok bool) {
	side, prompt := "B", "You are a careful agent.\n"
	if isNew {
		side, prompt = "T", "You are a bounded agent controller.\n"
	}
	key := ledger.Key{EpisodeID: fmt.Sprint(side, n), TaskID: task, Candidate: candidate, Trial: int32(n)}
	rows.Episode = ledger.Episode{Key: key, Status: "answered", Solved: true, Answer: "There were 427 angry messages on 2026-05-13.", Steps: 3, CostNanoUSD: new(int64(1_200_000)), ElapsedUs: new(int64(4_100_000))}
	said.System = prompt + "Every turn you output exactly ONE JSON object.\n"
	add := func(kind, name, args, result string) {
		at := len(rows.Turns) + 1
		t := ledger.Turn{Key: key, Turn: int32(at), Role: "main", Kind: "act", NextActionType: kind, NextActionName: name, ValidJSON: true, ContractValid: true, Actionable: true, DurationUs: new(int64(900_000)), Tokens: ledger.Tokens{In: new(int64(640)), Out: new(int64(70))}}
		d := transcript.DetailTurn{Turn: at, Prompt: []transcript.Message{{Role: "user", Text: fmt.Sprintf("PLAN: count what is asked\nBUDGET_USED: steps=%d/10\n", at-1), Same: 19}}, Output: fmt.Sprintf(`{"next_action":{"type":%q,"name":%q,"args":{%s}}}`, kind, name, args)}
		if name != "" {
			rows.ToolCalls = append(rows.ToolCalls, ledger.ToolCall{Key: key, Turn: int32(at), ToolName: name, ArgsHash: args, Outcome: "ok", DurationUs: 30_000})
			d.Steps = []transcript.DetailStep{{Tool: name, Args: "{" + args + "}", Result: result, Outcome: "ok"}}
		}
		rows.Turns, said.Turns = append(rows.Turns, t), append(said.Turns, d)
	}
	add("tool", "today_range", "", `{"start_date":"2026-05-13","end_date":"2026-05-13"}`)
	add("tool", "get_counts", `"label":"angry"`, `{"label":"angry","value":427}`)
	rows.Turns[1].SubAgent = "bg_1"
	if isNew {
		for range 3 {
			add("tool", "get_counts", `"label":"angry"`, `{"label":"angry","value":427}`)
		}
		rows.Turns[4].Thrash = true
		rows.Episode.Status, rows.Episode.StopReason, rows.Episode.Solved, rows.Episode.Answer = "stopped", "thrash", false, ""
		rows.Episode.Checks = []ledger.Check{{Name: "status", Detail: "expected answered, found stopped"}}
		return rows, said, true
	}
	add("respond", "", "", "")
	said.Answer = rows.Episode.Answer
	return rows, said, true
}

// ShownComparison is the fixture with episodes to look at.
func ShownComparison() compare.Comparison {
	c := ComparisonFixture()
	for i := range c.Pairs[0].Tasks {
		t := &c.Pairs[0].Tasks[i]
		if t.Class != flake.StablePass && t.Class != flake.StableFail && t.Class != flake.Unknown {
			t.Episodes = []compare.EpisodePair{{
				Trial: 1, BaselineID: "B1", NewID: "T1", BaselineEnded: "answered", NewEnded: "stopped: thrash", Turn: 3, What: "baseline answers, new calls get_counts",
			}}
		}
	}
	return c
}
