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
)

func TestWhatIsNoClaim(t *testing.T) {
	many := func() (list []duelTask) {
		for i := range 8 {
			list = append(list, duelTask{fmt.Sprint("t", i), true, true, 5, int32(2 + i%2)})
		}
		return list
	}
	t.Run("an unknown cost", func(t *testing.T) {
		w := duel(many())
		w.rows.Episodes[3].CostNanoUSD = nil
		g := &Build(w.m, w.rows).Strategies.Groups[0]
		k := findClaim(t, g, "cost", "contract", "tools")
		require.Nil(t, k.P)
		require.Equal(t, "no claim", k.Verdict)
		require.Contains(t, k.Note, "without a known cost: unknown, which is never zero")
		require.Nil(t, g.Entrants[1].Cost)
		require.Contains(t, g.Sentence, "front of success and time; contract is not")
		require.Contains(t, g.Sentence, "No claim about cost, which is not known of every episode")
	})
	t.Run("episodes without a result", func(t *testing.T) {
		w := duel(many())
		w.rows.Episodes[0].Status, w.rows.Episodes[0].InfraError = ledger.StatusInfraError, true
		w.rows.Episodes[3].Status = ledger.StatusBudgetStop
		s := Build(w.m, w.rows).Strategies
		g := &s.Groups[0]
		require.Equal(t, 6, findClaim(t, g, "solved", "contract", "tools").N)
		require.Equal(t, []int{1, 1, 6, 6}, []int{g.Entrants[0].WithoutResult, g.Entrants[1].WithoutResult, g.Entrants[0].Episodes, g.Entrants[1].Episodes})
		require.Contains(t, strings.Join(s.Notes, " "), "2 episodes of these strategies have no result")
	})
	t.Run("no common task", func(t *testing.T) {
		w := byAgent("contract", "tools")
		w.enter(0, "a", 1, true, 3)
		w.enter(1, "b", 1, true, 3)
		w.enter(1, "a", 2, true, 3) // another trial
		g := Build(w.m, w.rows).Strategies.Groups[0]
		require.Empty(t, g.Claims)
		require.Empty(t, g.Winner)
		require.Equal(t, "No trial of a task has a result of every strategy, so there is no front. No trial of a task has results of both contract and tools.", g.Sentence)
		r := Build(w.m, w.rows)
		for _, c := range renderers() {
			require.NotEmpty(t, render(t, c.render, r))
		}
	})
	t.Run("nothing to compare", func(t *testing.T) {
		for name, w := range map[string]*world{"one agent": byAgent("tools"), "one agent twice": byAgent("tools", "tools"), "a script": byAgent("tools", "contract"), "two models": byAgent("tools", "contract")} {
			switch name {
			case "one agent twice":
				w.m.Candidates[1].Name = "other"
			case "a script":
				w.m.Candidates[1].Provider = Scripted
			case "two models":
				w.m.Candidates[1].Model = "other"
			}
			w.enter(0, "a", 1, true, 3)
			r := Build(w.m, w.rows)
			require.Nil(t, r.Strategies, name)
			require.NotContains(t, render(t, HTML, r), "Strategies", name)
			require.NotContains(t, render(t, JSON, r), `"strategies"`, name)
			require.NotContains(t, render(t, Markdown, r), "Strategies", name)
		}
	})
}

