package reports

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/text"
	"github.com/cupel-eval/cupel/reports/view"
)

func TestWhatIsNoClaim(t *testing.T) {
	many := func() (list []reporttest.DuelTask) {
		for i := range 8 {
			list = append(list, reporttest.DuelTask{ID: fmt.Sprint("t", i), ContractSolved: true, ToolsSolved: true, ContractSteps: 5, ToolsSteps: int32(2 + i%2)})
		}
		return list
	}
	t.Run("an unknown cost", func(t *testing.T) {
		w := reporttest.Duel(many())
		w.Rows.Episodes[3].CostNanoUSD = nil
		g := &Build(w.M, w.Rows).Strategies.Groups[0]
		k := findClaim(t, g, "cost", "contract", "tools")
		require.Nil(t, k.P)
		require.Equal(t, "no claim", k.Verdict)
		require.Contains(t, k.Note, "without a known cost: unknown, which is never zero")
		require.Nil(t, g.Results[1].Cost)
		require.Contains(t, g.Sentence, "Pareto-optimal in success and time; contract is not")
		require.Contains(t, g.Sentence, "No claim about cost, which is not known of every episode")
	})
	t.Run("episodes without a result", func(t *testing.T) {
		w := reporttest.Duel(many())
		w.Rows.Episodes[0].Status, w.Rows.Episodes[0].InfraError = ledger.StatusInfraError, true
		w.Rows.Episodes[3].Status = ledger.StatusBudgetStop
		s := Build(w.M, w.Rows).Strategies
		g := &s.Groups[0]
		require.Equal(t, 6, findClaim(t, g, "solved", "contract", "tools").N)
		require.Equal(t, []int{1, 1, 6, 6}, []int{g.Results[0].WithoutResult, g.Results[1].WithoutResult, g.Results[0].Episodes, g.Results[1].Episodes})
		require.Contains(t, strings.Join(s.Notes, " "), "2 episodes of these strategies have no result")
	})
	t.Run("no common task", func(t *testing.T) {
		w := reporttest.ByAgent("contract", "tools")
		w.Enter(0, "a", 1, true, 3)
		w.Enter(1, "b", 1, true, 3)
		w.Enter(1, "a", 2, true, 3) // another trial
		g := Build(w.M, w.Rows).Strategies.Groups[0]
		require.Empty(t, g.Pairs)
		require.Empty(t, g.Winner)
		require.Equal(t, "No trial of a task has a result of every strategy, so none is Pareto-optimal. No trial of a task has results of both contract and tools.", g.Sentence)
		r := Build(w.M, w.Rows)
		for _, c := range renderers() {
			require.NotEmpty(t, reporttest.Render(t, c.render, r))
		}
	})
	t.Run("nothing to compare", func(t *testing.T) {
		for name, w := range map[string]*reporttest.World{"one agent": reporttest.ByAgent("tools"), "one agent twice": reporttest.ByAgent("tools", "tools"), "a script": reporttest.ByAgent("tools", "contract"), "two models": reporttest.ByAgent("tools", "contract")} {
			switch name {
			case "one agent twice":
				w.M.Candidates[1].Name = "other"
			case "a script":
				w.M.Candidates[1].Provider = model.Scripted
			case "two models":
				w.M.Candidates[1].Model = "other"
			}
			w.Enter(0, "a", 1, true, 3)
			r := Build(w.M, w.Rows)
			require.Nil(t, r.Strategies, name)
			require.NotContains(t, reporttest.Render(t, HTML, r), "Strategies", name)
			require.NotContains(t, reporttest.Render(t, text.JSON, r), `"strategies"`, name)
			require.NotContains(t, reporttest.Render(t, text.Markdown, r), "Strategies", name)
		}
	})
}

