package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
)

func criterion(t *testing.T, w *reporttest.World, name string) Criterion {
	t.Helper()
	for _, c := range build(w.M, w.Rows).Candidates[0].Criteria {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no criterion %s", name)
	return Criterion{}
}

// By hand: n tasks without a failure pass 95% from n = 72 on (0.025^(1/n) ≥ 0.95), for
// any number of turns.
func TestValidJSON(t *testing.T) {
	for _, c := range []struct {
		name      string
		good, bad int // tasks with one episode each
		turns     int
		want      stat.Verdict
		note      string
	}{
		{"no turns", 0, 0, 1, stat.Inconclusive, "No turns: nothing to judge, which never passes"},
		{"one of one", 1, 0, 1, stat.Inconclusive, "Too few tasks: 1 cannot establish 95%, however many turns they have. If the rate stays the same, 71 more tasks would make this a pass."},
		{"71 without a failure are too few", 71, 0, 1, stat.Inconclusive, "Too few tasks: 71 cannot establish 95%, however many turns they have. If the rate stays the same, 1 more task would make this a pass."},
		{"72 without a failure are enough", 72, 0, 1, stat.Pass, ""},
		{"turns replace no tasks", 50, 0, 15, stat.Inconclusive, "Too few tasks: 50 cannot establish 95%, however many turns they have. If the rate stays the same, 22 more tasks (330 turns) would make this a pass. All 750 turns agree, so they weigh as their 50 tasks."},
		{"enough tasks for any, but not for these", 97, 2, 1, stat.Inconclusive, "If the rate stays the same, 108 more tasks would make this a pass."},
		{"exactly the threshold", 95, 5, 1, stat.Inconclusive, "equals the threshold"},
		{"clearly below", 50, 50, 1, stat.Fail, ""},
		{"a fail needs fewer", 0, 2, 10, stat.Fail, "All 20 turns agree, so they weigh as their 2 tasks."},
		{"one task is any share", 0, 1, 100, stat.Inconclusive, "If the rate stays the same, 1 more task (100 turns) would make this a fail."},
		{"turns of a task go the same way", 60, 30, 5, stat.Fail, "Design effect 5.04 (450 turns of 90 tasks)."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reporttest.NewWorld("a")
			for i := range c.good + c.bad {
				edit := reporttest.Invalid
				if i < c.good {
					edit = nil
				}
				w.Add(1, fmt.Sprint(i), false, c.turns, edit)
			}
			got := criterion(t, w, "valid_json")
			require.Equal(t, c.want, got.Verdict, "%+v", got)
			require.Contains(t, got.Note, c.note)
			require.Equal(t, c.turns*(c.good+c.bad), got.N)
			if c.good+c.bad == 0 {
				require.Nil(t, got.Value)
				require.Nil(t, got.Interval)
			}
		})
	}
}

func TestValidJSONLeavesOutAndSaysSo(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(1, "t", false, 3, func(e *ledger.Episode, turns []ledger.Turn) {
		turns[0].ErrorKind, turns[0].ContractValid = "timeout", false
		turns[1].Role, turns[1].ContractValid = "rescue", false
		turns[2].FinishReason = "length" // counts as invalid although it parses
	})
	w.Add(1, "t", false, 2, func(e *ledger.Episode, turns []ledger.Turn) { e.InfraError = true; reporttest.Invalid(e, turns) })
	w.Add(1, "t", false, 2, func(e *ledger.Episode, turns []ledger.Turn) { e.Status = "cancelled"; reporttest.Invalid(e, turns) })
	w.Add(1, "t", false, 1, nil)
	got := criterion(t, w, "valid_json")
	require.Equal(t, 2, got.N)
	require.Equal(t, 0.5, *got.Value)
	require.Equal(t, "If the rate stays the same, 1 more task (2 turns) would make this a fail. 1 turn cut off by the token cap, counted invalid; 1 turn without a reply left out; 2 episodes without a result left out.", got.Note)
	r := build(w.M, w.Rows)
	m := r.Candidates[0].Metrics
	require.Equal(t, []int{1, 1, 1, 1, 2}, []int{m.InfraErrors, m.Interrupted, m.Truncated, m.ErrorTurns, m.Success.N})
	require.Contains(t, strings.Join(r.Notes, "\n"), "1 episode lost to infrastructure errors")
	require.Equal(t, []string{"", "infrastructure error", "interrupted", ""}, []string{r.Episodes[0].Excluded, r.Episodes[1].Excluded, r.Episodes[2].Excluded, r.Episodes[3].Excluded})
}

