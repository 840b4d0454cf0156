package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
)

// configOf loads a configuration file with this text.
func configOf(t *testing.T, text string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), Name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.String("config", Name, "")
	require.NoError(t, flags.Set("config", file))
	return Load(Sources{Flags: flags, Env: func(string) (string, bool) { return "", false }, Providers: []string{"anthropic", "openai"}})
}

// Amounts are parsed from the text of the file, because a float cannot represent 16 digits.
func TestCapsAreExact(t *testing.T) {
	for text, want := range map[string]int64{
		"max_cost: 999999.999999999":   999_999_999_999_999,
		"max_cost: 0.1":                100_000_000,
		"max_cost: '0.000000001'":      1,
		"max_cost: 12":                 12e9,
		"max_cost: ":                   0,
		"max_cost: 123456.000000001\n": 123_456_000_000_001,
	} {
		c, err := configOf(t, text)
		require.NoError(t, err, text)
		require.Equal(t, want, c.Caps.CostNanoUSD, text)
	}
	for _, text := range []string{"max_cost: 0", "max_cost: 0.0", "max_cost: 1_000", "max_cost: .5", "max_cost: 1e3", "max_cost: -1", "max_cost: {a: 1}", "max_cost: true", "max_requests: 1.5", "max_tokens: 0x10", "max_tokens: 9999999999999999999"} {
		_, err := configOf(t, text)
		require.ErrorContains(t, err, Name+":1: max_", text)
		require.Equal(t, exit.BadUsage, exit.Code(err), text)
	}
}

// Limits may use YAML aliases.
func TestLimitsFollowAliases(t *testing.T) {
	c, err := configOf(t, "limits: {openai: &slow {requests_per_minute: 6}, anthropic: *slow}")
	require.NoError(t, err)
	require.Equal(t, admission.Limits{RequestsPerMinute: 6}, c.Limits["anthropic"])
	_, err = configOf(t, "limits: {openai: }")
	require.ErrorContains(t, err, "limits.openai: must be a mapping, not empty")
}

// Load reads every threshold of the file.
func TestAcceptanceIsWhole(t *testing.T) {
	c, err := configOf(t, "acceptance: {min_solved: off, min_valid: 0.5, max_clarifies: 2, max_steps: 9, min_within: 0.6, confidence: 0.9, max_infra: 0.2, max_harm: 0.3, min_utility_under_attack: 0.4, max_attack_success: off}")
	require.NoError(t, err)
	require.Equal(t, manifest.Acceptance{MinSolved: manifest.Off, MinValid: 0.5, MaxClarifies: 2, MaxSteps: 9, MinWithin: 0.6, Confidence: 0.9, MaxInfra: 0.2, MaxHarm: 0.3, MinUnderAttack: 0.4, MaxAttackSuccess: manifest.Off}, c.Acceptance)
	for text, want := range map[string]manifest.Threshold{"0.9": 0.9, `"off"`: manifest.Off, "1": 1, "0": 0} {
		c, err := configOf(t, "acceptance: {min_solved: "+text+"}")
		require.NoError(t, err)
		require.Equal(t, want, c.Acceptance.MinSolved, text)
		c, err = configOf(t, "acceptance: {max_harm: "+text+"}")
		require.NoError(t, err)
		require.Equal(t, want, c.Acceptance.MaxHarm, text)
	}
}

