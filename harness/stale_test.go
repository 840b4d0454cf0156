package harness_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// The cassettes of the built-in suites are fresh, and none is orphaned.
func TestShippedCassettesAreFresh(t *testing.T) {
	o := countsOptions(t)
	list, err := harness.Cassettes(o)
	require.NoError(t, err)
	require.Len(t, list, len(o.Suite.Candidates)*len(unscripted(o.Suite)))
	for _, s := range list {
		require.Equal(t, cassettes.Status{Path: s.Path, State: cassettes.Fresh}, s)
	}
}

// recordedOptions records some tasks with strong and weak and returns the options to replay them.
func recordedOptions(t *testing.T, tasks ...string) harness.Options {
	t.Helper()
	o := recordOptions(t, tasks...)
	o.Select.Candidates = []string{"strong", "weak"}
	o.Adapters = map[string]string{"sim-openai": "openai-chat/1", "sim-anthropic": "anthropic-messages/1"}
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Cassettes = os.DirFS(o.CassetteDir)
	return o
}

func TestWhatMakesACassetteStale(t *testing.T) {
	recorded := recordedOptions(t, "G01")
	number, warm := 77, 0.7
	task := func(change func(*goldens.Task)) func(*harness.Options) {
		return func(o *harness.Options) {
			i := slices.IndexFunc(o.Suite.Tasks, func(t goldens.Task) bool { return t.ID == "G01" })
			change(&o.Suite.Tasks[i])
		}
	}
	candidate := func(change func(*goldens.Candidate)) func(*harness.Options) {
		return func(o *harness.Options) {
			i := slices.IndexFunc(o.Candidates, func(c goldens.Candidate) bool { return c.Name == "strong" })
			change(&o.Candidates[i])
		}
	}
	policy := func(text string) func(*harness.Options) {
		return func(o *harness.Options) {
			p, err := policy.Parse([]byte(text))
			require.NoError(t, err)
			o.Policy = p
		}
	}
	const sampling, asked, settings = "policy changed (sampling settings or budgets)", "task changed (request, world, or its script)",
		"candidate changed (address, rescue, or what is added to requests)"
	cases := []struct {
		name   string
		change func(*harness.Options)
		want   []string
	}{
		{"nothing", func(*harness.Options) {}, nil},
		{"another provider in the policy", policy("providers: {elsewhere: {model: m}}\n"), nil},
		{"a sampling setting of the policy", policy("task_classes: {action: {temp: 0.3}}\n"), []string{sampling}},
		{"the policy's limits", policy("defaults: {max_steps: 3}\n"), nil}, // the suite sets its own
		{"a candidate's temperature", candidate(func(c *goldens.Candidate) { c.Temperature = &warm }), []string{sampling}},
		{"a candidate's output cap", candidate(func(c *goldens.Candidate) { c.MaxTokens = &number }), []string{sampling}},
		{"a budget", task(func(t *goldens.Task) { t.Budgets.MaxSteps = 4 }), []string{sampling}},
		{"the model", candidate(func(c *goldens.Candidate) { c.Model = "sim-other" }), []string{`model changed: "sim-strong" → "sim-other"`}},
		{"the provider", candidate(func(c *goldens.Candidate) { c.Provider = "sim-anthropic" }), []string{
			`provider changed: "sim-openai" → "sim-anthropic"`, `wire changed: "openai-chat/1" → "anthropic-messages/1"`,
		}},
		{"the wire", func(o *harness.Options) { o.Adapters = map[string]string{"sim-openai": "openai-chat/2"} }, []string{`wire changed: "openai-chat/1" → "openai-chat/2"`}},
		{"the profile", candidate(func(c *goldens.Candidate) { c.Profile = "schema" }), []string{"prompt changed"}},
		{"the address", candidate(func(c *goldens.Candidate) { c.BaseURL = "http://elsewhere.test/v1" }), []string{settings}},
		{"a stream", candidate(func(c *goldens.Candidate) { c.Stream = true }), []string{settings}},
		{"the request's body", candidate(func(c *goldens.Candidate) { c.Body = map[string]any{"top_p": 1} }), []string{settings}},
		{"a tool's schema", func(o *harness.Options) {
			o.Suite.Tools = slices.Clone(o.Suite.Tools)
			for i := range o.Suite.Tools {
				o.Suite.Tools[i].Description += " Really."
			}
		}, []string{"tools changed"}},
		{"the request", task(func(t *goldens.Task) { t.Request += "!" }), []string{asked}},
		{"the world's clock", task(func(t *goldens.Task) { t.World.Now = t.World.Now.Add(time.Hour) }), []string{asked}},
		{"the world's zone", task(func(t *goldens.Task) { t.World.Zone = time.FixedZone("X", 3600) }), []string{asked}},
		{"a fault", task(func(t *goldens.Task) {
			t.World.Faults = []world.Fault{{Tool: "get_counts", Kind: world.FaultTimeout}}
		}), []string{asked}},
		{"a reply", task(func(t *goldens.Task) { t.Replies = []string{"yes"} }), []string{asked}},
		{"what is expected", task(func(t *goldens.Task) { t.Expect = nil }), nil},
		{"the title", task(func(t *goldens.Task) { t.Title = "another" }), nil},
		{"a Go function", func(o *harness.Options) {
			o.Tools = map[string]episode.ToolFunc{"get_counts": func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) { return tool.Result{}, nil }}
		}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := recorded
			suite := *recorded.Suite
			suite.Tasks = slices.Clone(suite.Tasks)
			o.Suite, o.Candidates = &suite, slices.Clone(suite.Candidates)
			o.Select.Candidates = []string{"strong"}
			c.change(&o)
			list, err := harness.Cassettes(o)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Equal(t, "strong/G01/1.yaml", list[0].Path)
			require.Equal(t, c.want, list[0].Why)
			require.Equal(t, c.want != nil, list[0].State == cassettes.Stale)
		})
	}
}

