package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// madeOf returns a run of two tasks and one candidate, changed by the edits.
func madeOf(edits ...func(*manifest.Manifest)) manifest.Manifest {
	task := func(id string) manifest.Task {
		return manifest.Task{
			ID: id, Title: "T", Request: "How many?", Digest: "d" + id,
			RequestDigest: "r", WorldDigest: "w", ToolsDigest: "t", ChecksDigest: "c",
		}
	}
	m := manifest.Manifest{
		Suite: "counts", SuiteDigest: "s1", ConfigDigest: "0123456789abcdef", PriceDigest: "p1", PriceVersion: "2026-05-01",
		CodeVersion: "v1", Seed: 1, Trials: 3, Mode: "replay", Acceptance: manifest.Acceptance{}.Resolved(),
		Candidates: []manifest.Candidate{{Name: "a", Agent: "contract", Provider: "p", Model: "m", OutputMode: "prompt", PromptProfile: "seed", Digest: "c1"}},
		Tasks:      []manifest.Task{task("A"), task("B")},
	}
	for _, edit := range edits {
		edit(&m)
	}
	return m
}

// retask edits the tasks of a run, which changes its suite.
func retask(edit func(*manifest.Task)) func(*manifest.Manifest) {
	return func(m *manifest.Manifest) {
		m.SuiteDigest += "+"
		for i := range m.Tasks {
			m.Tasks[i].Digest += "+"
			edit(&m.Tasks[i])
		}
	}
}