func TestAcceptanceProblems(t *testing.T) {
	_, err := configOf(t, "acceptance:\n  min_solved: most\n  max_steps: -1\n  max_harm: none\n")
	require.Equal(t, exit.BadUsage, exit.Code(err))
	for _, want := range []string{
		`cupel.yaml:2: acceptance.min_solved: "most" is neither a number nor off`,
		`cupel.yaml:4: acceptance.max_harm: "none" is neither a number nor off`,
		"acceptance: max_steps is -1",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = configOf(t, "criteria:\n  - {name: a, expr: share(solved) >= 90%, rule: upper}\n  - {name: b, expr: mean(steps) < 4, rule: lower}\n")
	require.ErrorContains(t, err, "cupel.yaml:2: criteria[0].rule: upper is the optimistic end of the interval, so it would pass on too little data; use bound or lower")
	require.ErrorContains(t, err, "cupel.yaml:3: criteria[1].rule: lower is the optimistic end of the interval, so it would pass on too little data; use bound or upper")
	_, err = configOf(t, "criteria:\n  - {name: a, expr: share(solved) >= 90%, rule: point}\n")
	require.ErrorContains(t, err, "rule point was removed")
}

// The default policy names every built-in provider, so Load adds none. A custom provider gets the
// defaults.
func TestPolicyOfProviders(t *testing.T) {
	require.Subset(t, slices.Collect(maps.Keys(policy.Default().Providers)), all.Names())
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	t.Chdir(t.TempDir())
	c, err := Load(Sources{Flags: flags, Env: func(string) (string, bool) { return "", false }, Providers: append(all.Names(), "house")})
	require.NoError(t, err)
	resolved, err := c.Policy.Resolve("house", "action")
	require.NoError(t, err)
	require.Equal(t, c.Policy.Defaults.MaxSteps, resolved.MaxSteps)
}

// All problems in the structure of the file are reported together, by line and field.
func TestShapes(t *testing.T) {
	for text, want := range map[string]string{
		"trials: [1]\nsute: x\nmode: {a: 1}": "1: trials: must be a whole number, not a list\n2: unknown field \"sute\"; `cupel init` writes a commented file with every field\n3: mode: must be text, not a mapping",
		"- a":                                "1: must be a mapping, not a list",
		"candidates: 5":                      "1: candidates: must be a list of candidates, not a whole number `5`",
		"candidates:\n  - weak":              "2: candidates[0]: must be a candidate, not text `weak`",
		"candidates: [{stream: si}]":         "1: candidates[0].stream: must be true or false, not text `si`",
		"candidates: [{memory: off, batch: 3, plan: []}]":     "1: candidates[0].memory: must be a mapping such as {turns: 10} or {off: true}, not text `off`\n1: candidates[0].batch: must be a mapping such as {size: 4}, not a whole number `3`\n1: candidates[0].plan: must be a mapping such as {steps: 50}, not a list",
		"candidates: [{batch: {delay: soon}}]":                "1: candidates[0].batch.delay: must be a duration such as 300ms or 15s, not text `soon`",
		"candidates: [{headers: {a: [b]}}]":                   "1: candidates[0].headers: must be a mapping of names to text, not a mapping",
		"candidates: [{name: a,\n  name: b}]":                 "2: candidates[0]: field \"name\" appears twice",
		"candidates: [{max_tokens: many, nme: x}]":            "1: candidates[0].max_tokens: must be a whole number, not text `many`\n1: candidates[0]: unknown field \"nme\"; `cupel init` writes a commented file with every field",
		"candidates: [&a {name: x, <<: *a}]":                  "1: candidates[0]: contains itself",
		"acceptance: {min_valid: high}\ncandidates: [{a: 1}]": "1: acceptance.min_valid: must be a number, not text `high`\n2: candidates[0]: unknown field \"a\"; `cupel init` writes a commented file with every field",
		"trials: 1\n  mode: x":                                "2: not valid YAML: mapping values are not allowed in this context; check the indentation of this line and of those above",
	} {
		_, err := configOf(t, text)
		require.Error(t, err, text)
		require.Equal(t, exit.BadUsage, exit.Code(err))
		var got []string
		for line := range strings.Lines(err.Error()) {
			_, rest, _ := strings.Cut(strings.TrimSpace(line), Name+":")
			got = append(got, rest)
		}
		require.Equal(t, want, strings.Join(got, "\n"), text)
	}
	c, err := configOf(t, "candidates:\n  - &base {name: a, model: m, max_tokens: 5}\n  - {<<: *base, name: b}\n  - {<<: [{name: x}, *base], provider: p}\n  -\n")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "x", ""}, []string{c.Candidates[0].Name, c.Candidates[1].Name, c.Candidates[2].Name, c.Candidates[3].Name})
	require.Equal(t, []any{"m", 5, "m", "p"}, []any{c.Candidates[1].Model, *c.Candidates[1].MaxTokens, c.Candidates[2].Model, c.Candidates[2].Provider})
	for _, text := range []string{"", "# nothing", "---", "candidates:\nacceptance:\n"} {
		c, err := configOf(t, text)
		require.NoError(t, err, text)
		require.Nil(t, c.Candidates)
	}
}

