package compare

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

func TestCheckPool(t *testing.T) {
	night := func(id string, edit func(*manifest.Manifest)) manifest.Manifest {
		m := plan{candidate: "a", tasks: 3, trials: 1}.manifest()
		m.RunID, m.LedgerDigest, m.ConfigDigest, m.Candidates[0].Digest = id, "ledger of "+id, "c", "d"
		if edit != nil {
			edit(&m)
		}
		return m
	}
	first := night("n1", nil)
	for name, c := range map[string]struct {
		edit func(*manifest.Manifest)
		want string
	}{
		"unchanged":         {nil, ""},
		"same run":          {func(m *manifest.Manifest) { m.RunID = "n1" }, "the same run twice"},
		"same recording":    {func(m *manifest.Manifest) { m.LedgerDigest = "ledger of n1" }, "replays of one recording"},
		"another candidate": {func(m *manifest.Manifest) { m.Candidates[0].Name = "b" }, "has no candidate a"},
		"changed candidate": {func(m *manifest.Manifest) { m.Candidates[0].Digest = "e" }, "candidate a was changed"},
		"no digest":         {func(m *manifest.Manifest) { m.Candidates[0].Digest = "" }, "candidate a has no digest"},
		"changed task":      {func(m *manifest.Manifest) { m.Tasks[1].Digest = "e" }, "1 task changed"},
		"changed policy":    {func(m *manifest.Manifest) { m.ConfigDigest = "e" }, "the policy was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckPool([]manifest.Manifest{first, night("n2", c.edit)}, []string{"a"})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.Contains(t, err.Error(), "n1")
		})
	}
	require.NoError(t, CheckPool([]manifest.Manifest{first}, []string{"a"}))
	err := CheckPool([]manifest.Manifest{first, night("n2", func(m *manifest.Manifest) { m.Tasks[1].Digest, m.Candidates[0].Digest = "e", "e" })}, []string{"a"})
	require.Equal(t, 2, len(strings.Split(err.Error(), "\n")), "every problem at once")
}

// Every trial of the new run is paired with one trial of each baseline run. Runs with
// fewer trials than the new one are joined, one after the other.
func TestBaselinesArePaired(t *testing.T) {
	for name, c := range map[string]struct {
		baselines       []int // trials
		trials          int
		pairs           int
		blocks          []int32
		without, unseen int
	}{
		"one":                 {[]int{3}, 3, 3, []int32{0}, 0, 0},
		"two equal":           {[]int{3, 3}, 3, 6, []int32{0, 1}, 0, 0},
		"nights of one trial": {[]int{1, 1, 1, 1}, 3, 4, []int32{0, 0, 0, 1}, 0, 0},
		"more than the new":   {[]int{5, 2}, 2, 4, []int32{0, 1}, 3, 0},
		"fewer in all":        {[]int{1, 1}, 5, 2, []int32{0, 0}, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []manifest.Manifest
			for _, n := range c.baselines {
				runs = append(runs, plan{candidate: "a", tasks: 2, trials: n}.manifest())
			}
			newer := plan{candidate: "a", tasks: 2, trials: c.trials}
			b := NewBuilder(runs, newer.manifest(), []Names{{"a", "a"}}, Rules{})
			for i, n := range c.baselines {
				plan{candidate: "a", tasks: 2, trials: n}.each(func(rows ledger.EpisodeRows) { b.AddBaseline(i, rows) })
			}
			newer.each(b.AddNew)
			var places []int32
			for _, p := range blocks(b.baselines, c.trials) {
				places = append(places, p.number)
			}
			require.Equal(t, c.blocks, places)
			got := finished(b)
			p := got.Pairs[0]
			require.Equal(t, []int{2 * c.pairs, 2 * c.without, 2 * c.unseen}, []int{p.Episodes, p.BaselineOnly, p.NewOnly})
			require.Len(t, got.Pooled, len(runs)-1)
		})
	}
}
