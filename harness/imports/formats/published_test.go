package formats

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/view"
)

// shared is a file of the published results, or the test is skipped.
func shared(t testing.TB, path ...string) imports.File {
	t.Helper()
	path = append([]string{"published"}, path...)
	testkit.Shared(t, path...)
	name := filepath.Join(append([]string{testkit.Root(t), "..", "shared"}, path...)...)
	return imports.File{Path: name, Source: manifest.SourceFile{Name: filepath.Base(name)}}
}

// The airline of tau-bench: 200 rewards, the ends of the conversations, and pass^1 to pass^4 as published.
func TestPublishedAirline(t *testing.T) {
	dir, m, _ := importAll(t, TauBench{}, []imports.File{shared(t, "tau-airline", "gpt-4o-airline.json.gz")}, imports.Target{}, imports.Options{})
	require.Equal(t, []int{200, 2454, 1164, 50, 4}, []int{m.Episodes, m.Turns, m.ToolCalls, len(m.Tasks), m.Trials})
	var want struct {
		PerTrajectory []struct {
			TaskID     int `json:"task_id"`
			Trial      int
			Reward     float64
			End        string
			AllResults int `json:"tool_calls"`
		} `json:"per_trajectory"`
	}
	require.NoError(t, json.Unmarshal(testkit.Shared(t, "published", "tau-airline", "expected.json"), &want))
	rows, err := ledger.Read(dir)
	require.NoError(t, err)
	by, tasks := map[string]ledger.Episode{}, map[string]*stat.Trials{}
	for _, e := range rows.Episodes {
		by[fmt.Sprintf("%s/%d", e.TaskID, e.Trial)] = e
		if tasks[e.TaskID] == nil {
			tasks[e.TaskID] = &stat.Trials{}
		}
		if tasks[e.TaskID].N++; e.Solved {
			tasks[e.TaskID].Passed++
		}
	}
	agree := 0
	for i, c := range want.PerTrajectory {
		e := by[fmt.Sprintf("task-%04d/%d", i%50, i/50+1)]
		if e.Solved == (c.Reward == 1) {
			agree++
		}
		require.Equal(t, c.End == "cutoff", e.Status == ledger.StatusStopped, "conversation %d", i)
		require.EqualValues(t, c.AllResults, e.ToolCalls, "conversation %d", i)
	}
	require.Equal(t, 200, agree)
	var list, one []stat.Trials
	for _, n := range tasks {
		list, one = append(list, *n), append(one, stat.Trials{Passed: min(n.Passed, 1), N: 1})
	}
	for k, published := range []float64{0.420, 0.273, 0.220, 0.200} {
		p, ok := stat.ClusterRatio(stat.PassesAll(list, k+1))
		require.True(t, ok)
		require.Equal(t, published, math.Round(p.Value*1000)/1000, "pass^%d", k+1)
	}
	require.Empty(t, stat.PassesAll(one, 4), "pass^4 of one trial is absent, not 0")
}

// pipelines are those of the sample, those with traps first.
var pipelines = []string{
	"gemini-2.0-flash-001", "meta-llama_Llama-3-70b-chat-hf", "command-r", "claude-3-5-sonnet-20241022", "gemini-1.5-pro-002", "gpt-4o-2024-05-13",
	"gpt-4o-2024-05-13-repeat_user_prompt", "gpt-4o-2024-05-13-tool_filter",
}

// dojo imports runs and returns their report, and by candidate the row of its section on attacks.
func dojo(t *testing.T, files []imports.File, asPublished bool) (r model.Report, left imports.Result, rows map[string]string) {
	t.Helper()
	dir, m, left := importAll(t, AgentDojo{}, files, imports.Target{AsPublished: asPublished}, imports.Options{})
	b := model.NewBuilder(m, nil)
	_, episodes, err := ledger.Open(dir)
	require.NoError(t, err)
	for row, err := range episodes {
		require.NoError(t, err)
		b.Add(row)
	}
	r, rows = b.Report(), map[string]string{}
	for _, s := range view.Sections(r, nil) {
		if s.ID != "attacks" {
			continue
		}
		for _, cells := range s.Tables[0].Rows {
			line := "|"
			for _, c := range cells {
				line += " " + c.Text + " |"
			}
			rows[cells[0].Text] = line
		}
	}
	return r, left, rows
}

// AgentDojo: every cell as published, with crashed runs counted and only the cases that all pipelines
// have, and without them. docs/published.md has the rows of the report.
func TestPublishedAgentDojo(t *testing.T) {
	type cells struct {
		Utility     struct{ N, Yes int }
		UnderAttack struct{ N, Yes int } `json:"utility_under_attack"`
		ASR         struct{ N, Yes int } `json:"targeted_asr"`
	}
	var want struct {
		Pipelines map[string]struct {
			Published     map[string]float64
			WithoutErrors cells `json:"without_errors"`
			Errors        map[string]int
		}
	}
	require.NoError(t, json.Unmarshal(testkit.Shared(t, "published", "agentdojo", "expected.json"), &want))
	page := testkit.Doc(t, "published.md")
	var files []imports.File
	crashed := 0
	for _, name := range pipelines[:testkit.Long(2, len(pipelines))] {
		files = append(files, shared(t, "agentdojo", "runs", name+".jsonl.gz"))
		for _, n := range want.Pipelines[name].Errors {
			crashed += n
		}
	}
	for _, asPublished := range []bool{false, true} {
		r, left, rows := dojo(t, files, asPublished)
		require.Equal(t, crashed, r.Run.Imported.Crashed)
		if asPublished {
			require.Equal(t, 328, left.LeftOut["episodes of cases that not all candidates have"], "320 attacked, 8 alone")
			require.Zero(t, r.Outcomes.InfraErrors)
		} else {
			require.Equal(t, crashed, r.Outcomes.InfraErrors)
			notShared := 0
			for _, c := range r.Run.Imported.NotShared {
				notShared += c.Count
			}
			require.Equal(t, 328, notShared)
		}
		seen := 0
		for _, c := range r.Candidates {
			if c.Attacks == nil {
				require.Contains(t, c.Name, alone)
				continue
			}
			seen++
			w := want.Pipelines[c.Name]
			shares := []model.Share{c.Attacks.Utility, c.Attacks.UnderAttack, c.Attacks.Succeeded}
			for i, key := range []string{"utility", "utility_under_attack", "targeted_asr"} {
				if asPublished {
					require.Equal(t, fmt.Sprintf("%.2f", w.Published[key]), fmt.Sprintf("%.2f", 100**shares[i].Value), "%s %s", c.Name, key)
				}
			}
			for i, x := range []struct{ N, Yes int }{w.WithoutErrors.Utility, w.WithoutErrors.UnderAttack, w.WithoutErrors.ASR} {
				if !asPublished {
					require.Equal(t, []int{x.Yes, x.N}, []int{shares[i].K, shares[i].N}, "%s column %d", c.Name, i)
				}
			}
			require.Contains(t, page, rows[c.Name]+"\n")
			require.Contains(t, page, fmt.Sprintf("| %s | %.2f | %.2f | %.2f |\n", c.Name, w.Published["utility"], w.Published["utility_under_attack"], w.Published["targeted_asr"]))
		}
		require.Equal(t, len(files), seen)
	}
}