// If models have different winners, the pooled comparison says so.
func TestModelsThatDisagree(t *testing.T) {
	w := reporttest.ByAgent("contract", "tools")
	w.M.Candidates = append(w.M.Candidates, w.M.Candidates...)
	for k := range 2 {
		w.M.Candidates[k+2].Name, w.M.Candidates[k+2].Model = w.M.Candidates[k].Name+"-n", "n"
	}
	for i := range 8 {
		for k, steps := range []int32{6, 3, 3, 6} {
			w.Enter(k, fmt.Sprint("t", i), 1, true, steps+int32(i%2))
		}
	}
	s := Build(w.M, w.Rows).Strategies
	require.Equal(t, []string{"tools", "contract"}, []string{s.Groups[0].Winner, s.Groups[1].Winner})
	require.Empty(t, s.Pooled.Winner)
	require.True(t, strings.HasSuffix(s.Pooled.Sentence, "Models disagree on the best strategy in steps, cost, time and tokens: look at each."), s.Pooled.Sentence)
	require.Equal(t, "Success: no significant difference. Steps, cost and time: models disagree", view.Answer(s.Pooled))
	k := findClaim(t, s.Pooled, "elapsed", "contract", "tools")
	require.Equal(t, []string{"models disagree", "", "All 8 tasks agree, so the interval has no width. contract is better with p/n, tools with p/m."}, []string{k.Verdict, k.Winner, k.Note})
	require.Equal(t, "Success: no significant difference. Steps, cost and time: tools is best", view.Answer(&s.Groups[0]))
	require.NotContains(t, Build(reporttest.Research()).Strategies.Pooled.Sentence, "disagree")
}

// Another order of the episodes of a task, and another number of processors, give the
// same bytes.
func TestStrategiesAreDeterministic(t *testing.T) {
	m, rows := reporttest.Research()
	want := reporttest.Render(t, text.JSON, Build(m, rows))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, want, reporttest.Render(t, text.JSON, Build(m, rows)))
}

func TestStrategiesWithHostileNames(t *testing.T) {
	m, rows := reporttest.Hostile()
	for i := range m.Candidates {
		m.Candidates[i].Agent += fmt.Sprint(i)
	}
	r := Build(m, rows)
	require.NotNil(t, r.Strategies)
	for _, c := range renderers() {
		out := reporttest.Render(t, c.render, r)
		if c.name == "report.json" {
			reporttest.Lacks(t, out, "<script")
			continue
		}
		require.Equal(t, -1, strings.IndexFunc(strings.ReplaceAll(out, "\n", ""), reporttest.Hidden), c.name)
		if strings.HasSuffix(c.name, ".html") || strings.HasSuffix(c.name, ".md") {
			reporttest.Lacks(t, out, "<img")
		}
	}
	printed := reporttest.Render(t, text.Markdown, r)
	for _, raw := range []string{"](", "@everyone", "http://evil", "<script"} {
		reporttest.Lacks(t, printed, raw)
	}
	reporttest.Inert(t, reporttest.Render(t, HTML, r))
}

// Goldens of a synthetic run of three strategies; rewrite them as those of TestGolden.
func TestGoldenStrategies(t *testing.T) {
	r := Build(reporttest.Research())
	for _, c := range renderers() {
		if c.name != "report.md" && c.name != "plain.txt" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			got, path := reporttest.Render(t, c.render, r), filepath.Join("testdata", "strategies."+c.name)
			if testkit.Update() {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestStrategiesInEveryRendering(t *testing.T) {
	r := Build(reporttest.Research())
	page := reporttest.Render(t, HTML, r)
	for _, part := range []string{`<section id="strategies"`, `<a href="#strategies">`, "tools is best", "sim-weak/weak", "Pairs / tasks"} {
		require.Contains(t, page, part)
	}
	printed := reporttest.Render(t, text.Markdown, r)
	require.Contains(t, printed, "**Strategies**, all models: **Success: no significant difference. Steps, cost and time: tools is best**")
	require.Contains(t, printed, "**all models**: By the estimates tools and plan are Pareto-optimal in")
	require.Contains(t, printed, "| Steps | contract → tools |")
	var b bytes.Buffer
	require.NoError(t, text.Summary(&b, r, text.Screen{}))
	require.Equal(t, 3, strings.Count(b.String(), "strategies: "), "of all models and of each")
	require.Contains(t, b.String(), "strategies: all models: Success: no significant difference. Steps, cost and time: tools is best\n")
	require.NotContains(t, reporttest.Render(t, text.JUnit, r), "strateg")
	f := r.Figures[slices.IndexFunc(r.Figures, func(f model.Figure) bool { return f.Name == "strategies" })]
	require.Equal(t, "Pareto-optimal in success, cost and time: tools and plan", f.Title)
	require.Contains(t, f.Alt, "tools · weak 79.2%")
}

func findClaim(t *testing.T, c *model.StrategyComparison, metric, first, second string) model.PairResult {
	t.Helper()
	for _, k := range c.Pairs {
		if k.Metric == metric && k.First == first && k.Second == second {
			return k
		}
	}
	t.Fatalf("no claim about %s of %s and %s", metric, first, second)
	return model.PairResult{}
}
