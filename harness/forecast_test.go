package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/forecast"
	"github.com/cupel-eval/cupel/recorder"
)

func limitsOf(provider string, perMinute int64) map[string]admission.Limits {
	return map[string]admission.Limits{provider: {RequestsPerMinute: perMinute}}
}

// The forecast of a repeated run expects the totals of that run, and its range includes them.
func TestForecastOfThePastIsThePast(t *testing.T) {
	o := liveOptions(t, "*a*", "strong")
	o.Select.Tasks, o.Trials = []string{"G0*", "G3*"}, 2
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	rows := rowsOf(t, res)
	var want struct{ calls, requests, in, out, all, cost, us int64 }
	for _, turn := range rows.Turns {
		want.calls++
		want.requests += int64(turn.Attempts)
		want.in += *turn.In
		want.out += *turn.Out
		want.all += *turn.In + *turn.Out + *turn.CacheRead + *turn.CacheWrite + *turn.Reasoning
		want.cost += *turn.CostNanoUSD
	}

	before := tree(t, o.Runs)
	got, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, before, tree(t, o.Runs), "a forecast writes nothing")
	require.Equal(t, len(rows.Episodes), got.Episodes)
	require.Equal(t, len(rows.Episodes), got.EpisodesInAll)
	for _, c := range []struct {
		want int64
		got  forecast.Range
	}{
		{want.calls, got.Total.Calls}, {want.requests, got.Total.Requests}, {want.in, got.Total.Tokens.Input},
		{want.out, got.Total.Tokens.Output}, {want.all, got.Total.Tokens.All}, {want.cost, got.Total.CostNanoUSD},
	} {
		require.Positive(t, c.want)
		require.Equal(t, c.want, *c.got.Expected)
		require.LessOrEqual(t, *c.got.Low, c.want)
		require.GreaterOrEqual(t, *c.got.High, c.want)
	}
	kinds := int64(0)
	for _, n := range got.Total.CallsByKind {
		kinds += *n
	}
	require.Equal(t, want.calls, kinds)
}

// tree lists the files below a folder.
func tree(t *testing.T, dir string) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		list = append(list, path)
		return err
	}))
	return list
}

// A forecast needs neither key nor network and names missing keys.
func TestForecastNeedsNoKey(t *testing.T) {
	o := forecastOptions(t)
	o.Runs = filepath.Join(o.Runs, "none")
	o.Key = func(goldens.Candidate) (string, error) { return "", errors.New("set A_KEY") }
	_, err := harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "set A_KEY")
	out, err := forecast.Make(o)
	require.NoError(t, err)
	require.Contains(t, out.Warnings, "the run would not start: candidate a: set A_KEY")
	require.NoDirExists(t, o.Runs)

	// All other problems that prevent a run also prevent a forecast.
	for name, change := range map[string]func(*harness.Options){
		"no such task":        func(o *harness.Options) { o.Select.Tasks = []string{"X1"} },
		"no such mode":        func(o *harness.Options) { o.Mode = "dry" },
		"cap without a price": func(o *harness.Options) { o.Caps.CostNanoUSD, o.Candidates[0].Model = 1, "unpriced" },
	} {
		t.Run(name, func(t *testing.T) {
			o := forecastOptions(t)
			change(&o)
			_, err := forecast.Make(o)
			var config *harness.ConfigError
			require.ErrorAs(t, err, &config)
		})
	}
}

func TestForecastOfAReplayIsNothing(t *testing.T) {
	o := countsOptions(t)
	out, err := forecast.Make(o)
	require.NoError(t, err)
	all := len(o.Suite.Candidates) * len(unscripted(o.Suite))
	require.Equal(t, all, out.Episodes)
	require.Equal(t, "0/0/0", rangeOf(out.Total.CostNanoUSD))
	require.Equal(t, "0/0/0", rangeOf(out.Total.Requests))
	require.Equal(t, []string{"a replay sends no requests: it is free and needs neither a key nor a network"}, out.Warnings)
	require.Nil(t, out.Duration.Expected)

	o.Trials = 2
	out, err = forecast.Make(o)
	require.NoError(t, err)
	missing := fmt.Sprintf("%d of %d episodes have no cassette", all, 2*all)
	require.Equal(t, "the run would not start: "+missing, out.Warnings[0])
	o.CassetteDir = t.TempDir()
	out, err = forecast.Make(o)
	require.NoError(t, err)
	require.Contains(t, out.Warnings[0], missing+"; record them with: ")
}

