package cmd

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// workflow has the parts of a workflow file that the kit uses.
type workflow struct {
	On          map[string]any    `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency map[string]string `yaml:"concurrency"`
	Defaults    struct {
		Run struct {
			Shell string `yaml:"shell"`
		} `yaml:"run"`
	} `yaml:"defaults"`
	Env  map[string]string `yaml:"env"`
	Jobs map[string]job    `yaml:"jobs"`
}

type job struct {
	Needs    string `yaml:"needs"`
	If       string `yaml:"if"`
	Timeout  int    `yaml:"timeout-minutes"`
	Strategy struct {
		FailFast bool             `yaml:"fail-fast"`
		Matrix   map[string][]int `yaml:"matrix"`
	} `yaml:"strategy"`
	Steps []step `yaml:"steps"`
}

type step struct {
	Name    string            `yaml:"name"`
	Uses    string            `yaml:"uses"`
	Run     string            `yaml:"run"`
	If      string            `yaml:"if"`
	Timeout int               `yaml:"timeout-minutes"`
	With    map[string]string `yaml:"with"`
	Env     map[string]string `yaml:"env"`
}

func readWorkflow(t *testing.T) workflow {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kits, "github.yml"))
	require.NoError(t, err)
	var w workflow
	require.NoError(t, yaml.Unmarshal(text, &w))
	require.Len(t, w.Jobs, 3)
	return w
}

// The workflow is safe to copy: least permissions, bounded time, actions pinned to a major version,
// keys only in the step that pull requests never reach, and no expression inside a script.
func TestWorkflowIsCareful(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	w := readWorkflow(t)
	require.Equal(t, map[string]string{"contents": "read"}, w.Permissions)
	require.Equal(t, []string{"pull_request", "schedule", "workflow_dispatch"}, slices.Sorted(maps.Keys(w.On)))
	require.NotEmpty(t, w.Concurrency["group"])
	require.Equal(t, "bash", w.Defaults.Run.Shell)
	require.Equal(t, "run", w.Jobs["gate"].Needs)
	keys := 0
	for name, j := range w.Jobs {
		require.Positive(t, j.Timeout, name)
		require.False(t, j.Strategy.FailFast)
		for _, s := range j.Steps {
			require.Less(t, s.Timeout, j.Timeout, s.Name)
			require.NotContains(t, s.Run, "${{", s.Name)
			require.True(t, (s.Run == "") != (s.Uses == ""), s.Name)
			if s.Uses != "" {
				require.Regexp(t, `^actions/[a-z-]+@v\d+$`, s.Uses)
			}
			if s.Uses == "actions/checkout@v5" {
				require.Equal(t, "false", s.With["persist-credentials"])
			}
			for _, value := range s.Env {
				if strings.Contains(value, "secrets.") {
					keys++
					require.Equal(t, "${{ github.event_name != 'pull_request' }}", s.If)
				}
			}
		}
	}
	require.Equal(t, 2, keys)
	for _, value := range w.Env {
		require.NotContains(t, value, "${{")
	}
}

// actions executes a workflow like GitHub, as far as the kit needs it.
type actions struct {
	*kit
	workflow
	contexts  map[string]string // values of expressions
	artifacts string
	summary   string
	output    map[string]string // the output of each job, by its name and shard
}

// act runs all jobs of the workflow for an event, with some settings changed, and returns their
// results.
func (k *kit) act(event string, settings map[string]string) (*actions, map[string]int) {
	k.t.Helper()
	a := &actions{
		kit: k, workflow: readWorkflow(k.t), output: map[string]string{}, artifacts: k.t.TempDir(),
		contexts: map[string]string{"github.event_name": event, "secrets.OPENAI_API_KEY": "canary-openai-key", "secrets.ANTHROPIC_API_KEY": ""},
	}
	maps.Copy(a.Env, settings)
	a.bin("go", "#!/bin/sh\n[ \"$*\" = \"install github.com/cupel-eval/cupel/cmd/cupel@latest\" ]\n")
	a.bin("sleep", "#!/bin/sh\n")
	a.summary = filepath.Join(k.dir, "summary.md")
	codes := map[string]int{}
	shards := a.Jobs["run"].Strategy.Matrix["shard"]
	a.contexts["strategy.job-total"] = strconv.Itoa(len(shards))
	for i, shard := range shards {
		require.Equal(k.t, i+1, shard)
		a.contexts["matrix.shard"] = strconv.Itoa(shard)
		name := "run " + strconv.Itoa(shard)
		codes[name] = a.job(name, a.Jobs["run"])
	}
	delete(a.contexts, "matrix.shard")
	if a.holds(a.Jobs["cassettes"].If, false) {
		codes["cassettes"] = a.job("cassettes", a.Jobs["cassettes"])
	}
	require.True(k.t, a.holds(a.Jobs["gate"].If, slices.Max(slices.Collect(maps.Values(codes))) > 0))
	codes["gate"] = a.job("gate", a.Jobs["gate"])
	return a, codes
}

// job runs the steps of a job in a new workspace. Its code is that of the first failed step.
func (a *actions) job(name string, j job) (code int) {
	a.t.Helper()
	workspace := a.t.TempDir()
	for _, s := range j.Steps {
		if !a.holds(s.If, code > 0) {
			continue
		}
		if s.Uses != "" {
			a.uses(s, workspace)
			continue
		}
		script := filepath.Join(a.t.TempDir(), "step.sh")
		require.NoError(a.t, os.WriteFile(script, []byte(s.Run), 0o644))
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
		cmd.Dir = workspace
		cmd.Env = append(slices.Clone(a.env), "GITHUB_ACTIONS=true", "CI=true", "GITHUB_STEP_SUMMARY="+a.summary)
		for _, env := range []map[string]string{a.Env, s.Env} {
			for key, value := range env {
				cmd.Env = append(cmd.Env, key+"="+a.expand(value))
			}
		}
		out, err := cmd.CombinedOutput()
		a.output[name] += string(out)
		if code == 0 && err != nil {
			code = cmd.ProcessState.ExitCode()
		}
	}
	return code
}

// uses simulates the actions that the kit uses.
func (a *actions) uses(s step, workspace string) {
	a.t.Helper()
	action, _, _ := strings.Cut(s.Uses, "@")
	switch action {
	case "actions/setup-go":
	case "actions/checkout":
		for _, name := range []string{"cupel.yaml", "suites"} {
			if _, err := os.Stat(filepath.Join(a.dir, name)); err == nil {
				require.NoError(a.t, exec.Command("cp", "-r", filepath.Join(a.dir, name), workspace).Run())
			}
		}
		commit := exec.Command("sh", "-c", "git init -q && git add -A && git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m all")
		commit.Dir = workspace
		out, err := commit.CombinedOutput()
		require.NoError(a.t, err, string(out))
	case "actions/upload-artifact":
		to := filepath.Join(a.artifacts, a.expand(s.With["name"]))
		paths := strings.Fields(s.With["path"])
		found := 0
		for _, path := range paths {
			matches, err := filepath.Glob(filepath.Join(workspace, path))
			require.NoError(a.t, err)
			for _, m := range matches {
				found++
				if before, _, wild := strings.Cut(path, "*"); len(paths) > 1 || wild {
					root := workspace // the common parent of all paths
					if len(paths) == 1 {
						root = filepath.Join(workspace, filepath.Dir(before+"x"))
					}
					rel, err := filepath.Rel(root, filepath.Dir(m))
					require.NoError(a.t, err)
					require.NoError(a.t, os.MkdirAll(filepath.Join(to, rel), 0o755))
					require.NoError(a.t, exec.Command("cp", "-r", m, filepath.Join(to, rel)).Run())
				} else { // one folder is uploaded by its content
					require.NoError(a.t, os.CopyFS(to, os.DirFS(m)))
				}
			}
		}
		require.True(a.t, found > 0 || s.With["if-no-files-found"] == "ignore", s.Name)
	case "actions/download-artifact":
		matches, err := filepath.Glob(filepath.Join(a.artifacts, s.With["pattern"]))
		require.NoError(a.t, err)
		for _, m := range matches {
			require.NoError(a.t, os.CopyFS(filepath.Join(workspace, s.With["path"], filepath.Base(m)), os.DirFS(m)))
		}
	default:
		a.t.Fatalf("no stand-in for %s", s.Uses)
	}
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// expand replaces expressions by their values.
func (a *actions) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		value, ok := a.contexts[expression.FindStringSubmatch(e)[1]]
		require.True(a.t, ok, "%s has no value", e)
		return value
	})
}

// holds reports whether a condition is met. failed means that an earlier step failed; a condition
// without a status function is then not met.
func (a *actions) holds(condition string, failed bool) bool {
	a.t.Helper()
	if condition == "" {
		return !failed
	}
	m := expression.FindStringSubmatch(condition)
	require.NotNil(a.t, m, condition)
	met := !failed || strings.Contains(condition, "()")
	for part := range strings.SplitSeq(m[1], " && ") {
		if part == "always()" || part == "!cancelled()" {
			continue
		}
		f := strings.Fields(part)
		require.Len(a.t, f, 3, part)
		value, ok := a.contexts[f[0]]
		require.True(a.t, ok, part)
		require.Contains(a.t, []string{"==", "!="}, f[1])
		met = met && (value == strings.Trim(f[2], "'")) == (f[1] == "==")
	}
	return met
}

// The workflow resumes, merges and gates correctly for every outcome of a shard. The others are
// samples of those that are slow.
func TestWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	t.Parallel()
	slow := map[string]bool{"a shard left nothing": true, "nightly, three failures": true, "nightly, capped": true, "nightly, mistake": true}
	for name, c := range map[string]struct {
		event string
		gate  int
		plans map[int]string
		codes map[string]int
		calls map[string]int
	}{
		"pull request accepted": {
			event: "pull_request", codes: map[string]int{"run 1": 0, "run 2": 0, "run 3": 0, "gate": 0},
			calls: map[string]int{"run --shard 1/3": 1, "run --shard 3/3": 1, "record": 0, "merge shards/cupel-shard-1/run-1 shards/cupel-shard-2/run-2 shards/cupel-shard-3/run-3": 1},
		},
		"pull request rejected": {event: "pull_request", gate: 10, codes: map[string]int{"gate": 10}},
		"a shard failed": {
			event: "pull_request", gate: 11, plans: map[int]string{2: "partial"}, codes: map[string]int{"run 1": 0, "run 2": 1, "run 3": 0, "gate": 11},
			calls: map[string]int{"--resume": 0, "merge shards/": 1, "gate latest": 1},
		},
		"a shard left nothing": {
			event: "pull_request", gate: 11, plans: map[int]string{1: "nothing"}, codes: map[string]int{"run 1": 3, "gate": 11},
		},
		"nightly": {
			event: "schedule", plans: map[int]string{2: "partial partial complete"}, codes: map[string]int{"run 1": 0, "run 2": 0, "gate": 0},
			calls: map[string]int{"run --mode record --trials 3 --max-cost 2.00 --shard 2/3": 1, "run --resume runs/run-2": 2},
		},
		"nightly, three failures": {
			event: "schedule", gate: 11, plans: map[int]string{1: "partial partial partial complete"}, codes: map[string]int{"run 1": 1, "gate": 11},
		},
		"nightly, capped":     {event: "workflow_dispatch", gate: 11, plans: map[int]string{3: "capped complete"}, codes: map[string]int{"run 3": 1, "gate": 11}, calls: map[string]int{"--resume": 0}},
		"nightly, mistake":    {event: "schedule", gate: 11, plans: map[int]string{3: "usage"}, codes: map[string]int{"run 3": 2}, calls: map[string]int{"--resume": 0}},
		"nightly, resume bad": {event: "schedule", plans: map[int]string{1: "partial usage"}, codes: map[string]int{"run 1": 2}, calls: map[string]int{"--resume": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if slow[name] {
				testkit.Slow(t)
			}
			t.Parallel()
			k := newKit(t, "strong")
			k.fake(c.gate, c.plans)
			a, codes := k.act(c.event, nil)
			for job, code := range c.codes {
				require.Equal(t, code, codes[job], "%s: %s", job, a.output[job])
			}
			for part, n := range c.calls {
				require.Equal(t, n, k.calls(part), "%s in:\n%s", part, k.read("fake/calls"))
			}
			require.Contains(t, k.read("summary.md"), "### verdict\n")
			require.FileExists(t, filepath.Join(a.artifacts, "cupel-verdict", "junit.xml"))
			require.FileExists(t, filepath.Join(a.artifacts, "cupel-verdict", "runs", "merged", "run.json"), "kept whatever the verdict")
		})
	}
}

// A workflow without runs never passes.
func TestWorkflowWithoutRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	k := newKit(t, "strong")
	k.fake(0, map[int]string{1: "nothing", 2: "nothing", 3: "nothing"})
	_, codes := k.act("pull_request", nil)
	require.Equal(t, map[string]int{"run 1": 3, "run 2": 3, "run 3": 3, "gate": 2}, codes)
}

// The workflow works with the real cupel.
func TestWorkflowRunsCupel(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		candidate string
		code      int
		annotates string
	}{
		"accepted": {"strong", 0, "\n::notice title=strong%3A pass::"},
		"rejected": {"weak", 10, "\n::error title=weak%3A contract-valid first outputs%3A fail::"},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Slow(t) // TestWorkflowWithoutCassettes runs cupel, too, and TestWorkflow a stand-in that is rejected
			k := newKit(t, c.candidate)
			a, codes := k.act("pull_request", nil)
			require.Equal(t, map[string]int{"run 1": 0, "run 2": 0, "run 3": 0, "gate": c.code}, codes, a.output)
			require.Contains(t, a.output["gate"], c.annotates)
			summary := k.read("summary.md")
			require.Contains(t, summary, c.candidate)
			require.Less(t, len(summary), 1<<20, "what GitHub shows of one step")
			verdict := filepath.Join(a.artifacts, "cupel-verdict")
			k.requireJUnit(filepath.Join(verdict, "junit.xml"), len(judged(t)))
			runs, err := filepath.Glob(filepath.Join(verdict, "runs", "*"))
			require.NoError(t, err)
			require.Len(t, runs, 1)
			require.FileExists(t, filepath.Join(runs[0], "report", "index.html"))
			k.requireWhole(runs[0])
		})
	}
}

// A nightly run of simulated models in three shards uploads the recorded cassettes and joins them
// with older ones.
func TestWorkflowRecordsCupel(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	k := newKit(t)
	k.cupel("init")
	k.cupel("run", "--mode", "record", "--quiet", "--seed", "7")
	old := k.cassettes(filepath.Join(k.dir, "suites", "first", "cassettes"))
	require.Len(t, old, 6)
	for path, text := range old {
		k.write(path, regexp.MustCompile(`recorded: "[^"]*"`).ReplaceAllString(text, `recorded: "2026-01-31"`))
		k.cupel("cassette", "seal", path)
	}

	a, codes := k.act("schedule", map[string]string{"TRIALS": "1"})
	require.Contains(t, []int{10, 11}, codes["gate"], "%s", a.output["gate"]) // three tasks are too few for a pass
	delete(codes, "gate")
	require.Equal(t, map[string]int{"run 1": 0, "run 2": 0, "run 3": 0, "cassettes": 0}, codes, a.output)
	k.requireJUnit(filepath.Join(a.artifacts, "cupel-verdict", "junit.xml"), 6)
	for _, out := range a.output {
		require.NotContains(t, out, "canary-openai-key")
	}

	recorded := map[string]string{} // of all shards
	for i := range 3 {
		for path, text := range k.cassettes(filepath.Join(a.artifacts, "cupel-recorded-"+strconv.Itoa(i+1))) {
			require.NotContains(t, recorded, path, "each is from one shard, which uploads no other")
			require.NotContains(t, text, "2026-01-31")
			recorded[path] = text
		}
	}
	require.Len(t, recorded, 6, "%s", a.output)
	joined := k.cassettes(filepath.Join(a.artifacts, "cupel-cassettes"))
	for path, text := range recorded {
		require.Equal(t, text, joined[strings.TrimPrefix(path, "suites/")])
	}
	require.Len(t, joined, 6)
	require.Contains(t, a.output["cassettes"], "joined, 0 already there, 0 skipped")
}

// cassettes returns the texts of the cassettes below a folder, by their paths in the kit, or in the
// folder if that is not in the kit.
func (k *kit) cassettes(dir string) map[string]string {
	all := map[string]string{}
	require.NoError(k.t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		name, inside := strings.CutPrefix(path, k.dir+string(filepath.Separator))
		if !inside {
			name = strings.TrimPrefix(path, dir+string(filepath.Separator))
		}
		all[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return all
}

// A pull request with missing cassettes gets their names and the command that records them.
func TestWorkflowWithoutCassettes(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	t.Parallel()
	k := newKit(t)
	k.cupel("init")
	a, codes := k.act("pull_request", nil)
	require.Equal(t, map[string]int{"run 1": 3, "run 2": 3, "run 3": 3, "gate": 2}, codes, a.output)
	require.Contains(t, a.output["run 1"], "\n::error title=Cassettes are missing or stale::Record them with: cupel run --mode record --stale, then commit them\n")
	require.Regexp(t, `strong/F01/1.yaml +missing`, k.read("summary.md"))
	require.Contains(t, k.read("summary.md"), "record them with: cupel run --mode record --stale --suite suites/first")
}