// A cassette is not stale because it lacks a digest or has one of a whole policy.
func TestOlderCassettesWithoutADigestAreFresh(t *testing.T) {
	o := countsOptions(t)
	o.Select = harness.Selection{Tasks: []string{"G01"}, Candidates: []string{"strong"}}
	for name, c := range map[string]struct {
		digests map[string]string
		want    []string
	}{
		"none":                     {nil, nil},
		"of a whole policy":        {map[string]string{"policy": "753c"}, nil},
		"of what it comes to":      {map[string]string{"policy": "753c", "task": ""}, nil},
		"beside one of the task":   {map[string]string{"policy": "753c", "task": "1"}, []string{"policy changed (sampling settings or budgets)", "task changed (request, world, or its script)"}},
		"of a name nobody knows":   {map[string]string{"weather": "1"}, nil},
		"of a prompt, none others": {map[string]string{"prompt": "1"}, []string{"prompt changed"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rec, err := recorder.New(recorder.Options{
				Mode: recorder.Record, Dir: dir, Path: "strong/G01/1.yaml", Base: status(http.StatusOK), Header: cassette.Header{Digests: c.digests},
			})
			require.NoError(t, err)
			req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://sim.test/", http.NoBody)
			require.NoError(t, err)
			resp, err := rec.RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.NoError(t, rec.Save())
			o.Cassettes = os.DirFS(dir)
			list, err := harness.Cassettes(o)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Equal(t, c.want, list[0].Why)
		})
	}
}

