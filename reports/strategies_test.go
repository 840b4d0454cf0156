package reports

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// duel is a run of contract and tools with one model; each task has an episode of
// both, solved and with steps as told, at a thousand nano-USD and a second a step.
type duelTask struct {
	id                          string
	contractSolved, toolsSolved bool
	contractSteps, toolsSteps   int32
}

func duel(tasks []duelTask) *world {
	w := byAgent("contract", "tools")
	w.m.Trials = 1
	for _, d := range tasks {
		w.m.Tasks = append(w.m.Tasks, manifest.Task{ID: d.id})
		w.enter(0, d.id, 1, d.contractSolved, d.contractSteps)
		w.enter(1, d.id, 1, d.toolsSolved, d.toolsSteps)
	}
	return w
}

// enter adds an episode of the k-th candidate.
func (w *world) enter(k int, task string, trial int, solved bool, steps int32) {
	c := w.m.Candidates[k]
	w.m.Candidates[0], w.m.Candidates[k] = w.m.Candidates[k], w.m.Candidates[0]
	w.add(1, task, solved, int(steps), func(e *ledger.Episode, turns []ledger.Turn) {
		e.Trial, e.CostNanoUSD, e.ElapsedUs = int32(trial), new(int64(steps)*1000), int64(steps)*1e6
		e.Tokens = ledger.Tokens{In: new(int64(steps) * 100), Out: new(int64), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64)}
	})
	w.m.Candidates[0], w.m.Candidates[k] = w.m.Candidates[k], c
}

func claim(t *testing.T, c *Contest, metric, first, second string) Claim {
	t.Helper()
	for _, k := range c.Claims {
		if k.Metric == metric && k.First == first && k.Second == second {
			return k
		}
	}
	t.Fatalf("no claim about %s of %s and %s", metric, first, second)
	return Claim{}
}

// Eight tasks, numbers by hand. Success: 4 of 8 against 7 of 8; one task is lost and
// four are won, so of the 2^5 signs of five equal differences 2·(1+5) are as far out:
// p = 12/32. Steps of the three that both solved: 6, 6, 8 against 3, 3, 4, differences
// 3, 3, 4 to one side: p = 2/2^3. Steps, time and cost of all eight lie 3 apart, and
// once 4, always to one side: p = 2/2^8. Of one metric there is one claim, so nothing
// is added for others.
func TestDuelByHand(t *testing.T) {
	w := duel([]duelTask{
		{"a", true, true, 6, 3}, {"b", true, true, 6, 3}, {"c", true, true, 8, 4}, {"d", true, false, 6, 3},
		{"e", false, true, 6, 3}, {"f", false, true, 6, 3}, {"g", false, true, 6, 3}, {"h", false, true, 6, 3},
	})
	r := Build(w.m, w.rows)
	s := r.Strategies
	require.NotNil(t, s)
	require.Len(t, s.Groups, 1)
	require.Nil(t, s.Pooled)
	g := &s.Groups[0]
	require.Equal(t, []string{"p", "m"}, []string{g.Provider, g.Model})
	require.Len(t, g.Claims, 7)

	solved := claim(t, g, "solved", "contract", "tools")
	require.Equal(t, []float64{0.5, 0.875, 0.375}, []float64{*solved.FirstValue, *solved.SecondValue, *solved.Effect})
	require.InDelta(t, 12.0/32, *solved.P, 1e-12)
	require.Equal(t, *solved.P, *solved.Adjusted)
	require.Equal(t, []any{8, 8, "", "no difference shown"}, []any{solved.N, solved.Tasks, solved.Winner, solved.Verdict})

	steps := claim(t, g, "steps", "contract", "tools")
	require.Equal(t, 3, steps.N)
	require.InDelta(t, 20.0/3, *steps.FirstValue, 1e-12)
	require.InDelta(t, -10.0/3, *steps.Effect, 1e-12)
	require.InDelta(t, 2.0/8, *steps.P, 1e-12)
	require.Empty(t, steps.Winner)

	for metric, unit := range map[string]float64{"cost": 1000, "elapsed": 1e6, "tokens": 100} {
		k := claim(t, g, metric, "contract", "tools")
		require.InDelta(t, 6.25*unit, *k.FirstValue, 1e-9*unit, metric)
		require.InDelta(t, -3.125*unit, *k.Effect, 1e-9*unit, metric)
		require.InDelta(t, 2.0/256, *k.P, 1e-12, metric)
		require.Contains(t, k.Test, "exact")
		require.Equal(t, []string{"tools", "tools wins"}, []string{k.Winner, k.Verdict}, metric)
		// mean −3.125, s = √(7·(1/8)²+(7/8)²)/√7 = 0.353553, t(7) = 2.364624
		require.InDelta(t, (-3.125-2.364624*0.353553/2.828427)*unit, k.Interval.Low, 1e-5*unit, metric)
	}

	contract, tools := g.Entrants[0], g.Entrants[1]
	require.Equal(t, []bool{false, true}, []bool{contract.Front, tools.Front})
	require.Equal(t, []float64{0.5, 6250, 6.25e6}, []float64{contract.Success.Value, contract.Cost.Value, contract.Time.Value})
	require.Equal(t, "tools", g.Winner)
	require.Equal(t, "Tools wins overall: by the estimates it is second to none in success, cost and time, and it is shown to be better than each other in one of them at least. "+
		"By the estimates tools is alone on the front of success, cost and time; contract is not (tools is no worse in any and better in one). "+
		"Cost: tools beats contract. Time: tools beats contract. Tokens: tools beats contract. "+
		"No difference shown in success, steps, tool calls and valid outputs.", g.Sentence)
}

