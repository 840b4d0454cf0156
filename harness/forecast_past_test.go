package harness_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/forecast"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
)

// forecastOptions returns a live run of tasks G01 and G02 with one candidate, whose input costs $1
// and whose output costs $2 per million tokens.
func forecastOptions(t *testing.T) harness.Options {
	t.Helper()
	o := countsOptions(t)
	prices, err := price.Parse([]byte(`{version: 2026-05-01, prices: [
		{provider: openai, models: [m], input: "1", output: "2", source: test},
		{provider: openai, models: [m], from: 2027-01-01, input: "1000", output: "2000", source: test}]}`))
	require.NoError(t, err)
	o.Mode, o.Prices, o.Runs = recorder.Live, prices, t.TempDir()
	o.Candidates = []goldens.Candidate{{Name: "a", Provider: "openai", Model: "m"}}
	o.Select.Tasks = []string{"G01", "G02"}
	o.Now = func() time.Time { return time.Date(2026, 5, 20, 13, 0, 0, 0, time.UTC) }
	return o
}

// pastEpisode returns an episode of a past run. Each turn has 100 input and 10 output tokens, costs
// $0.00012 and takes a second.
type pastEpisode struct {
	task     string
	trial    int32
	turns    int
	lost     bool   // an infrastructure error
	silent   bool   // no usage was reported
	input    int64  // tokens of a turn; 0 means 100
	cassette string // digest
	tier     string // of service; batch means that the turns were batched
}

// pastRun writes a run of the first candidate of o.
func pastRun(t *testing.T, o harness.Options, id string, change func(*manifest.Manifest), episodes ...pastEpisode) {
	t.Helper()
	dir := filepath.Join(o.Runs, id)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	c := o.Candidates[0]
	m := manifest.Manifest{
		Format: manifest.Format, RunID: id, Status: "complete", Mode: "live", Suite: o.Suite.Name,
		Candidates: []manifest.Candidate{{Name: c.Name, Provider: c.Provider, Model: c.Model, Digest: harness.CandidateDigest(c)}},
	}
	for _, task := range o.Suite.Tasks {
		m.Tasks = append(m.Tasks, manifest.Task{ID: task.ID, Digest: o.Suite.TaskDigest(task)})
	}
	if change != nil {
		change(&m)
	}
	slices.SortFunc(episodes, func(a, b pastEpisode) int {
		return cmp.Or(strings.Compare(a.task, b.task), cmp.Compare(a.trial, b.trial))
	})
	w, err := ledger.NewWriter(dir)
	require.NoError(t, err)
	for _, e := range episodes {
		k := ledger.Key{RunID: id, EpisodeID: fmt.Sprint(e.task, e.trial), Suite: m.Suite, TaskID: e.task, Candidate: c.Name, Provider: c.Provider, Model: m.Candidates[0].Model, Trial: e.trial}
		rows := ledger.EpisodeRows{Episode: ledger.Episode{Key: k, TsStart: 5e6, ElapsedUs: new(int64(e.turns) * 1e6), InfraError: e.lost, CassetteDigest: e.cassette}}
		for i := range e.turns {
			turn := ledger.Turn{Key: k, Turn: int32(i + 1), Role: "main", Kind: "act", Attempts: 1, TsStart: 5e6 + int64(i)*1e6}
			turn.ServiceTier, turn.Batched = e.tier, e.tier == "batch"
			if !e.silent {
				in, out, none := cmp.Or(e.input, 100), int64(10), int64(0)
				turn.Tokens = ledger.Tokens{In: &in, Out: &out, CacheRead: &none, CacheWrite: &none, Reasoning: &none}
			}
			rows.Turns = append(rows.Turns, turn)
		}
		require.NoError(t, w.Append(rows))
	}
	_, err = w.Close(func(totals manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(totals)
		return m, nil
	})
	require.NoError(t, err)
}