func TestMissingCorruptAndOrphanedCassettes(t *testing.T) {
	o := recordedOptions(t, "G01", "G02", "G03")
	write := func(name, text string) {
		to := filepath.Join(o.CassetteDir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, []byte(text), 0o644))
	}
	require.NoError(t, os.Remove(filepath.Join(o.CassetteDir, "strong", "G02", "1.yaml")))
	write("strong/G03/1.yaml", "---\n")
	for _, name := range []string{
		"gone/G01/1.yaml", "strong/G99/1.yaml", "strong/G01/2.yaml", "strong/G01/01.yaml", "strong/G01/x.yaml", "stray.yaml",
		"scripted/G01/1.yaml", "scripted/S01/1.yaml", "strong/G01/.1.yaml.tmp.yaml", "strong/README.md",
	} {
		write(name, "x")
	}
	o.Candidates = slices.DeleteFunc(slices.Clone(o.Suite.Candidates), func(c goldens.Candidate) bool { return c.Name != "strong" && c.Name != "weak" })
	suite := *o.Suite
	suite.Tasks = slices.DeleteFunc(slices.Clone(suite.Tasks), func(t goldens.Task) bool { return t.ID > "G03" || t.ID < "G01" })
	o.Suite = &suite
	list := func() map[string]cassettes.Status {
		all, err := harness.Cassettes(o)
		require.NoError(t, err)
		by := map[string]cassettes.Status{}
		for _, s := range all {
			require.NotContains(t, by, s.Path)
			by[s.Path] = s
		}
		return by
	}
	require.NotContains(t, list(), "stray.yaml", "with a selection orphans are not looked for")
	o.Select = harness.Selection{}
	got := list()
	state := func(path string) string { return string(got[path].State) + " " + strings.Join(got[path].Why, "; ") }
	require.Equal(t, "fresh ", state("strong/G01/1.yaml"))
	require.Equal(t, "fresh ", state("weak/G03/1.yaml"))
	require.Equal(t, "missing ", state("strong/G02/1.yaml"))
	require.Contains(t, state("strong/G03/1.yaml"), "corrupt not sealed")
	require.Equal(t, `orphan no candidate "gone"`, state("gone/G01/1.yaml"))
	require.Equal(t, `orphan no task "G99"`, state("strong/G99/1.yaml"))
	require.Equal(t, `unused trial 2 of 1`, state("strong/G01/2.yaml"))
	require.Equal(t, `orphan not named by the number of a trial`, state("strong/G01/01.yaml"))
	require.Equal(t, `orphan not named by the number of a trial`, state("strong/G01/x.yaml"))
	require.Equal(t, `orphan not named CANDIDATE/TASK/TRIAL.yaml`, state("stray.yaml"))
	require.Equal(t, `orphan scripted tasks run only with the candidate scripted`, state("scripted/G01/1.yaml"))
	require.Equal(t, `orphan no task "S01"`, state("scripted/S01/1.yaml"))
	require.Len(t, got, 6+8, "neither hidden files nor others")
}

// With Stale, only cassettes that are not fresh are recorded, and only their keys are needed.
func TestStaleSkipsFreshCassettes(t *testing.T) {
	o := recordedOptions(t, "G01", "G02")
	o.Stale, o.Runs = true, ""
	asked := map[string]bool{}
	o.Key = func(c goldens.Candidate) (string, error) { asked[c.Name] = true; return "", nil }
	before := contents(t, o.CassetteDir)
	_, err := harness.Run(context.Background(), o)
	require.ErrorIs(t, err, harness.ErrAllFresh)
	require.Empty(t, asked)

	o.Suite.Tasks = slices.Clone(o.Suite.Tasks)
	require.NoError(t, os.Remove(filepath.Join(o.CassetteDir, "strong", "G02", "1.yaml")))
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, rowsOf(t, res).Episodes, 1)
	require.Equal(t, "G02", rowsOf(t, res).Episodes[0].TaskID)
	require.Equal(t, map[string]bool{"strong": true}, asked)
	after := contents(t, o.CassetteDir)
	require.Len(t, after, len(before))
	for name := range before {
		if name != "strong/G02/1.yaml" {
			require.Equal(t, before[name], after[name], name)
		}
	}

	for i := range o.Suite.Tasks {
		o.Suite.Tasks[i].Constraints += " Please."
	}
	require.NoError(t, os.WriteFile(filepath.Join(o.CassetteDir, "weak", "G01", "1.yaml"), []byte("cut"), 0o644))
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, rowsOf(t, res).Episodes, 4, "stale and corrupt ones")
	_, err = harness.Run(context.Background(), o)
	require.ErrorIs(t, err, harness.ErrAllFresh)

	o.Mode = recorder.Replay
	_, err = harness.Run(context.Background(), o)
	var config *harness.ConfigError
	require.ErrorAs(t, err, &config)
	require.ErrorContains(t, err, "use record mode")
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := cassette.List(os.DirFS(dir))
	require.NoError(t, err)
	all := map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		require.NoError(t, err)
		all[name] = string(text)
	}
	return all
}
