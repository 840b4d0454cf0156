package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestExtendDocs builds the program of examples/extend, which is a separate module. docs/extend.md
// has its code; make docs runs the commands of the page.
func TestExtendDocs(t *testing.T) {
	testkit.Slow(t)
	text := testkit.Doc(t, "extend.md")
	dir := copyExample(t)
	code := regexp.MustCompile("(?s)```(go|yaml)\n(.*?)```").FindAllStringSubmatch(text, -1)
	require.Len(t, code, 7)
	for _, block := range code {
		requireInExample(t, dir, block[2])
	}
	requireExit(t, dir, exit.Accepted, "./mine run")
	report, err := filepath.Glob(filepath.Join(dir, "runs", "*", "report", "tasks", "*"))
	require.NoError(t, err)
	page, err := os.ReadFile(report[0])
	require.NoError(t, err)
	require.Contains(t, string(page), "Answer in one sentence.", "transcripts of the program's own agent")
	requireExit(t, dir, exit.Accepted, "./mine rescore latest")
	for candidate, want := range map[string]string{
		"agent: short, provider: house": `unknown strategy "short"; known: brief, contract, external, orchestrator, plan, tools`,
		"agent: brief, provider: hose":  `unknown provider "hose"; known: .*, house, `,
	} {
		text := "suite: suite\ncandidates: [{name: a, " + candidate + ", model: m}]\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "cupel.yaml"), []byte(text), 0o644))
		require.Regexp(t, want, requireExit(t, dir, exit.BadUsage, "./mine run"))
	}
}

// copyExample copies the example to a folder in which it builds against this tree. Its go.mod must
// be tidy.
func copyExample(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	from := filepath.Join(root, "examples", "extend")
	require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "runs")))
	committed, err := os.ReadFile(filepath.Join(from, "go.mod"))
	require.NoError(t, err)
	const replaced = "=> ../.."
	require.Contains(t, string(committed), replaced)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(strings.Replace(string(committed), replaced, "=> "+root, 1)), 0o644))
	requireExit(t, dir, 0, "go build -ldflags=-s -o mine .")
	built, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	require.Equal(t, string(committed), strings.Replace(string(built), "=> "+root, replaced, 1), "run in examples/extend: go mod tidy")
	return dir
}

// requireExit runs a command line in a folder, offline, and returns its output.
func requireExit(t *testing.T, dir string, want int, line string) string {
	t.Helper()
	args := strings.Fields(line)
	cmd := exec.Command(args[0], args[1:]...)
	if args[0] != "go" {
		cmd.Path = filepath.Join(dir, "mine")
	}
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.Equal(t, want, cmd.ProcessState.ExitCode(), "%s: %v\n%s", line, err, out)
	return string(out)
}

// requireInExample checks that the program contains code of the page.
func requireInExample(t *testing.T, dir, code string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "suite/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), code) {
				return
			}
		}
	}
	t.Errorf("no file of examples/extend has this code of docs/extend.md:\n%s", code)
}