// Where all tasks differ alike there is no spread, and yet a difference.
func TestDuelWithoutSpread(t *testing.T) {
	var tasks []duelTask
	for i := range 7 {
		tasks = append(tasks, duelTask{fmt.Sprint("t", i), true, true, 5, 3})
	}
	w := duel(tasks)
	k := claim(t, &Build(w.m, w.rows).Strategies.Groups[0], "steps", "contract", "tools")
	require.Equal(t, "tools", k.Winner)
	require.Equal(t, &stat.Interval{Low: -2, High: -2}, k.Interval)
	require.Contains(t, k.Note, "no width")
	one := duel(tasks[:1])
	k = claim(t, &Build(one.m, one.rows).Strategies.Groups[0], "steps", "contract", "tools")
	require.Equal(t, []any{1.0, "no difference shown"}, []any{*k.P, k.Verdict})
	require.Nil(t, k.Interval)
}

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
		k := claim(t, g, "cost", "contract", "tools")
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
		require.Equal(t, 6, claim(t, g, "solved", "contract", "tools").N)
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

// Claims of one metric are one family over all groups and the pooled contest.
func TestClaimsOfAMetricAreOneFamily(t *testing.T) {
	s := Build(research()).Strategies
	require.Len(t, s.Groups, 2)
	for _, metric := range []string{"solved", "steps", "cost", "elapsed", "tokens", "tool_calls", "contract_valid"} {
		var raw, adjusted []float64
		for _, c := range s.contests() {
			for _, k := range c.Claims {
				if k.Metric == metric {
					raw, adjusted = append(raw, *k.P), append(adjusted, *k.Adjusted)
					low, high := k.Interval.Low > 0, k.Interval.High < 0
					require.Equal(t, stat.Rejects(*k.Adjusted, 0.05) && (low || high), k.Winner != "")
				}
			}
		}
		require.Len(t, raw, 9, metric)
		want, _ := stat.Holm(raw)
		require.Equal(t, want, adjusted, metric)
	}
	require.Equal(t, "all models", s.Pooled.name())
	require.Contains(t, s.Pooled.Sentence, "Steps: tools beats contract and plan")
}

// 2,000 claims about cost: the strategy that is cheaper on each of 60 tasks still wins,
// which p-values of 1/10,000 at least could not show. A p-value that is none is named,
// and is not read as no difference.
func TestManyClaims(t *testing.T) {
	obs := make([]stat.Observation, 60)
	for i := range obs {
		obs[i] = stat.Observation{Cluster: strconv.Itoa(i), Value: 0.5 + math.Sqrt(float64(i))}
	}
	p, ok := stat.PairedPermutation(obs)
	require.True(t, ok && !p.Exact)
	c := Contest{Claims: make([]Claim, 2000)}
	for i := range c.Claims {
		c.Claims[i] = Claim{Metric: "cost", First: "a", Second: "b", P: new(1.0), Interval: &stat.Interval{Low: 1, High: 2}}
	}
	c.Claims[7].P = &p.P
	adjustClaims([]*Contest{&c})
	require.Equal(t, "a wins", c.Claims[7].Verdict)
	require.Equal(t, "no difference shown", c.Claims[8].Verdict)

	c.Claims[8].P = new(math.NaN())
	c.Claims[7].Verdict, c.Claims[7].Winner = "", ""
	adjustClaims([]*Contest{&c})
	require.Equal(t, "no claim", c.Claims[7].Verdict)
	require.Equal(t, "Not judged: adjust by Holm: p-value 9 of 2000 is NaN; a p-value is a number from 0 to 1.", c.Claims[7].Note)
}