// worstCase returns the bounds of tasks G01 and G02 without past runs: input, output, both, and
// nano-USD. Each has 10 steps with at most 400 output tokens by the policy, and one input token
// per byte of the prompt, which are some thousands.
func worstCase(t *testing.T, o harness.Options) [4]string {
	t.Helper()
	out, err := forecast.Make(o)
	require.NoError(t, err)
	tokens := out.Total.Tokens
	require.Equal(t, int64(2*10*400), *tokens.Output.High)
	require.Greater(t, *tokens.Input.High, int64(2*10*2000))
	require.Less(t, *tokens.Input.High, int64(2*10*8000))
	require.Equal(t, *tokens.Input.High+*tokens.Output.High, *tokens.All.High)
	require.Equal(t, *tokens.Input.High*1000+*tokens.Output.High*2000, *out.Total.CostNanoUSD.High, "$1 and $2 per million")
	return [4]string{fmt.Sprint(*tokens.Input.High), fmt.Sprint(*tokens.Output.High), fmt.Sprint(*tokens.All.High), fmt.Sprint(*out.Total.CostNanoUSD.High)}
}

// rangeOf formats a range as low/expected/high, with ? for unknown.
func rangeOf(r forecast.Range) string {
	var parts []string
	for _, n := range []*int64{r.Low, r.Expected, r.High} {
		if n == nil {
			parts = append(parts, "?")
		} else {
			parts = append(parts, fmt.Sprint(*n))
		}
	}
	return strings.Join(parts, "/")
}

