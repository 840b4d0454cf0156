package harness_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/draft"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// The actions of a recorded episode are never reported as impossible: an expectation that is drafted
// from an episode of any strategy, with all signals, loads.
func TestRecordedEpisodesArePossible(t *testing.T) {
	kinds := counts.Worlds()
	maps.Copy(kinds, research.Worlds())
	for name, fsys := range map[string]fs.FS{"counts": counts.FS, "research": research.FS} {
		t.Run(name, func(t *testing.T) {
			suite, err := load.Suite(fsys, name, kinds)
			require.NoError(t, err)
			empty := os.DirFS(t.TempDir())
			checked, stride := 0, testkit.Long(testkit.SlowN(20, 3), 1)
			for _, task := range suite.Tasks {
				if len(task.Fails) > 0 {
					continue // its episode meets no outcome
				}
				candidates := suite.Candidates
				if task.Scripted {
					candidates = []goldens.Candidate{{Name: episode.ScriptedCandidate, Provider: episode.ScriptedCandidate, Model: episode.ScriptedCandidate}}
				}
				for _, c := range candidates {
					if checked%stride > 0 {
						checked++
						continue
					}
					o := countsOptions(t)
					o.Suite, o.Select = suite, harness.Selection{Tasks: []string{task.ID}, Candidates: []string{c.Name}}
					_, traces, err := harness.Replay(context.Background(), o, 1)
					require.NoError(t, err, "%s %s", task.ID, c.Name)
					outcome := *traces[len(traces)-1].Outcome
					draft := draft.Draft{Task: task, From: suite}
					draft.Task.Scripted, draft.Task.Script, draft.Task.Agent, draft.Task.Fails = false, nil, "", nil
					draft.Task.Expect = []goldens.Expect{asItWas(task, outcome)}
					solved, checks := goldens.Score(draft.Task, outcome)
					require.True(t, solved, "%s %s %+v", task.ID, c.Name, checks)
					_, err = draft.AddTo(empty, "s")
					require.NoError(t, err, "%s %s %+v", task.ID, c.Name, outcome)
					checked++
				}
			}
			require.GreaterOrEqual(t, checked, len(suite.Tasks))
		})
	}
}

// asItWas drafts the expectation of an outcome with all signals.
func asItWas(task goldens.Task, o goldens.Outcome) goldens.Expect {
	task.Expect = nil // what the task accepted may be less than happened
	e := goldens.Pin(task, o)
	runs := 0
	for _, c := range o.Calls {
		if c.Outcome != tool.Rejected && !c.Deduped {
			runs++
		}
	}
	e.Signals = map[string]string{
		"all_turns_valid_json": fmt.Sprint(o.AllTurnsValidJSON), "cycle_pattern": fmt.Sprint(o.CycleEvents > 0),
		"stall": fmt.Sprint(o.StallEvents > 0), "thrash": fmt.Sprint(o.ThrashEvents > 0),
		"budget_refusals": fmt.Sprint(o.BudgetRefusals), "circuit_open": fmt.Sprint(o.CircuitOpen), "dedupe_hits": fmt.Sprint(o.DedupeHits),
		"duration_spikes": fmt.Sprint(o.DurationSpikes), "elapsed_seconds": fmt.Sprintf("%.9f", o.Elapsed.Seconds()), "model_calls": fmt.Sprint(o.ModelCalls),
		"rejected_calls": fmt.Sprint(o.RejectedCalls), "reflect_turns": fmt.Sprint(o.ReflectTurns), "repaired": fmt.Sprint(o.Repaired),
		"rescue_turns": fmt.Sprint(o.RescueTurns), "tool_executions": fmt.Sprint(runs), "valid_raw": fmt.Sprint(o.ValidRaw), "violations": fmt.Sprint(o.Violations),
	}
	return e
}
