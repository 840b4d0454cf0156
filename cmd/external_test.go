package cmd

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
)

// Agents made with AI SDK, OpenAI Agents, LangChain, Python and n8n replay from their recordings
// alone: nothing is installed, and nothing can be started. make external records them.
func TestRealAgents(t *testing.T) {
	here, dir := filepath.Join("..", "examples", "external"), t.TempDir()
	t.Setenv("PATH", "")
	suite := filepath.Join(dir, "counts")
	require.NoError(t, os.CopyFS(suite, counts.FS))
	require.NoError(t, os.RemoveAll(filepath.Join(suite, "cassettes")))
	config, pack := filepath.Join(here, "cupel.yaml"), filepath.Join(here, "recordings.pack")
	code, out := cupelIn("run", "--quiet", "--config", config, "--suite", suite, "--runs", filepath.Join(dir, "runs"), "--pack", pack, "--task", externalTasks)
	require.Zero(t, code, out)
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
	require.NoError(t, err)
	code, out = cupelIn("verify", runs[0], "--config", config, "--pack", pack)
	require.Zero(t, code, out)

	table := filepath.Join(dir, "solved.csv")
	code, out = cupelIn("query", runs[0], "count(), count(solved) group by candidate", "-o", table)
	require.Zero(t, code, out)
	text, err := os.ReadFile(table)
	require.NoError(t, err)
	require.Equal(t, strings.Split("ai-sdk,12,12 langchain,12,12 n8n,12,12 openai-agents,12,12 stdlib,12,12 stdlib-weak,12,8 tools,12,12", " "),
		strings.Split(strings.TrimSpace(string(text)), "\n")[1:])
}

// externalTasks are those of the recordings, and of evaluate.sh.
const externalTasks = "G01,G02,G16,G19,G28,G30,G39,G46,C26,C41,C51,C54"

// The recordings are of the versions that make external installs.
func TestRealAgentsVersions(t *testing.T) {
	here := filepath.Join("..", "examples", "external")
	read := func(name string, into any) {
		text, err := os.ReadFile(filepath.Join(here, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, into))
	}
	var recorded struct{ Packages map[string]string }
	var sdks, n8n struct{ Dependencies map[string]string }
	read("recordings.json", &recorded)
	read("package.json", &sdks)
	read(filepath.Join("n8n", "package.json"), &n8n)
	maps.Copy(sdks.Dependencies, n8n.Dependencies)
	require.Equal(t, sdks.Dependencies, recorded.Packages, "record again: make external")

	script, err := os.ReadFile(filepath.Join(here, "evaluate.sh"))
	require.NoError(t, err)
	require.Contains(t, string(script), "few="+externalTasks)
}