func TestClarifies(t *testing.T) {
	asks := func(n int32) func(*ledger.Episode, []ledger.Turn) {
		return func(e *ledger.Episode, _ []ledger.Turn) { e.Clarifies = n }
	}
	for _, c := range []struct {
		name  string
		build func(*reporttest.World)
		value *float64
		n     int
		want  stat.Verdict
		note  string
	}{
		{"no success is never a pass", func(w *reporttest.World) { w.Add(5, "t", false, 1, nil) }, nil, 0, stat.Inconclusive, "No solved episodes"},
		{"only questions as goals", func(w *reporttest.World) {
			w.Add(3, "t", true, 1, func(e *ledger.Episode, _ []ledger.Turn) { e.ExpectedStatus, e.Clarifies = "clarify", 1 })
		}, nil, 0, stat.Inconclusive, "3 solved episodes excluded: the expected outcome is a clarifying question"},
		{"one task only", func(w *reporttest.World) { w.Add(3, "t", true, 1, nil) }, new(0.0), 3, stat.Inconclusive, "9 more solved tasks would make this a pass"},
		{"five equal tasks", func(w *reporttest.World) { reporttest.Tasks(w, 5, asks(0)) }, new(0.0), 5, stat.Inconclusive, "5 more solved tasks would make this a pass"},
		{"nine equal tasks", func(w *reporttest.World) { reporttest.Tasks(w, 9, asks(0)) }, new(0.0), 9, stat.Inconclusive, "1 more solved task would make this a pass"},
		{"ten equal tasks", func(w *reporttest.World) { reporttest.Tasks(w, 10, asks(0)) }, new(0.0), 10, stat.Pass, ""},
		{"exactly the threshold", func(w *reporttest.World) { reporttest.Tasks(w, 50, asks(1)) }, new(1.0), 50, stat.Inconclusive, "equals the threshold"},
		{"five above", func(w *reporttest.World) { reporttest.Tasks(w, 5, asks(2)) }, new(2.0), 5, stat.Inconclusive, "1 more solved task would make this a fail"},
		{"six above", func(w *reporttest.World) { reporttest.Tasks(w, 6, asks(2)) }, new(2.0), 6, stat.Fail, ""},
		{"spread around the threshold", func(w *reporttest.World) { reporttest.Tasks(w, 3, asks(0)); reporttest.Tasks(w, 3, asks(2)) }, new(1.0), 6, stat.Inconclusive, "equals the threshold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reporttest.NewWorld("a")
			c.build(w)
			got := criterion(t, w, "clarifies_per_success")
			require.Equal(t, c.want, got.Verdict, "%+v", got)
			require.Equal(t, c.value, got.Value)
			require.Equal(t, c.n, got.N)
			require.Contains(t, got.Note, c.note)
		})
	}
}