// Where models point to different winners, the pooled contest says so.
func TestModelsThatDisagree(t *testing.T) {
	w := byAgent("contract", "tools")
	w.m.Candidates = append(w.m.Candidates, w.m.Candidates...)
	for k := range 2 {
		w.m.Candidates[k+2].Name, w.m.Candidates[k+2].Model = w.m.Candidates[k].Name+"-n", "n"
	}
	for i := range 8 {
		for k, steps := range []int32{6, 3, 3, 6} {
			w.enter(k, fmt.Sprint("t", i), 1, true, steps+int32(i%2))
		}
	}
	s := Build(w.m, w.rows).Strategies
	require.Equal(t, []string{"tools", "contract"}, []string{s.Groups[0].Winner, s.Groups[1].Winner})
	require.Empty(t, s.Pooled.Winner)
	require.True(t, strings.HasSuffix(s.Pooled.Sentence, "Models disagree on who wins in steps, cost, time and tokens: look at each."), s.Pooled.Sentence)
	require.Equal(t, "models disagree on steps, cost and time; no difference shown in success", s.Pooled.answer())
	k := findClaim(t, s.Pooled, "elapsed", "contract", "tools")
	require.Equal(t, []string{"models disagree", "", "All 8 tasks agree, so the interval has no width. contract wins with p/n, tools with p/m."}, []string{k.Verdict, k.Winner, k.Note})
	require.Equal(t, "tools wins on steps, cost and time; no difference shown in success", s.Groups[0].answer())
	require.NotContains(t, Build(research()).Strategies.Pooled.Sentence, "disagree")
}

// The same rows in another order of episodes of a task, and on other processors,
// give the same bytes.
func TestStrategiesAreDeterministic(t *testing.T) {
	m, rows := research()
	want := render(t, JSON, Build(m, rows))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, want, render(t, JSON, Build(m, rows)))
}

func TestStrategiesWithHostileNames(t *testing.T) {
	m, rows := hostile()
	for i := range m.Candidates {
		m.Candidates[i].Agent += fmt.Sprint(i)
	}
	r := Build(m, rows)
	require.NotNil(t, r.Strategies)
	for _, c := range renderers() {
		out := render(t, c.render, r)
		if c.name == "report.json" {
			lacks(t, out, "<script")
			continue
		}
		require.Equal(t, -1, strings.IndexFunc(strings.ReplaceAll(out, "\n", ""), hidden), c.name)
		if strings.HasSuffix(c.name, ".html") || strings.HasSuffix(c.name, ".md") {
			lacks(t, out, "<img")
		}
	}
	printed := render(t, Markdown, r)
	for _, raw := range []string{"](", "@everyone", "http://evil", "<script"} {
		lacks(t, printed, raw)
	}
	inert(t, render(t, HTML, r))
}

// Goldens of a synthetic run of three strategies; rewrite them as those of TestGolden.
func TestGoldenStrategies(t *testing.T) {
	r := Build(research())
	for _, c := range renderers() {
		if c.name != "report.md" && c.name != "plain.txt" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			got, path := render(t, c.render, r), filepath.Join("testdata", "strategies."+c.name)
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestStrategiesInEveryRendering(t *testing.T) {
	r := Build(research())
	page := render(t, HTML, r)
	for _, part := range []string{`<section id="strategies"`, `<a href="#strategies">`, "tools wins", "sim-weak/weak", "Pairs / tasks"} {
		require.Contains(t, page, part)
	}
	printed := render(t, Markdown, r)
	require.Contains(t, printed, "**Strategies**, all models: **tools wins on steps, cost and time; no difference shown in success**")
	require.Contains(t, printed, "**all models**: By the estimates tools and plan are on the front")
	require.Contains(t, printed, "| Steps | contract → tools |")
	var b bytes.Buffer
	require.NoError(t, Summary(&b, r, 0))
	require.Equal(t, 2, strings.Count(b.String(), "strategies: "))
	require.Contains(t, b.String(), "strategies: all models: tools wins on steps, cost and time; no difference shown in success\n")
	require.NotContains(t, render(t, JUnit, r), "strateg")
	f := r.Figures[slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Name == "strategies" })]
	require.Equal(t, "On the front of success, cost and time: tools and plan", f.Title)
	require.Contains(t, f.Alt, "tools · weak 79.2%")
}

func findClaim(t *testing.T, c *Contest, metric, first, second string) Claim {
	t.Helper()
	for _, k := range c.Claims {
		if k.Metric == metric && k.First == first && k.Second == second {
			return k
		}
	}
	t.Fatalf("no claim about %s of %s and %s", metric, first, second)
	return Claim{}
}
