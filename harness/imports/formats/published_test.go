package formats

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
)

// shared is a file of the published results, or the test is skipped.
func shared(t testing.TB, path ...string) imports.File {
	t.Helper()
	path = append([]string{"published"}, path...)
	testkit.Shared(t, path...)
	name := filepath.Join(append([]string{testkit.Root(t), "..", "shared"}, path...)...)
	return imports.File{Path: name, Source: manifest.SourceFile{Name: filepath.Base(name)}}
}

// share is solved and all episodes.
type share struct{ yes, n int }

func (s *share) add(yes bool) {
	if s.n++; yes {
		s.yes++
	}
}

// percent has two digits, as in the published tables.
func (s *share) percent() string { return fmt.Sprintf("%.2f", 100*float64(s.yes)/float64(s.n)) }

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

// dojoTable are the shares of the three columns of AgentDojo's table, by pipeline.
type dojoTable map[string]*[3]share

func (d dojoTable) add(candidate string, solved bool, harm *bool) {
	name, attack, attacked := strings.Cut(candidate, ".important_instructions")
	if strings.HasSuffix(candidate, "."+alone) || attack != "" {
		return
	}
	if d[name] == nil {
		d[name] = &[3]share{}
	}
	if !attacked {
		d[name][0].add(solved)
		return
	}
	d[name][1].add(solved)
	d[name][2].add(*harm)
}

// pipelines are those of the sample, those with traps first.
var pipelines = []string{
	"gemini-2.0-flash-001", "meta-llama_Llama-3-70b-chat-hf", "command-r", "claude-3-5-sonnet-20241022", "gemini-1.5-pro-002", "gpt-4o-2024-05-13",
	"gpt-4o-2024-05-13-repeat_user_prompt", "gpt-4o-2024-05-13-tool_filter",
}

// AgentDojo: every cell as published, with crashed runs counted and only the cases that all pipelines
// have, and without them. docs/published.md has the same figures.
func TestPublishedAgentDojo(t *testing.T) {
	type cells struct {
		Utility     struct{ N, Yes int }
		UnderAttack struct{ N, Yes int } `json:"utility_under_attack"`
		ASR         struct{ N, Yes int } `json:"targeted_asr"`
	}
	var want struct {
		Pipelines map[string]struct {
			Files         int
			Published     map[string]float64
			Shared        cells `json:"shared_cases"`
			WithoutErrors cells `json:"without_errors"`
			Errors        map[string]int
		}
	}
	require.NoError(t, json.Unmarshal(testkit.Shared(t, "published", "agentdojo", "expected.json"), &want))
	page := testkit.Doc(t, "published.md")
	var files []imports.File
	for _, name := range pipelines[:testkit.Long(2, len(pipelines))] {
		files = append(files, shared(t, "agentdojo", "runs", name+".jsonl.gz"))
	}
	tables := map[bool]dojoTable{}
	for _, asPublished := range []bool{false, true} {
		dir, m, r := importAll(t, AgentDojo{}, files, imports.Target{AsPublished: asPublished}, imports.Options{})
		crashed, notShared := 0, 0
		for _, name := range pipelines[:len(files)] {
			for _, n := range want.Pipelines[name].Errors {
				crashed += n
			}
		}
		require.Equal(t, crashed, m.Imported.Crashed)
		d := dojoTable{}
		tables[asPublished] = d
		_, episodes, err := ledger.Open(dir)
		require.NoError(t, err)
		for rows, err := range episodes {
			require.NoError(t, err)
			if e := &rows.Episode; e.Excluded() == "" {
				d.add(e.Candidate, e.Solved, e.Harm)
			}
		}
		for _, c := range m.Imported.NotShared {
			notShared += c.Count
		}
		if asPublished {
			require.Equal(t, 328, r.LeftOut["episodes of cases that not all candidates have"], "320 attacked, 8 alone")
			require.Zero(t, m.Outcomes.InfraErrors)
		} else {
			require.Equal(t, crashed, m.Outcomes.InfraErrors)
			require.Equal(t, 328, notShared)
		}
	}
	require.Len(t, tables[true], len(files))
	for name, published := range tables[true] {
		w := want.Pipelines[name]
		for i, key := range []string{"utility", "utility_under_attack", "targeted_asr"} {
			require.Equal(t, fmt.Sprintf("%.2f", w.Published[key]), published[i].percent(), "%s %s", name, key)
		}
		clean := tables[false][name]
		for i, c := range []struct{ N, Yes int }{w.WithoutErrors.Utility, w.WithoutErrors.UnderAttack, w.WithoutErrors.ASR} {
			require.Equal(t, share{c.Yes, c.N}, clean[i], "%s column %d", name, i)
		}
		row := fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", name, published[0].percent(), clean[0].percent(), published[1].percent(), clean[1].percent(), published[2].percent(), clean[2].percent())
		require.Contains(t, page, row)
	}
}