// Paths in the file are relative to its folder. A name of a built-in suite does not change, unless a
// folder has that name.
func TestPathsAreBesideTheFile(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("base/counts", 0o755))
	absolute := filepath.Join(t.TempDir(), "s")
	for text, want := range map[string][3]string{
		"suite: suites/first\nruns: out\nprices: ../p.yaml": {"base/suites/first", "base/out", "p.yaml"},
		"suite: research":       {"research", "runs", ""},
		"suite: counts":         {"base/counts", "runs", ""},
		"suite: builtin:counts": {"builtin:counts", "runs", ""},
		"suite: " + absolute:    {absolute, "runs", ""},
		"seed: 1":               {"builtin:counts", "runs", ""},
	} {
		require.NoError(t, os.WriteFile("base/own.yaml", []byte(text), 0o644))
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.String("config", Name, "")
		require.NoError(t, flags.Set("config", "base/own.yaml"))
		from := Sources{Flags: flags, Env: func(string) (string, bool) { return "", false }, Suites: []string{"counts", "research"}}
		c, err := Load(from)
		require.NoError(t, err, text)
		require.Equal(t, want, [3]string{c.Suite, c.Runs, c.Prices}, text)
		if c.Prices != "" {
			_, err = c.LoadPrices()
			require.ErrorContains(t, err, "base/own.yaml:3: prices: read prices: open p.yaml: ")
			require.Equal(t, "base/own.yaml:2: runs: ", c.Place("runs"))
		}
		// The environment and flags are relative to the working directory.
		from.Env = func(name string) (string, bool) { return "here", name == "CUPEL_RUNS" }
		flags.String("suite", "", "")
		require.NoError(t, flags.Set("suite", "there"))
		c, err = Load(from)
		require.NoError(t, err)
		require.Equal(t, []string{"there", "here", ""}, []string{c.Suite, c.Runs, c.Place("suite") + c.Place("runs")})
	}
}

// TestExternal: settings of external agents are read strictly, with the file's folder.
func TestExternal(t *testing.T) {
	c, err := configOf(t, `candidates: [{name: a, agent: external, provider: openai, exec: {command: [python3, ./a.py]}, models: {m: {model: gpt, max_output: 5}}}]`)
	require.NoError(t, err)
	require.Equal(t, filepath.Dir(c.File), c.Candidates[0].Dir)
	require.Equal(t, external.Model{Model: "gpt", MaxOutput: 5}, c.Candidates[0].Models["m"])
	_, err = configOf(t, "candidates:\n  - {name: a, agent: external, exec: {command: a, cmd: b}, models: {m: {max: 5, model: [x]}, n: 3}, proxy: 1}\n")
	require.ErrorContains(t, err, "candidates[0].exec.command: must be a list of texts, not text `a`")
	require.ErrorContains(t, err, "candidates[0].exec: unknown field \"cmd\"; `cupel init` writes a commented file with every field")
	require.ErrorContains(t, err, "candidates[0].models.m: unknown field \"max\"")
	require.ErrorContains(t, err, "candidates[0].models.m.model: must be text, not a list")
	require.ErrorContains(t, err, "candidates[0].models.n: must be a mapping, not a whole number `3`")
	require.ErrorContains(t, err, "candidates[0].proxy: must be a mapping, not a whole number `1`")
}