// Scripted episodes make no requests, and the forecast counts the tasks that are not selected.
func TestForecastCountsOmittedEpisodes(t *testing.T) {
	o := countsOptions(t)
	o.Mode, o.Trials = recorder.Live, 2
	o.Select = harness.Selection{
		Tasks: []string{"G01", "G02", "G51", "G52"}, Candidates: []string{"strong", "weak", "scripted"},
		Episode: func(task, candidate string, _ int) bool { return task != "G02" || candidate == "weak" },
	}
	whole, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, 2*(1+2+2), whole.Episodes, "strong has G01, weak both, and two are scripted")
	require.Equal(t, []int{2, 2}, []int{whole.Tasks, whole.ScriptedTasks})
	last := whole.Candidates[len(whole.Candidates)-1]
	require.Equal(t, []any{"scripted", forecast.BasisNobody, "0/0/0"}, []any{last.Name, last.Basis, rangeOf(last.CostNanoUSD)})
	require.Equal(t, forecast.LeftOut{Why: "not selected by the results of an earlier run", Episodes: 2}, whole.LeftOut[1])

	sum := 0
	for i := 1; i <= 3; i++ {
		o.Select.Shard = harness.Shard{Index: i, Count: 3}
		out, err := forecast.Make(o)
		require.NoError(t, err)
		require.Equal(t, whole.Episodes, out.EpisodesInAll)
		left := out.LeftOut[len(out.LeftOut)-1]
		require.Equal(t, "in other shards", left.Why)
		require.Equal(t, whole.Episodes, out.Episodes+left.Episodes)
		sum += out.Episodes
	}
	require.Equal(t, whole.Episodes, sum)
}

func TestForecastOfCaps(t *testing.T) {
	for name, c := range map[string]struct {
		caps admission.Caps
		past bool
		want string
	}{
		// 6 calls are expected, in a range of 2 to 10: $0.00072, at most $0.00113.
		"would bind":   {admission.Caps{CostNanoUSD: 180_000}, true, "max_cost $0.0002 would end the run early: $0.0007 are expected, so about 25 % of them fit"},
		"may bind":     {admission.Caps{Requests: 7}, true, "max_requests 7 requests may end the run early: it can come to 10 requests"},
		"does not":     {admission.Caps{Tokens: 2000}, true, ""},
		"no past":      {admission.Caps{Requests: 79}, false, "max_requests 79 requests may end the run early: it can come to 80 requests"},
		"no past, far": {admission.Caps{Requests: 80}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for prefix, set := range map[string]func(*harness.Options){
				"":               func(o *harness.Options) { o.Caps = c.caps },
				"limits.openai.": func(o *harness.Options) { o.Limits = map[string]admission.Limits{"openai": {Caps: c.caps}} },
			} {
				o := forecastOptions(t)
				if c.past {
					pastRun(t, o, "R1", nil, pastEpisode{task: "G01", trial: 1, turns: 2}, pastEpisode{task: "G01", trial: 2, turns: 4},
						pastEpisode{task: "G02", trial: 1, turns: 3}, pastEpisode{task: "G02", trial: 2, turns: 3})
				}
				set(&o)
				out, err := forecast.Make(o)
				require.NoError(t, err)
				said := strings.Join(out.Warnings, "\n")
				if c.want == "" {
					require.NotContains(t, said, "early")
					continue
				}
				want := prefix + c.want
				if prefix != "" {
					want = strings.Replace(want, "max_cost ", "max_cost_usd ", 1)
				}
				require.Contains(t, out.Warnings, want)
			}
		})
	}
}

// The forecast of a resumed run counts the remaining episodes and the previous spending.
func TestForecastOfAResumedRun(t *testing.T) {
	o := liveOptions(t, "strong")
	o.Select.Tasks, o.Concurrency = []string{"G0*"}, 1
	o.Caps.Requests = 9
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "partial", res.Manifest.Status)
	done := res.Manifest.Episodes - res.Manifest.Outcomes.BudgetStops
	require.Positive(t, done)

	o.Resume = res.Manifest.RunID
	before := tree(t, o.Runs)
	out, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, before, tree(t, o.Runs))
	require.Equal(t, []int{8, 8 - done, done}, []int{out.EpisodesInAll, out.Episodes, out.PastEpisodes})
	require.Equal(t, []forecast.LeftOut{{Why: "the run has their results", Episodes: done}}, out.LeftOut)
	require.Contains(t, strings.Join(out.Warnings, "\n"), "max_requests 9 requests, of which 9 requests are spent, would end the run early")

	// An error names the run that cannot be read.
	spends := filepath.Join(o.Runs, o.Resume, "journal", "spend.log")
	log, err := os.ReadFile(spends)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(spends, append([]byte("x"), log...), 0o644))
	_, err = forecast.Make(o)
	require.ErrorContains(t, err, "forecast: resume run "+o.Resume+": ")
	require.NoError(t, os.WriteFile(spends, log, 0o644))

	// The forecast does not change the resumed run.
	o.Caps = admission.Caps{}
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	_, err = forecast.Make(o)
	require.ErrorIs(t, err, harness.ErrComplete)
	o.Resume = "none"
	_, err = forecast.Make(o)
	require.Error(t, err)
}

