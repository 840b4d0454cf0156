package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// All outputs have the same number of tasks in the same words. Scripted tasks do not count as tasks.
func TestTaskCountIsTheSameEverywhere(t *testing.T) {
	suite, _, err := (&process{}).loadSuite("builtin:counts")
	require.NoError(t, err)
	scripted := 0
	for _, task := range suite.Tasks {
		if task.Scripted {
			scripted++
		}
	}
	require.Positive(t, scripted)
	tasks := fmt.Sprintf("%d tasks", len(suite.Tasks)-scripted)
	both := fmt.Sprintf("%s, and %d scripted tasks that test the harness", tasks, scripted)

	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	said := regexp.MustCompile(`\d+ tasks, and \d+ scripted tasks[^.:;)]*`).FindAllString(string(readme), -1)
	require.NotEmpty(t, said)
	for _, s := range said {
		require.Equal(t, both, s, "README.md")
	}

	t.Chdir(t.TempDir())
	for _, c := range []struct{ command, want string }{
		{"doctor", "suite builtin:counts: " + both + "\n"},
		{"suite list", "builtin:counts: " + both + ", "},
		{"suite lint", "builtin:counts: " + both + ";"},
		{"run --dry-run", " episodes of " + tasks + " (candidates 4,"},
		{"run --dry-run --candidate strong --candidate scripted", " episodes of " + both + " (candidates 2,"},
		{"run --dry-run --candidate scripted", fmt.Sprintf(" episodes of %d scripted tasks that test the harness (candidates 1,", scripted)},
		{"run --dry-run --task G51 --candidate scripted", " episodes of 1 scripted task that tests the harness ("},
	} {
		code, stdout, stderr := runCupel(strings.Fields(c.command)...)
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, c.want, c.command)
	}
	reports := []struct{ candidates, want string }{
		{"--candidate strong --candidate scripted", "1 candidate × " + tasks + fmt.Sprintf(" × 1 trial, and %d scripted tasks that test the harness", scripted)},
		{"--candidate strong", "1 candidate × " + tasks + " × 1 trial"},
		{"--candidate scripted", fmt.Sprintf("%d scripted tasks that test the harness", scripted)},
	}
	for _, c := range reports[:testkit.SlowN(1, len(reports))] { // the first has both kinds of tasks
		code, _, stderr := runCupel(append([]string{"run", "--quiet"}, strings.Fields(c.candidates)...)...)
		require.Zero(t, code, stderr)
		for _, output := range []string{"-.md", "-.html"} {
			code, stdout, stderr := runCupel("report", "latest", "-o", output)
			require.Zero(t, code, stderr)
			require.True(t, strings.Contains(stdout, "· "+c.want+" ·") || strings.Contains(stdout, "· "+c.want+"</p>"), "%s of %s", output, c.candidates)
			require.NotContains(t, stdout, fmt.Sprintf("%d tasks", len(suite.Tasks)), "%s of %s", output, c.candidates)
			require.NotContains(t, stdout, fmt.Sprintf("of %d tasks", scripted), "%s of %s", output, c.candidates)
		}
	}
}
