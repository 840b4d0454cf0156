package compare

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// An incomplete baseline cannot prove that nothing got worse.
func TestCutBaselineNeverPasses(t *testing.T) {
	run := plan{candidate: "a", tasks: 150, trials: 1}
	for name, c := range map[string]struct {
		edit func(*manifest.Manifest)
		row  func(*ledger.EpisodeRows)
		why  string
	}{
		"whole":       {},
		"stopped":     {func(m *manifest.Manifest) { m.Stopped = "the cap of $5 is spent" }, nil, "the baseline was stopped early: the cap of $5 is spent"},
		"failed":      {func(m *manifest.Manifest) { m.Status = "failed" }, nil, "the status of the baseline is failed"},
		"unfinished":  {func(m *manifest.Manifest) { m.Candidates[0].Planned += 2 }, nil, "2 planned episodes of the baseline have not been run"},
		"budget stop": {nil, func(e *ledger.EpisodeRows) { e.Episode.Status, e.Episode.Solved = ledger.StatusBudgetStop, false }, "the baseline was interrupted or capped"},
	} {
		t.Run(name, func(t *testing.T) {
			m := run.manifest()
			if c.edit != nil {
				c.edit(&m)
			}
			b := NewBuilder([]manifest.Manifest{m}, run.manifest(), []Names{{"a", "a"}}, Rules{})
			first := true
			run.each(func(rows ledger.EpisodeRows) {
				if first && c.row != nil {
					c.row(&rows)
				}
				first = false
				b.AddBaseline(0, rows)
			})
			run.each(b.AddNew)
			got := finished(b)
			if c.why == "" {
				require.Equal(t, stat.Pass, got.Verdict, got.Headline)
				return
			}
			require.Equal(t, stat.Inconclusive, got.Verdict)
			require.Equal(t, "Inconclusive: "+c.why, got.Headline)
			require.Contains(t, got.Pairs[0].Sentence, "A pass is not possible: "+c.why)
		})
	}
}
