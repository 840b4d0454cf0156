package cmd

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers/policy"
)

// kept returns the episodes that an episodeFilter selects from tasks A, B and C, candidates x and y,
// and two trials.
func kept(keep episodeFilter) string {
	var out []string
	for _, task := range []string{"A", "B", "C"} {
		for _, candidate := range []string{"x", "y"} {
			for trial := 1; trial <= 2; trial++ {
				if keep(task, candidate, trial) {
					out = append(out, fmt.Sprintf("%s%s%d", task, candidate, trial))
				}
			}
		}
	}
	return strings.Join(out, " ")
}

func TestFailedIn(t *testing.T) {
	m := manifest.Manifest{
		Tasks: []manifest.Task{{ID: "A"}, {ID: "B"}}, Candidates: []manifest.Candidate{{Name: "x"}}, Trials: 1,
	}
	solved, failed, none := outcome{solved: true, result: true}, outcome{result: true}, outcome{}
	for _, c := range []struct {
		name       string
		unfinished int
		had        map[cell]outcome
		want       string
	}{
		{"all solved", 0, map[cell]outcome{{"A", "x", 1}: solved}, ""},
		{"one not", 0, map[cell]outcome{{"A", "x", 1}: solved, {"B", "x", 1}: failed}, "Bx1"},
		{"one that it did not plan", 0, map[cell]outcome{{"C", "y", 2}: failed}, "Cy2"},
		{"no result", 0, map[cell]outcome{{"A", "x", 1}: solved, {"B", "x", 1}: none}, "Bx1"},
		{"interrupted", 1, map[cell]outcome{{"A", "x", 1}: solved}, "Bx1"},
		{"nothing done", 2, nil, "Ax1 Bx1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.Outcomes.Unfinished = c.unfinished
			require.Equal(t, c.want, kept(failedIn(m, c.had)))
		})
	}
}

func TestChangedSince(t *testing.T) {
	policy, err := policy.Parse([]byte("providers: {sim-openai: {model: from-policy}}"))
	require.NoError(t, err)
	today := func(edit func(o *harness.Options)) *harness.Options {
		o := &harness.Options{
			Matrix: harness.Matrix{
				Suite: &goldens.Suite{Name: "s", Tasks: []goldens.Task{
					{ID: "A", World: world.Spec{Zone: time.UTC}}, {ID: "B", World: world.Spec{Zone: time.UTC}},
				}},
				Candidates: []goldens.Candidate{{Name: "x", Provider: "sim-openai"}, {Name: "y", Provider: "p", Model: "m"}},
			},
			Rules: harness.Rules{Policy: policy},
		}
		edit(o)
		return o
	}
	m := manifest.Manifest{RunID: "R"}
	o := today(func(*harness.Options) {})
	for _, task := range o.Suite.Tasks {
		m.Tasks = append(m.Tasks, manifest.Task{ID: task.ID, Digest: o.Suite.TaskDigest(task)})
	}
	for _, c := range []goldens.Candidate{{Name: "x", Provider: "sim-openai", Model: "from-policy", Agent: "contract", Mode: "prompt", Profile: "seed"}, o.Candidates[1]} {
		m.Candidates = append(m.Candidates, manifest.Candidate{Name: c.Name, Digest: harness.CandidateDigest(c)})
	}
	require.NoError(t, digested(m))
	all := map[cell]outcome{}
	for _, task := range []string{"A", "B", "C"} {
		for _, candidate := range []string{"x", "y"} {
			all[cell{task, candidate, 1}], all[cell{task, candidate, 2}] = outcome{result: true}, outcome{result: true, solved: true}
		}
	}
	without := func(lost ...cell) map[cell]outcome {
		had := maps.Clone(all)
		for _, c := range lost {
			had[c] = outcome{}
		}
		return had
	}
	for _, c := range []struct {
		name string
		edit func(o *harness.Options)
		had  map[cell]outcome
		want string
	}{
		{"nothing", func(*harness.Options) {}, all, ""},
		{"a task", func(o *harness.Options) { o.Suite.Tasks[1].Request = "other" }, all, "Bx1 Bx2 By1 By2"},
		{"what only people read", func(o *harness.Options) { o.Suite.Tasks[1].Title = "other" }, all, ""},
		{"a new task", func(o *harness.Options) {
			o.Suite.Tasks = append(o.Suite.Tasks, goldens.Task{ID: "C", World: world.Spec{Zone: time.UTC}})
		}, all, "Cx1 Cx2 Cy1 Cy2"},
		{"a candidate", func(o *harness.Options) { o.Candidates[1].Model = "other" }, all, "Ay1 Ay2 By1 By2 Cy1 Cy2"},
		{"a default spelled out", func(o *harness.Options) { o.Candidates[1].Mode = "prompt" }, all, ""},
		{"no result", func(*harness.Options) {}, without(cell{"A", "x", 1}, cell{"B", "y", 2}), "Ax1 By2"},
		{"nothing there", func(*harness.Options) {}, nil, "Ax1 Ax2 Ay1 Ay2 Bx1 Bx2 By1 By2 Cx1 Cx2 Cy1 Cy2"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, kept(changedSince(m, c.had, today(c.edit)))) })
	}

	m.Tasks[1].Digest = ""
	require.ErrorContains(t, digested(m), "run R was made by an older cupel and has no task digests")
}

