package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// decisions counts how often comparisons ended with each verdict.
type decisions struct{ pass, unclear, inconclusive, fail int }

func (d decisions) n() int { return d.pass + d.unclear + d.inconclusive + d.fail }

func (d decisions) String() string {
	share := func(k int) string { return fmt.Sprintf("%.0f", 100*float64(k)/float64(d.n())) }
	return strings.Join([]string{share(d.pass), share(d.unclear), share(d.inconclusive), share(d.fail)}, " / ")
}

// drawn returns n comparisons of a suite with the given number of baseline runs. Each
// task breaks in the new run with a fixed probability; then no trial solves it. The
// agent is that of the page: its tasks are solved 90% of the time and its outputs are
// valid 98.5% of the time, with a correlation of 0.3 between any two of a task
// (beta-binomial). An episode has two to four turns.
func drawn(rng *rand.Rand, n, tasks, trials, baselines int, breaks float64) (d decisions) {
	manifests := make([]manifest.Manifest, baselines+1)
	for i := range manifests {
		manifests[i] = manifest.Manifest{RunID: fmt.Sprint("run-", i), Status: "complete", Trials: trials, Candidates: []manifest.Candidate{{Name: "a", Planned: tasks * trials}}}
		for k := range tasks {
			manifests[i].Tasks = append(manifests[i].Tasks, manifest.Task{ID: taskID(k), Digest: "d"})
		}
	}
	for range n {
		b := NewBuilder(manifests[:baselines], manifests[baselines], []Names{{"a", "a"}}, Rules{})
		for k := range tasks {
			solved, valid, broken := beta(rng, 0.9, 0.3), beta(rng, 0.985, 0.3), rng.Float64() < breaks
			for run := range baselines {
				episodes(rng, taskID(k), trials, solved, valid, func(rows ledger.EpisodeRows) { b.AddBaseline(run, rows) })
			}
			if broken {
				solved = 0
			}
			episodes(rng, taskID(k), trials, solved, valid, b.AddNew)
		}
		switch finished(b).Verdict {
		case stat.Pass:
			d.pass++
		case stat.NoRegression:
			d.unclear++
		case stat.Fail:
			d.fail++
		default:
			d.inconclusive++
		}
	}
	return d
}

// episodes draws the trials of one task in one run.
func episodes(rng *rand.Rand, task string, trials int, solved, valid float64, add func(ledger.EpisodeRows)) {
	var turns [4]ledger.Turn
	for trial := range trials {
		rows := ledger.EpisodeRows{Episode: ledger.Episode{
			Key: ledger.Key{TaskID: task, Candidate: "a", Trial: int32(trial + 1)}, Status: "answered", ExpectedStatus: "answered", Solved: rng.Float64() < solved,
		}, Turns: turns[:2+rng.IntN(3)]}
		for i := range rows.Turns {
			rows.Turns[i] = ledger.Turn{Turn: int32(i + 1), Role: "main", NextActionType: "tool", ContractValid: rng.Float64() < valid}
		}
		add(rows)
	}
}

// beta draws a task's share by its mean and the correlation within a task. Source: M.
// D. Jöhnk, "Erzeugung von betaverteilten und gammaverteilten Zufallszahlen", Metrika 8
// (1964) 5–15.
func beta(rng *rand.Rand, mean, icc float64) float64 {
	size := 1/icc - 1
	for {
		x, y := math.Pow(rng.Float64(), 1/(mean*size)), math.Pow(rng.Float64(), 1/((1-mean)*size))
		if sum := x + y; sum > 0 && sum <= 1 {
			return x / sum
		}
	}
}

// tableSize is the number of comparisons for each cell of the table.
const tableSize = 500

// For every size of the suite, an unchanged agent is called worse in at most 5% of
// comparisons, and an agent that lost at least the margin passes in at most 5%. If a
// loss must have been detectable, at most a fifth of the comparisons ends without
// calling a regression or leaving it open. The rows of the page are those drawn here:
// all of them with CUPEL_EVIDENCE or -update, otherwise the first.
func TestSimulationDecisionTable(t *testing.T) {
	if !testkit.Update() {
		testkit.Slow(t) // the other simulations have fewer draws
	}
	t.Parallel()
	const path, begin, end = "../../docs/compare.md", "<!-- decisions: begin -->\n", "<!-- decisions: end -->\n"
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(page), begin)
	require.True(t, ok)
	table, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)

	const atMargin = 0.05 / 0.9 // a loss of max_drop from 90%; not a column of the page
	changes := []float64{0, 0.03, 0.05, 0.1, 0.15, atMargin}
	rows := []string{"| tasks × trials | baseline | unchanged | 3% broken | 5% broken | 10% broken | 15% broken | n |", "|---|---|---|---|---|---|---|---|"}
	for _, tasks := range []int{20, 50, 100, 200} {
		for _, trials := range []int{1, 3, 5} {
			for _, baselines := range []int{1, 3} {
				all := testkit.Update() || testkit.Evidence()
				if !all && (tasks > 20 || trials > 1 || baselines > 1 || testing.Short()) {
					continue
				}
				name := fmt.Sprintf("%d × %d, %s", tasks, trials, words.Plural(baselines, "baseline run"))
				row := fmt.Sprintf("| %d × %d | %s |", tasks, trials, map[int]string{1: "one run", 3: "three runs"}[baselines])
				for i, breaks := range changes {
					rng := rand.New(rand.NewPCG(uint64(tasks*10+trials), uint64(baselines*10+i)))
					d := drawn(rng, tableSize, tasks, trials, baselines, breaks)
					if breaks != atMargin {
						row += " " + d.String() + " |"
					}
					if breaks == 0 {
						promised(t, name+", unchanged: fail", d.fail, d.n(), 0, 0.05)
					}
					if breaks >= atMargin {
						promised(t, fmt.Sprintf("%s, %.3g%% broken: pass", name, 100*breaks), d.pass, d.n(), 0, 0.05)
					}
					if 0.9*breaks > 0.1 {
						promised(t, fmt.Sprintf("%s, %.0f%% broken: exit code 0", name, 100*breaks), d.pass+d.unclear, d.n(), 0, 0.2)
					}
					if breaks == 0 && tasks >= 100 && trials >= 3 {
						promised(t, name+", unchanged: exit code 0", d.pass+d.unclear, d.n(), 0.9, 1)
					}
				}
				row += fmt.Sprintf(" %d |", tableSize)
				t.Log(row)
				rows = append(rows, row)
			}
		}
	}
	want := strings.Join(rows, "\n") + "\n"
	if testkit.Update() {
		require.NoError(t, os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644))
		return
	}
	for _, row := range rows {
		require.Contains(t, table, row+"\n", "go test ./reports/compare -run DecisionTable -update")
	}
}