func TestForecastOfStaleCassettes(t *testing.T) {
	o := recordOptions(t, "G01", "G09")
	o.Select.Candidates, o.Stale, o.Cassettes = []string{"strong"}, true, os.DirFS(o.CassetteDir)
	out, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, 2, out.Episodes)
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	_, err = forecast.Make(o)
	require.ErrorIs(t, err, harness.ErrAllFresh)
	require.NoError(t, os.RemoveAll(filepath.Join(o.CassetteDir, "strong", "G01")))
	out, err = forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, 1, out.Episodes)
	require.Equal(t, forecast.LeftOut{Why: "their cassettes are fresh", Episodes: 1}, out.LeftOut[1])
	require.Equal(t, []int{1, 2}, []int{out.Candidates[0].TasksKnown, out.Candidates[0].PastEpisodes})
}

// The forecast of a fork uses the turns of past episodes after the forked turn.
func TestForecastOfAFork(t *testing.T) {
	o := countsOptions(t)
	o.Runs, o.Select.Tasks, o.Select.Candidates = t.TempDir(), []string{"G09"}, []string{"weak"}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	turns := int64(len(rowsOf(t, res).Turns))
	require.Greater(t, turns, int64(1))
	o.Mode, o.Select = recorder.Live, harness.Selection{}
	o.Fork, o.Trials = &harness.Fork{Task: "G09", Candidate: "weak", Turn: 1}, 3
	out, err := forecast.Make(o)
	require.NoError(t, err)
	require.Equal(t, 3, out.Episodes)
	require.Empty(t, out.LeftOut)
	require.Equal(t, 3*(turns-1), *out.Total.Calls.Expected)
	require.Equal(t, int64(3*(10-1)), *out.Total.Calls.High, "of 10 steps one is taken")
}

// The keys of the JSON form are an interface; docs/configuration.md lists them.
func TestForecastJSON(t *testing.T) {
	o := forecastOptions(t)
	worst := worstCase(t, o)
	o.Candidates[0].Model = "unpriced"
	out, err := forecast.Make(o)
	require.NoError(t, err)
	text, err := json.Marshal(out)
	require.NoError(t, err)
	unknown := `{"low":null,"expected":null,"high":null}`
	bound := func(high string) string { return `{"low":null,"expected":null,"high":` + high + `}` }
	estimate := `"calls":{"low":2,"expected":null,"high":20},"requests":{"low":2,"expected":null,"high":80},` +
		`"calls_by_kind":{"act":null,"compress":null,"conclude":null,"final":null,"plan":null,"reflect":null,"rescue":null},` +
		`"tokens":{"all":` + bound(worst[2]) + `,"input":` + bound(worst[0]) + `,"output":` + bound(worst[1]) +
		`,"cache_read":` + unknown + `,"cache_write":` + unknown + `,"reasoning":` + unknown + `},"cost_nanousd":` + unknown
	require.Equal(t, `{"suite":"counts","mode":"live","price_day":"2026-05-20","price_version":"2026-09-23+2026-05-01","shard":"","tasks":2,"scripted_tasks":0,"trials":1,`+
		`"episodes":2,"episodes_in_all":2,"left_out":[{"why":"of tasks and candidates that are not selected","episodes":`+strconv.Itoa(len(unscripted(o.Suite))-2)+`}],`+
		`"candidates":[{"name":"a","provider":"openai","model":"unpriced","simulated":false,"episodes":2,"episodes_in_all":2,"basis":"none",`+
		`"past_episodes":0,"tasks":2,"tasks_known":0,`+estimate+`}],"total":{`+estimate+`},"duration":{"at_least_s":0,"expected_s":null},`+
		`"past_runs":0,"past_episodes":0,"warnings":["candidate a: the price table has no price of model unpriced of provider openai: its cost is unknown",`+
		`"no past runs to estimate from, so only bounds are known for: a; run a few episodes first"]}`, string(text))
}
