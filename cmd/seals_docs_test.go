package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands of docs/runs.md for a manual check accept sealed files and reject changed ones.
func TestSealsByHand(t *testing.T) {
	text, err := os.ReadFile("../docs/runs.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "To check a run by hand")
	require.True(t, found)
	_, section, _ = strings.Cut(section, "```sh\n")
	script, _, _ := strings.Cut(section, "```")
	if out, err := exec.Command("sh", "-c", "head --version && sed --version && grep --version").CombinedOutput(); err != nil || strings.Count(string(out), "GNU") < 3 {
		t.Skip("no GNU tools")
	}
	_, dir := runFolder(t, "--candidate", "strong", "--task", "G0*")
	check := func() string {
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	require.Equal(t, `run.json has its seal
episodes.parquet belongs to run.json
episodes.parquet has its seal
turns.parquet belongs to run.json
turns.parquet has its seal
tool_calls.parquet belongs to run.json
tool_calls.parquet has its seal
`, check())
	for file, lost := range map[string][]string{
		"run.json":         {"run.json has its seal", "episodes.parquet belongs to run.json", "turns.parquet belongs to run.json"},
		"episodes.parquet": {"episodes.parquet has its seal"},
	} {
		path := filepath.Join(dir, file)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		changed := append([]byte{}, whole...)
		changed[200] ^= 1
		require.NoError(t, os.WriteFile(path, changed, 0o666))
		got := check()
		for _, line := range lost {
			require.NotContains(t, got, line)
		}
		require.NoError(t, os.WriteFile(path, whole, 0o666))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "journal"), 0o777))
	for _, name := range []string{"replies.yaml", "journal/plan", "journal/settings"} {
		writeSealed(t, filepath.Join(dir, name), "one\ntwo\n")
		require.Contains(t, check(), name+" has its seal")
	}
}