// A suite that is one long conversation is one cluster: what its first task comes to, the
// others remember. So there is no win, however many tasks it has; the same results of
// tasks by themselves are one.
func TestSessionsAreOneCluster(t *testing.T) {
	run := func(session func(i int) string) *Contest {
		t.Helper()
		w := byAgent("contract", "tools")
		for i := range 40 {
			task := manifest.Task{ID: fmt.Sprint("t", i), Session: session(i)}
			w.m.Tasks = append(w.m.Tasks, task)
			w.enter(0, task.ID, 1, i%4 > 0, 6)
			w.enter(1, task.ID, 1, true, 3)
		}
		s := Build(w.m, w.rows).Strategies
		require.Equal(t, session(0) != "", strings.Contains(strings.Join(s.Notes, " "), "The tasks of a session are one conversation"))
		return &s.Groups[0]
	}
	apart := run(func(int) string { return "" })
	long := run(func(int) string { return "s" })
	for _, metric := range []string{"solved", "steps", "cost", "elapsed", "tokens"} {
		k := claim(t, apart, metric, "contract", "tools")
		require.Equal(t, "tools wins", k.Verdict, metric)
		k = claim(t, long, metric, "contract", "tools")
		require.Equal(t, 1, k.Tasks, metric)
		require.NotEqual(t, "tools wins", k.Verdict, metric)
	}
	require.Equal(t, 40, claim(t, long, "solved", "contract", "tools").N)
	for i, e := range long.Entrants {
		require.Equal(t, 40, e.Episodes)
		require.Equal(t, apart.Entrants[i].Success.Value, e.Success.Value)
		require.Nil(t, e.Time.Interval, "one conversation says nothing of another")
		require.Nil(t, e.Cost.Interval)
		require.Greater(t, e.Success.Interval.High-e.Success.Interval.Low, 0.9)
		require.NotNil(t, apart.Entrants[i].Time.Interval)
	}
	require.Empty(t, long.Winner)

	// Four sessions of five tasks, and 20 tasks: 24 clusters, by task or by session.
	mixed := run(func(i int) string {
		if i < 20 {
			return fmt.Sprint("s", i/5)
		}
		return ""
	})
	k := claim(t, mixed, "solved", "contract", "tools")
	require.Equal(t, []int{40, 24}, []int{k.N, k.Tasks})
}

// Several candidates of one strategy each meet those of the other, as one task.
func TestSeveralCandidatesOfAStrategy(t *testing.T) {
	w := byAgent("contract", "tools", "tools ")
	w.m.Candidates[2].Agent = "tools"
	for _, task := range []string{"a", "b"} {
		w.enter(0, task, 1, true, 6)
		w.enter(1, task, 1, true, 3)
		w.enter(2, task, 1, false, 5)
	}
	s := Build(w.m, w.rows).Strategies
	k := claim(t, &s.Groups[0], "elapsed", "contract", "tools")
	require.Equal(t, []any{4, 2, 4e6}, []any{k.N, k.Tasks, *k.SecondValue})
	require.Equal(t, []string{"tools", "tools "}, s.Groups[0].Entrants[1].Candidates)
	require.InDelta(t, 0.5, s.Groups[0].Entrants[1].Success.Value, 1e-12)
	require.Contains(t, strings.Join(s.Notes, " "), "several candidates")
}

func TestStrategiesAreBounded(t *testing.T) {
	w := byAgent()
	for model := range maxContests + 3 {
		for agent := range maxEntrants + 2 {
			w.m.Candidates = append(w.m.Candidates, manifest.Candidate{Name: fmt.Sprint(model, "-", agent), Agent: fmt.Sprint("s", agent), Provider: "p", Model: fmt.Sprint(model)})
		}
	}
	s := Build(w.m, w.rows).Strategies
	require.Len(t, s.Groups, maxContests)
	require.Len(t, s.Groups[0].Entrants, maxEntrants)
	require.Len(t, s.Pooled.Entrants, maxEntrants)
	require.Contains(t, strings.Join(s.Notes, " "), fmt.Sprintf("%d more strategies or models", 2*(maxContests+3)+3))
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
	k := claim(t, s.Pooled, "elapsed", "contract", "tools")
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
	text := render(t, Markdown, r)
	for _, raw := range []string{"](", "@everyone", "http://evil", "<script"} {
		lacks(t, text, raw)
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
	text := render(t, Markdown, r)
	require.Contains(t, text, "**Strategies**, all models: **tools wins on steps, cost and time; no difference shown in success**")
	require.Contains(t, text, "**all models**: By the estimates tools and plan are on the front")
	require.Contains(t, text, "| Steps | contract → tools |")
	var b bytes.Buffer
	require.NoError(t, Summary(&b, r, 0))
	require.Equal(t, 2, strings.Count(b.String(), "strategies: "))
	require.Contains(t, b.String(), "strategies: all models: tools wins on steps, cost and time; no difference shown in success\n")
	require.NotContains(t, render(t, JUnit, r), "strateg")
	require.Equal(t, "On the front of success, cost and time: tools and plan", r.strategiesTitle())
	require.Contains(t, r.strategiesAlt(), "tools · weak 79.2%")
}