func TestDifferences(t *testing.T) {
	candidate := func(edit func(*manifest.Candidate)) func(*manifest.Manifest) {
		return func(m *manifest.Manifest) { edit(&m.Candidates[0]) }
	}
	for name, c := range map[string]struct {
		edit func(*manifest.Manifest)
		want []Difference
	}{
		"none": {func(*manifest.Manifest) {}, []Difference{}},
		"model and prompt": {
			candidate(func(c *manifest.Candidate) { c.Model, c.PromptProfile, c.Digest = "n", "schema", "c2" }),
			[]Difference{{What: "model", Where: "a", Baseline: "m", New: "n"}, {What: "prompt", Where: "a", Baseline: "seed", New: "schema"}},
		},
		"all of a candidate": {
			candidate(func(c *manifest.Candidate) {
				c.Agent, c.Provider, c.OutputMode, c.RescueModel, c.Digest = "other", "q", "json_schema", "big", "c2"
			}),
			[]Difference{
				{What: "agent", Where: "a", Baseline: "contract", New: "other"}, {What: "provider", Where: "a", Baseline: "p", New: "q"},
				{What: "output mode", Where: "a", Baseline: "prompt", New: "json_schema"}, {What: "rescue model", Where: "a", Baseline: "absent", New: "big"},
			},
		},
		"a setting without a name": {
			candidate(func(c *manifest.Candidate) { c.Digest = "c2" }),
			[]Difference{{What: "candidate", Where: "a", Baseline: "digest c1", New: "digest c2: another setting that runs do not name (" + unnamed + ")"}},
		},
		"a candidate more": {
			func(m *manifest.Manifest) { m.Candidates = append(m.Candidates, manifest.Candidate{Name: "b"}) },
			[]Difference{{What: "candidate", Baseline: "absent", New: "b"}},
		},
		"suite's name and tags": {
			func(m *manifest.Manifest) {
				retask(func(t *manifest.Task) { t.Tags, t.Title = []string{"x"}, "U" })(m)
				m.Suite = "other"
			},
			[]Difference{{What: "suite", Baseline: "counts", New: "other"}},
		},
		"another task": {
			func(m *manifest.Manifest) { m.SuiteDigest, m.Tasks[1].ID = "s2", "C" },
			[]Difference{{What: "tasks", Where: "B", Baseline: "present", New: "absent"}, {What: "tasks", Where: "C", Baseline: "absent", New: "present"}},
		},
		"a request": {
			func(m *manifest.Manifest) {
				m.SuiteDigest, m.Tasks[0].Digest, m.Tasks[0].RequestDigest, m.Tasks[0].Request = "s2", "d2", "r2", "How few?"
			},
			[]Difference{{What: "request", Where: "A", Baseline: "How many?", New: "How few?", Misleads: true}},
		},
		"constraints": {
			func(m *manifest.Manifest) {
				m.SuiteDigest, m.Tasks[0].Digest, m.Tasks[0].RequestDigest = "s2", "d2", "r2"
			},
			[]Difference{{What: "request", Where: "A", Baseline: "as it was", New: "changed", Misleads: true}},
		},
		"world, tools and checks": {
			retask(func(t *manifest.Task) { t.WorldDigest, t.ToolsDigest, t.ChecksDigest = "w2", "t2", "c2" }),
			[]Difference{
				{What: "world", Where: "A, B", Baseline: "as it was", New: "changed", Misleads: true},
				{What: "tools", Where: "A, B", Baseline: "as it was", New: "changed", Misleads: true},
				{What: "checks", Where: "A, B", Baseline: "as it was", New: "changed", Misleads: true},
			},
		},
		"an older run": {
			retask(func(t *manifest.Task) { t.ToolsDigest = "" }),
			[]Difference{{What: "task", Where: "A, B", Baseline: "as it was", New: "changed (an older run does not say in what)", Misleads: true}},
		},
		"a run of digests unknown": {
			retask(func(t *manifest.Task) { *t = manifest.Task{ID: t.ID} }),
			[]Difference{{What: "task", Where: "A, B", Baseline: "as it was", New: "changed (an older run does not say in what)", Misleads: true}},
		},
		"policy": {
			func(m *manifest.Manifest) { m.ConfigDigest = "fedcba9876543210" },
			[]Difference{{What: "policy", Baseline: "configuration 0123456789ab", New: "configuration fedcba987654: the policy, or candidates that were not run"}},
		},
		"configuration by seed": {
			func(m *manifest.Manifest) { m.ConfigDigest, m.Seed = "x", 2 }, []Difference{{What: "seed", Baseline: "1", New: "2"}},
		},
		"run": {
			func(m *manifest.Manifest) {
				m.PriceDigest, m.PriceVersion, m.CodeVersion, m.Trials, m.Mode = "p2", "2026-06-01", "v2", 5, "live"
			},
			[]Difference{
				{What: "prices", Baseline: "2026-05-01 (p1)", New: "2026-06-01 (p2)"}, {What: "code", Baseline: "v1", New: "v2"},
				{What: "trials", Baseline: "3", New: "5"}, {What: "mode", Baseline: "replay", New: "live"},
			},
		},
		"fork": {
			func(m *manifest.Manifest) { m.Fork = &manifest.Fork{Task: "A", Candidate: "a", Trial: 1, Turn: 2} },
			[]Difference{{What: "mode", Baseline: "replay", New: "replay, a fork of A/a/1@2"}},
		},
		"rescored": {
			func(m *manifest.Manifest) { m.RescoredFrom = "X" }, []Difference{{What: "mode", Baseline: "replay", New: "replay, rescored"}},
		},
		"acceptance": {
			func(m *manifest.Manifest) {
				m.Acceptance.MinValid, m.Acceptance.MinSolved = 0.9, manifest.Off
				m.Acceptance.Criteria = []manifest.Criterion{{Name: "own", Expr: "mean(steps) < 4"}}
			},
			[]Difference{
				{What: "acceptance", Where: "min_solved", Baseline: "0.8", New: "off"}, {What: "acceptance", Where: "min_valid", Baseline: "0.95", New: "0.9"},
				{What: "acceptance", Where: "criteria", Baseline: "absent", New: "own: mean(steps) < 4 (bound)"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, Differences(madeOf(), madeOf(c.edit), []Names{{"a", "a"}}))
		})
	}
}