func TestSteps(t *testing.T) {
	few := reporttest.NewWorld("a")
	reporttest.Tasks(few, 5, func(e *ledger.Episode, _ []ledger.Turn) { e.Steps = 2 })
	five := criterion(t, few, "steps_per_solved")
	require.Equal(t, stat.Inconclusive, five.Verdict, "a sixth task may take 15 steps")
	require.Equal(t, "If the mean stays the same, 10 more solved tasks would make this a pass.", five.Note)
	require.InDelta(t, 2+13*(1-math.Pow(0.025, 0.2)), five.Interval.High, 1e-12)
	require.InDelta(t, 2*math.Pow(0.025, 0.2), five.Interval.Low, 1e-12)
	require.Equal(t, "interval of the mean, clustered by task, none above 15, two-sided 95%", five.Test)

	w := reporttest.NewWorld("a")
	for i := range 38 {
		w.Add(1, fmt.Sprintf("t%d", i), true, 2+i%4, nil) // 2, 3, 4, 5
	}
	w.Add(1, "t38", true, 9, nil)
	w.Add(1, "t39", true, 9, nil)
	w.Add(4, "t40", false, 10, nil) // not solved, so it does not count
	mean := criterion(t, w, "steps_per_solved")
	require.Equal(t, stat.Pass, mean.Verdict, "%+v", mean)
	require.Equal(t, 40, mean.N)
	require.InDelta(t, (2*10+3*10+4*9+5*9+9*2)/40.0, *mean.Value, 1e-12)
	within := criterion(t, w, "within_steps")
	require.Equal(t, stat.NotJudged, within.Verdict, "reported unless a threshold is set")
	require.Equal(t, 0.95, *within.Value)
	w.M.Acceptance.MinWithin = 0.9
	within = criterion(t, w, "within_steps")
	require.Equal(t, stat.Inconclusive, within.Verdict, "38 of 40 could be fewer than 90%%")
	require.Equal(t, "If the rate stays the same, 102 more tasks would make this a pass.", within.Note)

	slow := reporttest.NewWorld("a")
	for i := range 10 {
		slow.Add(1, fmt.Sprintf("t%d", i), true, 8+i%2, nil)
	}
	require.Equal(t, stat.Fail, criterion(t, slow, "steps_per_solved").Verdict)

	near := reporttest.NewWorld("a")
	for i := range 10 {
		near.Add(1, fmt.Sprintf("t%d", i), true, 3+i%4, nil) // mean 4.3
	}
	got := criterion(t, near, "steps_per_solved")
	require.Equal(t, stat.Inconclusive, got.Verdict)
	require.Regexp(t, `^If the mean stays the same, \d+ more solved tasks? would make this a pass\.$`, got.Note)
}

// An expected stop is a success, but its steps and cost do not count.
func TestExpectedStopIsSolved(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(2, "stop", true, 9, func(e *ledger.Episode, _ []ledger.Turn) {
		e.Status, e.ExpectedStatus, e.StopReason, e.Clarifies = "stopped", "stopped", "max_steps", 3
	})
	w.Add(1, "t", true, 2, nil)
	r := build(w.M, w.Rows)
	require.True(t, r.Episodes[0].Solved)
	require.Equal(t, 3, r.Candidates[0].Success.K)
	require.Equal(t, 2, r.Candidates[0].ExpectedStops)
	require.Equal(t, 2.0, *r.Candidates[0].Criteria[3].Value)
	for i, n := range []int{3, 20, 1, 1, 1} {
		c := r.Candidates[0].Criteria[i]
		require.Equal(t, n, c.N, c.Name)
		if c.Name != "solved" && c.Name != "valid_json" {
			require.Contains(t, c.Note, "2 solved episodes excluded: the task expects a stop.")
		}
	}
}

func TestSolved(t *testing.T) {
	for _, c := range []struct {
		name         string
		least        manifest.Threshold
		good, bad, n int // solved tasks, other tasks, trials for each
		want         stat.Verdict
		note         string
	}{
		{"nothing ran", 0, 0, 0, 1, stat.Inconclusive, "No episodes: nothing to judge, which never passes."},
		{"16 perfect tasks are too few", 0, 16, 0, 1, stat.Inconclusive, "Too few tasks: 16 cannot establish 80%, however many episodes they have. If the rate stays the same, 1 more task would make this a pass."},
		{"17 are enough", 0, 17, 0, 1, stat.Pass, ""},
		{"trials", 0, 3, 0, 3, stat.Inconclusive, "Too few tasks: 3 cannot establish 80%, however many episodes they have. If the rate stays the same, 14 more tasks (42 episodes) would make this a pass. All 9 episodes agree, so they weigh as their 3 tasks."},
		{"10 of 80", 0, 10, 70, 1, stat.Fail, ""},
		{"nothing solved", 0, 0, 1, 1, stat.Fail, "No task was solved."},
		{"nothing solved, for a low threshold", 0.01, 0, 3, 1, stat.Fail, "No task was solved."},
		{"at the threshold", 0, 80, 20, 1, stat.Inconclusive, "The estimate equals the threshold: more tasks alone will not settle it."},
		{"above all", 1, 9, 0, 1, stat.Inconclusive, "No number of tasks can establish a threshold of 100%; choose a lower one."},
		{"not judged", manifest.Off, 0, 9, 1, stat.NotJudged, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reporttest.NewWorld("a")
			w.M.Acceptance.MinSolved = c.least
			for i := range c.good + c.bad {
				w.Add(c.n, fmt.Sprint(i), i < c.good, 1, nil)
			}
			got := build(w.M, w.Rows).Candidates[0].Criteria[0]
			require.Equal(t, "solved", got.Name, "success is the first criterion")
			require.Equal(t, c.want, got.Verdict, "%+v", got)
			require.Equal(t, c.note, got.Note)
		})
	}
}

