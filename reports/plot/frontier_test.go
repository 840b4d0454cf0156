package plot

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// Against the definition: nobody on the frontier is dominated, everybody else is.
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
		{"none", "No provider reported tokens", "Tokens by class: no data.", []model.Candidate{tokens(nil, nil, nil, nil, nil)}},
		{"all", "An episode takes 2.5 k tokens, 50.0% of the input from a cache",
			"Tokens by class: 1 fresh input 1,500, cache read 2,000, cache write 500, output 900, reasoning 100.",
			[]model.Candidate{tokens(n(1500), n(2000), n(500), n(900), n(100))}},
		{"what is unknown is not zero", "An episode takes 100 to 1 k tokens",
			"Tokens by class: 1 fresh input 150, cache read unknown, cache write unknown, output 50, reasoning unknown; 2 fresh input 2,000, cache read 0, cache write 0, output 0, reasoning 0.",
			[]model.Candidate{tokens(n(150), nil, nil, n(50), nil), tokens(n(2000), n(0), n(0), n(0), n(0))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := model.Report{Candidates: c.list}
			require.Equal(t, c.title, tokensTitle(&r))
			require.Equal(t, c.alt, tokensAlt(&r))
		})
	}
	m := tokens(n(150), nil, nil, n(50), nil).Metrics
	require.Equal(t, "≥ 200", allTokens(&m))
	require.Equal(t, "?", allTokens(new(model.Metrics)))
}

func TestScaled(t *testing.T) {
	for want, v := range map[string]float64{
		"0": 0, "950": 950, "999": 999, "1 k": 999.6, "1.5 k": 1500, "12.3 k": 12345, "123 k": 123456, "1 M": 999_600, "1.23 M": 1_234_567, "9.22 E": 9.22e18,
	} {
		require.Equal(t, want, scaled(v))
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
		"No task has a result":                         {{Cells: []model.Cell{{}}}},
		"Every task is always solved":                  {task(2, 2), task(2)},
		"No task is ever solved":                       {task(0, 0), task(0)},
		"Every task is solved at times, 1 of 2 always": {task(2, 2), task(0, 1)},
		"1 of 3 tasks is never solved, 1 always":       {task(2, 2), task(0, 0), task(1)},
		"2 of 3 tasks are never solved, 0 always":      {task(1, 2), task(0, 0), task(0)},
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
	require.Equal(t, "Most frequent violation: a, 3 in 210 turns", violationsTitle(&r))
	require.Equal(t, "Violations of the contract: 1 b 3, a 2 in 200 turns; x a 1 in 10 turns.", violationsAlt(&r))
	for i := range 30 {
		r.Candidates[1].Violations = append(r.Candidates[1].Violations, model.Tally{Name: string(rune('c' + i)), N: 1})
	}
	all := violations(&r)
	require.Len(t, all, maxCodes)
	require.Equal(t, violationRow{"21 other codes", []int{0, 21}}, all[maxCodes-1])
	require.Equal(t, "No turn broke the contract", violationsTitle((&model.Report{Candidates: []model.Candidate{{Metrics: model.Metrics{Turns: 1}}}})))
	require.Equal(t, "No turn was judged", violationsTitle(new(model.Report)))
	for want, v := range map[string]float64{"0": 0, "&lt;.1": 0.0001, "0.1": 0.001, "9.9": 0.0994, "10": 0.0996, "150": 1.5} {
		require.Equal(t, want, words.HTML(perHundred(v)))
	}
}
