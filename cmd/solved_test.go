package cmd

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat/flake"
)

// everyStatus writes a run with two trials for every final status, solved if possible, and returns
// its folder. night distinguishes several runs.
func everyStatus(t *testing.T, runs string, night int) (dir string, solved, scored int) {
	t.Helper()
	type end struct {
		status, stop string
		expected     string // status of the task; the episode is solved if it ended with it
	}
	ends := []end{
		{"answered", "", "answered"}, {"answered_after_clarify", "", "answered_after_clarify"}, {"respond_error", "", "respond_error"},
		{"clarify", "", "clarify"}, {"cannot_proceed", "", "cannot_proceed"}, {"stopped", "max_steps", "stopped"}, {"stopped", "thrash", "stopped"},
		{"answered", "", "clarify"}, {"clarify", "", "answered"}, {"cannot_proceed", "", "answered"}, {"stopped", "max_steps", "answered"},
		{ledger.StatusInfraError, "", "answered"}, {ledger.StatusHarnessError, "", "answered"}, {ledger.StatusBudgetStop, "", "answered"}, {ledger.StatusCancelled, "", "answered"},
	}
	m := manifest.Manifest{
		Format: manifest.Format, RunID: fmt.Sprintf("run%02d", night), Status: "complete", Mode: "live", Suite: "every", SuiteDigest: "s", Trials: 2,
		Started: fmt.Sprintf("2026-11-%02dT03:00:00Z", night), Acceptance: manifest.Acceptance{}.Resolved(),
		Candidates: []manifest.Candidate{{Name: "c", Agent: "contract", Provider: "p", Model: "m", Planned: 2 * len(ends), Digest: "d"}},
	}
	var rows ledger.Rows
	for i, e := range ends {
		task := fmt.Sprintf("T%02d", i)
		m.Tasks = append(m.Tasks, manifest.Task{ID: task, Digest: task})
		for trial := int32(1); trial <= 2; trial++ {
			key := ledger.Key{RunID: m.RunID, EpisodeID: fmt.Sprintf("%s-%d", task, trial), Suite: m.Suite, TaskID: task, Candidate: "c", Agent: "contract", Provider: "p", Model: "m", Trial: trial}
			ep := ledger.Episode{Key: key, Status: e.status, StopReason: e.stop, ExpectedStatus: e.expected, Solved: e.status == e.expected, Steps: 2}
			switch {
			case e.status == ledger.StatusInfraError, e.status == ledger.StatusHarnessError, e.status == ledger.StatusBudgetStop:
				ep.InfraError, ep.ErrorKind = true, "x"
			case e.status != ledger.StatusCancelled:
				scored++
				ep.Checks = []ledger.Check{{Name: "status", Passed: ep.Solved}}
			}
			solved += count(ep.Solved)
			ep.AddTo(&m.Outcomes)
			rows.Episodes = append(rows.Episodes, ep)
			rows.Turns = append(rows.Turns, ledger.Turn{Key: key, Turn: 1, Role: "main", ContractValid: true, Interaction: -1})
		}
	}
	dir = filepath.Join(runs, m.RunID)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, ledger.Write(dir, m, rows))
	return dir, solved, scored
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Every output counts the same episodes as solved, including an expected stop.
func TestSolvedIsTheSameEverywhere(t *testing.T) {
	t.Chdir(t.TempDir())
	old, _, _ := everyStatus(t, "runs", 1)
	dir, solved, scored := everyStatus(t, "runs", 2)
	require.Equal(t, []int{14, 22}, []int{solved, scored})
	cupel := func(want int, args ...string) string {
		code, stdout, stderr := runCupel(args...)
		require.Equal(t, want, code, "%v: %s%s", args, stdout, stderr)
		return stdout
	}

	t.Run("show", func(t *testing.T) {
		require.Equal(t, solved, strings.Count(cupel(0, "show", dir), " yes "))
	})
	t.Run("query", func(t *testing.T) {
		var got struct {
			Rows []map[string]any `json:"rows"`
		}
		require.NoError(t, json.Unmarshal([]byte(cupel(0, "query", dir, `count(solved), count(not solved), share(solved), count(solved is null)`, "-o", "-.json")), &got))
		require.Equal(t, []map[string]any{{
			"count(solved)": float64(solved), "count(not solved)": float64(scored - solved), "share(solved)": float64(solved) / float64(scored), "count(solved is null)": 8.0,
		}}, got.Rows)
	})
	var r model.Report
	t.Run("report", func(t *testing.T) {
		require.NoError(t, json.Unmarshal([]byte(cupel(0, "report", dir, "-o", "-.json")), &r))
		c := r.Candidates[0]
		require.Equal(t, []int{solved, scored}, []int{c.Success.K, c.Success.N})
		require.Equal(t, "solved", c.Criteria[0].Name)
		require.Equal(t, scored, c.Criteria[0].N)
		require.InDelta(t, float64(solved)/float64(scored), *c.Criteria[0].Value, 1e-12)
		require.Equal(t, []int{solved, scored - solved}, []int{r.Outcomes.Solved, r.Outcomes.Failed})
		require.Equal(t, []int{4, 10, 8}, []int{c.ExpectedStops, c.Criteria[3].N, c.Criteria[2].N}, "stops count in neither steps nor questions, expected questions only in steps")
		text := cupel(exit.Inconclusive, "gate", dir)
		require.Regexp(t, `tasks solved +63.6%`, text)
		require.Regexp(t, `4\s+solved\s+episodes\s+excluded:\s+the\s+task\s+expects\s+a\s+stop\.`, text)
	})
	t.Run("JUnit", func(t *testing.T) {
		var got struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Suites   []struct {
				Skipped int `xml:"skipped,attr"`
			} `xml:"testsuite"`
		}
		require.NoError(t, xml.Unmarshal([]byte(cupel(0, "report", dir, "-o", "-.xml")), &got))
		require.Equal(t, scored-solved, got.Failures)
		require.Equal(t, solved, got.Tests-got.Failures-got.Errors-got.Suites[0].Skipped)
	})
	t.Run("failure clusters", func(t *testing.T) {
		n := 0
		for _, c := range r.Clusters {
			n += len(c.Episodes)
		}
		require.Equal(t, len(r.Episodes)-solved, n)
	})
	t.Run("compare and flake classes", func(t *testing.T) {
		var got compare.Comparison
		require.NoError(t, json.Unmarshal([]byte(cupel(0, "compare", old, dir, "-o", "-.json")), &got))
		m := got.Pairs[0].Metrics[0]
		require.Equal(t, "solved", m.Name)
		require.Equal(t, scored, m.N)
		require.InDelta(t, float64(solved)/float64(scored), *m.Baseline, 1e-12)
		passed := 0
		for _, task := range got.Pairs[0].Tasks {
			passed += task.Baseline.Passed
			require.NotEqual(t, flake.Flaky, task.Class)
		}
		require.Equal(t, solved, passed)
	})
	t.Run("trend", func(t *testing.T) {
		require.NotEmpty(t, r.Trend)
		require.Equal(t, "solved", r.Trend[0].Metric)
		for _, p := range r.Trend[0].Points {
			require.InDelta(t, float64(solved)/float64(scored), p.Value, 1e-12)
		}
	})
}