// If no task was solved, the verdict is fail, unless the lost episodes could change it.
func TestNothingSolvedIsNeverInconclusive(t *testing.T) {
	lost := func(e *ledger.Episode, _ []ledger.Turn) { e.Status, e.InfraError = ledger.StatusInfraError, true }
	w := reporttest.NewWorld("a")
	w.Add(5, "t", false, 1, nil)
	w.Add(15, "t", false, 1, lost) // 75% are lost, and the threshold is 80%
	require.Equal(t, stat.Fail, build(w.M, w.Rows).Candidates[0].Verdict)
	w.Add(5, "t", false, 1, lost) // 80% are
	require.Equal(t, stat.Inconclusive, build(w.M, w.Rows).Candidates[0].Verdict)
	w.Add(5, "t", false, 1, nil)
	w.Add(1, "t", true, 1, nil)
	require.Equal(t, stat.Inconclusive, build(w.M, w.Rows).Candidates[0].Verdict, "some were solved: too many are lost to say how many")
}

func TestScriptedIsShownNotJudged(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.M.Candidates[0].Provider = Scripted
	w.Add(3, "t", true, 1, nil)
	r := build(w.M, w.Rows)
	require.Equal(t, stat.NotJudged, r.Candidates[0].Verdict)
	require.Empty(t, r.Candidates[0].Criteria)
	require.Equal(t, 3, r.Candidates[0].Success.K)
	require.Equal(t, stat.Inconclusive, r.Verdict)
	require.Equal(t, "Inconclusive: no candidate to judge", r.Headline)
}

func TestGroupsPoolByModelAndNameWhatTheyMix(t *testing.T) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles(), 20, 1)
	r := build(m, rows)
	require.Len(t, r.Groups, 1)
	g := r.Groups[0]
	require.Equal(t, []string{"north-mini", "north-mini-prose"}, g.Candidates)
	require.Equal(t, []string{"output mode: json_schema, prompt", "prompt profile: schema, seed"}, g.Mixes)
	require.Equal(t, r.Candidates[0].Turns+r.Candidates[1].Turns, g.Criteria[1].N)
	require.Empty(t, build(reporttest.NewWorld("a", "b").M, ledger.Rows{}).Groups, "two models are two groups of one")
}

func TestPooledFailureRejects(t *testing.T) {
	w := reporttest.NewWorld("a", "b")
	w.M.Candidates[1].Model = w.M.Candidates[0].Model
	half := func(n int) {
		reporttest.Tasks(w, n, nil)
		reporttest.Tasks(w, 3, reporttest.Invalid)
	}
	half(18)
	w.M.Candidates[0], w.M.Candidates[1] = w.M.Candidates[1], w.M.Candidates[0]
	half(18)
	r := build(w.M, w.Rows)
	// The interval of 18 of 21 includes 95%, that of 36 of 42 does not.
	require.Equal(t, []stat.Verdict{stat.Inconclusive, stat.Inconclusive}, []stat.Verdict{r.Candidates[0].Verdict, r.Candidates[1].Verdict})
	require.Equal(t, stat.Fail, r.Groups[0].Verdict)
	require.Equal(t, stat.Fail, r.Verdict)
	require.Equal(t, "Rejected: candidates pooled by model fail", r.Headline)
}