// The differences between two candidates of one run are those of the candidates only.
func TestDifferencesOfCandidates(t *testing.T) {
	both := func(m *manifest.Manifest) {
		m.Candidates = append(m.Candidates, manifest.Candidate{Name: "b", Agent: "contract", Provider: "p", Model: "m", OutputMode: "prompt", PromptProfile: "seed", Digest: "c1"})
	}
	only := func(i int) manifest.Manifest {
		m := madeOf(both)
		m.Candidates = m.Candidates[i : i+1]
		return m
	}
	require.Equal(t, []Difference{{What: "candidate", Baseline: "a", New: "b"}}, Differences(only(0), only(1), []Names{{"a", "b"}}))
	require.Equal(t, []Difference{{What: "candidate", Baseline: "absent", New: "b"}}, Differences(madeOf(), madeOf(both), []Names{{"a", "a"}}), "a candidate more changes no other")
}

// A difference names a few tasks, for any number of tasks.
func TestDifferencesAreBounded(t *testing.T) {
	many := func(m *manifest.Manifest) {
		m.Tasks = nil
		for i := range 5000 {
			m.Tasks = append(m.Tasks, manifest.Task{ID: fmt.Sprintf("T%04d", i), Digest: "d", RequestDigest: "r", WorldDigest: "w", ToolsDigest: "t", ChecksDigest: "c"})
		}
	}
	got := Differences(madeOf(many), madeOf(many, retask(func(t *manifest.Task) { t.ChecksDigest = "c2" })), nil)
	require.Len(t, got, 3)
	require.Equal(t, "T0000, T0001, T0002, T0003, T0004, T0005, T0006, T0007, T0008, T0009 and 4990 more", got[2].Where)
	require.Equal(t, strings.Repeat("ü", 80)+", b", named([]string{strings.Repeat("ü", 1000), "b"}))
	require.Equal(t, []string{"checks"}, changed(madeOf(many), madeOf(many, retask(func(t *manifest.Task) { t.ChecksDigest = "c2" })))["T4999"])
}

// If the model behind a name changed between the starts of two runs, the comparison
// says so, for either order of the runs, and does not mislead.
func TestAChangeOfTheModelBehindTheName(t *testing.T) {
	run := func(started, changed string) manifest.Manifest {
		c := manifest.Candidate{Name: "gpt", Provider: "openai", Model: "gpt-x"}
		if changed != "" {
			c.Canary = manifest.Canary{ChangedOn: changed, Evidence: []string{"served model a → b"}}
		}
		return manifest.Manifest{RunID: started, Started: started, Candidates: []manifest.Candidate{c}}
	}
	const first, changed, second = "2026-11-10T02:00:00.5Z", "2026-11-12T02:00:00Z", "2026-11-14T02:00:00Z"
	pairs := []Names{{Baseline: "gpt", New: "gpt"}}
	want := []Difference{{What: "model behind the name", Where: "gpt", Baseline: "as it was", New: "changed on 2026-11-12: served model a → b"}}
	note := []string{"The model behind gpt (gpt-x) changed on 2026-11-12; a difference may be the provider's, not yours."}
	for name, c := range map[string]struct {
		baseline, newRun manifest.Manifest
		marked           bool
	}{
		"between":               {run(first, ""), run(second, changed), true},
		"the other way round":   {run(second, changed), run(first, ""), true},
		"before both":           {run(changed, changed), run(second, changed), false},
		"at the new run itself": {run(first, ""), run(changed, changed), true},
		"none known":            {run(first, ""), run(second, ""), false},
		"a replay":              {run(first, ""), run("", changed), false},
	} {
		t.Run(name, func(t *testing.T) {
			if !c.marked {
				require.Empty(t, Differences(c.baseline, c.newRun, pairs))
				require.Empty(t, modelNotes(c.baseline, c.newRun, pairs))
				return
			}
			require.Equal(t, want, Differences(c.baseline, c.newRun, pairs))
			compared, err := NewBuilder([]manifest.Manifest{c.baseline}, c.newRun, pairs, Rules{}).Comparison()
			require.NoError(t, err)
			require.Equal(t, note, compared.Notes)
		})
	}
	other := run(second, changed)
	other.Candidates[0].Model = "gpt-y"
	require.Empty(t, modelNotes(run(first, ""), other, pairs), "another name is another difference")
}
