package judges

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/judging"
)

func sample() Calibration {
	return Calibration{
		Judge:  manifest.Judge{Check: "judge.tone", Provider: "openai", Model: "gpt", Digest: "d1", Rubric: "r1", Settings: "s1", Prompt: "p1"},
		Labels: 53, Tasks: 52, PassWeight: 1, FailWeight: 1,
		Counts: []Count{{Tasks: 1, PassPass: 1, FailFail: 1}, {Tasks: 29, PassPass: 1}, {Tasks: 5, PassFail: 1}, {Tasks: 15, FailFail: 1}, {Tasks: 2, FailPass: 1}},
	}
}

// What is written is read again, whatever the order, and says what the counts say.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	list, err := Read(dir)
	require.NoError(t, err)
	require.Empty(t, list)
	a, b := sample(), sample()
	b.Judge.Check, b.Judge.AtLeast, b.PassWeight, b.FailWeight = "judge.facts", new(0.5), 0.75, 1.5
	require.NoError(t, Write(dir, []Calibration{a, b}))
	list, err = Read(dir)
	require.NoError(t, err)
	require.Equal(t, []Calibration{b, a}, list)
	first, err := os.ReadFile(filepath.Join(dir, File))
	require.NoError(t, err)
	require.NoError(t, Write(dir, list))
	second, err := os.ReadFile(filepath.Join(dir, File))
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))
	require.Contains(t, string(first), "sensitivity: [0.8571,")

	of := a.Agreement()
	require.InDelta(t, 30.0/35, *of.Sensitivity.Value, 1e-12)
	exact, _ := stat.ClopperPearson(30, 35, 0.95)
	require.Equal(t, exact, *of.Sensitivity.Interval, "one label a task")
	require.InDelta(t, 16.0/18, *of.Specificity.Value, 1e-12)
	require.InDelta(t, 46.0/53, *of.Agreement.Value, 1e-12)
	require.InDelta(t, 0.75*30/(0.75*30+1.5*5), *b.Agreement().Sensitivity.Value, 1e-12)
	require.Equal(t, judging.Table{PassPass: 0.75, FailFail: 1.5}, b.Tables()[0])
}

func TestProblems(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, want string }{
		{"judges: [{judge: tone", "calibration.yaml: yaml: "},
		{"judge: x", "calibration.yaml:1: field judge not found"},
		{"judges:\n- {judge: tone, labels: 1, counts: []}\n- {judge: tone, digest: d, labels: 2, counts: [{tasks: 1, pass_pass: 1}]}\n- {judge: t, digest: d, labels: 0, weights: {pass: 0, fail: 1}}\n- {judge: t, digest: d, counts: [{tasks: 0}]}\n- {judge: t, model: [1]}\n", "judges[0]: judge and digest are required\n"},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, File), []byte(c.text), 0o600))
		_, err := Read(dir)
		require.ErrorContains(t, err, c.want)
		if len(c.text) > 100 {
			for _, want := range []string{":3: judges[1]: counts have 1 labels, and labels says 2", ":4: judges[2]: weights must be above 0", ":5: judges[3]: counts must be", ":6: judges[4]: cannot unmarshal"} {
				require.ErrorContains(t, err, want)
			}
		}
	}
}

// A calibration holds for one rubric, model, prompt and least score.
func TestFind(t *testing.T) {
	list := []Calibration{sample()}
	_, why, ok := Find(list, list[0].Judge)
	require.True(t, ok)
	require.Empty(t, why)
	for want, change := range map[string]func(*manifest.Judge){
		"the calibration of judge tone is stale: its rubric changed":                                func(j *manifest.Judge) { j.Digest, j.Rubric = "d2", "r2" },
		"the calibration of judge tone is stale: its model or its settings, prompt changed":         func(j *manifest.Judge) { j.Digest, j.Settings, j.Prompt = "d2", "s2", "p2" },
		"the calibration of judge tone is stale: its at_least changed":                              func(j *manifest.Judge) { j.Digest, j.AtLeast = "d2", new(0.5) },
		"judge facts is not calibrated":                                                             func(j *manifest.Judge) { j.Digest, j.Check = "d2", "judge.facts" },
		"the calibration of judge tone is stale: its rubric, model or its settings, prompt changed": func(j *manifest.Judge) { *j = manifest.Judge{Check: "judge.tone"} },
	} {
		j := list[0].Judge
		change(&j)
		_, why, ok := Find(list, j)
		require.False(t, ok)
		require.Equal(t, want, why)
	}
}

// FuzzParse checks that what is read keeps its bounds.
func FuzzParse(f *testing.F) {
	f.Add("judges:\n- {judge: tone, digest: d, labels: 2, weights: {pass: .inf, fail: 1}, counts: [{tasks: 2, pass_pass: 1}]}")
	f.Add("judges: [{judge: tone, digest: d, labels: 1000000, counts: [{tasks: 1000000, fail_fail: 1}]}]")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parse("f", []byte(text))
		if err != nil {
			return
		}
		for _, c := range list {
			n := 0
			for _, k := range c.Counts {
				n += k.Tasks * (k.PassPass + k.PassFail + k.FailPass + k.FailFail)
			}
			require.Equal(t, c.Labels, n)
			require.LessOrEqual(t, n, 1_000_000)
		}
	})
}