func TestNarrow(t *testing.T) {
	runs := t.TempDir()
	write := func(id string, m manifest.Manifest, rows ...ledger.Episode) {
		m.Format, m.RunID, m.Status = manifest.Format, id, cmp.Or(m.Status, "complete")
		dir := filepath.Join(runs, id)
		require.NoError(t, os.Mkdir(dir, 0o755))
		if m.Status == "running" {
			require.NoError(t, manifest.Write(dir, m))
			return
		}
		require.NoError(t, ledger.Write(dir, m, ledger.Rows{Episodes: rows}))
	}
	write("other", manifest.Manifest{Suite: "other"})
	write("fork", manifest.Manifest{Suite: "s", Fork: &manifest.Fork{}})
	write("old", manifest.Manifest{Suite: "s", Tasks: []manifest.Task{{ID: "A"}}})
	write("open", manifest.Manifest{Suite: "s", Status: "running"})
	episode := func(task string, solved, infra bool) ledger.Episode {
		return ledger.Episode{Key: ledger.Key{TaskID: task, Candidate: "x", Trial: 1}, Solved: solved, InfraError: infra}
	}
	write("fine", manifest.Manifest{Suite: "s"}, episode("A", false, false), episode("B", true, false), episode("C", false, true))
	for _, c := range []struct {
		name  string
		flags selectFlags
		fork  *harness.Fork
		want  string
		code  int
	}{
		{"shard", selectFlags{shard: "5/4"}, nil, `--shard "5/4": write i/n with i from 1 to n`, exit.BadUsage},
		{"no run", selectFlags{failedIn: "none"}, nil, `--failed-in: no run "none" below`, exit.BadUsage},
		{"another suite", selectFlags{changedSince: "other"}, nil, "--changed-since: run other is of suite other, not of suite s", exit.BadUsage},
		{"a fork's run", selectFlags{failedIn: "fork"}, nil, "--failed-in: run fork is a fork", exit.BadUsage},
		{"a fork", selectFlags{failedIn: "fine"}, &harness.Fork{}, "remove one of them", exit.BadUsage},
		{"no digests", selectFlags{changedSince: "old"}, nil, "--changed-since: run old was made by an older cupel", exit.BadUsage},
		{"not ended", selectFlags{failedIn: "open"}, nil, "--failed-in: run open has not ended", exit.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := harness.Options{Matrix: harness.Matrix{Suite: &goldens.Suite{Name: "s"}, Fork: c.fork}}
			err := c.flags.narrow(runs, &o)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.code, exit.Code(err))
			require.Nil(t, o.Select.Episode)
		})
	}

	o := harness.Options{Matrix: harness.Matrix{Suite: &goldens.Suite{Name: "s"}}}
	f := selectFlags{shard: "1/3", failedIn: "fine"}
	require.NoError(t, f.narrow(runs, &o))
	require.Equal(t, harness.Shard{Index: 1, Count: 3}, o.Select.Shard)
	require.Equal(t, "Ax1 Cx1", kept(o.Select.Episode))
	require.EqualError(t, f.nothing(nil), "nothing to run: no selected episode failed in fine")

	// A failed but has not changed. C matches both conditions, because it has no result.
	o, f = harness.Options{Matrix: harness.Matrix{Suite: &goldens.Suite{Name: "s"}}}, selectFlags{failedIn: "fine", changedSince: "fine"}
	require.NoError(t, f.narrow(runs, &o))
	require.Equal(t, "Cx1", kept(o.Select.Episode))
	require.EqualError(t, f.nothing(nil), "nothing to run: no selected episode failed in fine and has changed since fine")
}