func TestForecastLearnsFromThePast(t *testing.T) {
	both := []pastEpisode{{task: "G01", trial: 1, turns: 2}, {task: "G01", trial: 2, turns: 4}, {task: "G02", trial: 1, turns: 3}, {task: "G02", trial: 2, turns: 3}}
	past := func(change func(*manifest.Manifest), episodes ...pastEpisode) func(*testing.T, *harness.Options) {
		return func(t *testing.T, o *harness.Options) { pastRun(t, *o, "R1", change, episodes...) }
	}
	for name, c := range map[string]struct {
		given             func(*testing.T, *harness.Options)
		basis             string
		episodes, tasks   int
		calls, all, money string
		seconds           string
	}{
		// G01 has mean 3 and s² = ((2-3)²+(4-3)²)/1 = 2, G02 mean 3 and s² = 0. One more of
		// each: 6 calls with variance (2 + 2/2) + 0 = 3, so ± 1.96 × 1.732 = 3.39. A call
		// has 110 tokens (± 373.4 for all) and costs 120,000 nano-USD (± 407,378.4).
		"each task": {past(nil, both...), "candidate", 4, 2, "2/6/10", "286/660/1034", "312621/720000/1127379", "6"},
		// G02 is estimated as the mean of all, 3 with s² = 2: variance 3 + (2 + 2/2) = 6, so
		// ± 4.80, but at least one call per episode.
		"a task": {past(nil, both[:2]...), "candidate", 2, 1, "2/6/11", "131/660/1189", "143880/720000/1296120", "6"},
		// One episode per task gives no spread per task, so that of all episodes is used, with mean
		// 3.5 and s² = 0.5: variance 2 × (0.5 + 0.5/1) = 2, so ± 2.77.
		"once": {past(nil, both[1], both[2]), "candidate", 2, 2, "4/7/10", "465/770/1075", "507376/840000/1172624", "7"},
		// One episode: a mean, but no spread. The worst case bounds it: 10 steps each.
		"one episode": {past(nil, both[1]), "candidate", 1, 1, "2/8/20", "?/880/W", "?/960000/W", "8"},
		// Without past runs, the range is from one call per episode to the steps of the budget.
		"nothing":        {func(*testing.T, *harness.Options) {}, "none", 0, 0, "2/?/20", "?/?/W", "?/?/W", "?"},
		"another suite":  {past(func(m *manifest.Manifest) { m.Suite = "other" }, both...), "none", 0, 0, "2/?/20", "?/?/W", "?/?/W", "?"},
		"in progress":    {past(func(m *manifest.Manifest) { m.Status = "running" }, both...), "none", 0, 0, "2/?/20", "?/?/W", "?/?/W", "?"},
		"another model":  {past(func(m *manifest.Manifest) { m.Candidates[0].Digest, m.Candidates[0].Model = "x", "other" }, both...), "none", 0, 0, "2/?/20", "?/?/W", "?/?/W", "?"},
		"a fork":         {past(func(m *manifest.Manifest) { m.Fork = &manifest.Fork{Task: "G01", Turn: 1} }, both...), "none", 0, 0, "2/?/20", "?/?/W", "?/?/W", "?"},
		"the same model": {past(func(m *manifest.Manifest) { m.Candidates[0].Digest = "x" }, both...), "model", 4, 2, "2/6/10", "286/660/1034", "312621/720000/1127379", "6"},
		// A changed task is estimated from all others, with mean 3 and s² = (1+1+0+0)/3. Two such
		// tasks share one mean: variance 2 × 2/3 + 4 × 2/3 / 4 = 2, so ± 2.77.
		"changed tasks": {past(func(m *manifest.Manifest) {
			for i := range m.Tasks {
				m.Tasks[i].Digest = "x"
			}
		}, both...), "candidate", 4, 0, "3/6/9", "355/660/965", "387376/720000/1052624", "6"},
		"lost episodes": {past(nil, append(both, pastEpisode{task: "G01", trial: 3, turns: 9, lost: true})...), "candidate", 4, 2, "2/6/10", "286/660/1034", "312621/720000/1127379", "6"},
		// If usage was not reported, calls are counted; tokens and cost are unknown.
		"silent": {past(nil, pastEpisode{task: "G01", trial: 1, turns: 3, silent: true}, pastEpisode{task: "G02", trial: 1, turns: 3, silent: true}),
			"candidate", 2, 2, "6/6/6", "?/?/W", "?/?/W", "6"},
		// A ledger is untrusted: impossible values are unknown and do not cause a panic.
		"negative": {past(nil, pastEpisode{task: "G01", trial: 1, turns: 3, input: -1}, pastEpisode{task: "G02", trial: 1, turns: 3, input: -1}),
			"candidate", 2, 2, "6/6/6", "?/?/W", "?/?/W", "6"},
		"too many": {past(nil, pastEpisode{task: "G01", trial: 1, turns: 3, input: math.MaxInt64}, pastEpisode{task: "G02", trial: 1, turns: 3, input: math.MaxInt64}),
			"candidate", 2, 2, "6/6/6", "?/?/?", "?/?/W", "6"},
		// Replays do not count, because they repeat one recording.
		"replays": {func(t *testing.T, o *harness.Options) {
			recorded := []pastEpisode{{task: "G01", trial: 1, turns: 2, cassette: "c1"}, {task: "G01", trial: 2, turns: 4, cassette: "c2"}}
			pastRun(t, *o, "R1", nil, recorded...)
			pastRun(t, *o, "R2", nil, recorded...)
		}, "candidate", 2, 1, "2/6/11", "131/660/1189", "143880/720000/1296120", "6"},
		// Merged and rescored runs do not count, because they repeat the episodes of others.
		"merged": {func(t *testing.T, o *harness.Options) {
			pastRun(t, *o, "S1", nil, both[:2]...)
			pastRun(t, *o, "S2", nil, both[2:]...)
			pastRun(t, *o, "M", func(m *manifest.Manifest) { m.MergedFrom = []string{"S1", "S2"} }, both...)
			pastRun(t, *o, "N", func(m *manifest.Manifest) { m.RescoredFrom = "M" }, both...)
		}, "candidate", 4, 2, "2/6/10", "286/660/1034", "312621/720000/1127379", "6"},
		// The prices of the day are used, which are a thousand times higher from 2027 on.
		"dearer": {func(t *testing.T, o *harness.Options) {
			pastRun(t, *o, "R1", nil, both...)
			o.Now = func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }
		}, "candidate", 4, 2, "2/6/10", "286/660/1034", "312621650/720000000/1127378350", "6"},
		"no price": {func(t *testing.T, o *harness.Options) {
			o.Prices = price.Table{}
			pastRun(t, *o, "R1", nil, both...)
		}, "candidate", 4, 2, "2/6/10", "286/660/1034", "?/?/?", "6"},
		// Two in parallel take half the time. 6 requests at 2 per minute take two minutes, because
		// the first two need not wait.
		"slow provider": {func(t *testing.T, o *harness.Options) {
			pastRun(t, *o, "R1", nil, both...)
			o.Limits = limitsOf("openai", 2)
		}, "candidate", 4, 2, "2/6/10", "286/660/1034", "312621/720000/1127379", "120"},
	} {
		t.Run(name, func(t *testing.T) {
			o := forecastOptions(t)
			o.Concurrency = 1
			worst := worstCase(t, o)
			c.given(t, &o)
			out, err := forecast.Make(o)
			require.NoError(t, err)
			require.Len(t, out.Candidates, 1)
			got := out.Candidates[0]
			require.Equal(t, c.basis, got.Basis)
			require.Equal(t, []int{c.episodes, c.tasks, 2}, []int{got.PastEpisodes, got.TasksKnown, got.Tasks})
			require.Equal(t, c.calls, rangeOf(got.Calls))
			require.Equal(t, strings.Replace(c.all, "W", worst[2], 1), rangeOf(got.Tokens.All))
			require.Equal(t, strings.Replace(c.money, "W", worst[3], 1), rangeOf(got.CostNanoUSD))
			require.Equal(t, c.seconds, strings.Split(rangeOf(forecast.Range{Expected: out.Duration.Expected}), "/")[1])
			require.Equal(t, got.Estimate, out.Total, "of one candidate the total is its own")
			if c.basis != "none" {
				require.Equal(t, *got.Calls.Expected, *got.CallsByKind["act"])
				require.Zero(t, *got.CallsByKind["rescue"])
			}
		})
	}
}

