package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers/all"
)

// shownCommand finds "cupel VERB …" in code blocks and inline code, up to a comment, a pipe or
// another end of a command.
var shownCommand = regexp.MustCompile("(?:^\\s*|go run ./cmd/|`|\\(\\$|&& )cupel ([a-z][^#|&>`…\n]*)")

// quoted is an argument in quotes, whatever it says.
var quoted = regexp.MustCompile("'[^']*'")

// The verbs and flags of all commands in documentation and help texts exist.
func TestShownCommandsExist(t *testing.T) {
	root := ".."
	texts := map[string]string{}
	for _, pattern := range []string{"README.md", "docs/*.md", "cmd/scaffold/*.yaml", "cmd/scaffold/external/*.yaml", "cmd/scaffold/suites/*/*.yaml", "goldens/counts/cassettes/README.md", "goldens/research/cassettes.md"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			texts[f] = string(text)
		}
	}
	p := &process{stdout: new(strings.Builder), stderr: new(strings.Builder), env: func(string) (string, bool) { return "", false }}
	var help func(c *cobra.Command)
	help = func(c *cobra.Command) {
		texts["help of "+c.CommandPath()] = c.Example
		for _, sub := range c.Commands() {
			help(sub)
		}
	}
	help(newRoot(p))

	found, tried := 0, map[string]bool{}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			for _, m := range shownCommand.FindAllStringSubmatch(line, -1) {
				found++
				before, _, _ := strings.Cut(m[1]+" ", " -- ") // what follows is another program's
				if tried[before] {
					continue
				}
				tried[before] = true
				args := append(strings.Fields(quoted.ReplaceAllString(before, "x")), "--help")
				stderr := new(strings.Builder)
				code := execute(&process{args: args, stdout: new(strings.Builder), stderr: stderr, env: p.env, now: time.Now})
				require.Zero(t, code, "%s shows: cupel %s\n%s", name, m[1], stderr)
			}
		}
	}
	require.Greater(t, found, 30)
}

// All parts of configurations in the documentation are valid.
func TestShownSettingsAreValid(t *testing.T) {
	root := ".."
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n((?:candidates|matrix|criteria|regression|limits|max_cost):.*?)```")
	found, shown := 0, 0
	for _, f := range append(files, filepath.Join(root, "README.md")) {
		if filepath.Base(f) == "extend.md" {
			continue // its candidates need another program, which make docs runs
		}
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			c, err := configOf(t, m[1])
			require.NoError(t, err, "%s shows:\n%s", f, m[1])
			shown++
			for _, candidate := range c.Candidates {
				found++
				require.NoError(t, harness.Options{Parts: harness.Parts{Providers: all.Factories()}, Rules: harness.Rules{Policy: c.Policy}}.Check(candidate), "%s shows:\n%s", f, m[1])
			}
		}
	}
	require.Greater(t, found, 12)
	require.Greater(t, shown, 12)
}
