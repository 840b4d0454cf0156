package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/reports/compare"
)

// The commented parts of the suite that init writes are valid without the comment signs.
func TestScaffoldSuiteComments(t *testing.T) {
	text, err := scaffold.ReadFile("scaffold/suites/first/suite.yaml")
	require.NoError(t, err)
	off := regexp.MustCompile(`(?m)^  # (- id|  )`)
	require.Len(t, off.FindAll(text, -1), 18)
	tools := regexp.MustCompile(`(?m)^  #(- name|  )(\w|:)`)
	require.Len(t, tools.FindAll(text, -1), 9)
	text = bytes.Replace(tools.ReplaceAll(text, []byte("  $1$2")), []byte("state:\n"), []byte("state:\n      closed: []\n"), 1)
	suite, err := load.Suite(fstest.MapFS{
		"suite.yaml": {Data: off.ReplaceAll(text, []byte("  $1"))},
		"chart.png":  {Data: []byte("\x89PNG\r\n\x1a\n")},
	}, ".", counts.Worlds())
	require.NoError(t, err)
	require.Len(t, suite.Tasks, 6)
	require.Len(t, suite.Tools, 4)
}

// configOf loads a configuration file with this text.
func configOf(t *testing.T, text string) (config.Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), config.Name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.String("config", config.Name, "")
	require.NoError(t, flags.Set("config", file))
	return config.Load(config.Sources{Flags: flags, Env: func(string) (string, bool) { return "", false }, Providers: all.Names()})
}

// The commented parts of the configuration are valid without the comment signs.
func TestScaffoldComments(t *testing.T) {
	text, err := scaffold.ReadFile("scaffold/cupel.yaml")
	require.NoError(t, err)
	indented := regexp.MustCompile(`(?m)^  # (- name|  )`)
	require.Len(t, indented.FindAll(text, -1), 33)
	text = indented.ReplaceAll(text, []byte("  $1"))
	off := regexp.MustCompile(`(?m)^# ((?:matrix|criteria|limits|regression|max_cost|max_tokens|max_requests):|  )`)
	require.Len(t, off.FindAll(text, -1), 36)
	c, err := configOf(t, off.ReplaceAllString(string(text), "$1"))
	require.NoError(t, err)
	var names []string
	for _, m := range c.Candidates {
		names = append(names, m.Name)
		require.NoError(t, harness.Options{Parts: harness.Parts{Providers: all.Factories()}, Rules: harness.Rules{Policy: c.Policy}}.Check(m))
	}
	require.Equal(t, []string{
		"strong", "weak", "gpt", "gpt-tools", "gpt-plan", "claude", "local", "openai-gpt-4o-mini", "openai-gpt-4o-mini-json_schema", "openai-gpt-4o", "openai-gpt-4o-json_schema",
		"anthropic-claude-3-5-haiku-latest", "fast",
	}, names)
	require.Equal(t, names[7:], func() (matrix []string) {
		for _, m := range c.Matrix {
			matrix = append(matrix, m.Name)
		}
		return matrix
	}())
	require.Equal(t, admission.Caps{CostNanoUSD: 5e9, Tokens: 2e6, Requests: 10000}, c.Caps)
	require.Equal(t, map[string]admission.Limits{
		"openai":    {Concurrency: 8, RequestsPerMinute: 500, TokensPerMinute: 200_000},
		"anthropic": {Concurrency: 4, Caps: admission.Caps{CostNanoUSD: 25e8, Tokens: 1e6, Requests: 2000}},
	}, c.Limits)
	require.Equal(t, 0.2, c.Regression.MaxCost)
	require.Equal(t, compare.OnUnclearPass, c.Regression.OnUnclear)
	require.Equal(t, "2027-12-31", c.Regression.Flaky[0].Expires)
}