// A total has the spread of independent sums, not the sum of spreads.
func TestForecastOfTwoCandidates(t *testing.T) {
	o := forecastOptions(t)
	pastRun(t, o, "R1", nil, pastEpisode{task: "G01", trial: 1, turns: 2}, pastEpisode{task: "G01", trial: 2, turns: 4})
	o.Select.Tasks = []string{"G01"}
	two := o.Candidates[0]
	two.Name = "b" // the same but for its name
	o.Candidates = append(o.Candidates, two)
	out, err := forecast.Make(o)
	require.NoError(t, err)
	// Each 3 ± 1.96 × √3 calls; both 6 ± 1.96 × √6 = 4.80.
	require.Equal(t, "1/3/7", rangeOf(out.Candidates[1].Calls))
	require.Equal(t, "2/6/11", rangeOf(out.Total.Calls))
	require.Equal(t, "143880/720000/1296120", rangeOf(out.Total.CostNanoUSD))
}

// A run of a selected candidate is a past run, also if this time the candidate has no episode.
func TestForecastCountsRunsOfTheSelected(t *testing.T) {
	o := forecastOptions(t)
	pastRun(t, o, "R1", nil, pastEpisode{task: "G01", trial: 1, turns: 2})
	o.Candidates = append(o.Candidates, goldens.Candidate{Name: "b", Provider: "openai", Model: "another"})
	o.Select.Episode = func(_, candidate string, _ int) bool { return candidate == "b" }
	out, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, []any{1, 0, "b"}, []any{out.PastRuns, out.PastEpisodes, out.Candidates[0].Name})
	o.Select.Candidates = []string{"b"}
	out, err = forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, 0, out.PastRuns)
}

func TestForecastReportsUnreadableRuns(t *testing.T) {
	o := forecastOptions(t)
	pastRun(t, o, "R1", nil, pastEpisode{task: "G01", trial: 1, turns: 2})
	pastRun(t, o, "R2", nil, pastEpisode{task: "G01", trial: 1, turns: 2})
	turns := filepath.Join(o.Runs, "R1", "turns.parquet")
	text, err := os.ReadFile(turns)
	require.NoError(t, err)
	text[len(text)/2] ^= 1
	require.NoError(t, os.WriteFile(turns, text, 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(o.Runs, "R3"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(o.Runs, "R3", "run.json"), []byte("{"), 0o644))
	out, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{out.PastRuns, out.PastEpisodes})
	said := strings.Join(out.Warnings, "\n")
	require.Contains(t, said, "past run R1 is ignored from here on")
	require.Contains(t, said, "past run R3 is ignored")
}

// The number of past runs that are read is bounded, because a folder may have many.
func TestForecastReadsTheLastRuns(t *testing.T) {
	o := forecastOptions(t)
	for i := range 25 {
		id := fmt.Sprintf("R%02d", i)
		pastRun(t, o, id, nil, pastEpisode{task: "G01", trial: 1, turns: 1 + count(i >= 5)})
		at := time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(filepath.Join(o.Runs, id, "run.json"), at, at))
	}
	out, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, []int{20, 20}, []int{out.PastRuns, out.PastEpisodes})
	require.Equal(t, "4/4/4", rangeOf(out.Total.Calls), "the five oldest had one turn")
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