func TestHeadlines(t *testing.T) {
	for want, list := range map[string][]stat.Verdict{
		"Accepted: the candidate meets every criterion":          {stat.Pass, stat.NotJudged},
		"Accepted: both candidates meet every criterion":         {stat.Pass, stat.Pass},
		"Rejected: the candidate fails":                          {stat.Fail},
		"Rejected: 1 of 2 candidates fails":                      {stat.Fail, stat.Inconclusive},
		"Rejected: both candidates fail":                         {stat.Fail, stat.Fail},
		"Rejected: all 3 candidates fail":                        {stat.Fail, stat.Fail, stat.Fail},
		"Not enough evidence: 1 of 2 candidates is inconclusive": {stat.Pass, stat.Inconclusive},
		"Inconclusive: no candidate to judge":                    {},
	} {
		r := Report{}
		for _, v := range list {
			r.Candidates = append(r.Candidates, Candidate{Verdict: v})
		}
		r.addVerdict()
		require.Equal(t, want, r.Headline)
	}
}

func TestRowsTheManifestDoesNotKnow(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(1, "t", true, 2, nil)
	w.M.Candidates = nil
	w.Rows.Turns = append(w.Rows.Turns, ledger.Turn{Key: ledger.Key{EpisodeID: "nowhere"}})
	w.Rows.ToolCalls = append(w.Rows.ToolCalls, ledger.ToolCall{Key: ledger.Key{EpisodeID: "nowhere"}})
	w.M.Status = "partial"
	r := build(w.M, w.Rows)
	require.Equal(t, "a", r.Candidates[0].Name)
	require.Equal(t, "p", r.Candidates[0].Provider)
	require.Equal(t, "t", r.Tasks[0].ID)
	require.Equal(t, Cell{Solved: 1, Scored: 1, MeanSteps: new(2.0), Episodes: []int{0}}, r.Tasks[0].Cells[0])
	notes := strings.Join(r.Notes, "\n")
	require.Contains(t, notes, "2 rows of turns and tool calls left out")
	require.Contains(t, notes, "The run is partial")
}

func TestMetrics(t *testing.T) {
	w := reporttest.NewWorld("a")
	conf := func(v float64) *float64 { return &v }
	w.Add(1, "t", true, 3, func(e *ledger.Episode, turns []ledger.Turn) {
		e.ThrashEvents = 2
		turns[0].DurationUs, turns[1].DurationUs, turns[2].DurationUs = new(int64(1000)), new(int64(2000)), new(int64(3000))
		turns[0].Repaired, turns[0].Violations = true, []string{"b", "a"}
		turns[1].Violations, turns[1].Confidence, turns[1].ModelServed = []string{"b"}, conf(0.9), "m-1"
	})
	w.Add(1, "t", false, 1, func(e *ledger.Episode, turns []ledger.Turn) {
		e.StallEvents = 1
		turns[0].DurationUs, turns[0].Confidence, turns[0].ModelServed = new(int64(4000)), conf(0.9), "m-2"
	})
	r := build(w.M, w.Rows)
	m := r.Candidates[0].Metrics
	require.Equal(t, []int{1, 1, 1}, []int{m.Thrash.K, m.Stall.K, m.Repaired.K})
	require.Equal(t, []int{2, 2, 4}, []int{m.Thrash.N, m.Stall.N, m.Repaired.N})
	require.Equal(t, []Tally{{"b", 2}, {"a", 1}}, m.Violations)
	require.Equal(t, 2500.0, m.Latency.P50)
	require.InDelta(t, 3850, m.Latency.P95, 1e-9) // 1000 + 0.95·3000
	require.InDelta(t, (0.01+0.81)/2, *m.Brier, 1e-12)
	require.Equal(t, 2, m.Calibration[9].N)
	require.Contains(t, strings.Join(r.Notes, "\n"), "a was served by 2 models: m-1, m-2.")
	require.Nil(t, build(reporttest.NewWorld("a").M, ledger.Rows{}).Candidates[0].Latency)
}

// Floor: reads each turn a few times and copies nothing.
func BenchmarkBuild100kTurns(b *testing.B) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles(), 1000, 8)
	for len(rows.Turns) < 100_000 {
		b.Fatalf("only %d turns", len(rows.Turns))
	}
	rows.Turns = rows.Turns[:100_000]
	b.ReportAllocs()
	for b.Loop() {
		build(m, rows)
	}
}
