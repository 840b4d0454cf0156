package plot

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// No candidate on the frontier is dominated, and every other one is.
func TestFrontier(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		r := model.Report{}
		for range rng.IntN(9) {
			c := model.Candidate{Metrics: model.Metrics{Success: kOf(1+rng.IntN(4), 5), CostPerSolved: new(float64(rng.IntN(4)))}}
			if rng.IntN(5) == 0 {
				c.CostPerSolved = nil
			}
			r.Candidates = append(r.Candidates, c)
		}
		var want []int
		for i, c := range r.Candidates {
			dominated := slices.ContainsFunc(r.Candidates, func(d model.Candidate) bool {
				return c.CostPerSolved != nil && d.CostPerSolved != nil && *d.CostPerSolved <= *c.CostPerSolved && *d.Success.Value >= *c.Success.Value &&
					(*d.CostPerSolved < *c.CostPerSolved || *d.Success.Value > *c.Success.Value)
			})
			if c.CostPerSolved != nil && !dominated {
				want = append(want, i)
			}
		}
		got := frontier(&r)
		for i := 1; i < len(got); i++ {
			require.LessOrEqual(t, *r.Candidates[got[i-1]].CostPerSolved, *r.Candidates[got[i]].CostPerSolved)
		}
		slices.Sort(got)
		require.Equal(t, want, got)
	}
}

func TestShapesOfCandidatesDiffer(t *testing.T) {
	seen := map[any]bool{}
	for i := range 32 {
		col, shape := paper().shape(i)
		key := [2]any{col, shape}
		require.False(t, seen[key], i)
		seen[key] = true
	}
}

func TestTokenTitles(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	tokens := func(in, read, write, out, reasoning *int64) model.Candidate {
		return model.Candidate{Metrics: model.Metrics{Episodes: 2, TokensIn: in, TokensCacheRead: read, TokensCacheWrite: write, TokensOut: out, TokensReasoning: reasoning}}
	}
	for _, c := range []struct {
		name, title, alt string
		list             []model.Candidate
	}{
		{"none", "", "Mean tokens of an episode by class: .", []model.Candidate{tokens(nil, nil, nil, nil, nil)}},
		{"all", "Tokens per episode: 2,500 (50.0% of the input cached)",
			"Mean tokens of an episode by class: 1 uncached input 750, cached input 1,000, cache write 250, output 450, reasoning 50.",
			[]model.Candidate{tokens(n(1500), n(2000), n(500), n(900), n(100))}},
		{"what is unknown is not zero", "Tokens per episode: 100 to 1,000",
			"Mean tokens of an episode by class: 1 uncached input 75, cached input unknown, cache write unknown, output 25, reasoning unknown; 2 uncached input 1,000, cached input 0, cache write 0, output 0, reasoning 0.",
			[]model.Candidate{tokens(n(150), nil, nil, n(50), nil), tokens(n(2000), n(0), n(0), n(0), n(0))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := model.Report{Candidates: c.list}
			require.Equal(t, c.title, tokensTitle(&r))
			require.Equal(t, c.alt, tokensAlt(&r))
		})
	}
	m := tokens(n(150), nil, nil, n(50), nil).Metrics
	require.Equal(t, "≥ 100", tokensOf(&m))
	require.Equal(t, "unknown", tokensOf(new(model.Metrics)))
}

// An axis has one unit, and the same number of decimals for all values.
func TestFormats(t *testing.T) {
	for want, got := range map[string][]string{
		"$0.001 $0.003 $0.010 $0.030": dollars([]float64{1e6, 3e6, 10e6, 30e6}),
		"$0 $20k $40k":                dollars([]float64{0, 20e12, 40e12}),
		"0 5 10 15 s":                 durations([]float64{0, 5e6, 10e6, 15e6}),
		"0.2 0.5 1.0 2.0 s":           durations([]float64{2e5, 5e5, 1e6, 2e6}),
		"500 ms":                      durations([]float64{5e5}),
		"0 0.5k 1.0k 1.5k":            counts([]float64{0, 500, 1000, 1500}),
		"0 200 400":                   counts([]float64{0, 200, 400}),
		"0% 2.5% 5.0%":                shares([]float64{0, 0.025, 0.05}),
	} {
		require.Equal(t, want, strings.Join(got, " "))
	}
}

func TestTaskTitles(t *testing.T) {
	task := func(solved ...int) model.Task {
		var k model.Task
		for _, s := range solved {
			k.Cells = append(k.Cells, model.Cell{Solved: s, Scored: 2})
		}
		return k
	}
	for want, tasks := range map[string][]model.Task{
		"":                                   slices.Repeat([]model.Task{task(2)}, minHeat-1),
		"100 of 100 tasks are always solved": append(slices.Repeat([]model.Task{task(2, 2)}, minHeat), model.Task{Cells: []model.Cell{{}}}),
		"100 of 102 tasks are always solved": append(slices.Repeat([]model.Task{task(2, 2)}, minHeat), task(0, 0), task(2, 1)),
	} {
		r := model.Report{Tasks: tasks}
		require.Equal(t, want, tasksTitle(&r))
	}
	for want, c := range map[string]model.Cell{"–": {}, "100": {Solved: 3, Scored: 3, MeanSteps: nil, Episodes: nil}, "0": {Solved: 0, Scored: 3, MeanSteps: nil, Episodes: nil}, "99": {Solved: 999, Scored: 1000, MeanSteps: nil, Episodes: nil}, "1": {Solved: 1, Scored: 1000, MeanSteps: nil, Episodes: nil}, "50": {Solved: 1, Scored: 2, MeanSteps: nil, Episodes: nil}} {
		require.Equal(t, want, heat(c).text)
	}
}

func TestViolationsTable(t *testing.T) {
	r := model.Report{Candidates: []model.Candidate{
		{Metrics: model.Metrics{Turns: 200, Violations: []model.Tally{{Name: "b", N: 3}, {Name: "a", N: 2}}}},
		{Candidate: manifest.Candidate{Name: "x"}, Metrics: model.Metrics{Turns: 10, Violations: []model.Tally{{Name: "a", N: 1}}}},
	}}
	require.Equal(t, []violationRow{{"a", []int{2, 1}}, {"b", []int{3, 0}}}, violations(&r))
	require.Equal(t, "Most frequent violation: a (3 of 210 turns)", violationsTitle(&r))
	require.Equal(t, "Violations of the contract: 1 b 3, a 2 in 200 turns; x a 1 in 10 turns.", violationsAlt(&r))
	for i := range 30 {
		r.Candidates[1].Violations = append(r.Candidates[1].Violations, model.Tally{Name: string(rune('c' + i)), N: 1})
	}
	all := violations(&r)
	require.Len(t, all, maxCodes)
	require.Equal(t, violationRow{"27 other codes", []int{0, 27}}, all[maxCodes-1])
	require.Empty(t, violationsTitle((&model.Report{Candidates: []model.Candidate{{Metrics: model.Metrics{Turns: 1}}}})))
	for want, v := range map[string]float64{"0": 0, "&lt;.1": 0.0001, "0.1": 0.001, "9.9": 0.0994, "10": 0.0996, "150": 1.5} {
		require.Equal(t, want, words.HTML(perHundred(v)))
	}
}
