//go:build unix

package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// clientScripts is the folder of the npm clients and of the scripts that use them.
var clientScripts = filepath.Join("..", "providers", "sim", "testdata", "clients")

// The official npm clients of all wires request text, streams, tools, parallel tools, structured
// output and errors from cupel sim. make clients installs them.
func TestClients(t *testing.T) {
	modules := testkit.Modules(t, "CUPEL_CLIENTS_DIR", "the npm clients: run make clients")
	scripts, err := filepath.Glob(filepath.Join(clientScripts, "*.mjs"))
	require.NoError(t, err)
	args := []string{"--test", "--test-reporter=tap"}
	for _, script := range scripts { // node searches modules in the script's folder
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(modules, filepath.Base(script)), text, 0o644))
		if strings.HasSuffix(script, ".test.mjs") {
			args = append(args, filepath.Base(script))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	url, stop := serveSim(ctx, t)
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = modules
	cmd.Env = append(os.Environ(), "SIM_URL="+url, "NODE_NO_WARNINGS=1")
	out, err := cmd.CombinedOutput()
	stop()
	require.NoError(t, err, "%s", out)

	count := func(what string) int {
		m := regexp.MustCompile(`(?m)^# ` + what + ` (\d+)$`).FindSubmatch(out)
		require.NotNil(t, m, "node does not say how many tests: %s", out)
		n, err := strconv.Atoi(string(m[1]))
		require.NoError(t, err)
		return n
	}
	require.Greater(t, count("pass"), 20*(len(args)-2)/2, "%s", out)
	require.Zero(t, count("fail")+count("skipped")+count("todo")+count("cancelled"), "%s", out)
	t.Logf("%d tests of %d clients", count("pass"), len(args)-2)
}

// serveSim starts cupel sim on a free port. stop interrupts it and waits until it has ended.
func serveSim(ctx context.Context, t *testing.T) (url string, stop func()) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	server := exec.CommandContext(ctx, self, "sim", "--addr", "127.0.0.1:0")
	server.Args[0] = "cupel" // under this name the test binary is cupel: see TestMain
	stderr, err := server.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	line, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	url = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(line)
	require.NotEmpty(t, url, line)
	return url, func() {
		require.NoError(t, server.Process.Signal(os.Interrupt))
		require.NoError(t, server.Wait(), "cupel sim")
	}
}

// The documentation has the versions that make clients installs, every client has a script, and the
// lock file names no registry.
func TestClientsAreDocumented(t *testing.T) {
	var manifest struct{ Dependencies map[string]string }
	text, err := os.ReadFile(filepath.Join(clientScripts, "package.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &manifest))
	docs := testkit.Doc(t, "simulator.md")
	scripts, err := filepath.Glob(filepath.Join(clientScripts, "*.mjs"))
	require.NoError(t, err)
	all := ""
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		all += string(text)
	}
	require.Greater(t, len(manifest.Dependencies), 10)
	for name, version := range manifest.Dependencies {
		require.Regexp(t, `^\d+\.\d+\.\d+$`, version, name)
		require.Contains(t, docs, "`"+name+"` "+version)
		require.Regexp(t, `from '`+regexp.QuoteMeta(name)+`['/]`, all, "no script uses %s", name)
	}
	lock, err := os.ReadFile(filepath.Join(clientScripts, "package-lock.json"))
	require.NoError(t, err)
	require.NotContains(t, string(lock), `"resolved"`)
}
